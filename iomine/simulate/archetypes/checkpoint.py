"""Checkpointing to one shared file, as it should be.

All ranks read the restart file once, compute, and write a new shared file at every dump: each its own contiguous part, in
aligned requests of some MiB, over as many stripes as the ranks need. It shows no pattern, and no trigger should fire on
its requests. Gone bad, after a change of its buffer, it writes the same in pieces of 64 KiB: small and misaligned writes.
"""

import numpy as np

from iomine.schema.ops import READ, WRITE
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed, ranks, varied
from iomine.simulate.program import Program
from iomine.units import MIB

_REQUEST_BYTES = 4 * MIB


def _draw(rng: np.random.Generator) -> Parameters:
    nprocs = ranks(rng, 16, 4, 2048)
    return {
        "nprocs": nprocs,
        "request_bytes": _REQUEST_BYTES,
        "rank_bytes": 4 * MIB * long_tailed(rng, 8, 1.0, 2, 128),
        "dumps": long_tailed(rng, 4, 0.6, 2, 20),
        "compute_seconds": long_tailed(rng, 90, 0.8, 10, 1800),
        "stripes": min(32, max(4, 1 << (nprocs // 16).bit_length())),
    }


def _act(program: Program, about: Parameters) -> None:
    part, request = about["rank_bytes"], about["request_bytes"]
    dumps = [f"{program.seat.folder}/chk.{n:04d}" for n in range(varied(program.rng, about["dumps"]))]
    restart = f"{program.seat.project}/restart.chk"
    for op, path in ((READ, restart), *((WRITE, dump) for dump in dumps)):
        if op == WRITE:
            program.compute(about["compute_seconds"])
        file = program.files([path], about["stripes"])
        program.open(file)
        program.transfer(op, file, program.ranks * part, request, part // request)
        program.close(file)
        program.barrier()
        program.bursts[op] += 1


def _truth(about: Parameters) -> Truth:
    is_small = about["request_bytes"] < MIB
    # All of its reads, and so much of its time, are small too.
    return Truth(frozenset({"small_reads", "small_writes", "misaligned"} if is_small else ()))


ARCHETYPE = Archetype(
    weight=0.2,
    exe=("lbm3d", "gyro", "nek", "chombo"),
    draw=_draw,
    act=_act,
    truth=_truth,
    ill={"request_bytes": 65_536},
    mpi_bytes_per_second=20_000_000,
)
