"""The explorer in a browser: what it shows is what the same questions in SQL are answered."""

import csv
import re
import struct
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser import Page, chromium
from one_log import catalog_of, facts_of, report_page, reported
from shared import NOT_HERE, SHARED_DATA

from iomine.report import explorer as explorer_room
from iomine.report import trace as trace_room
from iomine.report.explorer import beside
from iomine.report.highlights import counted_by_findings, highlights_of
from iomine.report.page import page as page_of
from iomine.report.page import shared_assets
from iomine.report.trace import Highlight
from iomine.units import ost_name
from iomine.views.query import answer, ask, open_catalog

sys.path.insert(0, str(Path(__file__).parents[1] / "sources"))
from writing import Blueprint, Module, Segment, dxt_record, job, lustre_v2_record, name, write

RANKS = 4
STEPS = 40
PATHS = {5: "/scratch/</script><script>alert(1)</script>{{ 7*7 }}\"'\n.dat", 6: "/scratch/=evil\u202efdp.dat"}
REAL = (
    "jeanbez_8_benchmark_parallel_id45195555_8-6-50011-11681279140261054765_1628283217",
    "jlbez_IO_test5.Linux_id1797024_12-1-78642-14680324743816948210_159",
)
SMALL = Highlight(code="P06", text='Small <b>writes</b> of "rank" 1 & 2.', ranks=[1, 2], ops=["write"], length_bytes_below=2000)


def _record(rank: int, file: int, layer: str) -> bytes:
    """Requests of a rank: one each two seconds and a half, of growing size, writes in turns with reads on file 5."""
    requests = [
        Segment(
            rank * 10**7 + step * 4096, 100 * (step + 1), 2.5 * step + 0.1 * rank, 2.5 * step + 0.1 * rank + 0.25 * (step % 7)
        )
        for step in range(STEPS)
        if layer == "posix" or step % 4 == 0
    ]
    reads = requests[1::2] if file == 5 else []
    return dxt_record("<", requests[0::2], reads, id_=file, rank=rank, host=f"node{rank // 2}".encode())


def _log(path: Path) -> None:
    def records(layer: str) -> list[bytes]:
        return [_record(rank, file, layer) for rank in range(RANKS) for file in PATHS]

    path.write_bytes(
        write(
            Blueprint(
                {
                    "LUSTRE": Module(2, [lustre_v2_record("<", [range(3, 6)])]),
                    "DXT_POSIX": Module(1, records("posix")),
                    "DXT_MPIIO": Module(2, records("mpiio")),
                },
                names=b"".join(name("<", id_, text.encode()) for id_, text in PATHS.items()),
                job=job(nprocs=RANKS),
            )
        )
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A catalog of a made log, the log's id, and a page of it in one file."""
    folder = tmp_path_factory.mktemp("made")
    _log(folder / "made.darshan")
    database, log_id = catalog_of(folder / "made.darshan", folder)
    page = folder / "page.html"
    page.write_text(report_page(database, log_id, [SMALL]), encoding="utf-8")
    return database, page


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser, made):
    with Page(browser, made[1].as_uri()) as found:
        yield found


def _count(database: Path, condition: str) -> int:
    return ask(database, f"SELECT count(*) AS n FROM segments WHERE {condition}")["n"][0].as_py()


def _in_sight(count: int, total: int) -> str:
    return f"In sight: {count:,} of {total:,} requests"


def test_whole_trace_has_the_numbers_of_sql(page, made):
    """Opened from a file, the page says how many requests of each layer and direction there are, and of how many bytes."""
    rows = ask(
        made[0],
        "SELECT layer, op, count(*) AS requests, sum(length_bytes) AS bytes FROM segments GROUP BY ALL ORDER BY layer, op",
    ).to_pylist()
    assert page.status.startswith(_in_sight(sum(row["requests"] for row in rows), sum(row["requests"] for row in rows)))
    names = {"mpiio": "MPI-IO", "posix": "POSIX"}
    expected = [(names[row["layer"]], row["op"], f"{row['requests']:,}") for row in rows]
    assert expected == [tuple(cells[:3]) for cells in page.table("What is in sight")]


