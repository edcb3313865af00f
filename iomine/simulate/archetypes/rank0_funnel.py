"""Rank 0 reads for all, and writes for all.

The input is read by rank 0 and sent to the others, and at every dump rank 0 gathers the output and writes it, in large
requests. Rank 0 reads and writes for all, so the ranks' bytes are as unequal as can be.
"""

import numpy as np

from iomine.schema.ops import READ, WRITE
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed, ranks, varied
from iomine.simulate.program import Program
from iomine.units import MIB

_REQUEST_BYTES = 4 * MIB


def _draw(rng: np.random.Generator) -> Parameters:
    return {
        "nprocs": ranks(rng, 16, 4, 512),
        "input_requests": long_tailed(rng, 40, 0.8, 8, 1000),
        "dump_requests": long_tailed(rng, 24, 0.8, 8, 500),
        "dumps": long_tailed(rng, 3, 0.6, 1, 12),
        "compute_seconds": long_tailed(rng, 100, 0.8, 10, 1800),
    }


def _act(program: Program, about: Parameters) -> None:
    first = program.ranks[:1]
    outputs = [f"{program.seat.folder}/gathered.{n:03d}" for n in range(varied(program.rng, about["dumps"]))]
    steps = [(READ, f"{program.seat.project}/input.bin", about["input_requests"])]
    for op, path, requests in [*steps, *((WRITE, output, about["dump_requests"]) for output in outputs)]:
        if op == WRITE:
            program.compute(about["compute_seconds"])
        file = program.files([path], 4)
        program.open(file, first)
        program.transfer(op, file, 0, _REQUEST_BYTES, requests, ranks=first)
        program.close(file, first)
        program.barrier()
        program.bursts[op] += 1


ARCHETYPE = Archetype(
    weight=0.07,
    exe=("legacy_cfd", "mcnp6", "fvcom"),
    draw=_draw,
    act=_act,
    truth=lambda _: Truth(frozenset({"rank0_reads", "rank0_writes", "unbalanced_ranks"})),
    mpi_bytes_per_second=8_000_000,
)
