"""Damaged inputs of every kind, through all of iomine beside sound ones: as many as fit into a minute."""

from pathlib import Path

import pytest
from sweep_mutations import Chain, fuzzed
from sweeping import judge_by_one

pytestmark = pytest.mark.proof

_COUNT = 60
# Inputs that found a fault once: doubts that doubles round, a report of a file with a first read and no last, a flag that is
# none, a job record without its end; requests beyond all time in phases, DAOS times that are no numbers, syncs that take
# longer than all writes, a run of unknown ranks in a report, more consecutive requests than requests, requests of no time in
# a table of sizes, POSIX requests after the last phase of MPI-IO, a flag of 2^62, requests that end before they start, heat
# maps of bytes below zero, rates below zero, files that were written in 1e-310 s.
_FOUND = (30079, 30087, 30124, 30039, 30185, 729, 2126, 2407, 2713, 2739, 2874, 4386, 8442, 14267, 16511, 16836, 16856)


def test_damaged_inputs_cost_themselves_alone(
    scheduler: str, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is lost, none changes a row of a sound log or ends anything, and what cannot be is marked."""
    judge_by_one(monkeypatch)
    numbers = (*range(_COUNT), *_FOUND)
    *_, outcome = fuzzed(numbers, Chain(tmp_path, scheduler), len(numbers))
    assert [] == outcome.faults
    assert len(numbers) == sum(outcome.counts.values())