def test_keys_zoom_and_pan_to_what_sql_counts(page, made):
    """Zoomed to the middle half of the run and moved on by a fifth of it, the page counts the requests there."""
    total = _count(made[0], "true")
    page.press("+")
    assert page.status.startswith(_in_sight(_count(made[0], "start_seconds <= 75 AND end_seconds >= 25"), total))
    page.press("ArrowRight")
    assert page.status.startswith(_in_sight(_count(made[0], "start_seconds <= 85 AND end_seconds >= 35"), total))
    page.press("0", "]", "]")
    assert page.status.startswith(_in_sight(_count(made[0], "rank = 2"), total))
    page.press("Home")
    assert page.status.startswith(_in_sight(total, total))


def test_brush_looks_closer_and_all_goes_back(page, made):
    """A drag shows the stretch between its ends, of the ranks that it covers; a button goes back."""
    total = _count(made[0], "true")
    box = page.picture()
    page.page.mouse.move(box["x"] + 300, box["y"] + 60)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 500, box["y"] + 90)
    page.page.mouse.up()
    status = page.status
    assert re.search(r"\b[123] ranks|rank \d", status)
    rows = list(csv.DictReader(page.saved("Save rows", made[1].parent).open(newline="")))
    assert status.startswith(_in_sight(len(rows), total))
    page.explorer.get_by_role("button", name="All", exact=True).click()
    assert page.status.startswith(_in_sight(total, total))


def test_every_tip_is_a_request_of_the_log(page, made):
    """Wherever the pointer is on something, that is a traced request, with its rank, host, size, offset and times."""
    known = {
        (
            row["rank"],
            row["host"],
            row["layer"],
            row["op"],
            row["length_bytes"],
            row["offset_bytes"],
            round(row["start_seconds"], 6),
        )
        for row in ask(made[0], "SELECT * FROM segments").to_pylist()
    }
    layers = {"MPI-IO": "mpiio", "POSIX": "posix"}
    box = page.picture()
    seen = set()
    for y in range(60, int(box["height"]) - 50, 12):
        for x in range(90, int(box["width"]) - 10, 42):
            page.page.mouse.move(box["x"] + x, box["y"] + y)
            if tip := page.tip():
                size, offset = (int(tip[label].split("(")[1].split()[0].replace(",", "")) for label in ("Size", "Offset"))
                start = float(tip["Start"].split()[0])
                seen.add((int(tip["Rank"]), tip["Host"], layers[tip["Layer"]], tip["Operation"], size, offset, round(start, 6)))
    assert len(seen) > 40
    assert {row[2] for row in seen} == {"mpiio", "posix"}
    assert seen <= known


def test_keys_point_at_one_request_after_another(page):
    """Without a pointer, n and p go through the requests in sight."""
    page.press("n")
    first = page.tip()
    page.press("n")
    second = page.tip()
    page.press("p")
    assert {} != first != second != {}
    assert first == page.tip()


def test_highlight_counts_what_its_finding_is_about(page, made):
    """What a finding is about keeps its colour and its count; the rest fades."""
    page.explorer.get_by_label("Highlight").select_option(label=f"P06: {SMALL.text}")
    assert f"P06: {SMALL.text}" == page.page.inner_text("p.finding")
    wanted = "rank IN (1, 2) AND op = 'write' AND length_bytes < 2000"
    reported = {(cells[0], cells[1]): cells[2] for cells in page.table("What is in sight")}
    for layer, name_ in (("mpiio", "MPI-IO"), ("posix", "POSIX")):
        assert str(_count(made[0], f"layer = '{layer}' AND {wanted}")) == reported[name_, "write"]
        assert str(_count(made[0], f"layer = '{layer}' AND NOT ({wanted})")) == reported[name_, "not highlighted"]


def test_link_to_a_finding_shows_what_it_is_about(browser, made):
    """Who opens the page at a finding's anchor sees its requests highlighted; an anchor that names none highlights nothing."""
    for anchor, said in (("#P06", f"P06: {SMALL.text}"), ("#layers", "")):
        with Page(browser, made[1].as_uri() + anchor) as page:
            assert said == page.page.inner_text("p.finding")


