"""What hostile inputs say goes through every view, command and export unharmed, and harms nothing."""

import csv
import email
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from email.policy import default
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sweeping import column, rows
from typer.testing import CliRunner

from iomine.cli.app import build_app, commands
from iomine.cli.options import Format
from iomine.cli.terminal.formats import write
from iomine.cli.terminal.sweeps import show
from iomine.pipeline.sweep import Counts, Settings, Summary, run
from iomine.sources.darshan.writing import CounterRecords
from iomine.views.model import find_views
from iomine.views.query import answer, open_catalog

sys.path.insert(0, str(Path(__file__).parents[1] / "sources"))
from writing import START, Blueprint, Module, Segment, dxt_record, job, lustre_v2_record, name
from writing import write as log_bytes

VIEWS = [view.name for view in find_views() if view.schema == "main"]
# Whatever harms a query, a page, a template, a shell, a spreadsheet, a terminal or a decoder; \xff and half of a sign last.
NASTY = (
    b"'; DROP TABLE log; -- \" \\ /* */ $$ {{ 7*7 }} {% raw %} {0} %s %n <script>alert(1)</script> <img src=x onerror=1> & \t\r"
    b"$(touch pwned) `touch pwned` | touch pwned; =cmd|'/C calc'!A0 \x1b[2J\x1b]0;owned\x07 \x01\x08\x7f \xc2\x9b31m "
    b"\xe2\x80\xae\xe2\x81\xa6 \xef\xbb\xbf [red]x[/red] :smile: NULL nan \xff\xfe\xe2\x80"
)
PATHS = {
    11: b"/scratch/" + NASTY + b"\n" + NASTY,
    12: b"/scratch/" + b"long" * 1000,
    13: b"/scratch/../../etc/" + NASTY,
    14: b"\x01",
    15: b"{reread_path} lies on 3 OSTs, one for 5 ranks; its ",
}
EXE = b"/opt/" + NASTY.replace(b" ", b"_") + b" " + NASTY + b"e" * 2000
USER = os.fsdecode(NASTY.replace(b"/", b"|").replace(b"_", b"-")[-120:])
JOB_NAME = NASTY.decode("utf-8", "replace").replace("|", "").replace("\r", "")
OWNER = "'; DROP TABLE log; -- \\ {{7}} <b> \u202e"
# In a terminal's answer none of these may stand.
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")

Hostile = dict[str, str]
# A trace with hosts that begin with a control character makes no sense.
HOST = b"n" + NASTY[:62]


def reported(data: bytes) -> str:
    """What a text of a log is read as: bytes that are no UTF-8 become escapes."""
    return data.decode("utf-8", "backslashreplace")


def posix_records() -> bytes:
    """Records that make triggers name their paths: many small reads that are slow, of all ranks."""
    records = CounterRecords("POSIX", len(PATHS))
    values = {"file_id": list(PATHS), "rank": [-1] * len(PATHS), "open_count": 9000, "read_count": 5000, "read_bytes": 500_000}
    values |= {"read_size_0_100_count": 5000, "max_read_offset_bytes": 99, "read_seconds": 500.0, "meta_seconds": 900.0}
    for field, value in values.items():
        records[field] = value
    return records.data()


def a_log() -> bytes:
    """A valid log whose every text is hostile."""
    names = b"".join(name("<", id_, path) for id_, path in PATHS.items())
    mounts = (("/scratch", "lustre"), (f"/{reported(NASTY)}", f"ext4{reported(NASTY)}".replace("\t", " ")))
    metadata = b"lib_ver=" + NASTY[:200] + b"\nh=cb_nodes=" + NASTY[:100].replace(b"\n", b"") + b"\n" + NASTY[:300] + b"=1\n"
    segments = [Segment(offset, 10, offset / 100, offset / 100 + 1) for offset in range(50)]
    traces = b"".join(dxt_record("<", reads=segments, id_=id_, rank=id_ % 4, host=HOST) for id_ in PATHS)
    layouts = b"".join(lustre_v2_record("<", [[1]], id_=id_, rank=-1, pool=NASTY[-16:]) for id_ in PATHS)
    modules = {"POSIX": Module(4, [posix_records()]), "LUSTRE": Module(2, [layouts]), "DXT_POSIX": Module(1, [traces])}
    return log_bytes(
        Blueprint(modules, job=job(uid=666_777, job_id=4_100_001, exe=EXE, metadata=metadata, mounts=mounts), names=names)
    )


