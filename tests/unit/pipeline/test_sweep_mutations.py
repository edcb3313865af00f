"""Damaged inputs of every kind, through all of iomine beside sound ones: as many as fit into a minute."""

from pathlib import Path

import pytest
from sweep_mutations import fuzzed
from sweeping import judge_by_one

pytestmark = pytest.mark.proof

_COUNT = 100


def test_damaged_inputs_cost_themselves_alone(
    scheduler: str, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is lost, none changes a row of a sound log or ends anything, and what cannot be is marked."""
    judge_by_one(monkeypatch)
    outcome = fuzzed(range(_COUNT), tmp_path, scheduler, _COUNT)
    assert [] == outcome.faults
    assert _COUNT == sum(outcome.counts.values())
