"""Phases on workloads of which it is known in how many bursts they read and write."""

from pathlib import Path

import pytest
from phase_truth import PAGE, Counted, counted, page


@pytest.fixture(scope="module")
def found(shared_data: Path) -> list[Counted]:
    """What was counted in every way."""
    return list(counted())


def test_phases_are_counted_right(found: list[Counted]) -> None:
    """At least nine of ten workloads have as many write and read phases in their trace as they were made with."""
    traced = [each.known == each.got for each in found if each.way == "trace"]
    assert len(traced) > 80
    assert sum(traced) / len(traced) >= 0.9


def test_the_table_is_what_came_out(found: list[Counted]) -> None:
    """docs/phases.md says what came out; `python tests/phase_truth.py` writes it anew."""
    assert page(found) == PAGE.read_text()