def test_what_names_a_finding_in_the_page_shows_it(page):
    """A click on an element of the page that names a finding is as good as choosing it."""
    page.page.evaluate("document.querySelector('h1').dataset.highlight = 'P06'")
    page.page.click("h1")
    assert f"P06: {SMALL.text}" == page.page.inner_text("p.finding")
    assert "0" == page.explorer.get_by_label("Highlight").input_value()


def test_files_and_ranks_are_chosen(page, made):
    """One file, or some ranks, are counted as SQL counts them; ranks that do not exist are reported."""
    total = _count(made[0], "true")
    page.explorer.get_by_label("File").select_option("1")
    files = ask(made[0], "SELECT file_id FROM core.file_access GROUP BY 1 ORDER BY sum(moved_bytes) DESC")["file_id"].to_pylist()
    assert page.status.startswith(_in_sight(_count(made[0], f"file_id = {files[1]}"), total))
    page.explorer.get_by_label("File").select_option("-1")
    page.explorer.get_by_label("Ranks").fill("0, 2-3")
    page.explorer.get_by_label("Ranks").press("Enter")
    assert page.status.startswith(_in_sight(_count(made[0], "rank IN (0, 2, 3)"), total))
    page.explorer.get_by_label("Ranks").fill("4")
    page.explorer.get_by_label("Ranks").press("Enter")
    assert "Ranks go from 0 to 3: there is no “4”." == page.page.inner_text("p.problem")


def test_sizes_and_offsets_and_osts_have_the_numbers_of_sql(page, made):
    """The other views count the same requests: by class of size, by offset, and by OST with each byte once."""
    page.view("Transfer sizes")
    page.page.wait_for_timeout(300)
    reported = {(cells[0], cells[1]): cells[2] for cells in page.table("What is in sight")}
    between = "layer = 'posix' AND length_bytes > 100 AND length_bytes <= 1024"
    assert str(_count(made[0], between)) == reported["POSIX", "to 1 KiB"]
    page.view("Offsets")
    page.press("+")
    highest = ask(made[0], "SELECT max(offset_bytes + length_bytes) AS most FROM segments")["most"][0].as_py()
    inside = f"offset_bytes <= {0.75 * highest} AND offset_bytes + length_bytes >= {0.25 * highest}"
    assert page.status.startswith(_in_sight(_count(made[0], inside), _count(made[0], "true")))
    page.view("OSTs")
    assert page.status.startswith(_in_sight(_count(made[0], "ost IS NOT NULL"), _count(made[0], "true")))
    rows = ask(made[0], "SELECT * FROM ost_io WHERE layer = 'posix' AND ost_id IS NOT NULL ORDER BY ost_id, op").to_pylist()
    reported = {cells[0]: cells for cells in page.table("What each OST moved") if not cells[0].startswith("not known")}
    assert {ost_name(row["ost_id"]) for row in rows} == set(reported)
    for row in rows:
        assert f"{row['request_count']:,}" == reported[ost_name(row["ost_id"])][1 if row["op"] == "read" else 4]


def test_phases_have_their_fastest_and_slowest_rank(page, made):
    """The table of phases is that of the view, and a button shows a phase's requests."""
    rows = ask(made[0], "SELECT * FROM phases ORDER BY layer, phase").to_pylist()
    page.view("Phases")
    reported = page.table("Phases")
    assert [(str(row["phase"]), str(row["fastest_rank"]), str(row["slowest_rank"])) for row in rows] == [
        (cells[1], cells[8].split(":")[0], cells[9].split(":")[0]) for cells in reported
    ]
    page.page.set_viewport_size({"width": 1400, "height": 900})
    assert page.page.evaluate("[...document.querySelectorAll('.summary')].every(box => box.scrollWidth <= box.clientWidth)")
    page.explorer.get_by_role("button", name="Show", exact=True).first.click()
    first = rows[0]
    slack = 0.02 * (first["end_seconds"] - first["start_seconds"])
    inside = f"start_seconds <= {first['end_seconds'] + slack} AND end_seconds >= {first['start_seconds'] - slack}"
    assert page.status.startswith(_in_sight(_count(made[0], inside), _count(made[0], "true")))


def test_names_are_text_wherever_they_stand(page, made):
    """A path full of markup is shown, and is not run; in a spreadsheet it is no formula."""
    options = page.explorer.get_by_label("File").locator("option").all_text_contents()
    assert set(PATHS.values()) <= set(options)
    rows = list(csv.DictReader(page.saved("Save rows", made[1].parent).open(newline="", encoding="utf-8")))
    assert set(PATHS.values()) == {row["file"] for row in rows}


