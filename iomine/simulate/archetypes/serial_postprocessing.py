"""One process reads results through stdio and writes a table.

It reads large files through the buffers of `fread`, 64 KiB at a time, and prints a line for each of its results. Data go
through stdio, and reads are small.
"""

import numpy as np

from iomine.schema.ops import READ, WRITE
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed, varied
from iomine.simulate.program import Program

_LINE_BYTES = 81


def _draw(rng: np.random.Generator) -> Parameters:
    return {
        "nprocs": 1,
        "inputs": long_tailed(rng, 3, 0.7, 1, 20),
        "buffer_bytes": int(rng.choice([4096, 16_384, 65_536])),
        "buffers": long_tailed(rng, 4000, 1.0, 500, 60_000),
        "lines": long_tailed(rng, 3000, 1.0, 100, 100_000),
        "compute_seconds": long_tailed(rng, 30, 0.8, 2, 600),
    }


def _act(program: Program, about: Parameters) -> None:
    for number in range(about["inputs"]):
        file = program.files([f"{program.seat.project}/results/run.{number:03d}.dat"])
        program.stream(READ, file, about["buffer_bytes"], varied(program.rng, about["buffers"]))
        program.bursts[READ] += 1
        program.compute(about["compute_seconds"])
    program.stream(WRITE, program.files([f"{program.seat.folder}/table.txt"]), _LINE_BYTES, varied(program.rng, about["lines"]))
    program.bursts[WRITE] += 1


ARCHETYPE = Archetype(
    weight=0.1,
    exe=("postproc", "awk_stats", "ncdump_tool"),
    draw=_draw,
    act=_act,
    truth=lambda _: Truth(frozenset({"data_through_stdio", "small_reads"}), frozenset({"small_writes"})),
)
