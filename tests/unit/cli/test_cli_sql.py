"""`iomine sql`."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from resource import RLIMIT_DATA, getrlimit

import pyarrow.parquet as pq
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from iomine.cli.options import Format
from iomine.cli.terminal.completion import completer_of
from iomine.cli.terminal.prompt import Prompt, converse
from iomine.schema import field
from iomine.triggers import reference_table
from iomine.views.catalog import build_catalog
from iomine.views.model import find_views
from iomine.views.query import NO_LIMITS, Limits, ask


@pytest.fixture
def keyboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PipeInput]:
    """Keys for the prompt, whose history goes into a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield keys


def test_answers_are_those_of_the_newest_views(iomine, tmp_path: Path) -> None:
    """One process that asks again, as the prompt does, is answered from the views that a sweep has put in the place of others."""
    for count in (1, 2):
        build_catalog(tmp_path / "iomine.duckdb", {}, {"triggers": reference_table().slice(0, count)}, {})
        asked = ("sql", "SELECT count(*) AS n FROM triggers", "--format", "csv", "--warehouse", tmp_path)
        assert [f"n\n{count}\n"] * 2 == [iomine(*asked).stdout for _ in range(2)]


def test_query_is_answered_on_stdout(iomine, warehouse: Path) -> None:
    """A query's answer is all there is on stdout."""
    answer = iomine("sql", "SELECT 42 AS answer", "--format", "csv", "--warehouse", warehouse)
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, "answer\n42\n", "")


def test_warehouse_comes_from_the_environment(iomine, warehouse: Path) -> None:
    """Without --warehouse, IOMINE_WAREHOUSE says where to look."""
    answer = iomine("sql", "SELECT count(*) AS log_count FROM logs", "--format", "json", IOMINE_WAREHOUSE=str(warehouse))
    assert json.loads(answer.stdout) == [{"log_count": 0}]


@pytest.mark.parametrize("arguments", [["-"], []])
def test_query_may_come_down_a_pipe(iomine, warehouse: Path, arguments: list[str]) -> None:
    """The query is read from stdin where that is asked for, or where no person sits there."""
    answer = iomine("sql", *arguments, "--format", "csv", "--warehouse", warehouse, stdin="SELECT 1 AS one;\n")
    assert answer.stdout == "one\n1\n"


@pytest.mark.parametrize("query", ["", " \n", b"SELECT '\xff'"])
def test_query_that_is_none_is_misuse(iomine, warehouse: Path, query: str | bytes) -> None:
    """Nothing, and bytes that are no text, are not sent to the database."""
    answer = iomine("sql", "-", "--warehouse", warehouse, stdin=query)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith("The query is ")


@pytest.mark.parametrize("query", ["SELEC 1", "SELECT * FROM no_such_view", "COPY logs TO 'x.csv'", "DROP VIEW logs"])
def test_query_that_makes_no_sense_is_misuse(iomine, warehouse: Path, query: str) -> None:
    """What the database cannot answer, or must not do, is reported in one line and ends with status 2."""
    answer = iomine("sql", query, "--warehouse", warehouse)
    assert (answer.exit_code, answer.stdout, answer.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("limit", "reported"),
    [
        (["--timeout", "0.3"], "The query was stopped after 0.3 s: ask for fewer nights, or give it longer with --timeout.\n"),
        (
            ["--memory", "64MiB"],
            "The answer is larger than 64.0 MiB: ask for fewer nights or columns, or give it more with --memory.\n",
        ),
    ],
)
def test_query_keeps_to_its_limits(iomine, warehouse: Path, limit: list[str], reported: str) -> None:
    """A query that takes too long, or too much memory, ends with status 1 and one sentence that says what to do."""
    answer = iomine("sql", "SELECT md5(i::VARCHAR) FROM range(100000000) AS t(i)", *limit, "--warehouse", warehouse)
    assert (1, "", reported) == (answer.exit_code, answer.stdout, answer.stderr)


