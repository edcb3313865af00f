"""Circles that readers choose, and arcs that they open, as a server counts their requests and a browser draws them."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import fabric_rows
import pyarrow.parquet as pq
import pytest
from browser import chromium
from one_log import CLUSTER, NIGHT, catalog_of
from outline import HOSTILE
from page_blocks import text_unpacked
from web_server import LIMITS, ask_server, served

from iomine.units import visible
from iomine.views.catalog import build_catalog
from iomine.web import rings
from iomine.web.sessions import Session

sys.path.insert(0, str(Path(__file__).parents[1] / "sources"))
from writing import Blueprint, Module, Segment, dxt_record, job, lustre_v2_record, name, write

# Of more than 1,024 ranks two share an arc.
RANKS, TURNS = 1100, 2
SLOW = 7
EVIL = f"/scratch/{HOSTILE['tag']}"
FILES = {5: ("/scratch/a.h5", [0, 3]), 6: (EVIL, [17])}


def _requests(file: int, rank: int) -> list[Segment]:
    """Requests of a rank, of which one takes long."""
    seconds = 0.5 if (file, rank) == (5, SLOW) else 0.01
    starts = [5.0 * turn + 1e-4 * rank for turn in range(TURNS)]
    return [Segment((rank * TURNS + turn) << 20, 1 << 20, start, start + seconds) for turn, start in enumerate(starts)]


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A warehouse with a log of many ranks, each of which writes to two files, and a client's list of OSTs; and the log's id."""
    root = tmp_path_factory.mktemp("rings")
    records = [
        dxt_record("<", _requests(file, rank), id_=file, rank=rank, host=f"nid{rank // 16:04}".encode())
        for file in FILES
        for rank in range(RANKS)
    ]
    layouts = b"".join(lustre_v2_record("<", [osts], id_=file) for file, (_, osts) in FILES.items())
    names = b"".join(name("<", file, path.encode()) for file, (path, _) in FILES.items())
    modules = {"DXT_POSIX": Module(1, [b"".join(records)]), "LUSTRE": Module(2, [layouts])}
    log = root / "made.darshan"
    log.write_bytes(write(Blueprint(modules, names=names, job=job(nprocs=RANKS))))
    database, log_id = catalog_of(log, root)
    servers = root / "fabric_name" / f"cluster={CLUSTER}" / f"night={NIGHT}" / "part-0.parquet"
    servers.parent.mkdir(parents=True)
    pq.write_table(fabric_rows.names_table({"s-OST0000": ["oss1"], "s-OST0003": ["oss1"]}, fabric_rows.READ_AT), servers)
    lake: dict[str, list[str]] = defaultdict(list)
    for file in root.glob("*/*/*/*.parquet"):
        lake[file.relative_to(root).parts[0]].append(str(file))
    database.unlink()
    build_catalog(database, lake, {}, {})
    return root, log_id


@pytest.fixture
def session(traced: tuple[Path, str]) -> Iterator[Session]:
    """A connection to the warehouse."""
    opened = Session(traced[0] / "iomine.duckdb", LIMITS)
    yield opened
    opened.close()


def test_cells_count_each_request_once(traced: tuple[Path, str], session: Session) -> None:
    """By arc and file as many requests, bytes and seconds as the trace has; of an arc that is opened each rank by itself."""
    about, cells = text_unpacked(rings.moved_of(session, traced[1], [("by", "rank,file"), ("width", "0.1")]))
    assert {visible(EVIL)[:20], "/scratch/a.h5"} == {text[:20] for text in about["files"]}
    is_latency = cells["metric"] == 0
    assert RANKS * TURNS * len(FILES) == cells["count"][is_latency].sum()
    assert (RANKS * TURNS * len(FILES)) << 20 == cells["bytes"][is_latency].sum()
    assert set(range(0, RANKS, 2)) == set(cells["rank"].tolist())
    slow = is_latency & (cells["rank"] == SLOW - 1) & (cells["most"] > 0.4)
    assert 0.5 == pytest.approx(cells["most"][slow].max())
    one = [("by", "rank,ost"), ("first_rank", "6"), ("last_rank", "7")]
    about, cells = text_unpacked(rings.moved_of(session, traced[1], one))
    assert {6, 7} == set(cells["rank"].tolist())
    assert {0, 3, 17} == set(cells["ost"].tolist())
    assert SLOW == next(row["rank"] for row in about["ranks"] if row["ring"] == 1)