def job_stats(moment: int, count: int) -> str:
    """What a target says of a job with a hostile id."""
    return (
        f"obdfilter.scratch-OST0000.job_stats=\njob_stats:\n- job_id:          {OWNER}\n  snapshot_time:   {moment}\n"
        f"  read_bytes:      {{ samples: {count:11}, unit: bytes, min: 4096, max: 4096, sum: {count * 4096:16} }}\n"
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, scheduler: str) -> Path:
    """A warehouse of hostile logs, statistics and accounting, of which one log cannot be read."""
    folder = tmp_path_factory.mktemp("hostile")
    logs, stats = folder / f"logs {os.fsdecode(NASTY.replace(b'/', b'|')[:150])}", folder / "stats"
    logs.mkdir()
    stats.mkdir()
    (logs / f"{USER}_a.out_id1-2_3-4-5-6_1.darshan").write_bytes(a_log())
    (logs / f"{USER}_torn_id1-2_3-4-5-6_1.darshan").write_bytes(a_log()[:1200])
    for moment, count in ((START, 10), (START + 600, 1000)):
        (stats / f"{moment}.txt").write_text(job_stats(moment, count))
        os.utime(stats / f"{moment}.txt", (moment, moment))
    (stats / "sacct.txt").write_text(
        "JobID|JobName|User|Account|Partition|State|ExitCode|Submit|Start|End|NNodes|NodeList\n"
        # A login that is not the log's would be another owner, whose logs are in no mail.
        f"4100001|{JOB_NAME}||{JOB_NAME}|{JOB_NAME}|COMPLETED|0:0|"
        f"2023-11-14T22:00:00|2023-11-14T22:13:20|2023-11-14T22:15:00|1|nid1\n"
    )
    root = folder / "warehouse"
    run(Settings((logs,), root, "default", scheduler, stats=(stats,)))
    return root


@pytest.fixture(scope="module")
def answers(site: Path) -> Iterator[Callable[[str], pa.Table]]:
    """All rows of a view, each view asked once."""
    with open_catalog(site / "iomine.duckdb") as con:
        yield cache(lambda view: answer(con, f"SELECT * FROM {view}"))


@pytest.fixture
def _colourless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wide terminal that shows no colours."""
    monkeypatch.setenv("COLUMNS", "100000")
    monkeypatch.setenv("TERM", "dumb")


@pytest.fixture
def terminal(_colourless, capsys, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs a command on a terminal, and gives what it showed."""

    def shown(*arguments: str | Path) -> str:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        with pytest.raises(SystemExit) as ended:
            build_app()([str(argument) for argument in arguments])
        assert ended.value.code in {0, None}
        return "".join(capsys.readouterr())

    return shown


def iomine(*arguments: str | Path) -> bytes:
    """What a command writes into a pipe."""
    answer = CliRunner().invoke(build_app(), [str(argument) for argument in arguments])
    assert (0, None) == (answer.exit_code, answer.exception and answer.exception.__context__)
    return answer.stdout_bytes


def test_hostile_inputs_are_read_exactly(site: Path):
    """The sweep keeps every text as it is: what is no UTF-8 as escapes, all else unchanged."""
    (log,) = rows(site, "SELECT exe, app, user, uid FROM logs")
    assert reported(EXE) == log["exe"]
    assert 666_777 == log["uid"]
    assert reported(os.fsencode(USER)) == log["user"]
    assert sorted(map(reported, PATHS.values())) == sorted(column(site, "SELECT path FROM core.file_name"))
    assert [JOB_NAME.strip()] == [text.strip() for text in column(site, "SELECT job_name FROM jobs")]
    assert [OWNER] == column(site, "SELECT DISTINCT owner FROM lustre_jobs")
    assert {reported(HOST)} == set(column(site, "SELECT DISTINCT host FROM core.dxt_file"))
    assert any(reported(path) in finding for path in PATHS.values() for finding in column(site, "SELECT finding FROM findings"))
    assert [1] == column(site, "SELECT count(*) FROM rejects")


