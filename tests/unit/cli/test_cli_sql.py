"""`iomine sql`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from iomine.cli.options import Format
from iomine.cli.terminal.prompt import completer_of, converse


@pytest.fixture
def keyboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PipeInput]:
    """Keys for the prompt, whose history goes into a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield keys


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
    """What the database cannot answer, or must not do, is told in one line and ends with status 2."""
    answer = iomine("sql", query, "--warehouse", warehouse)
    assert (answer.exit_code, answer.stdout, answer.stderr.count("\n")) == (2, "", 1)


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


def test_prompt_answers_until_it_is_left(warehouse: Path, keyboard: PipeInput, capsys) -> None:
    """Each line is a query; an error does not end the session, `.exit` does."""
    keyboard.send_text("SELECT 41 + 1 AS answer\r\rSELEC\r.exit\rSELECT 'too late'\r")
    converse(warehouse / "iomine.duckdb", Format.CSV)
    shown = capsys.readouterr()
    assert shown.out == "answer\n42\n"
    assert "SELEC" in shown.err


def test_prompt_ends_with_its_input(warehouse: Path, keyboard: PipeInput, capsys) -> None:
    """Ctrl-C only drops the line, Ctrl-D leaves."""
    keyboard.send_text("SELECT 1\x03SELECT 2 AS two\r\x04")
    converse(warehouse / "iomine.duckdb", Format.CSV)
    assert capsys.readouterr().out == "two\n2\n"


@pytest.mark.parametrize(
    ("typed", "name"), [("FROM worst_off", "worst_offenders"), ("SELECT IO_CORE", "io_core_seconds"), ("sel", "SELECT")]
)
def test_prompt_completes_names(warehouse: Path, typed: str, name: str) -> None:
    """The prompt knows the names of views and columns and a few words of SQL, in capitals or not."""
    offers = completer_of(warehouse / "iomine.duckdb").get_completions(Document(typed), CompleteEvent())
    assert name in {offer.text for offer in offers}


def test_prompt_remembers(warehouse: Path, keyboard: PipeInput, capsys) -> None:
    """The arrow keys bring back queries of an earlier session."""
    keyboard.send_text("SELECT 7 AS seven\r.exit\r")
    converse(warehouse / "iomine.duckdb", Format.CSV)
    keyboard.send_text("\x1b[A\x1b[A\r.exit\r")
    converse(warehouse / "iomine.duckdb", Format.CSV)
    assert capsys.readouterr().out == "seven\n7\n" * 2


def test_prompt_without_a_home_does_without_history(warehouse: Path, keyboard: PipeInput, capsys, tmp_path: Path) -> None:
    """Where nothing can be remembered, the prompt says so and works."""
    (tmp_path / "home").write_text("in the way", encoding="utf-8")
    keyboard.send_text("SELECT 1 AS one\r.exit\r")
    converse(warehouse / "iomine.duckdb", Format.CSV)
    shown = capsys.readouterr()
    assert shown.out == "one\n1\n"
    assert "will not be remembered" in shown.err
