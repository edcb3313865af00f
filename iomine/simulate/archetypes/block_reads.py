"""Analysis that reads its input in large blocks, as it should be.

Each rank reads its own contiguous part of a shared file, striped wide, once, in aligned requests of 8 MiB. No pattern.
"""

import numpy as np

from iomine.schema.ops import READ
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed, ranks
from iomine.simulate.program import Program
from iomine.units import MIB

_REQUEST_BYTES = 8 * MIB


def _draw(rng: np.random.Generator) -> Parameters:
    return {
        "nprocs": ranks(rng, 16, 1, 512),
        "requests": long_tailed(rng, 16, 1.0, 2, 256),
        "inputs": int(rng.integers(1, 5)),
        "compute_seconds": long_tailed(rng, 60, 0.8, 5, 900),
    }


def _act(program: Program, about: Parameters) -> None:
    for number in range(about["inputs"]):
        file = program.files([f"{program.seat.project}/snapshot.{number:03d}"], 16)
        program.open(file)
        program.transfer(READ, file, program.ranks * about["requests"] * _REQUEST_BYTES, _REQUEST_BYTES, about["requests"])
        program.close(file)
        program.barrier()
        program.bursts[READ] += 1
        program.compute(about["compute_seconds"])


ARCHETYPE = Archetype(
    weight=0.08,
    exe=("visit_engine", "pyclaw_reduce", "spectrum"),
    draw=_draw,
    act=_act,
    truth=lambda _: Truth(frozenset()),
    mpi_bytes_per_second=6_000_000,
)
