"""Runs that others slowed, and who slowed them, are found in a simulated facility; docs/system_state_truth.md is about twenty."""

import re

import pytest
from system_state_truth import PAGE, Reported, reported

pytestmark = pytest.mark.site

_SEED = 0


def rows_of_page() -> list[Reported]:
    """The table's rows, as far as it has them."""
    rows = [
        [int(cell) for cell in line.strip("| ").split(" | ")]
        for line in PAGE.read_text().splitlines()
        if re.match(r"\| \d", line)
    ]
    return [Reported(*cells[:5], 2, *cells[5:]) for cells in rows]


def test_victims_and_culprits_of_a_facility_are_named():
    """At least nine of ten victims are found, and nine of ten that are found are victims; both incidents stand first."""
    (row,) = reported([_SEED])
    assert (2, 2) == (row.incidents, row.incidents_found)
    assert row.victims > 0
    assert row.found >= 0.9 * row.victims
    assert row.found >= 0.9 * row.excused
    assert row.named == row.found


def test_the_page_adds_up():
    """What the page says of all facilities follows from its table, which has this one's row."""
    rows, text = rows_of_page(), PAGE.read_text()
    found, victims, excused = (sum(getattr(row, name) for row in rows) for name in ("found", "victims", "excused"))
    assert f"recall {found / victims:.2f} ({found} of {victims}), precision {found / excused:.2f} ({found} of {excused})" in text
    assert _SEED in [row.seed for row in rows]