def test_picture_is_saved_as_png(page, made):
    """The picture that is saved is a PNG, twice as fine as that on the page, by a name that says of what."""
    page.explorer.get_by_label("Highlight").select_option("0")
    page.press("+")
    assert page.status
    saved = page.saved("Save picture", made[1].parent)
    content = saved.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert f"{_log_id(made[0])}_operations_25-75s_P06.png" == saved.name
    width, height = struct.unpack(">II", content[16:24])
    shown = page.picture()
    # Words and the legend are above what the page shows.
    assert 2 * shown["width"] == width
    assert height > 2 * shown["height"] + 100
    page.view("OSTs")
    page.press("0")
    assert f"{_log_id(made[0])}_osts_P06.csv" == page.saved("Save rows", made[1].parent).name


def test_address_shows_again_what_was_seen(browser, made):
    """Who opens the address that the page has after some choices sees the same numbers and the same tables."""
    with Page(browser, made[1].as_uri()) as page:
        page.view("OSTs")
        page.explorer.get_by_label("Colour by").select_option("size")
        page.explorer.get_by_label("Ranks").fill("0-1")
        page.explorer.get_by_role("textbox", name="Size").fill("1k-3k")
        page.explorer.get_by_label("Duration").fill("0.2s-1s")
        page.explorer.get_by_label("Duration").press("Enter")
        page.press("+", "+")
        asked = "rank IN (0, 1) AND length_bytes BETWEEN 1024 AND 3072 AND end_seconds - start_seconds BETWEEN 0.2 AND 1"
        inside = f"ost IS NOT NULL AND {asked} AND start_seconds <= 62.5 AND end_seconds >= 37.5"
        assert page.status.startswith(_in_sight(_count(made[0], inside), _count(made[0], "true")))
        page.press("]")
        seen = page.status, page.table("What is in sight")
        address = page.page.url
    assert address.endswith("#trace&view=osts&colour=size&t=37.5-62.5&lanes=1&ranks=0-1&size=1024-3072&took=0.2-1")
    with Page(browser, address) as page:
        assert seen == (page.status, page.table("What is in sight"))
        assert "0-1" == page.explorer.get_by_label("Ranks").input_value()
        page.explorer.get_by_role("button", name="All", exact=True).click()
        page.page.evaluate("location.hash = 'trace&op=read&rings=x'")
        assert page.status.startswith(_in_sight(_count(made[0], "op = 'read'"), _count(made[0], "true")))


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("#%E0%A4%A", ""),
        ("#trace&view=%3Cimg%20src=x%20onerror=alert(1)%3E&t=NaN-&op=read", "view=<img src=x onerror=alert(1)>, t=NaN-"),
        (f"#trace&ranks={'0,' * 5000}9", "it is too long"),
    ],
    ids=["not UTF-8", "markup", "too long"],
)
def test_hostile_addresses_are_named_and_the_page_stays_whole(browser, made, address, said):
    """What an address asks for and the trace does not have is named in a line; the trace is drawn."""
    with Page(browser, made[1].as_uri() + address) as page:
        assert page.status.startswith("In sight: ")
        assert page.page.locator("p.problem").all_inner_texts()[1].endswith(said)
        assert bool(said) is bool(page.page.locator("p.problem").all_inner_texts()[1])


def test_legend_switches_what_it_names_on_and_off(page, made):
    """The legend has the colours that occur; a click on one hides its requests, and another shows them."""
    total = _count(made[0], "true")
    legend = page.explorer.locator(".legend")
    assert ["read", "write"] == legend.locator("button").all_inner_texts()
    legend.get_by_role("button", name="read").press("Enter")
    assert page.status.startswith(_in_sight(_count(made[0], "op = 'write'"), total))
    legend.get_by_role("button", name="read").click()
    page.view("Transfer sizes")
    assert ["to 100 B", "to 1 KiB", "to 10 KiB"] == legend.locator("button").all_inner_texts()
    legend.get_by_role("button", name="to 1 KiB").click()
    assert page.status.startswith(_in_sight(_count(made[0], "NOT length_bytes BETWEEN 101 AND 1024"), total))
    assert "false" == legend.get_by_role("button", name="to 1 KiB").get_attribute("aria-pressed")


