"""A shared HDF5 file without collective transfers.

Every rank writes its rows of each dataset by independent MPI-IO calls, a row at a time, from wherever HDF5's header ends: so
writes are independent, small, and misaligned beneath MPI-IO. On one stripe, as directories have it by default, a large
file has a single OST for all of its ranks.
"""

import numpy as np

from iomine.schema.ops import WRITE
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed, ranks, varied
from iomine.simulate.program import Program
from iomine.units import GIB

_HEADER_BYTES = 2048
# Offsets and lengths of what rank 0 writes into the header.
_METADATA = np.array([[0, 96, 136, 680, 800], [96, 40, 544, 120, 272]])
_RANKS_PER_OST = 64
_LAYERS = ("MPI-IO", "POSIX")


def _draw(rng: np.random.Generator) -> Parameters:
    return {
        "nprocs": ranks(rng, 16, 4, 512),
        "row_bytes": 8 * int(rng.integers(5_001, 120_000)),
        "rows": long_tailed(rng, 8, 0.7, 4, 64),
        "datasets": int(rng.integers(1, 4)),
        "dumps": int(rng.integers(1, 4)),
        "compute_seconds": long_tailed(rng, 120, 0.8, 10, 1800),
        "stripes": int(rng.choice([1, 4, 8])),
    }


def _act(program: Program, about: Parameters) -> None:
    part = about["rows"] * about["row_bytes"]
    for dump in range(varied(program.rng, about["dumps"], 0.2)):
        program.compute(about["compute_seconds"])
        path = f"{program.seat.folder}/fields.{dump:03d}.h5"
        file = int(program.files([path], about["stripes"])[0])
        program.open(file, layers=("H5F", *_LAYERS), is_collective=True)
        for number in range(about["datasets"]):
            dataset = program.dataset(file, f"{path}:/field{number}")
            program.open(dataset, layers=("H5D",))
            begin = _HEADER_BYTES + number * part * program.nprocs
            program.transfer(WRITE, file, begin + program.ranks * part, about["row_bytes"], about["rows"], layers=_LAYERS)
            program.tape.repeat_last("H5D", dataset, begin)
        program.transfer(WRITE, file, *_METADATA, ranks=np.zeros(_METADATA.shape[1], np.int64), layers=_LAYERS)
        program.close(file, layers=("H5F", *_LAYERS))
        program.barrier()
        program.bursts[WRITE] += 1


def _truth(about: Parameters) -> Truth:
    patterns = {"independent_writes", "small_writes", "misaligned_beneath_mpiio"}
    if about["datasets"] * about["nprocs"] * about["rows"] * about["row_bytes"] > GIB:
        if about["stripes"] == 1:
            patterns.add("single_ost")
        if about["nprocs"] / about["stripes"] > _RANKS_PER_OST:
            patterns.add("few_osts")
    return Truth(frozenset(patterns))


ARCHETYPE = Archetype(
    weight=0.1,
    exe=("flash4", "enzo.exe", "castro3d"),
    draw=_draw,
    act=_act,
    truth=_truth,
    mpi_bytes_per_second=10_000_000,
)
