"""The server: what it answers, and what it turns away."""

import csv
import html
import io
import json
import re
import shutil
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, urldefrag, urlencode, urljoin

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from facility import REQUESTS, TRACED, Facility
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outline import HOSTILE, Outline
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from web_server import Get, Reply, ask_server, served

from iomine.report.job import job_page_name
from iomine.triggers import reference_table
from iomine.views.catalog import build_catalog
from iomine.web.pages import style_name
from iomine.web.sessions import Session
from iomine.web.window import GROUPS

VIEWS = ("logs", "findings", "rejects", "core.app_night", "jobs", "worst_offenders", "sweeps", "trends", "segments")


# What completes a search; a page has no other script.
COMPLETES = re.compile(r'<script defer src="(?:\.\./)*assets/search-[0-9a-f]{12}\.js"></script>')


def outline_of(reply: Reply) -> Outline:
    """What a browser makes of a page beside the one script that is ours."""
    return Outline(COMPLETES.sub("", reply.text, count=1))


def title(reply: Reply) -> str:
    found = re.search("<h1>(.*?)</h1>", reply.text)
    assert found
    return found[1]


@pytest.mark.parametrize("path", ["/", "/?by=account", "/?cluster=blue&since=2024-04-02&until=2024-04-05", "/views/", "/search"])
@pytest.mark.proof
def test_pages_are_there(get: Get, path: str) -> None:
    """Pages' tags nest, and they hold no script but the one that completes a search."""
    reply = get(path)
    assert (200, "text/html; charset=utf-8") == (reply.status, reply.headers["content-type"])
    assert "script" not in outline_of(reply).tags


def test_it_says_whether_it_can_answer(get: Get, tmp_path: Path) -> None:
    """Where there is a warehouse to ask it is well; what says so asks for nothing else."""
    assert (200, "ok\n") == ((reply := get("/healthz")).status, reply.text)
    (tmp_path / "warehouse").mkdir()
    database = tmp_path / "warehouse" / "iomine.duckdb"
    build_catalog(database, {}, {"triggers": reference_table()}, {})
    with served(database.parent) as address:
        database.unlink()
        assert (503, "There is no warehouse to ask.\n") == ((reply := ask_server(address, "/healthz")).status, reply.text)


def test_figures_are_what_the_command_prints(get: Get) -> None:
    """Prometheus's own parser reads them, and their type is that of OpenMetrics."""
    reply = get("/metrics")
    assert reply.headers["content-type"].startswith("application/openmetrics-text")
    families = list(text_string_to_metric_families(reply.text))
    assert {"iomine_sweep_found", "iomine_newest_night_age_seconds", "iomine_free_bytes"} <= {family.name for family in families}
    assert all(family.documentation.endswith(".") and family.type == "gauge" for family in families)


def test_browsers_show_figures(get: Get) -> None:
    """They would save what is of Prometheus's type."""
    reply = get("/metrics", accept="text/html,application/xhtml+xml,*/*;q=0.8")
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert "# HELP iomine_free_bytes" in reply.text


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_names_are_text_on_every_page(get: Get, view: str) -> None:
    """Whatever a name is made of, it adds no tag, turns no line around, and stands on the page as it is or is cut."""
    reply = get(f"/views/{view}?limit=1000")
    outline = outline_of(reply)
    assert {"script", "b"}.isdisjoint(outline.tags)
    assert not re.search("[\0\x08\u202a-\u202e\u2066-\u2069]", reply.text)
    assert len(outline.ids) == len(set(outline.ids))
    if view in {"logs", "rejects", "core.app_night", "jobs", "worst_offenders"}:
        assert "<script>alert(1)</script>" in outline.text
        assert "{{ 7 * 7 }}" in outline.text


@pytest.mark.parametrize("by", GROUPS)
def test_hostile_names_are_text_on_the_dashboard(get: Get, by: str) -> None:
    """The same of the dashboard, in its panels and in the SQL behind their links."""
    reply = get(f"/?by={by}")
    outline = outline_of(reply)
    assert {"script", "b"}.isdisjoint(outline.tags)
    assert not re.search("[\0\x08\u202a-\u202e\u2066-\u2069]", reply.text)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_name_as_a_condition(get: Get, facility: Facility, text: str) -> None:
    """Asked for in an address, a name is a value: its rows come, and the page says it as text."""
    reply = get("/views/logs?" + urlencode({"user.eq": text, "limit": 1000}))
    assert 200 == reply.status
    count = sum(log["user"] == text for log in facility.logs)
    assert f"All {count} rows" in Outline(reply.text).text
    assert "script" not in outline_of(reply).tags
    found = json.loads(get("/views/logs.json?" + urlencode({"user.eq": text})).body)
    assert [text] * count == [row["user"] for row in found]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("kind", ["user", "application"])
