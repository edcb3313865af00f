"""The circle of who talks to whom as a browser draws it: its numbers, its brush, its keys, and what a hostile name does to it."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import chromium
from outline import HOSTILE
from radials import PATTERNS, made, page_of

from iomine.report.circles import Lack, Picture
from iomine.units import visible

RANKS, CARRIERS, OSTS, REQUESTS = 64, 4, 2, 32


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A running browser."""
    with chromium() as running:
        yield running


@contextmanager
def shown(browser: Any, folder: Path, picture: Picture, **options: Any) -> Iterator[Any]:
    """A page with a picture, of which nothing may be complained."""
    file = folder / "page.html"
    file.write_text(page_of(picture), encoding="utf-8")
    page = browser.new_page(**({"viewport": {"width": 1000, "height": 900}} | options))
    said: list[str] = []
    # Pictures are read back by the test alone.
    page.on("console", lambda message: "willReadFrequently" in message.text or said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(file.as_uri())
    page.wait_for_selector(".radial[data-ready]")
    yield page
    page.close()
    assert [] == said


def status(page: Any) -> str:
    """What the page says is in sight, once it has drawn."""
    page.wait_for_timeout(200)
    return str(page.inner_text(".radial .status"))


def edges(page: Any, folder: Path) -> list[dict[str, str]]:
    """The edges in sight, as they are saved."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save edges").click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return list(csv.DictReader(file.open(newline="")))


def tip(page: Any) -> dict[str, str]:
    """What the pointer is on, by label; empty where it is on nothing."""
    box = page.locator(".radial .tip")
    if not box.is_visible():
        return {}
    return dict(zip(box.locator("dt").all_inner_texts(), box.locator("dd").all_inner_texts(), strict=True))


@pytest.fixture
def picture() -> Picture:
    """A run of which two ranks are slow."""
    return made("outlier", RANKS, CARRIERS, OSTS, REQUESTS)


def test_edges_have_the_numbers_of_the_cells(browser: Any, tmp_path: Path, picture: Picture) -> None:
    """What is saved is, edge by edge, the sums of the cells; and the page says how many there are."""
    cells = picture.cells
    with shown(browser, tmp_path, picture) as page:
        assert f"Ranks to carriers: {RANKS * REQUESTS:,} requests over {RANKS} edges" in status(page)
        saved = edges(page, tmp_path)
    for number, ring in enumerate(("outer", "inner")):
        of_ring = [row for row in saved if row["ring"] == ring]
        is_own = (cells["ring"] == number) & (cells["metric"] == 0)
        assert int(cells["count"][is_own].sum()) == sum(int(row["request_count"]) for row in of_ring)
        for row in of_ring[:10]:
            ends = [circle.labels.index(row[end]) for circle, end in zip(picture.circles[number:], ("from", "to"), strict=False)]
            own = is_own & (cells["from"] == ends[0]) & (cells["to"] == ends[1])
            assert int(cells["bytes"][own].sum()) == int(row["moved_bytes"])
            # Values are kept to two parts in a thousand.
            assert float(cells["most"][own].max()) == pytest.approx(float(row["most"]), rel=4e-3)
            mean = float((cells["mean"] * cells["count"])[own].sum() / cells["count"][own].sum())
            assert mean == pytest.approx(float(row["mean"]), rel=4e-3)


def test_brush_counts_what_is_in_its_window(browser: Any, tmp_path: Path, picture: Picture) -> None:
    """A drag below the circle chooses bins of time, whose cells are counted; keys move the window and go back."""
    cells = picture.cells
    with shown(browser, tmp_path, picture) as page:
        canvas = page.locator(".radial canvas")
        box = canvas.bounding_box()
        canvas.evaluate("canvas => canvas.scrollIntoView({ behavior: 'instant', block: 'end' })")
        box = canvas.bounding_box()
        scale = (box["width"] - 74) / 64
        at = [box["x"] + 64 + scale * bin_ for bin_ in (16.5, 31.5)]
        page.mouse.move(at[0], box["y"] + box["height"] - 60)
        page.mouse.down()
        page.mouse.move(at[1], box["y"] + box["height"] - 60, steps=4)
        page.mouse.up()
        assert "24 s to 48 s" in status(page)
        for first, last in ((16, 32), (20, 36)):
            in_window = (cells["ring"] == 0) & (cells["metric"] == 0) & (cells["time"] >= first) & (cells["time"] < last)
            assert int(cells["count"][in_window].sum()) == sum(
                int(row["request_count"]) for row in edges(page, tmp_path) if row["ring"] == "outer"
            )
            canvas.press("ArrowRight")
            status(page)
        canvas.press("Home")
        assert "the whole run" in status(page)


def test_keys_show_the_slowest_edge_first_and_light_its_rank(browser: Any, tmp_path: Path, picture: Picture) -> None:
    """The first edge has the highest value of the ring; Enter lights its rank alone, Escape all."""
    highest = picture.cells["most"][(picture.cells["ring"] == 0) & (picture.cells["metric"] == 0)].argmax()
    rank = int(picture.cells["from"][(picture.cells["ring"] == 0) & (picture.cells["metric"] == 0)][highest])
    with shown(browser, tmp_path, picture) as page:
        canvas = page.locator(".radial canvas")
        canvas.press("n")
        assert f"rank {rank}" == tip(page)["From"]
        canvas.press("Enter")
        assert f"rank {rank}. Ranks to carriers: {REQUESTS} requests over 1 edge" in status(page)
        canvas.press("Escape")
        assert f"over {RANKS} edges" in status(page)


def test_pointer_names_nodes_and_a_click_lights_them(browser: Any, tmp_path: Path, picture: Picture) -> None:
    """On the outermost circle the pointer is on a rank, of which the tip has host, count and bytes; a click lights its edges."""
    with shown(browser, tmp_path, picture) as page:
        box = page.locator(".radial canvas").bounding_box()
        radius = min(box["width"], 860) / 2 - 52
        # A little after three o'clock: of 64 ranks number 16.
        x, y = box["x"] + box["width"] / 2 + radius + 5, box["y"] + min(box["width"], 860) / 2 + 10
        page.mouse.move(x, y)
        said = tip(page)
        assert ("rank 16", "node0001") == (said["Rank"], said["Host"])
        assert said["Requests"].startswith(f"{REQUESTS} of ")
        page.mouse.click(x, y)
        assert "rank 16." in status(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_are_drawn_in_the_colours_of_the_legend(
    pattern: str, width: int, scheme: str, browser: Any, tmp_path: Path
) -> None:
    """In both schemes and on a telephone each pattern has coloured pieces, and nothing is wider than its window."""
    with shown(
        browser, tmp_path, made(pattern, 128, 8, 4, 16), viewport={"width": width, "height": 900}, color_scheme=scheme
    ) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        coloured = page.evaluate(
            """() => {
                const canvas = document.querySelector(".radial canvas");
                const side = Math.min(canvas.width, 860);
                const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, side);
                let count = 0;
                for (let at = 0; at < data.length; at += 4) {
                    const [r, g, b] = data.subarray(at, at + 3);
                    if (Math.max(r, g, b) - Math.min(r, g, b) > 60) count++;
                }
                return count / (canvas.width * side);
            }"""
        )
        assert 0.005 < coloured < 0.6


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_rise_in_luminance(scheme: str, browser: Any, tmp_path: Path, picture: Picture) -> None:
    """From few requests to many both ramps become lighter, which is seen without colours too."""
    with shown(browser, tmp_path, picture, color_scheme=scheme) as page:
        for name in ("outer", "inner"):
            ramp = page.evaluate(f"getComputedStyle(document.querySelector('.radial')).getPropertyValue('--{name}')").split()
            found = [_luminance(colour) for colour in ramp]
            assert sorted(found) == found
            assert found[-1] > 4 * found[0]


def _luminance(css: str) -> float:
    digits = css.removeprefix("#")
    digits = digits if len(digits) == 6 else "".join(2 * each for each in digits)
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_are_text(text: str, browser: Any, tmp_path: Path, picture: Picture) -> None:
    """A name of a host or a place is shown, adds no element, runs nothing, and is no formula in CSV."""
    named = visible(text)[:60] or "-"
    ranks, carriers, osts = picture.circles
    hostile = replace(
        picture,
        circles=(replace(ranks, hosts=[named] * RANKS), carriers, replace(osts, labels=[f"{named} {at}" for at in range(OSTS)])),
    )
    with shown(browser, tmp_path, hostile) as page:
        canvas = page.locator(".radial canvas")
        canvas.press("n")
        assert named == tip(page)["Host"]
        page.locator(".radial summary").first.click()
        assert 0 == page.locator(".radial :is(img, b, script)").count()
        saved = edges(page, tmp_path)
        assert {named, f"'{named}"} >= {row["from_host"] for row in saved if row["ring"] == "outer"}
        assert not [row for row in saved if row["to"].startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize("lack", ["nothing", "latency of the outer ring"])
def test_what_is_missing_is_said(lack: str, browser: Any, tmp_path: Path, picture: Picture) -> None:
    """A picture without any edges, or a ring without values, says why, in words and in the picture."""
    cells = picture.cells
    kept = np.zeros(len(cells["ring"]), bool) if lack == "nothing" else ~((cells["ring"] == 0) & (cells["metric"] == 0))
    empty = replace(
        picture,
        cells={name: column[kept] for name, column in cells.items()},
        missing=[Lack("Nothing went through MPI-IO.", ring=0, metric=0)],
    )
    with shown(browser, tmp_path, empty) as page:
        assert "Ranks to carriers: Nothing went through MPI-IO." in status(page)
        page.locator(".radial canvas").press("n")


def test_one_rank_is_a_whole_circle(browser: Any, tmp_path: Path) -> None:
    """A run of one rank, one carrier and one OST is drawn and can be pointed at."""
    with shown(browser, tmp_path, made("circular", 1, 1, 1, 8)) as page:
        assert "8 requests over 1 edge" in status(page)
        box = page.locator(".radial canvas").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 52)
        assert "rank 0" == tip(page)["Rank"]
