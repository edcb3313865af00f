"""Reports as a browser shows them."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from iomine.report.facts import Facts
from iomine.report.grids import Grid
from iomine.report.page import page, shared_assets

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium")
HOSTILE = "<script>document.title='run'</script>\"'{{ 7 * 7 }}\u202eexe"
LOG = dict.fromkeys(
    """start_at end_at run_seconds darshan_version read_bytes write_bytes read_count write_count io_core_seconds path
    run_core_seconds io_ratio is_overlapping doubt format_version size_bytes uid application host_count slowest_rank
    slowest_rank_io_seconds""".split()
)


# A class of the I/O model, with a hostile name where a log gives one.
CLASS = {
    "phase_class": 1, "layer": "posix", "op": "write", "evidence": "trace", "access": "own", "is_collective": None,
    "request_order": "segmented", "phase_count": 2, "rank_count": 4, "requests_per_rank": 8, "request_bytes": 4096,
    "bytes_per_rank": 32_768, "file_count": 4, "file_id": 1, "largest_path": HOSTILE, "start_seconds": 1.0, "end_seconds": 9.0,
    "gap_seconds": 4.0, "period_seconds": None, "moved_bytes": 262_144, "weight_ratio": 1.0, "is_relevant": True,
    "rank_call_seconds": 2.0, "rank_wait_seconds": 0.0, "rank_exchange_seconds": 0.0, "rank_storage_seconds": 2.0,
    "storage_seconds": 2.0, "overcount_seconds": 0.0, "rank_meta_seconds": 0.1, "ior_options": "-a POSIX -F -w",
    "replay_fidelity": "bytes", "replay_reason": HOSTILE, "log_class_count": 1, "log_class_bytes": 262_144,
}  # fmt: skip
PHASES = [{"phase_class": 1, "start_seconds": start, "end_seconds": start + 1, "phase_count": 1} for start in (1.0, 8.0)]
SYSTEM = dict.fromkeys(
    """predicted_seconds least_predicted_seconds most_predicted_seconds measured_seconds prediction_error_ratio
    predicted_bytes_ratio unknown_class_count""".split()
)


def facts() -> Facts:
    names = dict.fromkeys(("cluster", "job_id", "user", "exe", "app"), HOSTILE)
    grid = Grid("heatmap", 60.0, np.zeros((4, 20)), np.arange(80.0).reshape(4, 20))
    log = LOG | names | {"log_id": "00ff", "nprocs": 4, "is_partial": False, "has_other_logs": True}
    predictions = [SYSTEM | {"system": HOSTILE, "log_system_count": 1}]
    return Facts(log, phase_classes=[CLASS], class_phases=PHASES, predictions=predictions, grid=grid)


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
        # Only writes have a panel.
        assert 1 == tab.locator("svg.run image").count()
        # A link to a folded section opens it.
        tab.get_by_role("link", name="I/O model").click()
        tab.get_by_text("The line of IOR").click()
        # One click on a line marks all of it.
        tab.locator("code.copy").click()
        assert "mpiexec -n 4 ior -a POSIX -F -w" == tab.evaluate("getSelection().toString()")
        assert "rgb(213, 94, 0)" == tab.locator("svg.strip path.write-0").evaluate("mark => getComputedStyle(mark).fill")
        assert HOSTILE.replace("\u202e", "\\u202e") == tab.locator("h1").inner_text()
        # On paper nobody opens a section, and colours of keys are there.
        tab.goto("about:blank")
        tab.goto((tmp_path / "page.html").as_uri())
        shown = "name => document.querySelector(name).checkVisibility()"
        assert not tab.evaluate(shown, "#model-content")
        tab.emulate_media(media="print")
        assert tab.evaluate(shown, "#model-content")
        assert "exact" == tab.evaluate("getComputedStyle(document.querySelector('.ramp')).printColorAdjust")
        browser.close()
    assert said == []