@pytest.mark.proof
def test_hostile_name_has_a_page(get: Get, facility: Facility, kind: str, text: str) -> None:
    """A page is about a name of any signs: all of its runs, and nothing in it is a tag."""
    reply = get(f"/about/{kind}?" + urlencode({"name": text}))
    assert 200 == reply.status
    assert f"{sum(log[kind] == text for log in facility.logs)} runs in " in outline_of(reply).text
    assert {"script", "b"}.isdisjoint(outline_of(reply).tags)
    assert not re.search("[\0\x08\u202a-\u202e\u2066-\u2069]", reply.text)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_name_is_found(address: str, get: Get, text: str) -> None:
    """A search for a part of a name finds it, as text on the page and as JSON, and both lead to its page."""
    part = text.strip()[:20].strip()
    reply = get("/search?" + urlencode({"q": part}))
    assert {"script", "b"}.isdisjoint(outline_of(reply).tags)
    hits = json.loads(get("/search.json?" + urlencode({"q": part})).body)
    (hit,) = [each for each in hits if (each["kind"], each["name"]) == ("user", text)]
    assert f'href="{html.escape(hit["address"], quote=False)}"' in reply.text
    assert 200 == get(f"/{hit['address']}").status


def test_a_name_that_only_one_has_leads_to_its_page(get: Get, facility: Facility) -> None:
    """Whoever has the id of a log, or a name that only one thing has, comes to its page by one press of a key."""
    log_id = facility.logs[5]["log_id"]
    assert (303, f"reports/{log_id}.html") == ((reply := get(f"/search?q={log_id}")).status, reply.headers["location"])
    assert (303, "about/target?name=scratch-OST0001") == (
        (reply := get("/search?q=scratch-OST0001")).status,
        reply.headers["location"],
    )


def test_a_job_of_several_logs_leads_to_its_one_page(get: Get, facility: Facility) -> None:
    """The page of a job that several logs name has all of them as launches; it and a report have the search field."""
    job = next(log for log, other in pairwise(facility.logs) if all(log[name] == other[name] for name in ("cluster", "job_id")))
    count = sum((log["cluster"], log["job_id"]) == (job["cluster"], job["job_id"]) for log in facility.logs)
    address = f"reports/{job_page_name(job['cluster'], job['job_id'])}"
    found = json.loads(get("/search.json?" + urlencode({"q": job["job_id"]})).body)
    assert address in {hit["address"] for hit in found if hit["kind"] == "job"}
    page = get(f"/{address}").text
    assert f"job of {count} logs" in Outline(page).text
    for text in (page, get(f"/reports/{job['log_id']}.html").text):
        assert 'action="../search"' in text
        assert "form-action 'self'" in text


def test_who_is_not_known_is_not_found(get: Get) -> None:
    """What nothing has in its name is found nowhere, and a field with nothing in it asks for something."""
    assert "Nothing has that in its name" in get("/search?q=nobodyhasthis").text
    assert [] == json.loads(get("/search.json?q=nobodyhasthis").body)
    assert [] == json.loads(get("/search.json?q=").body)


@pytest.fixture(scope="module")
def status_of(address: str) -> Callable[[str], int]:
    """What the server answers a path with; what several pages link to is asked for once."""
    return cache(lambda path: ask_server(address, path).status)


@pytest.mark.proof
@pytest.mark.parametrize(
    "page",
    [
        "/",
        "/about/user?name=ada",
        "/about/target?name=scratch-OST0001",
        "/views/findings?limit=20&user.contains=script",
        "/views/",
        "/views/logs?columns=user",
    ],
)
def test_every_link_leads_somewhere(address: str, get: Get, status_of: Callable[[str], int], page: str) -> None:
    """No number and no name leads nowhere, whatever signs it is made of."""
    hrefs = {html.unescape(href) for href in re.findall(r'href="([^"]*)"', get(page).text)}
    places = {urldefrag(urljoin(address + page[1:], href)).url for href in hrefs if not href.startswith("data:")}
    assert len(places) > 10
    paths = sorted(place.removeprefix(address) for place in places)
    assert {} == {path: status for path in paths if (status := status_of(f"/{path}")) != 200}


