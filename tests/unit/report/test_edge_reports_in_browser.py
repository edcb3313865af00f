"""Reports of odd logs and of hostile ones, with their explorer, as a browser shows them: readable, small, and in order."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browser import chromium
from one_log import catalog_of, facts_of, talks_of, trace_of

from iomine.report.facts import Facts
from iomine.report.highlights import highlights_of
from iomine.report.page import page
from iomine.units import visible

sys.path.insert(0, str(Path(__file__).parents[1] / "sources"))
from writing import Blueprint, Module, Segment, dxt_record, heatmap_record, job, lustre_v2_record, name, posix_record, write

CSS = Path(__file__).parents[3] / "iomine/report/templates/report.css"
MOST_BYTES = 100_000
REQUESTS = [Segment(4096 * number, 4096, 2.0 * number, 2.0 * number + 1) for number in range(40)]
TRACED = {"DXT_POSIX": Module(1, [dxt_record("<", REQUESTS, rank=rank) for rank in range(4)])}
MANY = 100_000
HOSTILE = {
    "tag": "<script>document.title='run'</script><img src=x onerror=alert(1)>",
    "closing": "</script></style></title>--><b>",
    "quotes": "\"' onmouseover='alert(1)' `x`",
    "templates": "{{ 7 * 7 }}{% raw %}${7*7}",
    "lines": "a\nb\r\nc",
    "right to left": "\u202egpj.exe\u2066 \u05e9\u05dc\u05d5\u05dd",
    "4 KB": "<b>" + "x" * 4096,
}


def _many_files() -> Blueprint:
    """A request on each of a hundred thousand files."""
    records = [dxt_record("<", [Segment(0, 64, 1e-3 * at, 1e-3 * at + 5e-4)], id_=at, rank=at % 4) for at in range(1, MANY + 1)]
    names = b"".join(name("<", at, f"/scratch/out/{at:06}.dat".encode()) for at in range(1, MANY + 1))
    return Blueprint({"DXT_POSIX": Module(1, [b"".join(records)])}, names=names)


def _many_ranks() -> Blueprint:
    """A hundred thousand ranks, of which each thousandth is traced."""
    traced = [dxt_record("<", REQUESTS, rank=rank) for rank in range(0, MANY, 1000)]
    return Blueprint({"DXT_POSIX": Module(1, traced)}, job=job(nprocs=MANY))


def _finding(text: str) -> dict[str, object]:
    """A finding in which everything that a log names has a name."""
    said = {"finding": f"Most in {text}.", "advice": f"Change {text}.", "evidence": text, "title": text}
    costs = {"cost_core_seconds": 9.0, "charged_core_seconds": 9.0, "idle_core_seconds": None, "bar": 1.0}
    metrics = {"single_ost_path": f"/scratch/{text}", "single_ost_bytes": 5, "single_ost_rank_count": 4}
    return said | costs | {"code": "LUSTRE-101", "cause_code": "LUSTRE-101", "level": "high", "metrics": metrics}


LOGS: Mapping[str, Callable[[], Blueprint]] = {
    "no trace": lambda: Blueprint(
        {"POSIX": Module(4, [posix_record("<")]), "HEATMAP": Module(1, [heatmap_record("<", [9], [9])])}
    ),
    "no heat map": lambda: Blueprint({"POSIX": Module(4, [posix_record("<")])}),
    "no POSIX": lambda: Blueprint({"LUSTRE": Module(2, [lustre_v2_record("<", [range(4)])])}),
    "no I/O": Blueprint,
    "one rank": lambda: Blueprint({"DXT_POSIX": Module(1, [dxt_record("<", REQUESTS)])}, job=job(nprocs=1)),
    "many ranks": _many_ranks,
    "many files": _many_files,
    "trace out of the run": lambda: Blueprint({"DXT_POSIX": Module(1, [dxt_record("<", [Segment(0, 1, -9.0, -8.0)])])}),
}
COUNTED_LOGS = {"no trace", "no heat map"}
# Nothing follows from the trace that is out of the run.
TRACED_LOGS = {"one rank", "many ranks", "many files"}
# What is wrong with a page, found where it is shown: headings that leave out a level, names and controls without a word, tiles
# that cut their text, and text that is too faint. Pictures on canvas are tested by their colours.
FAULTS = """() => {
    const faults = [];
    // What is folded has no words while it is.
    document.querySelectorAll("details").forEach(each => { each.open = true; });
    const headings = [...document.querySelectorAll("h1, h2, h3, h4")].map(each => Number(each.tagName[1]));
    if (headings.filter(level => level === 1).length !== 1 || headings[0] !== 1) faults.push("not one h1 first");
    headings.forEach((level, at) => {
        if (at && level > headings[at - 1] + 1) faults.push(`h${level} below h${headings[at - 1]}`);
    });
    for (const each of document.querySelectorAll("button, select, input, a, summary, canvas, section, article")) {
        const labelled = document.getElementById(each.getAttribute("aria-labelledby"))?.textContent;
        const words = labelled || each.getAttribute("aria-label") || each.labels?.[0]?.textContent || each.innerText;
        if (!words?.trim()) faults.push(`${each.tagName} without a word`);
    }
    const ids = [...document.querySelectorAll("[id]")].map(each => each.id);
    if (new Set(ids).size !== ids.length) faults.push("an id twice");
    for (const each of document.querySelectorAll(".tiles dd")) {
        if (each.scrollWidth > each.clientWidth) faults.push(`a tile cuts ${each.textContent}`);
    }
    const parsed = css => { const [r, g, b, a = 1] = css.match(/[\\d.]+/g).map(Number); return { r, g, b, a }; };
    const light = channel => (channel /= 255) <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
    const luminance = ({ r, g, b }) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
    const behind = each => {
        for (; each; each = each.parentElement) {
            const found = parsed(getComputedStyle(each).backgroundColor);
            if (found.a === 1) return found;
        }
        return { r: 255, g: 255, b: 255 };
    };
    for (const each of document.querySelectorAll("body *")) {
        const hasText = [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        if (!hasText || !each.checkVisibility() || each.closest("noscript")) continue;
        const style = getComputedStyle(each);
        const front = each.closest("svg") ? style.fill : style.color;
        const [low, high] = [luminance(parsed(front)), luminance(behind(each))].sort((a, b) => a - b);
        const ratio = (high + 0.05) / (low + 0.05);
        if (ratio < 4.5) faults.push(`${each.tagName}.${each.className} ${front}: ${ratio.toFixed(2)}`);
    }
    return [...new Set(faults)];
}"""


@pytest.fixture(scope="module")
def browser() -> Any:
    with chromium() as found:
        yield found


def _file(folder: Path, blueprint: Blueprint, edit: Callable[[Facts], Facts] = lambda facts: facts) -> Path:
    """The report in one file, of facts that may be edited before."""
    log = folder / "made.darshan"
    log.write_bytes(write(blueprint))
    database, log_id = catalog_of(log, folder)
    known = facts_of(database, log_id)
    facts = edit(known)
    trace = trace_of(database, known, highlights_of(facts, {}))
    circle = talks_of(database, facts)
    assert len(page(facts, trace, circle)) < MOST_BYTES
    file = folder / "page.html"
    file.write_text(page(facts, trace, circle, standalone=True), encoding="utf-8")
    return file


class _Tab:
    """A tab of which nothing may go wrong unseen."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.tab = browser.new_page(viewport={"width": 1200, "height": 900}, **options)
        self.said: list[str] = []
        self.tab.on("console", lambda message: self.said.append(message.text))
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))
        self.tab.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.tab.goto(file.as_uri())
        page = file.read_text(encoding="utf-8")
        if "data-trace" in page and options.get("java_script_enabled", True):
            self.tab.wait_for_selector(".explorer[data-ready]")
            if 'class="radial"' in page:
                # It is drawn when it is opened.
                assert not self.tab.locator(".radial[data-ready]").count()
                self.tab.locator("#talks-title").click()
                self.tab.wait_for_selector(".radial[data-ready]")

    def __enter__(self) -> Any:
        return self.tab

    def __exit__(self, *_: object) -> None:
        self.tab.close()
        assert [] == self.said