def test_fingers_move_and_zoom(page, made):
    """One finger moves the picture in time, two that part zoom into it, and a tap says what is under it."""
    total = _count(made[0], "true")
    client = page.page.context.new_cdp_session(page.page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        touched = [{"x": box["x"] + x, "y": box["y"] + y, "id": number} for number, (x, y) in enumerate(points)]
        client.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": touched})

    box = page.picture()
    middle, width = 76 + (box["width"] - 92) / 2, box["width"] - 92
    touch("Start", (middle - width / 8, 60))
    touch("Start", (middle - width / 8, 60), (middle + width / 8, 60))
    touch("Move", (middle - width / 4, 60), (middle + width / 4, 60))
    touch("End")
    assert page.status.startswith(_in_sight(_count(made[0], "start_seconds <= 75 AND end_seconds >= 25"), total))
    touch("Start", (middle, 60))
    touch("Move", (middle - width / 10, 60))
    touch("Move", (middle - width / 5, 60))
    touch("End")
    assert page.status.startswith(_in_sight(_count(made[0], "start_seconds <= 85 AND end_seconds >= 35"), total))


def test_osts_stand_in_the_order_of_their_first_use(page, made):
    """The OST that is used first is on top, or the one with the lowest number, as the address says."""
    page.view("OSTs")
    first = ask(made[0], "SELECT ost FROM segments WHERE ost IS NOT NULL GROUP BY 1 ORDER BY min(start_seconds), ost")[
        "ost"
    ].to_pylist()
    page.press("n")
    assert ost_name(first[0]) == page.tip()["OST"]
    assert f"(in order of first use, {first[0]} first and {first[1]} last)" in page.status
    page.explorer.get_by_label("Order").select_option("number")
    assert f"({min(first)} and {max(first)})" in page.status
    assert page.page.url.endswith("#trace&view=osts&order=number")
    page.press("n")
    assert ost_name(min(first)) == page.tip()["OST"]


def test_levels_of_detail_are_drawn_and_reported(browser, tmp_path, monkeypatch):
    """Of a trace that is too long a page has levels of detail, which hold as many requests, and says what it cannot show."""
    requests = [Segment(4096 * number, 4096, 0.015 * number, 0.015 * number + 0.01) for number in range(6000)]
    records = [dxt_record("<", requests, id_=id_, rank=rank) for id_ in PATHS for rank in range(2)]
    log = tmp_path / "long.darshan"
    log.write_bytes(write(Blueprint({"DXT_POSIX": Module(1, records)}, job=job(nprocs=2))))
    database, log_id = catalog_of(log, tmp_path)
    monkeypatch.setattr(trace_room, "_MOST_REQUESTS", 10)
    (tmp_path / "page.html").write_text(report_page(database, log_id), encoding="utf-8")
    with Page(browser, (tmp_path / "page.html").as_uri()) as page:
        assert page.status.startswith(_in_sight(24_000, 24_000))
        assert "apart are drawn as one." in page.status
        assert {"POSIX": "24,000"} == {cells[0]: cells[2] for cells in page.table("What is in sight")}
        page.press("n")
        assert ("write", "100% of the duration") == (page.tip()["Operation"], page.tip()["Busy"])
        page.press(*["+"] * 8)
        assert "The page has no finer detail of this trace." in page.status
        page.explorer.get_by_label("File").select_option("1")
        assert "This view needs each single request. The trace is too long: the page has merged requests only." == page.status


def _folder_report(database: Path, folder: Path) -> Path:
    """The page of the log as sweeps write it, beside its data and what all pages share."""
    facts, trace = reported(database, _log_id(database), [SMALL])
    (folder / "assets").mkdir()
    for name_, text in shared_assets().items():
        (folder / "assets" / name_).write_text(text, encoding="utf-8")
    page = folder / f"{facts.log['log_id']}.html"
    page.write_text(page_of(facts, trace), encoding="utf-8")
    for name_, data in beside({explorer_room.NAME: trace}, None, page.stem).items():
        (folder / name_).write_bytes(data)
    return page


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("is_served", [False, True], ids=["from files", "over HTTP"])
def test_data_lie_beside_the_page(browser, made, tmp_path, is_served):
    """A page in a folder is small, and draws its trace from beside it, from a file system as from a web server."""
    file = _folder_report(made[0], tmp_path)
    total = _count(made[0], "true")
    assert file.stat().st_size < 100_000
    with _served(tmp_path) as address, Page(browser, f"{address}/{file.name}" if is_served else file.as_uri()) as page:
        assert page.status.startswith(_in_sight(total, total))


@pytest.mark.parametrize("is_served", [False, True], ids=["from files", "over HTTP"])
def test_levels_too_long_for_the_page_come_over_http_only(browser, made, tmp_path, monkeypatch, is_served):
    """What is too long for the script beside the page lies in files of its own, which only pages on a web server read."""
    monkeypatch.setattr(explorer_room, "_MOST_EMBEDDED_BYTES", 1)
    monkeypatch.setattr(trace_room, "_MOST_REQUESTS", 10)
    log = tmp_path / "long.darshan"
    # Four requests close together, and a gap that only the coarse level closes.
    starts = [0.09 * group + 0.0125 * number for group in range(1000) for number in range(4)]
    requests = [Segment(0, 4096, start, start + 0.01) for start in starts]
    log.write_bytes(write(Blueprint({"DXT_POSIX": Module(1, [dxt_record("<", requests, id_=5)])}, job=job(nprocs=1))))
    database, log_id = catalog_of(log, tmp_path)
    file = _folder_report(database, tmp_path)
    assert list(tmp_path.glob(f"{log_id}.trace-*.block.gz"))
    with _served(tmp_path) as address, Page(browser, f"{address}/{file.name}" if is_served else file.as_uri()) as page:
        first = re.search(r"less than (\S+ \S+) apart", page.status)[1]
        page.press(*["+"] * 4)
        assert is_served is (first not in page.status)


def test_data_that_are_gone_are_missed(browser, made, tmp_path):
    """A page that was copied without its data says so, and is else whole."""
    file = _folder_report(made[0], tmp_path)
    (tmp_path / f"{file.stem}.trace.js").unlink()
    tab = browser.new_page()
    tab.goto(file.as_uri())
    tab.wait_for_function("document.querySelector('.explorer').innerText.includes('The data of the trace is missing')")
    assert tab.locator("h2").count() == 12
    tab.close()


@pytest.mark.proof
def test_data_are_nothing_but_names_and_base64(made, tmp_path):
    """The script beside a page, which browsers run, holds no sign that a log chose."""
    file = _folder_report(made[0], tmp_path)
    text = (tmp_path / f"{file.stem}.trace.js").read_text()
    assert re.fullmatch(r'globalThis\.iomineBlocks=\{("trace-(about|\d)":"[A-Za-z0-9+/=]+",?)+\};', text)


@pytest.mark.parametrize("stem", REAL)
def test_real_traces_have_the_numbers_of_sql(browser, tmp_path, stem):
    """Logs that come with DXT Explorer: requests of each layer and direction, and bytes of OSTs that count each byte once."""
    log = SHARED_DATA / "darshan" / "dxt-explorer" / f"{stem}.darshan"
    if not log.exists():
        pytest.skip(NOT_HERE)
    database, log_id = catalog_of(log, tmp_path)
    facts, trace = reported(database, log_id)
    (tmp_path / "page.html").write_text(page_of(facts, trace, standalone=True), encoding="utf-8")
    rows = ask(
        database, "SELECT layer, op, count(*) AS n, sum(length_bytes) AS bytes FROM segments GROUP BY ALL ORDER BY ALL"
    ).to_pylist()
    with Page(browser, (tmp_path / "page.html").as_uri()) as page:
        assert [f"{row['n']:,}" for row in rows] == [cells[2] for cells in page.table("What is in sight")]
        page.view("OSTs")
        assert len({use["ost_id"] for use in trace.about["osts"]}) == len(page.table("What each OST moved"))
    assert sum(row["bytes"] for row in rows if row["layer"] == "posix") == sum(use["moved_bytes"] for use in trace.about["osts"])


def test_marks_are_as_many_as_the_finding_counts(browser, tmp_path):
    """On openPMD's log "12 stragglers" mark the requests of twelve ranks, which the list has first, and no other."""
    log = SHARED_DATA / "darshan" / "dxt-explorer" / f"{REAL[0]}.darshan"
    if not log.exists():
        pytest.skip(NOT_HERE)
    database, log_id = catalog_of(log, tmp_path)
    ranks = ask(database, "SELECT rank FROM core.rank_time WHERE is_slow_rank")["rank"].to_pylist()
    [count] = ask(database, "SELECT straggler_count FROM feature.log_rank_profile")["straggler_count"].to_pylist()
    facts = facts_of(database, log_id)
    finding = {"code": "RANK-101", "finding": f"Stragglers: {count}.", "metrics": {"straggler_rank": ranks[0]}}
    facts.findings = [finding]
    with open_catalog(database) as con:
        counted = counted_by_findings(partial(answer, con), [facts])[log_id]
    (tmp_path / "page.html").write_text(report_page(database, log_id, highlights_of(facts, counted)), encoding="utf-8")
    with Page(browser, f"{(tmp_path / 'page.html').as_uri()}#RANK-101") as page:
        assert f"RANK-101: Stragglers: {count}." == page.page.inner_text("p.finding")
        marked = [cells for cells in page.table("What is in sight") if cells[1] != "not highlighted"]
        rows = list(csv.DictReader(page.saved("Save rows", tmp_path).open(newline="", encoding="utf-8")))
    first = rows[: sum(int(cells[2].replace(",", "")) for cells in marked)]
    assert set(ranks) == {int(row["rank"]) for row in first}
    assert (count, len(first)) == (len(ranks), _count(database, f"rank IN ({', '.join(map(str, ranks))})"))
    assert count > 1


def test_bytes_of_osts_are_those_of_a_walk_over_all_stripes(browser, tmp_path):
    """On openPMD's log, which DXT Explorer comes with, the table of OSTs has each byte of each request once, on its OST."""
    log = SHARED_DATA / "darshan" / "dxt-explorer" / f"{REAL[0]}.darshan"
    if not log.exists():
        pytest.skip(NOT_HERE)
    database, log_id = catalog_of(log, tmp_path)
    layouts = ask(database, "SELECT DISTINCT file_id, stripe_bytes, ost_ids FROM core.lustre_component").to_pylist()
    layout_of = {layout["file_id"]: (layout["stripe_bytes"], layout["ost_ids"]) for layout in layouts}
    assert len(layouts) == len(layout_of)
    moved: Counter[tuple[str, str]] = Counter()
    requests = ask(database, "SELECT file_id, op, offset_bytes, length_bytes FROM segments WHERE layer = 'posix'")
    for file, op, offset, length in zip(*(column.to_pylist() for column in requests.columns), strict=True):
        stripe_bytes, osts = layout_of[file]
        for stripe in range(offset // stripe_bytes, (offset + length - 1) // stripe_bytes + 1):
            begin, end = max(offset, stripe * stripe_bytes), min(offset + length, (stripe + 1) * stripe_bytes)
            moved[ost_name(osts[stripe % len(osts)]), op] += end - begin
    (tmp_path / "page.html").write_text(report_page(database, log_id), encoding="utf-8")
    with Page(browser, (tmp_path / "page.html").as_uri()) as page:
        page.view("OSTs")
        rows = page.table("What each OST moved")
        found = {(cells[0], op): cells[at] for cells in rows for op, at in (("read", 2), ("write", 5)) if cells[at]}
    uses = {(ost_name(use["ost_id"]), use["op"]): use["moved_bytes"] for use in reported(database, log_id)[1].about["osts"]}
    assert moved == uses
    assert found == {key: _human(count) for key, count in moved.items()}


def _human(count: int) -> str:
    """Bytes as the page has them, to three digits."""
    unit = max((count.bit_length() - 1) // 10, 0)
    value = count / 1024**unit
    digits = 0 if value >= 100 or value == int(value) else 1 if value >= 10 else 2
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {['B', 'KiB', 'MiB', 'GiB'][unit]}"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Says nothing."""


def _log_id(database: Path) -> str:
    return ask(database, "SELECT log_id FROM logs")["log_id"][0].as_py()
