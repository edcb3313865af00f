"""A monitored run: a measurement library keeps events in memory and writes them when all ranks' buffers are full.

Ranks do alike, so their buffers fill at the same time, and all of them flush at once, each to a file of its own, which stays
open until the end. The first flush creates all files, the others append. With more than a thousand ranks that is the
pattern create_storm, a second of thousands of creates in a run of an hour, and file_per_process. Nobody runs it unless it is
asked for by name, so that facilities of other kinds are the same bytes with it as without.
"""

from itertools import pairwise

import numpy as np

from iomine.schema.ops import WRITE
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed, ranks
from iomine.simulate.program import Program
from iomine.units import MIB

# What a library hands to the file system at once.
_REQUEST_BYTES = 4 * MIB
_FEW_REQUESTS = 4
_MANY = 1000
_MANY_CALLS = 10_000


def _draw(rng: np.random.Generator) -> Parameters:
    flushes = long_tailed(rng, 4, 0.5, 2, 12)
    return {
        "nprocs": ranks(rng, 256, 16, 4096),
        # Of all flushes together.
        "rank_bytes": flushes * _REQUEST_BYTES * long_tailed(rng, 4, 0.8, 2, 32),
        "flushes": flushes,
        "compute_seconds": long_tailed(rng, 300, 0.6, 30, 1800),
    }


def _act(program: Program, about: Parameters) -> None:
    files = program.files([f"{program.seat.folder}/traces/{rank}.evt" for rank in range(program.nprocs)])
    edges = [about["rank_bytes"] * flush // about["flushes"] for flush in range(about["flushes"] + 1)]
    for flush, (begin, end) in enumerate(pairwise(edges)):
        program.compute(about["compute_seconds"])
        if not flush:
            program.open(files)
        whole, rest = divmod(end - begin, _REQUEST_BYTES)
        if whole:
            program.transfer(WRITE, files, begin, _REQUEST_BYTES, whole)
        if rest:
            program.transfer(WRITE, files, end - rest, rest)
        program.barrier()
        program.bursts[WRITE] += 1
    program.close(files)


def _truth(about: Parameters) -> Truth:
    has_many = about["nprocs"] > _MANY
    patterns = {"create_storm", "file_per_process"} if has_many else set()
    if has_many and about["rank_bytes"] < MIB:
        patterns.add("small_files")
    near = set()
    if about["rank_bytes"] % (about["flushes"] * _REQUEST_BYTES):
        near |= {"small_writes", "misaligned"}
    if about["rank_bytes"] < _FEW_REQUESTS * _REQUEST_BYTES:
        near.add("metadata_calls")
    if about["nprocs"] > _MANY_CALLS:
        # A mean from the first open to the last close, which may be one flush or an hour.
        near.add("metadata_storm")
    return Truth(frozenset(patterns), frozenset(near))


ARCHETYPE = Archetype(
    weight=0,
    exe=("s3d.x", "pepc.traced"),
    draw=_draw,
    act=_act,
    truth=_truth,
    mpi_bytes_per_second=8_000_000,
)