@pytest.mark.parametrize("kind", LOGS)
def test_odd_logs_have_reports_that_can_be_read(kind: str, browser: Any, tmp_path: Path) -> None:
    """Each has all sections, none of them empty, fits its window, and has no fault that a reader without eyes or mouse meets."""
    with _Tab(browser, _file(tmp_path, LOGS[kind]())) as tab:
        sections = tab.locator("main > section").evaluate_all("all => all.map(each => [each.id, each.textContent.length])")
        # Only a trace says who talks to whom.
        talks = ["talks"] if tab.locator(".radial").count() else []
        assert bool(talks) == (kind in TRACED_LOGS)
        # Only records of files make pictures of what was counted.
        numbers = ["numbers"] if tab.locator(".multiples").count() else []
        assert bool(numbers) == (kind in COUNTED_LOGS)
        rest = ["layers", "sizes", "files", "osts", "history", "unknown", "log"]
        assert ["run", "findings", *numbers, "model", "forwarding", "trace", *talks, *rest] == [id_ for id_, _ in sections]
        assert all(length > 30 for _, length in sections)
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert [] == tab.evaluate(FAULTS)


@pytest.mark.parametrize(("kind", "lanes"), [("one rank", "rank 0"), ("many ranks", "100,000 ranks (0 to 99999)")])
def test_explorer_shows_few_and_many_ranks(kind: str, lanes: str, browser: Any, tmp_path: Path) -> None:
    """All ranks are in sight, however many share a line of the picture; zoomed to one, that one is named."""
    with _Tab(browser, _file(tmp_path, LOGS[kind]())) as tab:
        tab.wait_for_function("document.querySelector('.explorer .status').textContent.includes('In sight')")
        assert tab.locator(".explorer .status").inner_text().endswith(f"{lanes}.")
        tab.locator(".explorer canvas").press("n")
        assert "Rank" in tab.locator(".explorer .tip").inner_text()


