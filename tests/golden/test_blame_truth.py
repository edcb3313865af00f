"""Verdicts on the logs of twenty facilities, as docs/blame_truth.md shows them."""

import pytest
from blame_truth import KINDS, LINK, PAGE, VERDICTS, counts_of_page

pytestmark = pytest.mark.site


def test_no_victim_of_the_link_is_blamed_on_its_application():
    """Of the logs that the degraded link made slow none gets `application`, and most get `unexplained`."""
    counted, _ = counts_of_page(PAGE.read_text())
    link = {verdict: counted[-1, LINK, verdict] for verdict in VERDICTS}
    assert link["application"] == 0
    assert link["unexplained"] > 0.5 * sum(link.values())


def test_the_page_adds_up():
    """All kinds of changes are there, twenty facilities are, and what is said of the link by facility is its row of the table."""
    counted, by_seed = counts_of_page(PAGE.read_text())
    assert {(-1, kind, verdict) for kind in KINDS for verdict in VERDICTS} == set(counted)
    assert list(range(20)) == sorted({seed for seed, *_ in by_seed})
    for verdict in VERDICTS:
        assert counted[-1, LINK, verdict] == sum(count for (_, _, of), count in by_seed.items() if of == verdict)
