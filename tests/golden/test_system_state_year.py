"""Runs of a public year that were slow under high load are blamed on the system more often than others, as the page says."""

import re
from collections import Counter
from datetime import date, timedelta

import pytest
from shared import NOT_HERE
from system_state_year import FULL, LOAD, LOADED, PAGE, REST, SLOW, VERDICTS, Counts, counts, lift, page, total, verdicts
from tokio_year import YEAR, runs

pytestmark = pytest.mark.site

# What a month's verdicts look back to: 30 nights, whose traffic is put together with what was mounted in the 7 before.
_BEFORE = timedelta(days=38)
_FROM, _TO = date(2018, 2, 1), date(2018, 3, 1)


def counts_of_page() -> Counts:
    """The counts by month that the page shows."""
    found: Counts = Counter()
    for section in PAGE.read_text().split("\n## ")[1:]:
        kind = section.split("\n", 1)[0]
        for month, cells in re.findall(r"^\| (\d{4}-\d\d) \| (.*) \|$", section, re.MULTILINE):
            found |= {(month, kind, verdict): int(cell) for verdict, cell in zip(VERDICTS, cells.split(" | "), strict=True)}
    return found


def test_slow_runs_under_high_load_are_blamed_on_the_system():
    """The verdict `system` is more frequent for them than for the rest, and for slow runs by load and by fullness alone."""
    counted = counts_of_page()
    assert total(counted, (LOADED, SLOW, REST), VERDICTS) == 7450
    assert lift(counted, [LOADED], (LOAD, FULL)) > 2
    assert lift(counted, [LOADED, SLOW], [LOAD]) > 2
    assert lift(counted, [LOADED, SLOW], [FULL]) > 2


def test_the_page_follows_from_its_counts():
    """All that the page says follows from the counts that it shows."""
    assert page(counts_of_page()) == PAGE.read_text()


# Some hundred queries, each of which is planned anew.
@pytest.mark.timeout(900)
def test_a_month_is_worked_out_as_the_page_shows():
    """The last month's runs, put through the queries anew, get the verdicts that the page counts."""
    if not YEAR.exists():
        pytest.skip(NOT_HERE)
    found = [run for run in runs(YEAR).to_pylist() if _FROM - _BEFORE <= run["start_at"].date() < _TO]
    nights = [_FROM + timedelta(days=day) for day in range((_TO - _FROM).days)]
    expected = {key: count for key, count in counts_of_page().items() if count and key[0] == f"{_FROM:%Y-%m}"}
    assert expected == dict(counts(verdicts(found, nights)))