@pytest.mark.parametrize(
    ("path", "status", "reported"),
    [
        ("/views/lgs", 404, "There is no view &#39;lgs&#39;: did you mean logs?"),
        ("/views/feature.app_night", 404, "There is no view"),
        ("/views/logs;DROP", 404, "There is no view"),
        ("/views/_meta", 404, "There is no view"),
        ("/nowhere", 404, "There is nothing at this address"),
        ("/?cluster=gren", 404, "No logs are from a machine &#39;gren&#39;: did you mean green?"),
        ("/?since=x", 400, "is not a date"),
        ("/?since=2024-04-05&until=2024-04-01", 400, "holds no night"),
        ("/?since=0001-01-01", 400, "more than a dashboard shows"),
        ("/?by=age", 400, "Offenders cannot be grouped by &#39;age&#39;"),
        ("/?sql=SELECT", 400, "There is no parameter &#39;sql&#39;"),
        ("/about/user?name=nobody", 404, "No user of that name is known"),
        ("/about/user", 400, "The name of the user is missing"),
        ("/about/pet?name=ada", 404, "There are no pages about &#39;pet&#39;"),
        ("/about/user?name=ada&until=soon", 400, "is not a date"),
        ("/search?text=ada", 400, "There is no parameter &#39;text&#39;"),
        ("/views/logs?user=ada", 400, "There is no parameter &#39;user&#39;"),
        ("/reports/ffffffffffffffff.html", 404, "The warehouse has no log ffffffffffffffff"),
        ("/reports/due.json", 404, "No report is called"),
        ("/traces/ffffffffffffffff.parquet", 404, "The warehouse has no log"),
        (f"/traces/{TRACED}.parquet?start=soon", 400, "is not a number"),
        (f"/traces/{TRACED}.parquet?where=1", 400, "There is no parameter"),
    ],
)
def test_what_cannot_be_answered_is_reported_in_a_sentence(get: Get, path: str, status: int, reported: str) -> None:
    """A name that is not there is 404, what makes no sense is 400; either page says so in a sentence."""
    reply = get(path)
    assert status == reply.status
    assert reported in reply.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_reading_is_answered(get: Get, method: str) -> None:
    """Whatever would change something is turned away."""
    reply = get("/views/logs", method)
    assert (405, {"GET", "HEAD"}) == (reply.status, set(reply.headers["allow"].split(", ")))


def test_head_has_the_headers_and_no_body(get: Get) -> None:
    """HEAD is GET without its body."""
    assert (200, b"") == ((head := get("/views/", "HEAD")).status, head.body)
    assert head.headers["content-length"] == get("/views/").headers["content-length"]


@pytest.mark.parametrize(
    "path", ["/", "/views/logs", "/views/logs.csv?limit=1", "/nowhere", f"/reports/{TRACED}.html", "/mail/x"]
)
@pytest.mark.proof
def test_headers_keep_browsers_within_bounds(get: Get, path: str) -> None:
    """Every answer forbids what is not needed: foreign content, being framed, guessed types, referrers."""
    headers = get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert ("'none'", "'none'", "'none'", "'self'") == tuple(
        policy[name] for name in ("default-src", "base-uri", "frame-ancestors", "style-src")
    )
    # The search field of a page is a form, also above a report.
    assert "'self'" == policy["form-action"]
    assert policy.get("script-src") == (None if path.startswith("/mail/") else "'self'")
    assert "unsafe" not in headers["content-security-policy"]
    assert ("nosniff", "no-referrer", "DENY") == (
        headers["x-content-type-options"], headers["referrer-policy"], headers["x-frame-options"],
    )  # fmt: skip
    assert "server" not in headers


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "localhost@evil", "[::1", "a b"]
)
def test_foreign_names_are_turned_away(address: str, host: str) -> None:
    """A page of another site that makes its own name lead here gets nothing (DNS rebinding)."""
    reply = ask_server(address, "/", host=host)
    assert reply.status in {400, 421}
    assert b"Facility" not in reply.body


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8123", "127.0.0.1", "[::1]:99"])
def test_names_of_loopback_are_known(address: str, host: str) -> None:
    """The server answers to the names of loopback, whatever port a tunnel gives it."""
    assert 200 == ask_server(address, "/views/", host=host).status


@pytest.mark.parametrize(
    "name",
    ["../iomine.duckdb", "..%2fiomine.duckdb", "%2e%2e/iomine.duckdb", "....//iomine.duckdb", "/etc/passwd", "%2fetc%2fpasswd",
     "..\\iomine.duckdb", "assets/../../iomine.duckdb", ".hidden.html", "assets/.x", "a/b/c.html", "x%00.html", ""],
)  # fmt: skip
def test_nothing_outside_the_reports_is_served(get: Get, name: str) -> None:
    """No way of writing a path leads out of the folder."""
    assert 404 == get(f"/reports/{name}").status


