"""docs/explorer.md shows each view of DXT Explorer, as a report has it."""

import re
from pathlib import Path

import pytest
from browser import Page, chromium
from explorer_views import LOG, MOST_BYTES, PAGE, VIEWS, look
from one_log import catalog_of, report_page
from shared import NOT_HERE

# Of its own description: each has to have a counterpart.
THEIRS = {
    *("operation", "transfer size", "spatiality", "I/O phases", "OST usage by operation", "OST usage by transfer size"),
    *("rank zero workload", "unbalanced ranks", "stragglers"),
}


def test_each_view_of_dxt_explorer_has_a_row_and_a_small_picture():
    """The page has a row for each view, with a PNG beside it that is small."""
    text = PAGE.read_text(encoding="utf-8")
    assert THEIRS <= {view.theirs for view in VIEWS} == set(re.findall(r"^\| ([^|]+) \| .*png\) \|$", text, re.MULTILINE))
    for path in re.findall(r"\((explorer/.*?\.png)\)", text):
        picture = (PAGE.parent / path).read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) < MOST_BYTES


@pytest.mark.proof
def test_each_counterpart_is_in_the_report(tmp_path: Path):
    """What the page says is shown can be brought up in the report of the log that the pictures are of, and differs in sight."""
    if not LOG.exists():
        pytest.skip(NOT_HERE)
    file = tmp_path / "report.html"
    file.write_text(report_page(*catalog_of(LOG, tmp_path)), encoding="utf-8")
    with chromium() as browser, Page(browser, file.as_uri()) as page:
        shown = {view.picture: look(page, view).screenshot() for view in VIEWS}
    assert len(VIEWS) == len(set(shown.values()))
