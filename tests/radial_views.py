"""Writes docs/circle.md: what the circle of who talks to whom shows, with pictures, and how fast it is drawn.

    python tests/radial_views.py [WAREHOUSE]

Pictures are of made-up runs of the four patterns, of openPMD's parallel benchmark, and of the newest night of a warehouse, where
one is named. Times are medians of 20 in headless Chromium, from the start of the navigation until the picture stands, and from a
change of the window until what was drawn can be read back.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))
from browser import chromium
from one_log import catalog_of, report_page
from radials import PATTERNS, made, page_of
from shared import NOT_HERE, SHARED_DATA

from iomine.web import pages
from iomine.web.circle import circle_night_of, circle_of
from iomine.web.sessions import LIMITS, Session

REPO: Final = Path(__file__).parents[1]
PAGE: Final = REPO / "docs/circle.md"
PICTURES: Final = REPO / "docs/circle"
LOG: Final = (
    SHARED_DATA / "darshan/dxt-explorer/jeanbez_8_benchmark_parallel_id45195555_8-6-50011-11681279140261054765_1628283217.darshan"
)
_WIDTH: Final = 560
_ROUNDS: Final = 20
_REDRAW: Final = """async window => {
    const section = document.querySelector(".radial"), canvas = section.querySelector("canvas");
    const input = section.querySelectorAll("input[type=range]")[0];
    const before = section.dataset.took, start = performance.now();
    delete section.dataset.took;
    input.value = window;
    input.dispatchEvent(new Event("input"));
    while (section.dataset.took === undefined) await new Promise(requestAnimationFrame);
    canvas.getContext("2d").getImageData(0, 0, 1, 1);
    return performance.now() - start;
}"""
_INTRO: Final = """\
# Who talks to whom

<!-- Written by tests/radial_views.py: run it after the client changed. -->

