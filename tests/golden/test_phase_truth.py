"""Phases on workloads of which it is known in how many bursts they read and write."""

from pathlib import Path

import pytest
from phase_truth import PAGE, Counted, counted, page


@pytest.fixture(scope="module")
def found(shared_data: Path) -> list[Counted]:
    """What was counted in every way."""
    return list(counted())


def test_phases_are_counted_right(found: list[Counted]) -> None:
    """All but three workloads of 89 have as many write and read phases in their trace as they were made with.

    One has a rank that is late, and two write to a buffer of their own, which reaches the file system more rarely.
    """
    traced = [each for each in found if each.way == "trace"]
    assert len(traced) >= 89
    missed = {each.workload for each in traced if not each.is_right}
    assert missed <= {"s040_ckpt_late_rank2", "s102_btio_epio_S_4", "s109_btio_epio_W_16"}


def test_bursts_of_a_rank_bear_a_late_one(found: list[Counted]) -> None:
    """A rank that is late makes two phases of one, and each rank has as many bursts as the program has phases."""
    (late,) = (each for each in found if each.way == "trace" and each.workload.startswith("s040_"))
    assert (10, 0) == late.got
    assert late.known == late.bursts == (5, 0)


def test_heat_maps_show_what_they_can(found: list[Counted]) -> None:
    """So have nineteen of twenty in their heat maps, of those whose gaps are two bins long or more; most are."""
    mapped = [each.is_right for each in found if each.way == "heat maps" and each.is_shown]
    assert len(mapped) >= 75
    assert sum(mapped) / len(mapped) >= 0.95


def test_the_table_is_what_came_out(found: list[Counted]) -> None:
    """docs/phases.md says what came out; `python tests/phase_truth.py` writes it anew."""
    assert page(found) == PAGE.read_text()
