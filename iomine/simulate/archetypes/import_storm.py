"""A Python program starts on all ranks at once.

Each rank looks up, opens and reads every module that it imports: the same few hundred small files, all within seconds. Reads
are small and each byte is read by every rank, metadata calls outnumber reads, and ten thousand of them are a storm. Whether
what other ranks have read counts as read again depends on whether the log has a trace, so nothing is claimed of that.
"""

import numpy as np

from iomine.schema.ops import READ
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed
from iomine.simulate.program import Program

_STATS = 2
_STORM_CALLS = 10_000


def _draw(rng: np.random.Generator) -> Parameters:
    nprocs = int(rng.choice([4, 4, 8, 8, 16, 32]))
    return {
        "nprocs": nprocs,
        "modules": long_tailed(rng, 90, 0.5, 50, min(900, 10_000 // nprocs)),
        "compute_seconds": long_tailed(rng, 120, 1.0, 5, 3600),
    }


def _act(program: Program, about: Parameters) -> None:
    count = about["modules"]
    files = program.files([f"{program.seat.project}/env/lib/python3.12/site-packages/m{n:04d}.pyc" for n in range(count)])
    sizes = np.clip(np.random.default_rng(count).lognormal(9.3, 1.0, count), 200, 900_000).astype(np.int64)
    everyone = np.repeat(program.ranks, count)
    program.visit(READ, np.tile(files, program.nprocs), np.tile(sizes, program.nprocs), ranks=everyone, stats=_STATS)
    program.barrier()
    program.bursts[READ] += 1
    program.compute(about["compute_seconds"])


def _truth(about: Parameters) -> Truth:
    patterns = {"small_reads", "metadata_calls"}
    if (1 + _STATS) * about["nprocs"] * about["modules"] > _STORM_CALLS:
        patterns.add("metadata_storm")
    return Truth(frozenset(patterns), frozenset({"rereads"}))


ARCHETYPE = Archetype(
    weight=0.06,
    exe=("python3 -m analysis", "python3 sweep.py", "python3 md_train.py"),
    draw=_draw,
    act=_act,
    truth=_truth,
    mpi_bytes_per_second=4_000_000,
)
