"""How soon reports draw their traces, how fast they redraw, and how large they are, of ever longer traces.

A report in one file is opened from the file system in headless Chromium, and zoomed and panned by keys. Times are on the clock:
from the start of the navigation until the picture stands, and from a key to the end of the drawing that it asks for. Beside it
is a page of plotly as DXT Explorer makes them; and a floor, which holds no more than starts, durations, ranks and operations as
bare numbers, and draws them once by the same rule: what goes beyond it, a report takes for its words, its tables and its
controls. All take turns, each time in a browser that is started anew.
"""

import base64
import gzip
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from long_trace import write_long_trace
from options import Options
from peers import python_with
from results import Result

from iomine.views.query import ask

sys.path.insert(0, str(Path(__file__).parents[1]))
from browser import chromium
from one_log import catalog_of, report_page

_SMALLEST = 100_000
# Bytes and seconds that are asked for, of 10^5 requests and of more, which are drawn through levels of detail.
_MOST_BYTES = {True: 1_000_000, False: 2_800_000}
_MOST_FIRST_SECONDS = {True: 0.4, False: 0.8}
_MOST_REDRAW_SECONDS = {True: 0.025, False: 0.08}
# A page of ten times as many, of 86 MB, was not drawn within five minutes on two busy cores.
_MOST_PEER_REQUESTS = 100_000
_PEER = ("plotly==6.5.0", "numpy")
_PEER_SCRIPT = Path(__file__).with_name("dxt_plotly.py")
_REQUESTS = """
    SELECT start_seconds, end_seconds - start_seconds AS seconds, rank, (op = 'write')::INT AS op, length_bytes, offset_bytes
    FROM segments
    ORDER BY rank, start_seconds
"""
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
_PEER_REDRAWS = """async ranges => {
    const plot = document.querySelector(".js-plotly-plot");
    const times = [];
    for (const range of ranges) {
        const start = performance.now();
        const drawn = new Promise(done => plot.once("plotly_afterplot", done));
        await Plotly.relayout(plot, { "xaxis.range": range });
        await drawn;
        // WebGL draws in the frame that follows.
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        times.push(performance.now() - start);
    }
    return times;
}"""
_PEER_RANGES = ([50, 150], [75, 125], [90, 110])
_FLOOR = """<!DOCTYPE html><meta charset="utf-8"><title>floor</title><body><canvas width="1000" height="250"></canvas>
<script type="application/octet-stream" id="data">{data}</script>
<script>
(async () => {{
  const packed = Uint8Array.fromBase64(document.getElementById("data").textContent);
  const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = await new Response(inflated).arrayBuffer();
  const count = {count}, lanes = {lanes}, width = 1000, scale = width / {seconds};
  const [start, lasts] = [0, 1].map(at => new Float32Array(data, 4 * count * at, count));
  const [lane, op] = [2, 3].map(at => new Int32Array(data, 4 * count * at, count));
  const cover = [0, 1].map(() => new Float32Array((width + 2) * lanes));
  for (let at = 0; at < count; at++) {{
    const sums = cover[op[at]], line = lane[at] * (width + 2), begin = start[at] * scale, end = begin + lasts[at] * scale;
    const left = Math.floor(begin), right = Math.floor(end);
    sums[line + left] += 1 - begin + left;
    sums[line + left + 1] += begin - left;
    sums[line + right] -= 1 - end + right;
    sums[line + right + 1] -= end - right;
  }}
  const image = new ImageData(width, lanes), pixels = new Uint32Array(image.data.buffer);
  for (let y = 0; y < lanes; y++) {{
    for (let x = 0, read = 0, write = 0; x < width; x++) {{
      read += cover[0][y * (width + 2) + x];
      write += cover[1][y * (width + 2) + x];
      const alpha = Math.min(Math.max(read, write), 1) * 255;
      pixels[y * width + x] = (alpha << 24) | (read > write ? 0xb27200 : 0x005ed5);
    }}
  }}
  document.querySelector("canvas").getContext("2d").putImageData(image, 0, 0);
  document.body.dataset.ready = performance.now();
}})();
</script>"""


@dataclass(frozen=True, slots=True)
class Shown:
    """A page, and how long it took.

    Attributes:
        page: the file.
        ready: what of it has `data-ready` once it has drawn.
        redraws: gives the milliseconds of its redrawings.
        is_webgl: whether it draws with WebGL.
        made_cpu_seconds: what it took to make it, where that is known.
        first_seconds: of each round, until the picture stood.
        redraw_seconds: of each redrawing.
    """

    page: Path
    ready: str = "body"
    redraws: Callable[[Any], list[float]] = lambda _: []
    is_webgl: bool = False
    made_cpu_seconds: float = 0.0
    first_seconds: list[float] = field(default_factory=list)
    redraw_seconds: list[float] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.page.stat().st_size

    @property
    def first(self) -> float:
        """The round in the middle."""
        return statistics.median(self.first_seconds)

    @property
    def redraw(self) -> float:
        """The redrawing in the middle."""
        return statistics.median(self.redraw_seconds)


