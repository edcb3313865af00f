"""Analysis that picks records at random from a large shared file.

Each rank reads records of some KiB from wherever its index points, at multiples of 4 KiB. Half of the reads go backwards,
all are small, and few begin at a stripe's block.
"""

import numpy as np

from iomine.schema.ops import READ
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed, ranks, varied
from iomine.simulate.program import Program
from iomine.units import GIB

_BLOCK_BYTES = 4096


def _draw(rng: np.random.Generator) -> Parameters:
    return {
        "nprocs": ranks(rng, 8, 4, 64),
        "reads": long_tailed(rng, 60, 0.5, 30, 200),
        "record_bytes": int(rng.choice([16_384, 65_536, 262_144])),
        "file_bytes": GIB * long_tailed(rng, 64, 0.6, 16, 512),
        "compute_seconds": long_tailed(rng, 60, 0.8, 5, 900),
    }


def _act(program: Program, about: Parameters) -> None:
    file = program.files([f"{program.seat.project}/catalogue.db"], 8)
    program.open(file)
    program.compute(about["compute_seconds"])
    reads = varied(program.rng, about["reads"])
    who = np.repeat(program.ranks, reads)
    blocks = program.rng.integers(1, (about["file_bytes"] - about["record_bytes"]) // _BLOCK_BYTES, len(who))
    program.transfer(READ, file, blocks * _BLOCK_BYTES, about["record_bytes"], ranks=who)
    program.close(file)
    program.bursts[READ] += 1


ARCHETYPE = Archetype(
    weight=0.06,
    exe=("halo_finder", "blastn", "dbscan"),
    draw=_draw,
    act=_act,
    truth=lambda _: Truth(frozenset({"random_reads", "small_reads", "misaligned"})),
    mpi_bytes_per_second=1_000_000,
)
