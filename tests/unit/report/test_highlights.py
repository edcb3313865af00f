"""What of a trace is highlighted for findings."""

import pytest

from iomine.report.facts import Facts
from iomine.report.highlights import highlights_of
from iomine.triggers import TRIGGERS


def test_small_is_what_the_log_was_judged_with() -> None:
    """A site may call other requests small than we do, and its reports show those."""
    finding = {"code": "POSIX-101", "finding": "Small.", "metrics": {"small_read_bytes": 4096}}
    (found,) = highlights_of(Facts({}, findings=[finding]))
    assert (4096, ["posix"], ["read"]) == (found.length_bytes_below, found.layers, found.ops)


@pytest.mark.parametrize("code", [code for code, trigger in TRIGGERS.items() if trigger.traced])
def test_what_a_trigger_says_of_traces_is_highlighted(code: str) -> None:
    """A finding that comes with all that its trigger names has a highlight, and one that lacks some of it has none."""
    about = TRIGGERS[code].traced
    finding = {"code": code, "finding": "Something.", "metrics": dict.fromkeys(about.named, 7)}
    (found,) = highlights_of(Facts({}, findings=[finding]))
    assert (code, [about.layer] if about.layer else None) == (found.code, found.layers)
    for name in about.named:
        assert [] == highlights_of(Facts({}, findings=[finding | {"metrics": finding["metrics"] | {name: None}}]))


def test_a_code_of_another_release_has_no_highlight() -> None:
    """A warehouse may hold findings of triggers that are gone."""
    assert [] == highlights_of(Facts({}, findings=[{"code": "POSIX-999", "finding": "Old.", "metrics": {}}]))
