"""How soon the trace explorer draws, how fast it redraws, and how large its page is, of ever longer traces.

    python tests/bench/part_explorer.py [requests of the longest trace]

A page in one file is opened from the file system in headless Chromium, and zoomed and panned by keys. Times are on the clock:
from the start of the navigation until the picture stands, and from a key to the end of the drawing that it asks for.
"""

import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from long_trace import write_long_trace
from results import HEAD, Result, lines


sys.path.insert(0, str(Path(__file__).parents[1]))
from browser import chromium
from one_log import catalog_of, report_page

_SMALLEST = 100_000
# Megabytes and seconds that are asked for, of 10^5 requests and of more, which are drawn through levels of detail.
_MOST_BYTES = {True: 1_000_000, False: 2_800_000}
_MOST_FIRST_SECONDS = {True: 0.4, False: 0.8}
_MOST_REDRAW_SECONDS = {True: 0.025, False: 0.08}
_KEYS = ("+", "+", "+", "ArrowRight", "ArrowLeft", "]", "[", "-", "-", "-")
# In the page, so that nothing but the drawing is timed.
_REDRAWS = """keys => {
    const canvas = document.querySelector("canvas");
    return keys.map(key => {
        const start = performance.now();
        canvas.dispatchEvent(new KeyboardEvent("keydown", { key }));
        return performance.now() - start;
    });
}"""


def measured(most_requests: int, rounds: int = 3) -> list[Result]:
    """Traces of 10^5 requests and more, by powers of ten."""
    with tempfile.TemporaryDirectory() as folder:
        return list(_traces(Path(folder), most_requests, rounds))


def _traces(folder: Path, most_requests: int, rounds: int) -> Iterator[Result]:
    size = _SMALLEST
    while size <= most_requests:
        page = _page(folder / str(size), size)
        firsts, redraws = _timed(page, rounds)
        is_whole = size == _SMALLEST
        what = f"{size:,} requests"
        yield Result(what=f"page of {what}", ours=page.stat().st_size, unit="B", most=_MOST_BYTES[is_whole])
        yield Result(what=f"first drawing of {what}", ours=statistics.median(firsts), most=_MOST_FIRST_SECONDS[is_whole])
        yield Result(what=f"redrawing {what}", ours=statistics.median(redraws), most=_MOST_REDRAW_SECONDS[is_whole])
        yield Result(what=f"slowest redrawing of {what}", ours=max(redraws))
        size *= 10


def _page(folder: Path, requests: int) -> Path:
    folder.mkdir()
    log = folder / "long.darshan"
    write_long_trace(log, requests)
    page = folder / "page.html"
    page.write_text(report_page(*catalog_of(log, folder)), encoding="utf-8")
    return page


def _timed(page: Path, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds to the first drawing, and of each redrawing, in browsers that are started anew."""
    firsts, redraws = [], []
    for _ in range(rounds + 1):
        with chromium() as browser:
            tab = browser.new_page(viewport={"width": 1200, "height": 900})
            tab.goto(page.as_uri())
            tab.wait_for_selector(".explorer[data-ready]")
            firsts.append(float(tab.get_attribute(".explorer", "data-ready")) / 1000)
            redraws += [milliseconds / 1000 for milliseconds in tab.evaluate(_REDRAWS, _KEYS)]
    return firsts[1:], redraws[len(_KEYS) :]


if __name__ == "__main__":
    found = measured(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
    sys.stdout.write("\n".join([*lines([HEAD, *(row.cells for row in found)]), ""]))
