"""Periods on workloads of which it is known when each burst began."""

from pathlib import Path

import pytest
from period_truth import PAGE, Reported, page, reported


@pytest.fixture(scope="module")
def found(shared_data: Path) -> list[Reported]:
    """What was found in every way."""
    return list(reported())


@pytest.mark.parametrize("source", ["trace", "heat maps"])
def test_periods_are_found_right(found: list[Reported], source: str) -> None:
    """Nineteen of twenty periods that are found are within 5% of the known one, and most that there are, are found."""
    errors = [each.error for each in found if each.way == source and each.is_periodic and each.known]
    right = [error for error in errors if error is not None]
    assert len(errors) > 70
    assert len(right) / len(errors) >= 0.85
    assert sum(error <= 0.05 for error in right) / len(right) >= 0.95


def test_both_together_are_better(found: list[Reported]) -> None:
    """In heat maps, what is found is right more often than by either method alone."""

    def right(way: str) -> int:
        return sum(each.is_periodic and (each.error or 0) <= 0.05 and each.got is not None for each in found if each.way == way)

    alone = max(right(f"heat maps, {name} alone") for name in ("starts", "spectrum"))
    assert right("heat maps") > alone


def test_the_table_is_what_came_out(found: list[Reported]) -> None:
    """docs/periods.md says what came out; `python tests/period_truth.py` writes it anew."""
    assert page(found) == PAGE.read_text()
