"""A file for each process at every dump.

Each rank creates, writes and closes a file of its own, in large aligned requests on one stripe. With more than a thousand
files that is the pattern file_per_process, and with more than a thousand ranks create_storm; with fewer it is as good a way as
any, and nothing should fire.
"""

import numpy as np

from iomine.schema.ops import WRITE
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed, ranks
from iomine.simulate.program import Program
from iomine.units import MIB

_REQUEST_BYTES = 4 * MIB
_MANY = 1000
_LARGE_RATIO = 0.02


def _draw(rng: np.random.Generator) -> Parameters:
    return {
        # Most are small, a few fill a large part of the machine.
        "nprocs": ranks(rng, 1200, 512, 2048) if rng.random() < _LARGE_RATIO else ranks(rng, 16, 4, 512),
        "requests": long_tailed(rng, 12, 0.8, 4, 128),
        "dumps": long_tailed(rng, 1.5, 0.5, 1, 4),
        "compute_seconds": long_tailed(rng, 150, 0.8, 10, 3600),
    }


def _act(program: Program, about: Parameters) -> None:
    for dump in range(about["dumps"]):
        program.compute(about["compute_seconds"])
        files = program.files([f"{program.seat.folder}/out.{dump:03d}.{rank:05d}" for rank in range(program.nprocs)])
        program.open(files)
        program.transfer(WRITE, files, 0, _REQUEST_BYTES, about["requests"])
        program.close(files)
        program.barrier()
        program.bursts[WRITE] += 1


def _truth(about: Parameters) -> Truth:
    patterns = {"file_per_process"} if about["nprocs"] * about["dumps"] > _MANY else set()
    if about["nprocs"] > _MANY:
        # All files of a dump are created at once.
        patterns.add("create_storm")
    return Truth(frozenset(patterns))


ARCHETYPE = Archetype(
    weight=0.1,
    exe=("sw4", "vasp_std", "cp2k.psmp", "openfoam"),
    draw=_draw,
    act=_act,
    truth=_truth,
    mpi_bytes_per_second=12_000_000,
)
