"""Writes docs/explorer.md: every view of DXT Explorer, and where a report shows the same, with screenshots.

    python tests/explorer_views.py

The pictures are of a log that comes with DXT Explorer, of openPMD's parallel benchmark, as Chromium draws them.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))
from browser import Page, chromium
from one_log import catalog_of, report_page
from shared import NOT_HERE, SHARED_DATA

REPO: Final = Path(__file__).parents[1]
PAGE: Final = REPO / "docs/explorer.md"
PICTURES: Final = REPO / "docs/explorer"
LOG: Final = (
    SHARED_DATA / "darshan/dxt-explorer/jeanbez_8_benchmark_parallel_id45195555_8-6-50011-11681279140261054765_1628283217.darshan"
)
MOST_BYTES: Final = 60_000
_MOST_HEIGHT: Final = 640
_TABLE_HEIGHT: Final = 400
_INTRO: Final = """\
# The trace explorer compared with DXT Explorer

<!-- Written by tests/explorer_views.py: run it after the client changed. -->

This page shows the views of a trace in a report, for readers who know [DXT Explorer](https://github.com/hpc-io/dxt-explorer).
A report of a log with a DXT trace draws the trace under “The trace”, and has a counterpart of every view of DXT Explorer. All
views share zoom, brush, keyboard and touch control, and the highlight of a finding. In each, requests can be selected by file,
rank, operation, size and duration. The visible part can be saved as PNG and CSV, and is described in a table.

The address of the page holds the current selection, so that a link shows it again:
`#trace&view=osts&t=2.8-3.6&ranks=0-127&highlight=RANK-101`. Its parameters are `view`, `colour=size`, `order=number` (of
OSTs), `t` (seconds) or `bytes` (of a file), `lanes` (positions from the top), `file` (position in the list of files, from 0),
`ranks`, `op`, `size` (bytes), `took` (seconds), `hide` (names of the legend) and `highlight`. Views for which a trace lacks
data are left out, and the report names them.

The pictures are of a log that comes with DXT Explorer (`{log}`, BSD-3-Clause-LBNL): openPMD's parallel benchmark on {ranks}
ranks, {requests} requests.

| DXT Explorer | in a report |
| --- | --- |
"""


@dataclass(frozen=True, slots=True)
class View:
    """A view of DXT Explorer and its counterpart.

    Attributes:
        theirs: what DXT Explorer calls it.
        ours: where a report has it.
        picture: name of the screenshot.
        button: the view that is pressed.
        choices: of choices by their label, what is chosen.
        table: the caption of a table that says it, and is shown instead of the picture.
    """

    theirs: str
    ours: str
    picture: str
    button: str
    choices: Sequence[tuple[str, str]] = ()
    table: str = ""


VIEWS: Final = (
    View("operation", "Operations: MPI-IO above POSIX on one axis of time", "operations", "Operations"),
    View("transfer size", "Transfer sizes, in the classes of Darshan's histograms", "sizes", "Transfer sizes"),
    View("spatiality", "Offsets", "offsets", "Offsets"),
    View("I/O phases", "Phases, with the fastest and the slowest rank of each", "phases", "Phases"),
    View("OST usage by operation", "OSTs", "osts", "OSTs"),
    View("OST usage by transfer size", "OSTs, coloured by transfer size", "ost-sizes", "OSTs", [("Colour by", "transfer size")]),
    View("bytes of OSTs", "the table under OSTs, each byte counted once", "ost-bytes", "OSTs", table="What each OST moved"),
    View("rank zero workload", "Highlight: rank 0", "rank-0", "Operations", [("Highlight", "rank 0: What rank 0 does.")]),
    View(
        "unbalanced ranks", "Highlight: busy ranks", "busy-ranks", "Operations",
        [("Highlight", "busy ranks: Ranks that spend more than twice the median rank's time in requests.")],
    ),
    View(
        "stragglers", "Highlight: slowest", "slowest", "Operations",
        [("Highlight", "slowest: The slowest twentieth of all requests.")],
    ),
)  # fmt: skip


def main() -> None:
    """Writes the page and its pictures."""
    if not LOG.exists():
        raise SystemExit(NOT_HERE)
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        file = Path(folder) / "report.html"
        file.write_text(report_page(*catalog_of(LOG, Path(folder))), encoding="utf-8")
        with Page(browser, file.as_uri()) as page:
            words = page.status.split()
            # Narrow, so that the pictures are small.
            page.page.set_viewport_size({"width": 700, "height": 900})
            for view in VIEWS:
                _take(page, look(page, view), PICTURES / f"{view.picture}.png")
    rows = [f"| {view.theirs} | {view.ours}<br>![{view.ours}](explorer/{view.picture}.png) |\n" for view in VIEWS]
    about = {"log": LOG.name, "requests": words[4], "ranks": words[words.index("ranks") - 1]}
    PAGE.write_text(_INTRO.format(**about) + "".join(rows), encoding="utf-8")


def _take(page: Page, shown: Any, path: Path) -> None:
    """A screenshot of the upper part of what is shown."""
    shown.evaluate("each => each.scrollIntoView({ behavior: 'instant', block: 'start' })")
    box, is_table = shown.bounding_box(), shown.evaluate("each => each.tagName") == "TABLE"
    page.page.screenshot(path=path, clip=box | {"height": min(box["height"], _TABLE_HEIGHT if is_table else _MOST_HEIGHT)})


def look(page: Page, view: View) -> Any:
    """What shows the view, once the page has been brought to it."""
    page.view(view.button)
    page.explorer.get_by_label("Highlight").select_option("")
    for label, choice in view.choices:
        page.explorer.get_by_label(label).select_option(label=choice)
    page.page.wait_for_timeout(300)
    if view.table:
        return page.explorer.locator("table", has=page.page.locator("caption", has_text=view.table))
    return page.explorer.locator(".picture")


if __name__ == "__main__":
    main()
