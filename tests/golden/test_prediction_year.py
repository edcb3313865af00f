"""A year of benchmark runs, predicted from IOR: what the page says is what comes out."""

from statistics import median

import pytest
from prediction_year import PAGE, applications, fastest, page, plain, with_own_k
from shared import NOT_HERE
from tokio_year import YEAR

pytestmark = pytest.mark.skipif(not YEAR.exists(), reason=NOT_HERE)


def test_hacc_io_is_predicted_as_it_stands() -> None:
    """IOR with a file per process is what HACC-IO does."""
    for name in ("hacc_io_read", "hacc_io_write"):
        assert median(plain(name)) <= 0.06


def test_k_makes_up_for_what_ior_is_not_like() -> None:
    """With the median of the runs before, each program is within a tenth."""
    assert {"dbscan_read", "hacc_io_read", "hacc_io_write", "vpicio_uni"} == set(applications())
    for name in applications():
        assert median(with_own_k(name)) <= 0.1


def test_the_fastest_is_found_better_than_by_chance() -> None:
    """Of days on which all three file systems were measured."""
    for name in applications():
        found = fastest(name)
        assert found.days
        assert found.right > found.days / 3


def test_page_says_so() -> None:
    """docs/prediction_year.md says what came out; `python tests/prediction_year.py` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page()