def test_links_that_lead_out_are_not_followed(facility: Facility, get: Get) -> None:
    """A symbolic link in the folder serves nothing outside of it."""
    reports = facility.root / "reports"
    reports.mkdir(exist_ok=True)
    (reports / "leak.html").symlink_to(facility.root / "iomine.duckdb")
    try:
        assert 404 == get("/reports/leak.html").status
    finally:
        (reports / "leak.html").unlink()


def test_report_without_a_file_is_made_and_the_warehouse_left_alone(facility: Facility, get: Get) -> None:
    """A log's report comes whether or not a sweep wrote it, with its JSON and style; nothing is written for it there."""
    before = sorted(str(path) for path in facility.root.rglob("*"))
    page = get(f"/reports/{TRACED}.html")
    assert 200 == page.status
    assert TRACED in Outline(page.text).text
    assert TRACED == json.loads(get(f"/reports/{TRACED}.json").body)["log"]["log_id"]
    for href in re.findall(r'href="(assets/[^"]+)"', page.text):
        assert 200 == get(f"/reports/{href}").status
    assert 200 == get("/reports/triggers.html").status
    assert before == sorted(str(path) for path in facility.root.rglob("*"))


def test_report_leads_to_its_user_and_application(facility: Facility, get: Get) -> None:
    """Whoever reads a report is one click away from whose it is, whatever signs their names are made of."""
    log = next(each for each in facility.logs if each["user"] and each["application"])
    hrefs = {html.unescape(href) for href in re.findall(r'href="[.][.]/([^"]+)"', get(f"/reports/{log['log_id']}.html").text)}
    wanted = {f"about/{kind}?" + urlencode({"name": log[kind]}) for kind in ("user", "application")}
    assert wanted <= hrefs
    assert {200} == {get(f"/{href}").status for href in wanted}


def test_written_report_is_served_in_ranges(facility: Facility, get: Get) -> None:
    """What a sweep wrote is served as it is, whole or in part."""
    reports = facility.root / "reports"
    reports.mkdir(exist_ok=True)
    written = reports / f"{9:016x}.html"
    written.write_bytes(bytes(range(256)))
    try:
        assert bytes(range(256)) == get(f"/reports/{9:016x}.html").body
        part = get(f"/reports/{9:016x}.html", range="bytes=10-19")
        assert (206, "bytes 10-19/256", bytes(range(10, 20))) == (part.status, part.headers["content-range"], part.body)
        assert 416 == get(f"/reports/{9:016x}.html", range="bytes=300-").status
    finally:
        written.unlink()


def test_style_has_a_name_of_its_own(get: Get) -> None:
    """The style sheet is kept by browsers for ever, as another one has another name."""
    assert "immutable" in (reply := get(f"/assets/{style_name()}")).headers["cache-control"]
    assert "text/css; charset=utf-8" == reply.headers["content-type"]


READERS: dict[str, Callable[[bytes], list[dict[str, object]]]] = {
    "csv": lambda body: list(csv.DictReader(io.StringIO(body.decode(), newline=""))),
    "json": json.loads,
    "parquet": lambda body: pq.read_table(pa.BufferReader(body)).to_pylist(),
}


@pytest.mark.parametrize("ending", READERS)
def test_files_hold_all_rows(facility: Facility, get: Get, ending: str) -> None:
    """CSV, JSON and Parquet have every row that the conditions leave, and say what to call the file."""
    reply = get(f"/views/logs.{ending}?nprocs.eq=64&columns=log_id,user,nprocs&order=log_id")
    expected = [(log["log_id"], log["user"], "64") for log in facility.logs if log["nprocs"] == 64]
    assert expected == [(row["log_id"], row["user"], str(row["nprocs"])) for row in READERS[ending](reply.body)]
    assert f'attachment; filename="logs.{ending}"' == reply.headers["content-disposition"]


def test_rows_beyond_a_page_are_reached_by_links(facility: Facility, get: Get) -> None:
    """Each page says which rows it has of how many, and leads to the next; back leads to the one before."""
    path, seen, said = "/views/logs?columns=log_id&order=-log_id&limit=7", [], []
    while path:
        page = get(path).text
        seen += re.findall(r"<td>.*?>(\w{16})<", page)
        said += re.findall(r"Rows ([\d,]+ to [\d,]+ of [\d,]+) rows", page)
        onward = re.search(r'href="\.\./([^"]*)" rel="next"', page)
        path = f"/{html.unescape(onward[1])}" if onward else ""
    assert seen == sorted((log["log_id"] for log in facility.logs), reverse=True)
    assert f"8 to 14 of {len(seen):,}" == said[0]
    behind = get(f"/views/logs?offset={2**63 - 1}").text
    assert f"None of {len(seen):,} rows" in behind
    assert 'rel="prev"' in behind


