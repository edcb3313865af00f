"""Reports as a browser shows them."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from iomine.report.facts import Facts, Grid
from iomine.report.page import page, shared_assets

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium")
HOSTILE = "<script>document.title='run'</script>\"'{{ 7 * 7 }}\u202eexe"
LOG = dict.fromkeys(
    """start_at end_at run_seconds darshan_version read_bytes write_bytes read_count write_count io_core_seconds path
    run_core_seconds io_ratio is_overlapping doubt format_version size_bytes uid""".split()
)


def facts() -> Facts:
    names = dict.fromkeys(("cluster", "job_id", "user", "exe", "app"), HOSTILE)
    grid = Grid("heatmap", 60.0, np.zeros((4, 20)), np.arange(80.0).reshape(4, 20))
    return Facts(LOG | names | {"log_id": "00ff", "nprocs": 4, "is_partial": False}, grid=grid)


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("standalone", [True, False])
def test_page_opens_from_a_file_with_its_style_and_picture(standalone: bool, tmp_path: Path) -> None:
    """Nothing is complained of, the policy lets style and picture pass and no script, and it fits a narrow screen."""
    (tmp_path / "assets").mkdir()
    for name, text in shared_assets().items():
        (tmp_path / "assets" / name).write_text(text)
    (tmp_path / "page.html").write_text(page(facts(), standalone=standalone))
    said: list[str] = []
    with playwright.sync_playwright() as runner:
        browser = runner.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 400, "height": 800})
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto((tmp_path / "page.html").as_uri())
        assert "run" != tab.title()
        assert "rgb(251, 251, 249)" == tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert tab.locator("svg.run image").count() == 2
        assert HOSTILE.replace("\u202e", "\\u202e") == tab.locator("h1").inner_text()
        browser.close()
    assert said == []
