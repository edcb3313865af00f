"""The page of two runs as a browser shows it."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from browser import Page, chromium
from one_log import catalog_of, reported
from test_pair import HOSTILE, SLOW, side

from iomine.report.explorer import beside
from iomine.report.grids import Grid
from iomine.report.page import shared_assets
from iomine.report.pair import Pair, Side
from iomine.report.pair_page import on_one_scale, pair_page
from iomine.report.pair_pictures import time_picture

sys.path.insert(0, str(Path(__file__).parents[1] / "sources"))
from writing import START, Blueprint, Module, Segment, dxt_record, job, write

pytestmark = pytest.mark.proof
FINDING = {"code": "POSIX-102", "title": "T", "finding": HOSTILE, "cost_core_seconds": 40.0, "charged_core_seconds": 40.0}


def _pair() -> Pair:
    """A short run without findings, and a longer one with a hostile name; both with pictures by time and by rank."""
    sides = []
    for run, columns in ((side(), 20), (side("bb", (FINDING,), **SLOW | {"app": HOSTILE, "user": HOSTILE}), 40)):
        grid = Grid("heatmap", run.log["run_seconds"], np.zeros((4, columns)), np.ones((4, columns)))
        run.facts.grid = grid
        ranks = [{"place": place, "rank_seconds": run.log["io_core_seconds"] / place, "rank_count": 1} for place in (1, 2)]
        sides.append(
            Side(run.facts, run.shape, [{"ost_count": 1, "stripe_bytes": 4096, "file_count": 1, "moved_bytes": 9.0}], ranks)
        )
    return Pair(*sides)


@pytest.mark.parametrize("standalone", [True, False])
def test_page_opens_from_a_file_on_wide_and_narrow_screens(standalone: bool, tmp_path: Path) -> None:
    """Nothing is complained of, it fits, names are text, and the shorter run's picture is as long as its time says."""
    (tmp_path / "assets").mkdir()
    for name, text in shared_assets().items():
        (tmp_path / "assets" / name).write_text(text)
    (tmp_path / "page.html").write_text(pair_page(_pair(), standalone=standalone))
    said: list[str] = []
    with chromium() as browser:
        for width in (1400, 400):
            tab = browser.new_page(viewport={"width": width, "height": 900})
            tab.on("console", lambda message: said.append(message.text))
            tab.on("pageerror", lambda error: said.append(str(error)))
            tab.goto((tmp_path / "page.html").as_uri())
            assert tab.title() != "run"
            assert HOSTILE.replace("\u202e", "\\u202e") in tab.locator("h1").inner_text()
            assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            # What the runs have to do with each other is seen without scrolling.
            assert tab.locator(".lead").bounding_box()["y"] < 450
            first, second = (each.bounding_box()["width"] for each in tab.locator("svg.pairtime .ground").all())
            assert first / second == pytest.approx(100 / 134, abs=0.01)
            sizes = tab.evaluate(
                "[...document.querySelectorAll('svg.pairtime text')].map(each => each.getBoundingClientRect().height)"
            )
            assert min(sizes) >= 10
            tab.close()
    assert said == []


def _traced(seconds: int, folder: Path) -> tuple[Path, str]:
    """The catalog of a log of one rank that writes each second, and the log's id."""
    requests = [Segment(4096 * number, 4096, number + 0.2, number + 0.7) for number in range(seconds)]
    folder.mkdir()
    (folder / "log.darshan").write_bytes(
        write(Blueprint({"DXT_POSIX": Module(1, [dxt_record("<", requests, id_=5)])}, job=job(nprocs=1, end=START + seconds)))
    )
    return catalog_of(folder / "log.darshan", folder)


@pytest.mark.parametrize("standalone", [True, False])
def test_traces_of_both_runs_are_on_one_scale(standalone: bool, tmp_path: Path) -> None:
    """Both axes are as long as the longer run; what is zoomed or chosen in one is in the other, and the address keeps both."""
    traces = [reported(*_traced(seconds, tmp_path / str(seconds)))[1] for seconds in (20, 40)]
    shown = on_one_scale(*traces)
    assert [(20.0, 40.0), (40.0, 40.0)] == [(each.about["run_seconds"], each.about["shown_seconds"]) for each in shown.values()]
    (tmp_path / "assets").mkdir()
    for name, text in shared_assets().items():
        (tmp_path / "assets" / name).write_text(text)
    for name, data in beside(shown, None, "page").items():
        (tmp_path / name).write_bytes(data)
    file = tmp_path / "page.html"
    file.write_text(pair_page(_pair(), shown, file.stem, standalone=standalone))
    with chromium() as browser, Page(browser, file.as_uri()) as page:
        places = page.page.locator(".explorer[data-ready]")
        sight = places.locator("p.status")

        def seen() -> list[str]:
            page.page.wait_for_timeout(300)
            return [text.split(", from")[0] for text in sight.all_inner_texts()]

        assert ["In sight: 20 of 20 requests", "In sight: 40 of 40 requests"] == seen()
        assert all("from 0.00 s to 40.00 s" in text for text in sight.all_inner_texts())
        # The middle half, from the 10th second to the 30th.
        places.nth(1).locator("canvas").press("+")
        assert ["In sight: 10 of 20 requests", "In sight: 20 of 40 requests"] == seen()
        places.first.get_by_role("button", name="Transfer sizes", exact=True).click()
        assert ["true", "true"] == [
            places.nth(at).get_by_role("button", name="Transfer sizes").get_attribute("aria-pressed") for at in (0, 1)
        ]
        page.page.wait_for_timeout(300)
        address, before = page.page.url, seen()
    assert address.endswith("#trace&first.view=sizes&first.t=10-30&second.view=sizes&second.t=10-30")
    with chromium() as browser, Page(browser, address) as page:
        page.page.locator(".explorer[data-ready]").nth(1).wait_for()
        page.page.wait_for_timeout(300)
        assert before == [text.split(", from")[0] for text in page.page.locator("p.status").all_inner_texts()]


def test_one_trace_alone_is_no_pair(tmp_path: Path) -> None:
    """Where one of the runs has no trace, the page has pictures of both that can be held against each other, and no script."""
    _, trace = reported(*_traced(20, tmp_path / "log"))
    assert {} == on_one_scale(trace, None)
    assert "<script" not in pair_page(_pair(), on_one_scale(trace, None), "page")


def test_files_of_runs_without_trace_are_on_one_scale() -> None:
    """A file that was open for all of the shorter run is as long as that run's part of the longer; its name is text."""
    sides = []
    for run in (side(), side("bb", **SLOW)):
        life = dict.fromkeys(f"{name}_{end}_seconds" for name in ("open", "read", "write", "close") for end in ("start", "end"))
        life |= {"path": HOSTILE, "log_file_count": 1, "open_start_seconds": 0.0, "close_end_seconds": run.log["run_seconds"]}
        run.facts.lifelines = [life | {"write_start_seconds": 0.0, "write_end_seconds": run.log["run_seconds"] / 2}]
        sides.append(run)
    pair = Pair(*sides)
    first, second = (str(time_picture(each, pair)) for each in sides)
    for name, (share, whole) in {"open": (100 / 134, 1), "write": (50 / 134, 0.5)}.items():
        widths = [float(re.search(rf'class="{name}"[^>]* width="([\d.]+)%"', text)[1]) for text in (first, second)]
        assert widths == pytest.approx([100 * share, 100 * whole], abs=0.001)
    assert "<script" not in first + second