@pytest.mark.parametrize(
    ("parameters", "sql"),
    [
        ({}, "true"),
        ({"layer": "posix"}, "layer = 'posix'"),
        ({"start": 20, "end": 20.5}, "end_seconds >= 20 AND start_seconds <= 20.5"),
        (
            {"start": 50, "first_rank": 2, "last_rank": 3, "layer": "mpiio"},
            "end_seconds >= 50 AND rank IN (2, 3) AND layer = 'mpiio'",
        ),
        ({"start": 5000}, "false"),
    ],
)
def test_requests_of_a_window_are_those_of_sql(get: Get, session: Session, parameters: dict[str, object], sql: str) -> None:
    """The requests that overlap a window of time, of some ranks and a layer, in the order of their start."""
    got = pq.read_table(pa.BufferReader(get(f"/traces/{TRACED}.parquet?" + urlencode(parameters)).body))
    columns = ", ".join(got.column_names)
    expected = session.ask(f"SELECT {columns} FROM segments WHERE log_id = '{TRACED}' AND {sql} ORDER BY start_seconds")
    assert expected.to_pylist() == got.to_pylist()
    assert got.num_rows == (0 if sql == "false" else expected.num_rows) != 1


def test_more_requests_than_an_answer_holds_are_refused(get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window is answered whole or not at all: nothing is left out unsaid."""
    monkeypatch.setattr("iomine.web.trace.MOST_REQUESTS", 100)
    reply = get(f"/traces/{TRACED}.parquet")
    assert 400 == reply.status
    assert f"holds {REQUESTS:,} requests; the limit is 100" in reply.text
    assert 200 == get(f"/traces/{TRACED}.parquet?start=10&end=11").status


def test_more_rows_than_a_file_holds_are_refused(get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has all rows, or as many as are asked for."""
    monkeypatch.setattr("iomine.web.app._MOST_IN_FILE", 100)
    assert 400 == get("/views/logs.csv").status
    assert 50 == len(json.loads(get("/views/logs.json?limit=50").body))


def test_server_shows_what_a_sweep_has_published(facility: Facility, tmp_path: Path) -> None:
    """Once the catalog is swapped, the next answer is the new one's; while it is gone, a sentence says so."""
    shutil.copy(facility.root / "iomine.duckdb", tmp_path)
    with served(tmp_path) as address:
        count = json.loads(ask_server(address, "/views/rejects.json").body)
        assert len(facility.rejects) == len(count)
        build_catalog(tmp_path / "iomine.duckdb", {}, {"triggers": reference_table()}, {})
        assert [] == json.loads(ask_server(address, "/views/rejects.json").body)
        assert "There are no logs of these nights" in ask_server(address, "/").text
        (tmp_path / "iomine.duckdb").unlink()
        gone = ask_server(address, "/")
        assert (503, True) == (gone.status, "run `iomine sweep` first" in gone.text)


NAMES = st.sampled_from(
    ["user.eq", "night.ge", "uid.le", "limit", "offset", "order", "columns", "x.y", "column", "operator", "value", "since", "by"]
)
TEXTS = st.sampled_from(
    ["ada", "2024-04-05", "-uid", "0", "true", "' OR 1=1 --", "\"); COPY x TO '/tmp/x'", "NaN", "%", "\0", "9" * 40]
) | st.text(max_size=20)
PATHS = st.sampled_from(
    ["/", *(f"/views/{view}" for view in VIEWS[:6]), "/views/logs.csv", "/views/findings.json", f"/traces/{TRACED}.parquet"]
)


@pytest.mark.proof
@given(
    PATHS | st.text(max_size=20).map(lambda text: f"/views/{quote(text)}"),
    st.lists(st.tuples(NAMES | st.text(max_size=8), TEXTS), max_size=4),
)
@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_parameter_breaks_the_server(get: Get, path: str, parameters: list[tuple[str, str]]) -> None:
    """Whatever is asked for, the answer is rows, or a sentence with 400 or 404."""
    reply = get(f"{path}?{urlencode(parameters)}")
    assert reply.status in {200, 400, 404}
    if reply.status != 200:
        assert "<h1>" in reply.text


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=40))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_raw_address_breaks_the_server(get: Get, text: str) -> None:
    """Addresses that no browser would send are answered too."""
    assert get(f"/{text}").status in {200, 400, 404, 405}