def test_what_follows_the_explorer_stays_where_it_is(browser: Any, tmp_path: Path) -> None:
    """Once the explorer is ready nothing moves any more, so that a click reaches what the reader points at."""
    with _Tab(browser, _file(tmp_path, Blueprint(TRACED))) as tab:
        tab.reload()
        tab.wait_for_selector(".explorer[data-ready]")
        place = "document.querySelector('#talks-title').getBoundingClientRect().top + scrollY"
        before = tab.evaluate(place)
        tab.wait_for_timeout(500)
        assert before == tab.evaluate(place)


def test_explorer_has_the_files_that_move_most(browser: Any, tmp_path: Path) -> None:
    """Of a hundred thousand files a thousand can be chosen, and what the others do is there under one name."""
    with _Tab(browser, _file(tmp_path, LOGS["many files"]())) as tab:
        options = tab.locator(".explorer").get_by_label("File").locator("option").all_text_contents()
        assert (1002, "all files", "99,000 other files") == (len(options), options[0], options[-1])


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_are_text_in_report_and_explorer(text: str, browser: Any, tmp_path: Path) -> None:
    """Wherever a log names something, the name is shown, adds no element, and runs nothing, in any view of the explorer."""
    posix = [dxt_record("<", REQUESTS, id_=id_, rank=rank, host=text.encode()[:63]) for id_ in (5, 6) for rank in range(4)]
    names = name("<", 5, f"/scratch/{text}".encode()) + name("<", 6, b"/scratch/plain")
    metadata = f"h={text[:200]}\nlib_ver=3.4.4".encode()
    blueprint = Blueprint(
        {"DXT_POSIX": Module(1, posix)}, names=names, job=job(exe=f"/bin/{text}"[:4000].encode(), metadata=metadata)
    )

    def edit(facts: Facts) -> Facts:
        whose = dict.fromkeys(("app", "user", "exe", "path", "cluster", "job_id"), text)
        return replace(facts, log=facts.log | whose, findings=[_finding(text)])

    with _Tab(browser, _file(tmp_path, blueprint, edit)) as tab:
        assert visible(text)[:50] in tab.locator("h1").inner_text()
        assert "run" != tab.title()
        assert 0 == tab.locator("main img, main b, main script, .explorer script").count()
        tab.get_by_role("link", name="Show it in the trace").click()
        assert tab.locator(".explorer .finding").inner_text().startswith("LUSTRE-101: Most in ")
        for view in ("Transfer sizes", "Offsets", "Operations"):
            tab.get_by_role("button", name=view, exact=True).click()
        tab.locator(".explorer canvas").press("n")
        tab.wait_for_selector(".explorer .tip:visible")
        assert 0 == tab.locator(".tip img, .tip b, .tip script, main img").count()