This page explains the circular picture in the report of a traced log, under “Who talks to whom”. Ranks are the outer circle,
carriers (who moves a rank's bytes) the middle one, and OSTs or mounts the inner one. An edge between two of them is a strip of
its requests: each request is drawn at its latency, or size, on a logarithmic axis with the highest value outside, and the
colour shows how many there are. Below the picture are the mean, lowest and highest value over time. Select a span of time
there by mouse, by keys, or by the two sliders above. A click on a node highlights its edges, and its requests in the trace.
The visible part can be saved as PNG and CSV, and is in tables below the picture. `iomine serve` and `iomine site` draw the
same picture of a night: users or programs, the leaf switches, groups of hosts or mounts that their bytes passed, and OSTs.

## What can be chosen

The choices above the picture set two or three circles, each once and in any order. The address keeps the choice.

- **Ranks, carriers, and OSTs or mounts** are always available.
- **Hosts** are available if the trace names them. Inside the circle of carriers, a host is that of the carrier.
- **OSSs** are available if `lctl dl -t` was swept ([names of the fabric](fabric.md)); otherwise a sentence says that they are
  missing.
- **Files** (the 64 with most bytes, and the others as one), **mounts**, and other pairs need single requests. They are
  available if the page holds every request (up to 300,000), or if `iomine serve` shows the page and the trace is kept. Edges
  are then the requests of POSIX, or of MPI-IO if only MPI-IO was traced.

If edges are counted from single requests, the latency is the time that each request took, by clocks as they were traced. A
request then counts for the OST of its first byte only, not for each OST that it touched.

With more than 1,024 ranks, neighbouring ranks share an arc. A click on an arc offers to open it: each of its ranks is then
drawn separately, with the requests that it made. Carriers cannot be chosen then, since it is not kept who carried the bytes of
a single rank. `iomine serve` adds a table of what each rank asked for and moved, with median latencies; it stays when the
requests are gone.

The form of the picture follows Sigovan et al. [Traffic patterns](patterns.md) says what the pictures mean.

| what | picture |
| --- | --- |
"""
_MEASURED: Final = """
## How fast it is drawn

Medians of {rounds}, headless Chromium, no GPU, on two cores, while {load:.0f} processes wanted to run.

| edges | pieces of edges | page | first drawing | after a brush |
| --- | --- | --- | --- | --- |
"""


def main() -> None:
    """Writes the page and its pictures."""
    if not LOG.exists():
        raise SystemExit(NOT_HERE)
    PICTURES.mkdir(exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        file = Path(folder) / "page.html"
        for pattern in PATTERNS:
            file.write_text(page_of(made(pattern, 256, 16, 8)), encoding="utf-8")
            rows.append((f"{pattern} run of 256 ranks, made up", _taken(browser, file, pattern)))
        file.write_text(report_page(*catalog_of(LOG, Path(folder))), encoding="utf-8")
        for name, said, window in (
            ("openpmd", "the whole of it", None),
            ("openpmd-first", "its first quarter", (0, 1)),
            ("openpmd-last", "its last quarter", (3, 4)),
        ):
            rows.append((f"openPMD's parallel benchmark on 1,024 ranks, {said}", _taken(browser, file, name, window)))
        if sys.argv[1:]:
            file.write_text(_night_of(Path(sys.argv[1])), encoding="utf-8")
            rows.append(("a night of a simulated facility", _taken(browser, file, "night")))
        measured = [_measured(browser, file, fan, bins) for fan, bins in ((1, 24), (5, 16))]
    table = "".join(f"| {what} | ![{what}](circle/{name}.jpeg) |\n" for what, name in rows)
    PAGE.write_text(
        _INTRO + table + _MEASURED.format(rounds=_ROUNDS, load=os.getloadavg()[1]) + "".join(measured), encoding="utf-8"
    )


def _night_of(warehouse: Path) -> str:
    session = Session(warehouse / "iomine.duckdb", LIMITS)
    first = circle_night_of(session.ask, [])
    if first is None:
        raise SystemExit(f"{warehouse} knows of no night what OSTs did.")
    # The last night of a simulation holds little more than what ended after midnight.
    night = first.nights[min(1, len(first.nights) - 1)]
    of = circle_night_of(session.ask, [("night", night.isoformat())])
    assert of
    text = page_of(circle_of(session.ask, of, lambda *_: None)[0]).replace("<style>", f"<style>{pages.style()}", 1)
    session.close()
    return text


def _taken(browser: Any, file: Path, name: str, window: tuple[int, int] | None = None) -> str:
    """A screenshot of the picture, of a quarter of the time where a window says which quarters; returns its name."""
    page = browser.new_page(viewport={"width": _WIDTH, "height": 1000})
    page.goto(file.as_uri())
    # A report's is folded.
    for title in page.locator("#talks-title").all():
        title.click()
    page.wait_for_selector(".radial[data-ready]")
    if window:
        for slider, quarter in zip(page.locator(".radial input[type=range]").all(), window, strict=True):
            bins = int(slider.get_attribute("max")) + (1 if slider.get_attribute("min") == "0" else 0)
            slider.fill(str(quarter * bins // 4))
    page.wait_for_timeout(500)
    page.locator(".radial canvas").screenshot(path=PICTURES / f"{name}.jpeg", type="jpeg", quality=60)
    page.close()
    return name


def _measured(browser: Any, file: Path, fan: int, bins: int) -> str:
    """A line of the table: a run as large as the paper's, whose ranks talk to so many carriers each."""
    picture = made("noisy", 8192, 32, 8, 20, fan=fan, bins=bins)
    file.write_text(page_of(picture), encoding="utf-8")
    first, redraws = [], []
    for _ in range(_ROUNDS):
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(file.as_uri())
        page.wait_for_selector(".radial[data-ready]")
        first.append(float(page.locator(".radial").get_attribute("data-ready")))
        if len(first) == _ROUNDS:
            redraws = [page.evaluate(_REDRAW, window) for window in range(1, _ROUNDS + 1)]
        page.close()
    edges = 8192 * fan + 32 * 8
    size = file.stat().st_size / 2**20
    times = f"{statistics.median(first):,.0f} ms | {statistics.median(redraws):,.0f} ms"
    return f"| {edges:,} | {edges * bins:,} | {size:.1f} MiB | {times} |\n"


if __name__ == "__main__":
    main()
