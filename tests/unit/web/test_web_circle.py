"""The night's circle as the server gives it, as files, and as a browser draws it."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from browser import chromium
from outline import HOSTILE
from web_server import LIMITS, ask_server, served

from iomine.report.circles import INNER, OUTER
from iomine.schema.registry import arrow_schema
from iomine.units import human_bytes, percent
from iomine.views.catalog import build_catalog
from iomine.web.circle import circle_night_of, circle_of, sentence_of_tops
from iomine.web.sessions import Session
from iomine.web.site import write_site
from iomine.web.window import window_of

NIGHT = dt.date(2026, 11, 20)
EVIL = HOSTILE["tag"]
MIB = 2**20


def _written(folder: Path, table: str, rows: list[dict[str, Any]]) -> list[str]:
    target = folder / table / "cluster=blue" / f"night={NIGHT}" / "part-0.parquet"
    target.parent.mkdir(parents=True)
    schema = arrow_schema(table)
    pq.write_table(pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema), target)
    return [str(target)]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A night of three hundred users, of whom each has a log on two OSTs; the first has a hostile name."""
    root = tmp_path_factory.mktemp("circle")
    logs, used = [], []
    for number in range(300):
        log_id = f"{number:016x}"
        user = EVIL if not number else f"user{number}"
        end = dt.datetime.combine(NIGHT, dt.time(number % 24, 30), dt.UTC)
        logs.append({"log_id": log_id, "user": user, "app": f"app{number % 3}", "end_at": end, "job_id": "", "nprocs": 4})
        for ost in (number % 4, 4):
            moved = (1000 - number) * MIB
            used.append(
                {
                    "log_id": log_id,
                    "layer": "posix",
                    "ost_id": ost,
                    "op": "write",
                    "evidence": "trace",
                    "request_count": 10,
                    "moved_bytes": moved,
                    "request_seconds": 0.01 * (1000 - number) * (10 if ost == 4 else 1),
                }
            )
    files = {"log": _written(root, "log", logs), "ost_io": _written(root, "ost_io", used)}
    build_catalog(root / "iomine.duckdb", files, {}, {})
    return root


@pytest.fixture
def session(warehouse: Path) -> Iterator[Session]:
    """A connection to the warehouse."""
    opened = Session(warehouse / "iomine.duckdb", LIMITS)
    yield opened
    opened.close()


def test_users_beyond_the_most_are_one_and_nothing_is_lost(session: Session) -> None:
    """256 users stand apart, those with most bytes; each ring has all bytes, and the slow OST's pace is ten times the others'."""
    of = circle_night_of(session.ask, [])
    assert of is not None
    picture, (users, _, osts) = circle_of(session.ask, of, lambda *_: None)
    assert 257 == users.count == len(picture.circles[0].labels)
    assert ("user1", "all others") == (picture.circles[0].labels[1], picture.circles[0].labels[-1])
    total = 2 * MIB * sum(1000 - number for number in range(300))
    cells = picture.cells
    for ring in (OUTER, INNER):
        for metric in range(3):
            assert total == pytest.approx(cells["bytes"][(cells["ring"] == ring) & (cells["metric"] == metric)].sum())
    pace = (cells["ring"] == INNER) & (cells["metric"] == 0)
    slow = pace & (cells["to"] == picture.circles[2].labels.index("OST 4"))
    assert (0.1, 0.01) == (pytest.approx(cells["most"][slow].max()), pytest.approx(cells["most"][pace & ~slow].max()))
    assert "OST 4" == osts.rows[0][0]