@pytest.mark.parametrize("width", [390, 1300])
def test_link_to_a_finding_shows_its_title_and_cost(width: int, browser: Any, tmp_path: Path) -> None:
    """Mails link to a finding of a report: the title, the cost and the advice are on the screen that a reader then sees."""

    def edit(facts: Facts) -> Facts:
        return replace(facts, findings=[_finding("data.h5")])

    with _Tab(browser, _file(tmp_path, LOGS["no trace"](), edit)) as tab:
        tab.set_viewport_size({"width": width, "height": 800})
        tab.emulate_media(reduced_motion="reduce")
        tab.goto(f"{tab.url}#LUSTRE-101")
        card = tab.locator("#cause-LUSTRE-101")
        in_sight = "each => { const { top, bottom } = each.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }"
        for part in ("h3", ".cost", ".says"):
            assert card.locator(part).first.evaluate(in_sight), part
        # What a number means comes without when it is not known.
        assert "Ranks that share the large file on one OST, if there is one." in card.inner_text()


def test_tables_are_no_taller_on_a_phone_than_what_they_say(browser: Any, tmp_path: Path) -> None:
    """Where a table is wider than the screen, no text stands one character below another, and all of its caption is seen."""
    with _Tab(browser, _file(tmp_path, Blueprint(TRACED | {"POSIX": Module(4, [posix_record("<")])}))) as tab:
        tab.set_viewport_size({"width": 390, "height": 800})
        heights = tab.locator("#sizes tr").evaluate_all("rows => rows.map(row => row.offsetHeight)")
        assert max(heights) < 100
        edges = tab.locator("main caption").evaluate_all("all => all.map(each => each.getBoundingClientRect().right)")
        assert max(edges) <= 390


def test_report_is_whole_without_a_script(browser: Any, tmp_path: Path) -> None:
    """Where scripts are not run everything but the explorer is there, and its place says what is missing."""
    with _Tab(browser, _file(tmp_path, Blueprint(TRACED)), java_script_enabled=False) as tab:
        assert 13 == tab.locator("main > section").count()
        assert "which your browser does not run" in tab.locator("#trace").inner_text()
        tab.locator("#talks-title").click()
        assert "which your browser does not run" in tab.locator("#talks").inner_text()
        assert tab.locator("#talks table").count()
        assert tab.locator("#trace a, #trace code").count()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_and_colours_of_the_picture(scheme: str, browser: Any, tmp_path: Path) -> None:
    """In both schemes texts have the contrast of WCAG AA, and so have the picture's: 4.5 for words, 3 for what is drawn."""
    with _Tab(browser, _file(tmp_path, Blueprint(TRACED)), color_scheme=scheme) as tab:
        assert [] == tab.evaluate(FAULTS)
        style = "getComputedStyle(document.querySelector('.explorer'))"
        colours = {
            name_: tab.evaluate(f"{style}.getPropertyValue('--{name_}')") for name_ in ("raised", "ink", "soft", "read", "write")
        }
        assert all(_contrast(colours["raised"], colours[name_]) >= 4.5 for name_ in ("ink", "soft"))
        assert all(_contrast(colours["raised"], colours[name_]) >= 3 for name_ in ("read", "write"))
        paper = tab.evaluate("[...document.querySelector('.explorer canvas').getContext('2d').getImageData(1, 1, 1, 1).data]")
        assert _channels(colours["raised"]) == paper[:3]
        sizes = [_luminance(colour) for colour in tab.evaluate(f"{style}.getPropertyValue('--sizes')").split()]
        assert sorted(sizes) == sizes


