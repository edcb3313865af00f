"""What gathering leaves, as predicted and as ROMIO made it of the same programs; the page says what came out."""

import pytest
from forwarding_truth import COSTS, MISSES, PAGE, PAIRS, compared, costs, missed, page, pairs
from shared import NOT_HERE, workloads

pytestmark = pytest.mark.skipif(not workloads(), reason=NOT_HERE)


def test_pairs_are_equal() -> None:
    """A program that was gathered, and one that might have been, leave as many requests, to the byte."""
    assert [pair[4] for pair in PAIRS] == [left for _, _, _, left, *_ in pairs()]
    assert all(seen == (left, mean) for _, _, _, left, mean, _, seen in pairs() if seen)


def test_each_miss_has_its_reason() -> None:
    """Nothing else is missed, and what has a reason is missed."""
    assert {row.log[:4] for row in missed(compared())} == set(MISSES)


def test_costs_of_requests_are_near_the_injected_latency() -> None:
    """Where storage was made to wait it is known how long, and nowhere else."""
    for name, _, cost, reason in costs():
        limits = COSTS[name[:4]]
        assert (cost is None) is (limits is None) is (reason is not None)
        assert limits is None or limits[0] <= cost <= limits[1]
    assert {name[:4] for name, *_ in costs()} == set(COSTS)


def test_page_says_so() -> None:
    """docs/forwarding.md says what came out; `python tests/forwarding_truth.py` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page()
