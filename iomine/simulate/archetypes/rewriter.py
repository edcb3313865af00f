"""The same file is written again at every step.

Each rank keeps one file open and writes its state over that of the step before. All bytes but the last copy are written
in vain.
"""

import numpy as np

from iomine.schema.ops import WRITE
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed, ranks
from iomine.simulate.program import Program
from iomine.units import MIB

_REQUEST_BYTES = 4 * MIB


def _draw(rng: np.random.Generator) -> Parameters:
    return {
        "nprocs": ranks(rng, 8, 1, 128),
        "requests": long_tailed(rng, 10, 0.6, 6, 64),
        "dumps": long_tailed(rng, 5, 0.5, 3, 20),
        "compute_seconds": long_tailed(rng, 60, 0.8, 5, 900),
    }


def _act(program: Program, about: Parameters) -> None:
    files = program.files([f"{program.seat.folder}/state.{rank:05d}" for rank in range(program.nprocs)])
    program.open(files)
    for _ in range(about["dumps"]):
        program.compute(about["compute_seconds"])
        program.transfer(WRITE, files, 0, _REQUEST_BYTES, about["requests"])
        program.barrier()
        program.bursts[WRITE] += 1
    program.close(files)


ARCHETYPE = Archetype(
    weight=0.04,
    exe=("montecarlo", "sa_opt"),
    draw=_draw,
    act=_act,
    truth=lambda _: Truth(frozenset({"rewrites"})),
    mpi_bytes_per_second=6_000_000,
)