def measured(options: Options) -> list[Result]:
    """Traces of 10^5 requests and more, by powers of ten."""
    rows: list[Result] = []
    size = _SMALLEST
    while size <= options.requests:
        with TemporaryDirectory(dir=options.cache) as folder:
            rows += _rows(Path(folder), size, options)
        size *= 10
    return rows


def _rows(folder: Path, size: int, options: Options) -> Iterator[Result]:
    pages = _pages(folder, size, options)
    for number in range(options.rounds + 1):
        for shown in pages.values():
            _open(shown, is_counted=number > 0)
    ours, floor = pages["ours"], pages["floor"]
    is_whole = size == _SMALLEST
    what = f"{size:,} requests"
    yield Result(what=f"making the report of {what}", ours=ours.made_cpu_seconds)
    yield Result(what=f"report of {what}", ours=ours.size, unit="B", most=_MOST_BYTES[is_whole])
    yield Result(what=f"first drawing of {what}", ours=ours.first, most=_MOST_FIRST_SECONDS[is_whole])
    yield _beside(f"  first drawing of {what}", ours.first, "floor", floor.first, is_ours_first=True)
    yield Result(what=f"redrawing {what}", ours=ours.redraw, most=_MOST_REDRAW_SECONDS[is_whole])
    yield Result(what=f"slowest redrawing of {what}", ours=max(ours.redraw_seconds))
    if peer := pages.get("plotly"):
        yield _beside(f"  report of {what}", ours.size, "plotly", peer.size, unit="B")
        yield _beside(f"  first drawing of {what}", ours.first, "plotly", peer.first)
        yield _beside(f"  redrawing {what}", ours.redraw, "plotly", peer.redraw)


def _beside(what: str, ours: float, beside: str, peer: float, *, unit: str = "s", is_ours_first: bool = False) -> Result:
    ratio = ours / peer if is_ours_first else peer / ours
    return Result(what=what, ours=ours, unit=unit, peer=peer, beside=beside, ratio=ratio)


def _pages(folder: Path, size: int, options: Options) -> dict[str, Shown]:
    log = folder / "long.darshan"
    write_long_trace(log, size)
    database, log_id = catalog_of(log, folder)
    report, floor = folder / "report.html", folder / "floor.html"
    written = _cpu_seconds(lambda: report.write_text(report_page(database, log_id), encoding="utf-8"))
    requests = ask(database, _REQUESTS)
    floor.write_text(_floor_page(requests), encoding="utf-8")
    pages = {
        "ours": Shown(report, ".explorer", partial(_evaluated, script=_REDRAWS, given=_KEYS), made_cpu_seconds=written),
        "floor": Shown(floor),
    }
    if size <= _MOST_PEER_REQUESTS:
        peer = _peer_page(requests, folder, options.cache)
        pages["plotly"] = Shown(peer, redraws=partial(_evaluated, script=_PEER_REDRAWS, given=_PEER_RANGES), is_webgl=True)
    return pages


def _cpu_seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _floor_page(requests: pa.Table) -> str:
    columns = [requests[name].to_numpy().astype(np.float32) for name in ("start_seconds", "seconds")]
    columns += [requests[name].to_numpy().astype(np.int32) for name in ("rank", "op")]
    data = base64.b64encode(gzip.compress(b"".join(column.tobytes() for column in columns), 6)).decode()
    seconds = float((columns[0] + columns[1]).max()) * 1.001
    return _FLOOR.format(data=data, count=len(requests), lanes=int(columns[2].max()) + 1, seconds=seconds)


def _peer_page(requests: pa.Table, folder: Path, cache: Path) -> Path:
    columns, page = folder / "requests.npz", folder / "plotly.html"
    np.savez(columns, **{name: requests[name].to_numpy() for name in requests.column_names})
    subprocess.run([python_with(cache, *_PEER), _PEER_SCRIPT, columns, page], check=True)
    return page


def _evaluated(tab: Any, script: str, given: object) -> list[float]:
    milliseconds: list[float] = tab.evaluate(script, given)
    return milliseconds


def _open(shown: Shown, *, is_counted: bool) -> None:
    """Opens a page once, and lets it redraw; the first time, files come from the disk."""
    with chromium(is_webgl=shown.is_webgl) as browser:
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        tab.set_default_timeout(300_000)
        tab.goto(shown.page.as_uri())
        tab.wait_for_selector(f"{shown.ready}[data-ready]")
        first = float(tab.get_attribute(shown.ready, "data-ready")) / 1000
        redraws = [milliseconds / 1000 for milliseconds in shown.redraws(tab)]
    if is_counted:
        shown.first_seconds.append(first)
        shown.redraw_seconds.extend(redraws)
