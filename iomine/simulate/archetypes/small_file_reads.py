"""Training reads: a data set with a file for each sample.

Every rank looks up, opens, reads whole and closes the samples of its shard, epoch after epoch. Reads are small, and two
metadata calls go with each, which are a pattern from a hundred on; from the second epoch on all bytes are read again. More than
a thousand samples are the pattern small_files, and where the directory stripes its files wide, samples are overstriped.
"""

import numpy as np

from iomine.schema.ops import READ
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed
from iomine.simulate.program import Program
from iomine.units import MIB

_MANY = 1000
_FEW_CALLS = 99
_MANY_CALLS = 10_000
_MANY_STRIPED = 100
_WIDE = 8


def _draw(rng: np.random.Generator) -> Parameters:
    nprocs = int(rng.choice([1, 4, 4, 8, 8, 16, 32]))
    return {
        "nprocs": nprocs,
        "samples": nprocs * long_tailed(rng, 450 / (nprocs + 8), 0.8, 30, 1800 // nprocs),
        "epochs": int(rng.integers(1, 4)),
        "median_bytes": long_tailed(rng, 90_000, 0.5, 5_000, 200_000),
        "step_seconds": long_tailed(rng, 40, 0.8, 5, 600),
        "stripes": _WIDE if rng.random() < 0.3 else 1,  # noqa: PLR2004  a share of sites' directories
    }


def _act(program: Program, about: Parameters) -> None:
    samples = about["samples"]
    files = program.files([f"{program.seat.project}/train/{n // 1000:03d}/{n:07d}.npy" for n in range(samples)], about["stripes"])
    sizes = np.clip(about["median_bytes"] * np.random.default_rng(samples).lognormal(0, 0.5, samples), 512, MIB - 1)
    shard = np.arange(samples) % program.nprocs
    for _ in range(about["epochs"]):
        program.visit(READ, files, sizes.astype(np.int64), ranks=shard, stats=1)
        program.barrier()
        program.bursts[READ] += 1
        program.compute(about["step_seconds"])


def _truth(about: Parameters) -> Truth:
    patterns = {"small_reads"}
    calls = 2 * about["samples"] * about["epochs"]
    if calls > _FEW_CALLS:
        patterns.add("metadata_calls")
    if about["epochs"] > 1:
        patterns.add("rereads")
    if about["samples"] > _MANY:
        patterns.add("small_files")
    if about["stripes"] == _WIDE and about["samples"] > _MANY_STRIPED:
        patterns.add("overstriped")
    near = {"unbalanced_ranks"}
    if calls > _MANY_CALLS:
        near.add("metadata_storm")
    if about["samples"] > _MANY:
        # Each sample is one rank's alone, though none of them was made for it.
        near.add("file_per_process")
    return Truth(frozenset(patterns), frozenset(near))


ARCHETYPE = Archetype(
    weight=0.09,
    exe=("python3 train.py", "torchrun finetune.py"),
    draw=_draw,
    act=_act,
    truth=_truth,
    mpi_bytes_per_second=5_000_000,
)
