"""Bad links of simulated facilities are found, and the runs that they slowed."""

import re

import pytest
from fabric_truth import PAGE, Found, found_in

pytestmark = pytest.mark.site


def rows_of_page() -> list[Found]:
    """The rows of the page's table."""
    lines = PAGE.read_text().splitlines()
    return [Found(*map(int, line.strip("| ").split(" | "))) for line in lines if re.match(r"\| \d", line)]


def test_a_facility_is_as_the_page_has_it() -> None:
    """The page's row of a facility is what comes out."""
    rows = rows_of_page()
    # One with a victim, of which there are few.
    expected = next(row for row in rows if row.victims)
    assert expected == found_in(expected.seed)


def test_links_are_named_and_verdicts_are_right() -> None:
    """The degraded link always, victims with precision and recall of at least 0.95, the shared uplink in nine of ten."""
    rows = rows_of_page()
    assert len(rows) == 20
    assert all(row.link_first for row in rows)
    victims, found_, verdicts, right, named = (
        sum(getattr(row, name) for row in rows)
        for name in ("victims", "victims_found", "verdicts", "right_verdicts", "uplink_named")
    )
    assert found_ >= 0.95 * victims > 0
    assert right >= 0.95 * verdicts > 0
    assert named >= 0.9 * len(rows)
