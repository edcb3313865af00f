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
    traced = [each.is_right for each in found if each.way == "trace"]
    assert len(traced) > 80
    assert sum(traced) / len(traced) >= 0.9


def test_heat_maps_show_what_they_can(found: list[Counted]) -> None:
    """So have nineteen of twenty in their heat maps, of those whose gaps are two bins long or more; most are."""
    mapped = [each.is_right for each in found if each.way == "heat maps" and each.is_shown]
    assert len(mapped) >= 75
    assert sum(mapped) / len(mapped) >= 0.95


def test_the_table_is_what_came_out(found: list[Counted]) -> None:
    """docs/phases.md says what came out; `python tests/phase_truth.py` writes it anew."""
    assert page(found) == PAGE.read_text()