def test_page_begins_with_who_moved_most(session: Session) -> None:
    """The first sentence has the figures of SQL; what is counted are pairs of a log and an OST, of which a log has two."""
    of = circle_night_of(session.ask, [])
    assert of is not None
    picture, tops = circle_of(session.ask, of, lambda *_: None)
    counts = "SELECT sum(moved_bytes) AS bytes FROM ost_io JOIN logs USING (log_id) GROUP BY {} ORDER BY bytes DESC LIMIT 1"
    moved, of_user, of_ost = (
        float(session.ask(counts.format(key), [])["bytes"][0].as_py()) for key in ("ost_io.night", '"user"', "ost_id")
    )
    words = [f"({human_bytes(part)}, {percent(part / moved)})" for part in (of_user, of_ost)]
    # Users beyond those that stand apart are together more, but nobody's name.
    said = f"Of {human_bytes(moved)}, user {picture.circles[0].labels[0]} moved most {words[0]}; OST 4 got most {words[1]}."
    assert said == sentence_of_tops(tops)
    assert "pair" == picture.counts
    counted = (picture.cells["ring"] == OUTER) & (picture.cells["metric"] == 1)
    assert 600 == picture.cells["count"][counted].sum()


def test_one_user_is_apart_from_all_others(session: Session) -> None:
    """Asked for one user, the circle has their edges and the rest as one."""
    of = circle_night_of(session.ask, [("user", "user7")])
    assert of is not None
    picture, (users, *_) = circle_of(session.ask, of, lambda *_: None)
    assert ["user7", "all others"] == list(picture.circles[0].labels)
    assert {"user7": 2, "all others": 598} == {label: count for label, count, *_ in users.rows}


@pytest.mark.parametrize(("asked", "status", "said"), [
    ("", 200, "Night 2026-11-20"),
    ("?by=app", 200, "programs"),
    ("?by=moon", 400, "not by"),
    ("?cluster=red", 404, "blue"),
    ("?night=yesterday", 400, "not a date"),
    ("?x=1", 400, "no parameter"),
])  # fmt: skip
def test_page_answers_what_makes_sense(asked: str, status: int, said: str, warehouse: Path) -> None:
    """The page shows the newest night; what makes no sense gets a sentence."""
    with served(warehouse) as address:
        reply = ask_server(address, f"/circle{asked}")
        assert status == reply.status
        assert said in reply.text
        assert 'href="circle"' in ask_server(address, "/").text


def test_nothing_is_known_of_an_empty_warehouse(empty_catalog: Path) -> None:
    """The page says what is missing, and no script that draws comes with it."""
    with served(empty_catalog.parent) as address:
        reply = ask_server(address, "/circle")
        assert "which OSTs moved what" in reply.text
        assert "assets/radial-" not in reply.text


@pytest.mark.proof
def test_a_click_leads_to_the_logs_and_hostile_names_are_text(warehouse: Path, tmp_path: Path) -> None:
    """In server and site a user that is clicked leads to their logs; a name adds no element and runs nothing."""
    session = Session(warehouse / "iomine.duckdb", LIMITS)
    write_site(session, window_of(session, []), tmp_path / "site", warehouse / "reports", only_window=False)
    session.close()
    with served(warehouse) as address, chromium() as browser:
        for place in (f"{address}circle", (tmp_path / "site" / "circle.html").as_uri()):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            said: list[str] = []
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("pageerror", lambda error, said=said: said.append(str(error)))
            page.on("dialog", lambda dialog, said=said: said.append(dialog.message))
            page.goto(place)
            page.wait_for_selector(".radial[data-ready]")
            assert 0 == page.locator("main :is(img, b)").count()
            box = page.locator(".radial canvas").bounding_box()
            side = min(box["width"], 860)
            # The first user is right of the top.
            page.mouse.click(box["x"] + box["width"] / 2 + 3, box["y"] + side / 2 - (side / 2 - 52) - 5)
            page.wait_for_timeout(200)
            assert EVIL[:20] in page.inner_text(".radial .links")
            with page.expect_navigation():
                page.locator(".radial .links a").click()
            if page.url.startswith("http"):
                assert "user.eq=" in page.url
            assert 1 == page.locator("tbody tr", has_text=f"{0:016x}").count()
            page.close()
            assert [] == said
