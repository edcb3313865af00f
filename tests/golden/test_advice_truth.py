"""Followed advice is recognised in simulated facilities; docs/advice_truth.md is about twenty."""

import re

import pytest
from advice_truth import PAGE

pytestmark = pytest.mark.site


def test_the_page_adds_up() -> None:
    """The page's text follows from its table: at least 18 of 20 followers are recognised, no others, none without mails."""
    text = PAGE.read_text()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| \d", line)]
    assert 20 == len(rows)
    gone = sum(int(row[4]) > 0 for row in rows)
    assert f"that are `gone` in `advice_outcomes`: {gone} of 20." in text
    assert gone >= 18
    assert f"{sum(int(row[7]) for row in rows)} of {sum(int(row[6]) for row in rows)} findings that mails listed" in text
    assert {"0"} == {row[-1] for row in rows}
