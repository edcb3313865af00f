"""Time in I/O of real logs is that of the layer that was called, as PyDarshan's counters have it."""

import pytest
from io_time import PAGE, page, shares
from shared import NOT_HERE, darshan_rows

pytestmark = pytest.mark.skipif(not darshan_rows(), reason=NOT_HERE)


def test_share_of_io_is_that_of_the_layer_that_was_called() -> None:
    """Of each log with MPI-IO whose header is sound, the share of the run is that of PyDarshan's counters, within a hundredth."""
    wrong = [
        share
        for share in shares()
        if share.is_sound and (share.got is None or abs(share.got - share.expected) > 0.01 * share.expected)
    ]
    assert [] == wrong
    assert 59 <= len(shares())


def test_no_share_is_above_the_run() -> None:
    """No log spent more than its run in I/O."""
    assert [] == [share for share in shares() if share.got is not None and not 0 <= share.got <= 1]


def test_page_says_so() -> None:
    """docs/io_time.md says what came out; `python tests/io_time.py` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page()
