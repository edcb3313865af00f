"""Periods on workloads of which it is known when each burst began."""

from pathlib import Path

import pytest
from period_truth import PAGE, Told, page, told


@pytest.fixture(scope="module")
def found(shared_data: Path) -> list[Told]:
    """What was told in every way."""
    return list(told())


@pytest.mark.parametrize("source", ["trace", "heat maps"])
def test_periods_are_told_right(found: list[Told], source: str) -> None:
    """Nineteen of twenty periods that are told are within 5 % of the known one, and most that there are, are told."""
    errors = [each.error for each in found if each.way == source and each.is_periodic and each.known]
    right = [error for error in errors if error is not None]
    assert len(errors) > 70
    assert len(right) / len(errors) >= 0.85
    assert sum(error <= 0.05 for error in right) / len(right) >= 0.95


def test_both_together_are_better(found: list[Told]) -> None:
    """In heat maps, what is told is right more often than by either method alone."""

    def right(way: str) -> int:
        return sum(each.is_periodic and (each.error or 0) <= 0.05 and each.got is not None for each in found if each.way == way)

    alone = max(right(f"heat maps, {name} alone") for name in ("starts", "spectrum"))
    assert right("heat maps") > alone


def test_the_table_is_what_came_out(found: list[Told]) -> None:
    """docs/periods.md says what came out; `python tests/period_truth.py` writes it anew."""
    assert page(found) == PAGE.read_text()
