"""What of a trace is highlighted for findings."""

import pytest

from iomine.report import highlights
from iomine.report.facts import Facts
from iomine.report.highlights import highlights_of
from iomine.triggers import TRIGGERS


def test_small_is_what_the_log_was_judged_with() -> None:
    """A site may call other requests small than we do, and its reports show those."""
    finding = {"code": "POSIX-101", "finding": "Small.", "metrics": {"small_read_bytes": 4096}}
    (found,) = highlights_of(Facts({}, findings=[finding]))
    assert (4096, ["posix"], ["read"]) == (found.length_bytes_below, found.layers, found.ops)


@pytest.mark.parametrize("code", list(highlights._ABOUT))
def test_what_a_highlight_asks_for_is_told(code: str) -> None:
    """A metric that the finding does not come with would leave it without its highlight for ever."""
    assert set(highlights._named(highlights._ABOUT[code])) <= set(TRIGGERS[code].told)