def test_large_values_keep_to_the_memory(iomine, warehouse: Path) -> None:
    """A function makes no value that the process has no room for, though DuckDB does not count it; the next query is answered."""
    before = getrlimit(RLIMIT_DATA)
    large = iomine("sql", "SELECT length(repeat('x', 1000000000))", "--memory", "64MiB", "--warehouse", warehouse)
    assert (1, "") == (large.exit_code, large.stdout)
    assert "The query needs more memory than 64.0 MiB: " in large.stderr
    assert before == getrlimit(RLIMIT_DATA)
    assert iomine("sql", "SELECT 1", "--memory", "64MiB", "--warehouse", warehouse).exit_code == 0


def test_a_function_that_is_not_stopped_ends_with_its_process(warehouse: Path) -> None:
    """DuckDB does not interrupt functions; a query in the middle of one ends soon after its time all the same."""
    command = ["-c", "from iomine.cli import main; main()", "sql", "SELECT sleep_ms(60000)", "--timeout", "0.3"]
    ended = subprocess.run(
        [sys.executable, *command, "--warehouse", warehouse], capture_output=True, text=True, timeout=30, check=False
    )
    reported = "The query was stopped after 0.3 s: ask for fewer nights, or give it longer with --timeout.\n"
    assert (1, "", reported) == (ended.returncode, ended.stdout, ended.stderr)


