"""Mails as a browser shows them, at the widths of a telephone and of a desk, light and dark."""

from datetime import date
from pathlib import Path

import pytest
from browser import chromium
from mail_rows import all_mails, database, since
from outline import HOSTILE

from iomine.post.model import Mail

pytestmark = pytest.mark.proof

NIGHT = date(2024, 4, 2)
LEAST_CONTRAST = 4.5
# Contrast of each text with what lies behind it, as WCAG 2 counts it.
CONTRASTS = """() => {
  const light = parts => parts.slice(0, 3).map(p => p / 255).map(p => p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4)
    .reduce((sum, p, i) => sum + p * [0.2126, 0.7152, 0.0722][i], 0);
  const colour = text => text.match(/[\\d.]+/g).map(Number);
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    if (!walker.currentNode.data.trim()) continue;
    const element = walker.currentNode.parentElement;
    let behind = element, paper = [0, 0, 0, 0];
    while (behind && paper[3] === 0) {
      paper = [...colour(getComputedStyle(behind).backgroundColor), 1].slice(0, 4);
      behind = behind.parentElement;
    }
    const [one, other] = [light(colour(getComputedStyle(element).color)), light(paper)];
    found.push([(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), walker.currentNode.data.trim().slice(0, 40)]);
  }
  return found;
}"""


IN_LINE = """link => {
  const [one, button] = [link, link.closest("span[style*=inline-block]")?.querySelector(".button")];
  return button && Math.abs(one.getBoundingClientRect().bottom - button.getBoundingClientRect().bottom) < 20;
}"""


def _mail() -> Mail:
    """One with all parts, and with long and hostile names."""
    logs = [
        {
            "cluster": "blue",
            "night": night,
            "log_id": f"{number:016x}",
            "user": "ada",
            "application": application,
            "app": "x",
            "exe": "x",
            "lineage_id": "a",
            "job_id": "1",
            "nprocs": 64,
            "run_seconds": 100.0,
            "run_core_seconds": 6400.0,
            "io_core_seconds": 1e6,
        }
        for number, (application, night) in enumerate(
            [("solver", NIGHT), (HOSTILE["right to left"], date(2024, 4, 5)), (HOSTILE["4 KB"], NIGHT), ("slowed", NIGHT)]
        )
    ]
    path = "/scratch/" + "project/" * 9
    text = f"5,000 of 10,000 writes (50%) were small and took 33% of the time in reads and writes, the largest part in {path}."
    findings = [
        log
        | {"code": code, "level": "high", "finding": text, "advice": f"Write {path} in larger pieces.", "cost_core_seconds": 9e4}
        | {"charged_core_seconds": 9e4}
        for log in logs
        for code in ("POSIX-102", "LUSTRE-101")
    ]
    outcome = {
        "cluster": "blue",
        "lineage_id": "a",
        "user": "ada",
        "application": "solver",
        "code": "POSIX-101",
        "outcome": "gone",
        "told_night": NIGHT,
        "clear_night": NIGHT,
        "is_over": True,
        "saved_core_seconds": 7e5,
        "clear_since_count": 9,
    }
    system_state = logs[3] | {"weather_verdict": "system", "weather_slowdown_ratio": 4.0, "is_excused": True}
    ask = database({"logs": logs, "findings": findings, "job_weather": [system_state], "advice_outcomes": [outcome]})
    return all_mails(ask, since(date(2024, 4, 1), date(2024, 4, 14)))["ada"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_mails_can_be_read(scheme: str, tmp_path: Path):
    """At 400 and 800 pixels nothing lies beside the page, all text stands out by 4.5 to 1, and the picture is seen."""
    mail = _mail()
    (tmp_path / "nights.png").write_bytes(mail.pictures["nights"])
    (tmp_path / "mail.html").write_text(mail.html.replace("cid:nights", "nights.png"), encoding="utf-8")
    with chromium() as browser:
        for width in (400, 800):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto((tmp_path / "mail.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert [] == [each for each in page.evaluate(CONTRASTS) if each[0] < LEAST_CONTRAST]
            assert page.evaluate("document.images[0].naturalWidth") > 0
            assert {"mail.html", "nights.png"} == {Path(url).name for url in asked}
            if width > 400:
                # Which answer a link is for is seen: it stands in the line of its button.
                assert {True} == {link.evaluate(IN_LINE) for link in page.get_by_role("link", name="by mail").all()}
            page.screenshot(path=tmp_path / f"{width}-{scheme}.png", full_page=True)
            page.close()