@pytest.mark.parametrize("view", VIEWS)
def test_views_hand_on_what_they_hold(answers, view: str, tmp_path: Path):
    """CSV, JSON and Parquet of every view give its texts back exactly; a table stays a line for each row."""
    held = answers(view)
    texts = [field.name for field in held.schema if str(field.type) == "string"]
    expected = held.select(texts).to_pylist()
    for form in Format:
        write(held, form, tmp_path / form.value)
    assert held == pq.read_table(tmp_path / "parquet")
    assert expected == [{key: row[key] for key in texts} for row in json.loads((tmp_path / "json").read_bytes())]
    read = csv.DictReader(io.StringIO((tmp_path / "csv").read_bytes().decode(), newline=""))
    assert [{key: value or "" for key, value in row.items()} for row in expected] == [
        {key: row[key] for key in texts} for row in read
    ]
    lines = (tmp_path / "table").read_text().split("\n")
    assert held.num_rows + 3 == len(lines)
    assert not CONTROLS.search("".join(lines))


@pytest.mark.usefixtures("_colourless")
@pytest.mark.parametrize("view", VIEWS)
def test_views_cannot_steer_a_terminal(answers, view: str, capsys, monkeypatch: pytest.MonkeyPatch):
    """No control character, and none that turns text around, reaches a terminal, in no format: shown as `iomine sql` shows it."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for form in (Format.TABLE, Format.CSV, Format.JSON):
        write(answers(view), form, None)
        shown = "".join(capsys.readouterr())
        assert shown
        assert not CONTROLS.search(shown)


@pytest.mark.parametrize(
    "arguments",
    [
        *(("sql", "FROM logs JOIN findings USING (log_id)", "--format", form) for form in ("table", "csv", "json")),
        ("worst",),
        ("worst", "--by", "io", "--format", "csv"),
        ("worst", "--by", "findings", "--format", "json"),
        ("status",),
        ("status", "--json"),
        ("judge", "--compare"),
        ("judge", "--compare", "--set", "POSIX-101.small_read_ratio=1"),
        ("judge", "--compare", "--set", "POSIX-101.small_read_ratio=1", "--format", "json"),
        ("doctor",),
        ("explain",),
        ("trend",),
        ("trend", "--format", "json"),
        ("workload", "--cover", "1"),
        ("workload", "--cover", "1", "--json"),
    ],
    ids=" ".join,
)
def test_commands_cannot_be_steered(site: Path, terminal, arguments: tuple[str, ...], tmp_path: Path, monkeypatch):
    """Commands show hostile names and carry out nothing of them."""
    monkeypatch.chdir(tmp_path)
    where = () if arguments[0] == "explain" else ("--warehouse", site)
    shown = terminal(*arguments, *where)
    assert shown
    assert not CONTROLS.search(shown)
    assert [] == list(tmp_path.iterdir())
    assert [1] == column(site, "SELECT count(*) FROM logs")


def test_pages_of_a_log_cannot_steer_a_terminal(site: Path, terminal, tmp_path: Path):
    """What is shown of a log, and where its report lies, is printed in visible characters."""
    (log_id,) = column(site, "SELECT log_id FROM logs")
    for arguments in (
        ("show", log_id),
        ("show", log_id, "--json"),
        ("compare", log_id, log_id),
        ("forward", log_id, "--forwarders", "1"),
        ("report", log_id, "--out", tmp_path / "reports"),
    ):
        shown = terminal(*arguments, "--warehouse", site)
        assert shown
        assert not CONTROLS.search(shown)


def test_no_command_is_left_out():
    """Whoever adds a command that shows what inputs say adds it here."""
    # Of a single night there is nothing to compare: what `compare` shows of nights is tried with its other tests, and so
    # is what `serve` answers, and what `predict`, `model`, `pattern` and `fabric` show of names of systems, files and devices.
    seen = {"sql", "worst", "trend", "compare", "show", "report", "status", "judge", "doctor", "explain", "export"}
    seen |= {"workload", "site", "serve", "digest", "predict", "model", "pattern", "fabric", "forward"}
    # It signs names, and shows none.
    seen |= {"link"}
    # Names that `pack` and `unpack` meet are tried with their own tests.
    seen |= {"pack", "unpack"}
    # What assistants get is tried with its own tests, as JSON or as the pages of `show` and `explain`.
    seen |= {"mcp"}
    # What `upgrade` reads is shown by no words of its own: it counts.
    seen |= {"upgrade"}
    # Of names these show those of machines, which have no such characters, and what the site's own settings say.
    seen |= {"config", "forget", "metrics", "move"}
    # What they show is what `sweep` shows.
    seen |= {"backfill", "nightly"}
    # Rules of the site: its settings are trusted.
    seen |= {"trigger"}
    assert {"simulate", "sweep"} == commands().keys() - seen


def test_a_site_shows_names_as_text(site: Path, tmp_path: Path):
    """Its dashboard and tables hold no markup but their own, and nothing that cannot be seen."""
    iomine("site", tmp_path / "out", "--warehouse", site)
    pages = [page.read_text() for page in (tmp_path / "out").rglob("*.html") if page.parent.name != "reports"]
    assert [] != [page for page in pages if "alert(1)" in page]
    # The circle's own: a file of ours, and data that no browser runs.
    own = re.compile(r'<script (defer src="[\w./-]+"></script>|type="application/octet-stream" id="radial">[\w+/=]*</script>)')
    texts = [own.sub("", page) for page in pages]
    assert [] == [found[0] for text in texts if (found := re.search("<script|<img", text) or CONTROLS.search(text))]


def test_an_export_hands_on_what_the_warehouse_holds(site: Path, answers, tmp_path: Path):
    """Without a key all texts of all views are as they were."""
    iomine("export", tmp_path / "out", "--warehouse", site)
    with open_catalog(tmp_path / "out" / "iomine.duckdb") as con:
        for view in VIEWS:
            before, after = (sorted(map(repr, held.to_pylist())) for held in (answers(view), answer(con, f"FROM {view}")))
            assert before == after


def test_an_anonymised_export_holds_none_of_it(site: Path, answers, tmp_path: Path):
    """With a key every view has as many rows, and nothing that the inputs said stands anywhere."""
    (tmp_path / "key").write_bytes(bytes(range(32)))
    (tmp_path / "key").chmod(0o600)
    iomine("export", tmp_path / "out", "--anonymise", tmp_path / "key", "--warehouse", site)
    texts = []
    with open_catalog(tmp_path / "out" / "iomine.duckdb") as con:
        for view in VIEWS:
            after = answer(con, f"FROM {view}")
            assert answers(view).num_rows == after.num_rows
            texts += map(repr, after.to_pylist())
    for path in (tmp_path / "out" / "lake").rglob("*.parquet"):
        texts += map(repr, pq.read_table(path).to_pylist())
    everything = "\n".join(texts)
    for piece in (
        "DROP TABLE",
        "script",
        "pwned",
        "owned",
        "7*7",
        "smile",
        "longlong",
        "666777",
        "4100001",
        "calc",
        "eeee",
        "\\x1b",
    ):
        assert piece not in everything
    assert everything.isascii()


def test_sweeps_print_reasons_without_control_characters(site: Path, tmp_path: Path, capsys):
    """The summary of a sweep shows reasons, which may quote what was read, in visible signs."""
    done = Summary("x", 1, 0, 0, {}, 1, Counts(), {f"It says {reported(NASTY)}.": 1}, (), 0, 1.0, 0, (), 0, 0, "")
    show(done, site, as_json=False)
    show(done, site, as_json=True)
    assert not CONTROLS.search(capsys.readouterr().out)


def test_digests_cannot_be_steered(site: Path, capsys, tmp_path: Path):
    """Whose name can be no address gets no mail, which the command and the operators' mail say without harm, and ends with 3."""
    (site / "digest.toml").write_text('operators = ["ops@site.test"]\nleast_core_hours = 0.0\n')
    try:
        with pytest.raises(SystemExit) as ended:
            build_app()(["digest", "--dry-run", "--outbox", str(tmp_path), "--since", "2000-01-01", "--warehouse", str(site)])
    finally:
        (site / "digest.toml").unlink()
    assert 3 == ended.value.code
    assert not CONTROLS.search("".join(capsys.readouterr()))
    (file,) = tmp_path.glob("*.eml")
    mail = email.message_from_bytes(file.read_bytes(), policy=default)
    assert "ops@site.test" == mail["To"]
    plain, html = (mail.get_body((kind,)).get_content().replace("\r\n", "\n") for kind in ("plain", "html"))
    assert "Users without an address" in plain
    assert not CONTROLS.search(plain + html)
    assert "<script" not in html