def test_no_timer_outlives_its_query(iomine, warehouse: Path) -> None:
    """A thread that is alive as the process ends makes DuckDB 2.0.0 list leaks on stderr."""
    assert iomine("sql", "SELECT 1", "--warehouse", warehouse).exit_code == 0
    assert [] == [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


def test_query_may_be_given_all_the_time_it_takes(iomine, warehouse: Path) -> None:
    """A timeout of 0 is none."""
    assert iomine("sql", "SELECT 1", "--timeout", "0", "--warehouse", warehouse).exit_code == 0


@pytest.mark.parametrize("memory", ["much", "4 GiB per core", "-1", "1e999GB"])
def test_memory_that_is_none_is_misuse(iomine, warehouse: Path, memory: str) -> None:
    """Memory is given as a number of bytes."""
    answer = iomine("sql", "SELECT 1", f"--memory={memory}", "--warehouse", warehouse)
    assert (2, "", 1) == (answer.exit_code, answer.stdout, answer.stderr.count("\n"))


def test_missing_warehouse_is_a_failure(iomine, tmp_path: Path) -> None:
    """Where there is no warehouse, the answer says how to get one."""
    answer = iomine("sql", "SELECT 1", "--warehouse", tmp_path / "none")
    assert answer.exit_code == 1
    assert "iomine sweep" in answer.stderr


def test_output_goes_to_a_file(iomine, warehouse: Path, tmp_path: Path) -> None:
    """With --output nothing is on stdout, and the file's ending says the format."""
    answer = iomine("sql", "SELECT 1::BIGINT AS one", "--output", tmp_path / "a.parquet", "--warehouse", warehouse)
    assert (answer.exit_code, answer.stdout) == (0, "")
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == [{"one": 1}]


def test_format_is_stronger_than_an_ending(iomine, warehouse: Path, tmp_path: Path) -> None:
    """A format that was asked for is written whatever the file is called."""
    iomine("sql", "SELECT 1 AS one", "--format", "csv", "--output", tmp_path / "a.parquet", "--warehouse", warehouse)
    assert (tmp_path / "a.parquet").read_text(encoding="utf-8") == "one\n1\n"


@pytest.mark.parametrize("name", ["out.xlsx", "out.XLSX", "out.ods"])
def test_spreadsheets_are_not_written(iomine, warehouse: Path, tmp_path: Path, name: str) -> None:
    """What only a spreadsheet reads is refused before the query is asked, with a name that would do; a format is still free."""
    answer = iomine("sql", "SELECT no_such_column", "--output", tmp_path / name, "--warehouse", warehouse)
    assert (2, "") == (answer.exit_code, answer.stdout)
    assert answer.stderr.endswith("is not a format of answers: name the file out.csv, which a spreadsheet opens.\n")
    assert not (tmp_path / name).exists()
    assert 0 == iomine("sql", "SELECT 1", "--format", "csv", "--output", tmp_path / name, "--warehouse", warehouse).exit_code


def test_json_has_an_option_of_its_own(iomine, warehouse: Path) -> None:
    """`--json` is `--format json`, here as everywhere."""
    assert [{"one": 1}] == json.loads(iomine("sql", "SELECT 1 AS one", "--json", "--warehouse", warehouse).stdout)


def test_prompt_answers_until_it_is_left(warehouse: Path, keyboard: PipeInput, capsys) -> None:
    """A statement is answered; an error does not end the session, `.exit` does."""
    keyboard.send_text("SELECT 41 + 1 AS answer;\r\rSELEC;\r.exit\rSELECT 'too late';\r")
    converse(warehouse / "iomine.duckdb", Format.CSV, NO_LIMITS)
    shown = capsys.readouterr()
    assert shown.out == "answer\n42\n"
    assert "SELEC" in shown.err


def test_prompt_ends_with_its_input(warehouse: Path, keyboard: PipeInput, capsys) -> None:
    """Ctrl-C only drops the line, Ctrl-D leaves."""
    keyboard.send_text("SELECT 1\x03SELECT 2 AS two;\r\x04")
    converse(warehouse / "iomine.duckdb", Format.CSV, NO_LIMITS)
    assert capsys.readouterr().out == "two\n2\n"


@pytest.mark.parametrize("typed", ["SELECT 1 AS one,\r  2 AS two;\r", "SELECT 1 AS one,\r  2 AS two\r\r"])
def test_statement_may_have_several_lines(warehouse: Path, keyboard: PipeInput, capsys, typed: str) -> None:
    """A statement goes on until a semicolon ends a line, or an empty line follows."""
    keyboard.send_text(f"{typed}.exit\r")
    converse(warehouse / "iomine.duckdb", Format.CSV, NO_LIMITS)
    assert capsys.readouterr().out == "one,two\n1,2\n"


def test_prompt_keeps_to_its_limits(warehouse: Path, keyboard: PipeInput, capsys) -> None:
    """A statement that takes too long ends with a message, and the next is answered."""
    keyboard.send_text("SELECT count(*) FROM range(100000000000);\rSELECT 1 AS one;\r.exit\r")
    converse(warehouse / "iomine.duckdb", Format.CSV, Limits(seconds=0.3))
    shown = capsys.readouterr()
    assert shown.out == "one\n1\n"
    assert "The query was stopped after 0.3 s: ask for fewer nights, or give it longer with --timeout.\n" in shown.err


def _typed(warehouse: Path, keyboard: PipeInput, capsys, line: str) -> tuple[str, str]:
    """What comes of a line at the prompt, on stdout and, after the greeting, on stderr."""
    keyboard.send_text(f"{line}\r.exit\r")
    converse(warehouse / "iomine.duckdb", Format.CSV, NO_LIMITS)
    shown = capsys.readouterr()
    return shown.out, shown.err.partition("\n")[2]


def test_prompt_lists_the_views(warehouse: Path, keyboard: PipeInput, capsys) -> None:
    """`.tables` names the views for people, and not those below them."""
    shown, _ = _typed(warehouse, keyboard, capsys, ".tables")
    views = {line.partition(",")[0] for line in shown.splitlines()[1:]}
    assert {view.name for view in find_views() if view.schema == "main"} == views


@pytest.mark.parametrize(("view", "column"), [("logs", "log_id"), ("LOGS;", "log_id"), ("core.log", "exe")])
def test_prompt_explains_a_view(warehouse: Path, keyboard: PipeInput, capsys, view: str, column: str) -> None:
    """`.schema` says what the columns of a view mean."""
    shown, _ = _typed(warehouse, keyboard, capsys, f".schema {view}")
    assert f"{column},VARCHAR,,{field(column).about}" in shown.replace('"', "").splitlines()


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        (".schema lugs", "There is no view lugs: did you mean logs?\n"),
        (".schema ?", "There is no view ?: .tables lists them.\n"),
        (".schema", "Name a view: .schema logs\n"),
        (".table", "There is no .table: did you mean .tables?\n"),
        (".quit now", "There is no .quit: did you mean .exit?\n"),
        (".? now", "There is no .?: .help lists the commands.\n"),
    ],
)
def test_prompt_helps_with_mistakes(warehouse: Path, keyboard: PipeInput, capsys, line: str, reported: str) -> None:
    """What is not there gets the nearest that is, or the way to find it."""
    assert ("", reported) == _typed(warehouse, keyboard, capsys, line)


