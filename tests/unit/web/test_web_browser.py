"""Dashboard and tables as a browser shows them, served and from files."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browser import chromium
from facility import Facility

from iomine.web.sessions import Session
from iomine.web.site import write_site
from iomine.web.window import window_of

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
HOURS = "SELECT sum(cost_core_seconds) / 3600 AS hours FROM trends"
# Texts whose contrast with what lies behind them is too low (WCAG AA), each once; what is hidden has no box.
FAINT = """() => {
    const channel = (part) => { part /= 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4 };
    const parts = (color) => color.match(/[\\d.]+/g).map(Number);
    const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const behind = (node) => {
        for (; node; node = node.parentElement) {
            const color = parts(getComputedStyle(node).backgroundColor);
            if (color.length < 4 || color[3] === 1) return color;
        }
        return [255, 255, 255];
    };
    const found = new Set();
    for (const node of document.body.querySelectorAll("*")) {
        if (!node.getClientRects().length || ![...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
        const [one, other] = [parts(getComputedStyle(node).color), behind(node)].map(luminance);
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (contrast < 4.5) found.add(`${node.tagName}.${node.className}: ${contrast.toFixed(2)}`);
    }
    return [...found];
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A running browser."""
    with chromium() as running:
        yield running


@contextmanager
def tab(browser: Any, address: str, **options: Any) -> Iterator[Any]:
    """A page of which nothing may be complained."""
    context = browser.new_context(**({"viewport": {"width": 1200, "height": 900}} | options))
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(address)
    yield page
    context.close()
    assert [] == said


def number(locator: Any) -> float:
    """The exact number of a cell."""
    return float(locator.locator("data").first.get_attribute("value"))


def tile(page: Any, title: str) -> Any:
    return page.locator(".tiles div").filter(has=page.get_by_text(title, exact=True)).locator("dd")


def test_number_leads_to_its_rows(browser: Any, address: str, facility: Facility, session: Session) -> None:
    """A number on the dashboard is SQL's, and a click on it shows as many rows, in their order, with their sum."""
    with tab(browser, address) as page:
        assert "Facility dashboard · iomine" == page.title()
        assert "rgb(251, 251, 249)" == page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert session.ask(HOURS)["hours"][0].as_py() == pytest.approx(number(tile(page, "Cost in core-hours")))
        assert len(facility.logs) == number(tile(page, "Logs"))
        row = page.locator("#nights tbody tr").nth(1)
        night = page.locator("#nights tbody time").nth(1).get_attribute("datetime")
        page.get_by_text("The same as a table").click()
        count = number(row.locator("td").nth(1))
        row.locator("td").nth(1).locator("a").click()
        order = "by charged_core_seconds, the highest first, then by cost_core_seconds, the highest first"
        assert f"All {count:.0f} rows, {order}." in page.inner_text("main")
        findings = [each for each in facility.findings if str(each["night"]) == night]
        costs = [float(cell.get_attribute("value")) for cell in page.locator("tbody td:nth-child(6) data").all()]
        assert len(findings) == count == page.locator("tbody tr").count()
        charged = [each["charged_core_seconds"] for each in findings if each["charged_core_seconds"]]
        assert sorted(charged, reverse=True) == costs


def test_form_adds_a_condition_and_a_link_takes_it_away(browser: Any, address: str, facility: Facility) -> None:
    """Conditions are chosen without a script, stand in the address, and leave as they came."""
    with tab(browser, f"{address}views/logs?nprocs.eq=64") as page:
        page.locator("select[name=column]").select_option("user")
        page.locator("select[name=operator]").select_option("contains")
        page.get_by_label("Value", exact=True).fill("<SCRIPT>")
        page.get_by_role("button", name="Add").click()
        expected = sum(log["nprocs"] == 64 and "<script>" in log["user"] for log in facility.logs)
        assert expected == page.locator("tbody tr").count() > 0
        assert "nprocs.eq=64" in page.url
        page.get_by_role("link", name="Remove the condition on nprocs").click()
        assert sum("<script>" in log["user"] for log in facility.logs) == page.locator("tbody tr").count()
        assert "user contains <SCRIPT>" in page.inner_text(".where")


def test_window_is_chosen_by_the_form(browser: Any, address: str, facility: Facility) -> None:
    """Nights and machine of the dashboard are chosen in its form and stand in the address."""
    with tab(browser, address) as page:
        page.get_by_label("From", exact=True).fill("2024-04-03")
        page.get_by_label("To", exact=True).fill("2024-04-05")
        page.locator("select[name=cluster]").select_option("green")
        page.get_by_role("button", name="Show").click()
        logs = [log for log in facility.logs if "2024-04-03" <= str(log["night"]) <= "2024-04-05" and log["cluster"] == "green"]
        assert len(logs) == number(tile(page, "Logs"))
        page.get_by_role("link", name="Account").click()
        assert len(logs) == number(tile(page, "Logs"))
        assert "by=account" in page.url


def test_keyboard_reaches_rows_and_report(browser: Any, address: str) -> None:
    """Without a pointer: the first number, its rows, and a log's report."""
    with tab(browser, address) as page:
        page.keyboard.press("Tab")
        assert "Skip to the content" == page.evaluate("document.activeElement.innerText")
        while not page.evaluate("document.activeElement.closest('.tiles') !== null"):
            page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**/views/logs?*")
        while "reports/" not in (page.evaluate("document.activeElement.getAttribute('href')") or ""):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**/reports/*.html")
        assert "I/O report" in page.inner_text("header")


def test_phone_shows_what_a_cause_costs(browser: Any, address: str) -> None:
    """The first table of a user's page has causes and their costs side by side, however long a cause's name is."""
    with tab(browser, f"{address}about/user?name=bob", viewport={"width": 390, "height": 844}) as page:
        costs = page.locator("#causes tbody tr td:first-of-type")
        assert costs.count()
        assert costs.evaluate_all("cells => cells.every(cell => cell.getBoundingClientRect().right <= innerWidth)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "path", ["", "views/findings?user.contains=script&order=-cost_core_seconds", "views/", "views/logs?limit=1000"]
)
def test_pages_can_be_read_by_all(browser: Any, address: str, path: str, scheme: str) -> None:
    """Texts stand out, headings step down one by one, what is filled in has a label, and a narrow screen holds it all."""
    with tab(browser, address + path, color_scheme=scheme, viewport={"width": 400, "height": 800}) as page:
        assert [] == page.evaluate(FAINT)
        levels = [
            int(level) for level in page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((each) => each.tagName[1])")
        ]
        assert levels[0] == 1 == levels.count(1)
        assert all(after - before <= 1 for before, after in pairwise(levels))
        fields = page.locator("input:not([type=hidden]), select")
        assert all(field.evaluate("(each) => each.labels.length") for field in fields.all())
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert page.evaluate("document.images.length") == 0
        # The script that completes what is looked for, and no other.
        assert page.evaluate("[...document.scripts].map(each => /assets\\/search-[0-9a-f]+[.]js$/.test(each.src))") == [True]
        assert page.locator("svg[role=img]:not([aria-label])").count() == 0


def test_tables_of_the_dashboard_fit_on_paper(browser: Any, address: str) -> None:
    """Paper cannot be moved sideways: no table is wider than a page of A4, but that of a hostile user's name of one word."""
    with tab(browser, address, viewport={"width": 718, "height": 1000}) as page:
        page.emulate_media(media="print")
        wide = "(each) => each.offsetWidth > document.body.clientWidth"
        found = f"[...document.querySelectorAll('table')].filter({wide}).map((each) => each.closest('section').id)"
        assert {"regressions"} >= set(page.evaluate(found))


def test_site_opens_from_files(browser: Any, session: Session, facility: Facility, tmp_path: Path) -> None:
    """From a file system too, the dashboard has its style, and its numbers lead to their rows and back."""
    write_site(session, window_of(session, []), tmp_path / "site", tmp_path / "none", most=1000, only_window=False)
    with tab(browser, (tmp_path / "site" / "index.html").as_uri()) as page:
        assert "rgb(251, 251, 249)" == page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert len(facility.findings) == number(tile(page, "Findings"))
        tile(page, "Findings").locator("a").click()
        page.wait_for_url(re.compile("tables-.*/findings-"))
        assert len(facility.findings) == page.locator("tbody tr").count()
        page.get_by_role("link", name="Facility dashboard").click()
        page.get_by_role("link", name="POSIX-101").click()
        assert "POSIX-101" in page.inner_text("article:target")


def test_site_finds_names_without_a_server(browser: Any, session: Session, tmp_path: Path) -> None:
    """From a file system the field completes from the site's index, says where there is nothing, and follows a report's link."""
    write_site(session, window_of(session, []), tmp_path / "site", tmp_path / "none", most=50, only_window=False)
    with tab(browser, (tmp_path / "site" / "index.html").as_uri(), viewport={"width": 400, "height": 800}) as page:
        # Loaded when somebody types, and not before.
        assert not page.evaluate("performance.getEntriesByType('resource').some((each) => each.name.endsWith('names.js'))")
        field = page.get_by_role("combobox", name="Search")
        field.press_sequentially("nobodyhasthis")
        page.get_by_text("No page of this site is about anything called so.").wait_for()
        field.fill("AD")
        page.locator("#found [role=option]", has_text=re.compile("^adauser")).click()
        page.wait_for_url(re.compile("tables-.*/user-"))
        assert "ada" == page.inner_text("h1")
        page.get_by_role("combobox", name="Search").fill("scratch-OST0001")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("tables-.*/target-"))
        page.goto((tmp_path / "site" / "reports" / "index.html").as_uri() + "#user=bob")
        page.wait_for_url(re.compile("tables-.*/user-"))
        assert "bob" == page.inner_text("h1")