def test_keys_reach_all_that_can_be_done(browser: Any, tmp_path: Path) -> None:
    """From the top of the page the tab key comes to every link, button, choice, field and picture that is in sight."""
    with _Tab(browser, _file(tmp_path, Blueprint(TRACED))) as tab:
        reached = set()
        while (at := _pressed_tab(tab)) not in reached:
            reached.add(at)
        everything = tab.evaluate(
            """[...document.querySelectorAll("a[href], button, select, input, summary, canvas")]
            .filter(each => each.checkVisibility()).map(each => [...document.querySelectorAll("*")].indexOf(each))"""
        )
        assert set() == set(everything) - reached


def test_print_is_black_on_white_without_controls(browser: Any, tmp_path: Path) -> None:
    """Printed in the dark, the page and its picture are those of light, and what cannot be pressed on paper is gone."""
    with _Tab(browser, _file(tmp_path, Blueprint(TRACED)), color_scheme="dark") as tab:
        tab.emulate_media(media="print", color_scheme="dark")
        tab.wait_for_timeout(100)
        assert "rgb(255, 255, 255)" == tab.evaluate("getComputedStyle(document.body).backgroundColor")
        pixel = "[...document.querySelector('.explorer canvas').getContext('2d').getImageData(1, 1, 1, 1).data]"
        assert [255, 255, 255, 255] == tab.evaluate(pixel)
        assert [] == [each for each in tab.locator(".explorer .tabs, .explorer .controls, nav").all() if each.is_visible()]
        assert tab.locator(".explorer canvas").is_visible()


def _pressed_tab(tab: Any) -> int:
    """Which element has the focus after the tab key."""
    tab.keyboard.press("Tab")
    found: int = tab.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)")
    return found


def _channels(css: str) -> list[int]:
    digits = css.strip().removeprefix("#")
    return [int(digits[at : at + 2], 16) for at in (0, 2, 4)] if len(digits) == 6 else [int(2 * digit, 16) for digit in digits]


def _luminance(css: str) -> float:
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in (c / 255 for c in _channels(css))
    ]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("pair", [("accent", "warm"), ("read-0", "write-0")])
def test_reads_and_writes_differ_on_grey_paper(pair: tuple[str, str]) -> None:
    """A printer without colours shows which is which, and both stand out from the paper."""
    _, _, printed = CSS.read_text().partition("@media print")
    colours = dict(re.findall(r"--([\w-]+): (#\w+);", printed))
    assert _contrast(*(colours[name_] for name_ in pair)) >= 2
    assert all(_contrast(colours[name_], colours["paper"]) >= 3 for name_ in pair)


@pytest.mark.parametrize("kind", ["one rank", "a hostile path"])
def test_any_circles_can_be_chosen_of_odd_logs(kind: str, browser: Any, tmp_path: Path) -> None:
    """Pairs of circles are drawn, and what is pointed at is said; a hostile path is text; the address has what is chosen."""
    path = f"/scratch/{HOSTILE['tag']}"
    hostile = Blueprint(TRACED, job=job(), names=name("<", 5, path.encode()))
    blueprint = hostile if kind == "a hostile path" else LOGS[kind]()
    with _Tab(browser, _file(tmp_path, blueprint)) as tab:
        tab.set_default_timeout(5000)
        radial = tab.locator(".radial")
        inside, outside = radial.get_by_label("Inside"), radial.get_by_label("Outside")
        kinds = inside.locator("option").evaluate_all("options => options.map(option => option.value)")
        assert {"rank", "host", "mount", "file"} == set(kinds)
        radial.get_by_label("Middle").select_option("")
        for first, last in pairwise([*kinds, kinds[0]]):
            outside.select_option(first)
            inside.select_option(last)
            tab.wait_for_function(f"location.hash === '#rings={first},{last}'")
            said = radial.locator(".status").inner_text()
            assert "NaN" not in said
            assert ": 40 requests over 1 edge" in said if kind == "one rank" else " requests over " in said
            radial.locator("canvas").press("n")
            assert radial.locator(".tip").is_visible()
        if kind == "a hostile path":
            assert visible(path)[:20] in "".join(radial.locator(".tip dd").all_inner_texts())
            assert 0 == radial.locator(":is(img, b, script)").count()
