"""A shared HDF5 file with collective transfers, aligned to stripes.

Ranks hand their parts of each dataset to MPI-IO in collective calls, and few aggregators move them in aligned buffers of
4 MiB. Beside them stand a few small metadata writes of rank 0. Nothing should fire; nothing is claimed of metadata calls,
since all ranks open the file and few requests are left for them to be held against.
"""

import numpy as np

from iomine.schema.ops import READ, WRITE
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed, ranks, varied
from iomine.simulate.program import Program
from iomine.units import MIB

# Offsets and lengths of what rank 0 does in the header.
_METADATA = np.array([[0, 96, 680], [96, 544, 272]])
_LAYERS = ("MPI-IO", "POSIX")
_LEAST_BYTES = 256 * MIB


def _draw(rng: np.random.Generator) -> Parameters:
    nprocs = ranks(rng, 20, 8, 512)
    return {
        "nprocs": nprocs,
        "part_bytes": max(-(-_LEAST_BYTES // nprocs), 8 * 4096 * long_tailed(rng, 128, 0.8, 8, 2048)),
        "datasets": int(rng.integers(1, 4)),
        "dumps": long_tailed(rng, 2, 0.6, 1, 8),
        "compute_seconds": long_tailed(rng, 120, 0.8, 10, 1800),
        "stripes": 8 if nprocs <= 256 else 16,  # noqa: PLR2004  what centres advise
    }


def _act(program: Program, about: Parameters) -> None:
    aggregators = program.ranks[:: max(1, program.nprocs // about["stripes"])][: about["stripes"]]
    steps = [
        (READ, f"{program.seat.project}/input.h5"),
        *((WRITE, f"{program.seat.folder}/state.{n:03d}.h5") for n in range(varied(program.rng, about["dumps"]))),
    ]
    for op, path in steps:
        if op == WRITE:
            program.compute(about["compute_seconds"])
        file = int(program.files([path], about["stripes"])[0])
        program.open(file, layers=("H5F", *_LAYERS), is_collective=True)
        for number in range(about["datasets"]):
            dataset = program.dataset(file, f"{path}:/state{number}")
            program.open(dataset, layers=("H5D",))
            begin = MIB + number * -(-about["part_bytes"] * program.nprocs // MIB) * MIB
            program.collective(op, file, begin, about["part_bytes"], aggregators=aggregators)
            program.tape.repeat_last("H5D", dataset, begin)
        program.transfer(op, file, *_METADATA, ranks=np.zeros(_METADATA.shape[1], np.int64), layers=_LAYERS)
        program.close(file, layers=("H5F", *_LAYERS))
        program.barrier()
        program.bursts[op] += 1


ARCHETYPE = Archetype(
    weight=0.12,
    exe=("warpx", "cam6", "wrf.exe"),
    draw=_draw,
    act=_act,
    truth=lambda _: Truth(frozenset(), frozenset({"metadata_calls"})),
    mpi_bytes_per_second=15_000_000,
)