@pytest.mark.parametrize(("asked", "status", "said"), [
    ("by=rank,file", 200, ""),
    ("by=moon", 400, "no circle of 'moon'"),
    ("", 400, "No circles are named"),
    ("by=rank&width=nan", 400, "write seconds"),
    ("by=rank&bins=0", 400, "whole number from 1"),
    ("by=rank&last_rank=99999999999999999999", 400, "whole number from 0"),
    ("by=rank&where=1", 400, "no parameter 'where'"),
])  # fmt: skip
def test_odd_questions_get_a_sentence(asked: str, status: int, said: str, traced: tuple[Path, str]) -> None:
    """What makes no sense is refused in a sentence, as text that a script can show."""
    with served(traced[0]) as address:
        reply = ask_server(address, f"/rings/{traced[1]}?{asked}")
        assert (status, True) == (reply.status, said in reply.text)
        assert reply.headers["content-type"].startswith("text/plain")
        assert 404 == ask_server(address, "/rings/0000000000000000?by=rank").status


def test_cells_of_an_answer_are_bounded(traced: tuple[Path, str], session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """More cells than a page can hold are not sent; a sentence says what to do."""
    monkeypatch.setattr(rings, "MOST_CELLS", 100)
    with pytest.raises(rings.UsageError, match="more than 100 edges"):
        rings.moved_of(session, traced[1], [("by", "rank,file")])


@pytest.mark.proof
def test_reader_chooses_circles_and_opens_an_arc(traced: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a served page without requests the server counts them, and the address keeps the choice."""
    root, log_id = traced
    # As of a trace that is too long for a page.
    monkeypatch.setattr("iomine.report.write._traces", lambda *_: iter(()))
    with served(root) as address, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        said: list[str] = []
        for kind in ("console", "pageerror", "dialog"):
            page.on(kind, lambda event: said.append(str(getattr(event, "text", event))))
        page.goto(f"{address}reports/{log_id}.html")
        page.locator("#talks-title").click()
        page.wait_for_selector(".radial[data-ready]")
        status, hint = page.locator(".radial .status"), page.locator(".radial .hint")
        # Servers of two OSTs are known, and that of the third is not.
        page.get_by_label("Inside").select_option("oss")
        page.wait_for_selector(".radial .status:has-text('OSSs')")
        page.get_by_label("Inside").select_option("file")
        page.wait_for_selector(".radial .status:has-text('files')")
        assert f"{RANKS * TURNS * len(FILES):,} requests" in status.inner_text()
        assert "#rings=rank,host,file" in page.url
        page.reload()
        page.wait_for_selector(".radial .status:has-text('files')")
        page.get_by_label("Middle").select_option("")
        page.wait_for_selector(".radial .hint:has-text('from ranks to files')")
        page.evaluate("location.hash = 'rings=rank,host,ost&arc=3'")
        page.wait_for_selector("text=All ranks")
        assert "of ranks 6 to 7" in hint.inner_text()
        assert f"{2 * TURNS * len(FILES)} requests over 2 edges" in status.inner_text()
        page.get_by_text("Single ranks as a table").click()
        assert 4 == page.locator(".radial table", has_text="What single ranks").locator("tbody tr").count()
        page.get_by_text("All ranks").click()
        page.wait_for_selector("text=All ranks", state="detached")
        assert "#" not in page.url
        assert 0 == page.locator(".radial :is(img, b)").count()
        assert [] == said
        page.close()


def test_a_trace_that_is_gone_leaves_single_ranks_in_a_table(traced: tuple[Path, str], tmp_path: Path) -> None:
    """Where requests are not kept, a sentence says so, and what is kept of single ranks is a table."""
    root, log_id = traced
    lake: dict[str, list[str]] = defaultdict(list)
    for file in root.glob("*/*/*/*.parquet"):
        if file.relative_to(root).parts[0] != "segment":
            lake[file.relative_to(root).parts[0]].append(str(file))
    build_catalog(tmp_path / "iomine.duckdb", lake, {}, {})
    opened = Session(tmp_path / "iomine.duckdb", LIMITS)
    about, cells = text_unpacked(rings.moved_of(opened, log_id, [("by", "rank,file"), ("first_rank", "6"), ("last_rank", "7")]))
    assert (rings.GONE, 0, {6, 7}) == (about["lack"], len(cells["op"]), {row["rank"] for row in about["ranks"]})
    with pytest.raises(rings.UnknownNameError, match="not kept"):
        rings.moved_of(opened, log_id, [("by", "rank,file")])
    opened.close()
