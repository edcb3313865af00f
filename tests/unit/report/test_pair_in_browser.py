"""The page of two runs as a browser shows it."""

from pathlib import Path

import numpy as np
import pytest
from browser import chromium
from test_pair import HOSTILE, SLOW, side

from iomine.report.facts import Grid
from iomine.report.page import shared_assets
from iomine.report.pair import Pair, Side
from iomine.report.pair_page import pair_page

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
            first, second = (each.bounding_box()["width"] for each in tab.locator("svg.pairtime image").all())
            assert first / second == pytest.approx(100 / 134, abs=0.01)
            sizes = tab.evaluate(
                "[...document.querySelectorAll('svg.pairtime text')].map(each => each.getBoundingClientRect().height)"
            )
            assert min(sizes) >= 10
            tab.close()
    assert said == []