def test_prompt_shows_all_of_its_commands(warehouse: Path, keyboard: PipeInput, capsys) -> None:
    """`.help` leaves no command out."""
    _, reported = _typed(warehouse, keyboard, capsys, ".help")
    commands = Prompt(warehouse, Format.CSV, NO_LIMITS).commands
    assert [command for command in commands if f"\n{command} " not in reported] == []


def _offered(warehouse: Path, typed: str, after: str = "") -> list[str]:
    completer = completer_of(warehouse / "iomine.duckdb", [".tables", ".schema"])
    return [offer.text for offer in completer.get_completions(Document(typed + after, len(typed)), CompleteEvent())]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("sel", ["SELECT"]),
        ("SELECT * FROM worst_off", ["worst_offenders"]),
        ("SELECT * FROM logs, verd", ["verdicts"]),
        ("SELECT * FROM logs JOIN CORE.LOG_REQ", ["core.log_requests"]),
        ("SELECT * FROM (SELECT app, cod", ["code"]),
        ("SELECT * FROM logs l JOIN verdicts AS v USING (log_id) WHERE v.tri", ["v.trigger_version"]),
        ("SELECT * FROM logs\nWHERE trigg", ["triggers"]),
        ("SELECT * FROM rejects WHERE at", ['"at"']),
        (".ta", [".tables"]),
        (".schema rejec", ["rejects"]),
    ],
)
def test_prompt_completes_what_may_stand_there(warehouse: Path, typed: str, expected: list[str]) -> None:
    """After FROM views are offered, elsewhere columns of the views that the statement names; in capitals or not."""
    assert expected == _offered(warehouse, typed)


def test_prompt_reads_text_after_the_cursor(warehouse: Path) -> None:
    """Columns are those of the views in a FROM that stands after them."""
    assert ["trigger_version"] == _offered(warehouse, "SELECT trigger_", " FROM verdicts")


def test_every_view_can_be_completed(warehouse: Path) -> None:
    """No view is left out, nor one of its columns."""
    assert {view.name for view in find_views() if view.schema == "main"} < set(_offered(warehouse, "FROM "))
    logs = set(_offered(warehouse, "SELECT ", " FROM logs"))
    assert set(ask(warehouse / "iomine.duckdb", "FROM logs").column_names) <= {offer.strip('"') for offer in logs}


def test_prompt_remembers(warehouse: Path, keyboard: PipeInput, capsys) -> None:
    """The arrow keys bring back queries of an earlier session."""
    keyboard.send_text("SELECT 7 AS seven;\r.exit\r")
    converse(warehouse / "iomine.duckdb", Format.CSV, NO_LIMITS)
    keyboard.send_text("\x1b[A\x1b[A\r.exit\r")
    converse(warehouse / "iomine.duckdb", Format.CSV, NO_LIMITS)
    assert capsys.readouterr().out == "seven\n7\n" * 2


def test_prompt_without_a_home_does_without_history(warehouse: Path, keyboard: PipeInput, capsys, tmp_path: Path) -> None:
    """Where nothing can be remembered, the prompt says so and works."""
    (tmp_path / "home").write_text("in the way", encoding="utf-8")
    keyboard.send_text("SELECT 1 AS one;\r.exit\r")
    converse(warehouse / "iomine.duckdb", Format.CSV, NO_LIMITS)
    shown = capsys.readouterr()
    assert shown.out == "one\n1\n"
    assert "will not be remembered" in shown.err
