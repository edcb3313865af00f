"""Ranks ask again and again whether something has appeared.

Every rank looks up, opens and reads the same few small flag files, thousands of times. Metadata calls outnumber reads, there are
far more of them than one job should make, and the few bytes are read over and over. One such job slows every other whose
folders lie on the same MDT; only incidents bring it.
"""

import numpy as np

from iomine.schema.ops import READ
from iomine.simulate.archetypes.model import Archetype, Parameters, Truth, long_tailed
from iomine.simulate.program import Program

_FLAG_BYTES = 512


def _draw(rng: np.random.Generator) -> Parameters:
    return {"nprocs": 64, "rounds": long_tailed(rng, 8, 0.2, 4, 16), "polls": 2000, "pause_seconds": 10}


def _act(program: Program, about: Parameters) -> None:
    files = program.files([f"{program.seat.project}/flags/rank.{rank:04d}" for rank in range(program.nprocs)])
    for _ in range(about["rounds"]):
        program.poll(files, _FLAG_BYTES, about["polls"])
        program.bursts[READ] += 1
        program.compute(about["pause_seconds"])


ARCHETYPE = Archetype(
    weight=0,
    exe=("wf_manager",),
    draw=_draw,
    act=_act,
    truth=lambda _: Truth(frozenset({"small_reads", "rereads", "metadata_calls", "metadata_storm"})),
)
