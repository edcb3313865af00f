"""Ranks take turns over a shared file, by independent MPI-IO calls.

A matrix is stored row by row and each rank has some of its columns, so its pieces lie a row apart: small, independent, and off
the blocks of the file system. Some applications write such a file, some read it.
"""

import numpy as np

from iomine.schema.ops import OPS, READ, WRITE
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed, ranks
from iomine.simulate.program import Program
from iomine.units import GIB

_LAYERS = ("MPI-IO", "POSIX")
_RANKS_PER_OST = 64


def _draw(rng: np.random.Generator) -> Parameters:
    return {
        "nprocs": ranks(rng, 16, 4, 256),
        "piece_bytes": int(rng.choice([32_768, 65_536, 131_072, 262_144])),
        "rows": long_tailed(rng, 64, 0.8, 16, 1024),
        "op": READ if rng.random() < 0.3 else WRITE,  # noqa: PLR2004  a share of the applications
        "dumps": int(rng.integers(1, 4)),
        "compute_seconds": long_tailed(rng, 60, 0.8, 5, 900),
        "stripes": int(rng.choice([1, 8, 8])),
    }


def _act(program: Program, about: Parameters) -> None:
    piece, op = about["piece_bytes"], about["op"]
    for dump in range(about["dumps"]):
        program.compute(about["compute_seconds"])
        folder = program.seat.project if op == READ else program.seat.folder
        file = program.files([f"{folder}/matrix.{dump:03d}"], about["stripes"])
        program.open(file, layers=_LAYERS, is_collective=True)
        offsets = program.ranks * piece
        program.transfer(op, file, offsets, piece, about["rows"], step=piece * program.nprocs, layers=_LAYERS)
        program.close(file, layers=_LAYERS)
        program.barrier()
        program.bursts[op] += 1


def _truth(about: Parameters) -> Truth:
    op = OPS[about["op"]]
    patterns = {f"small_{op}s", f"independent_{op}s", "misaligned_beneath_mpiio"}
    if about["nprocs"] * about["rows"] * about["piece_bytes"] > GIB:
        if about["stripes"] == 1:
            patterns.add("single_ost")
        if about["nprocs"] / about["stripes"] > _RANKS_PER_OST:
            patterns.add("few_osts")
    return Truth(frozenset(patterns))


ARCHETYPE = Archetype(
    weight=0.08,
    exe=("matvec", "ft.C", "spectral"),
    draw=_draw,
    act=_act,
    truth=_truth,
    mpi_bytes_per_second=12_000_000,
)
