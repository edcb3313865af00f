"""Answers in every format, whatever is in them."""

import csv
import datetime as dt
import io
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.text import Text

from iomine.cli.options import Format
from iomine.cli.terminal.formats import write
from iomine.errors import IomineError, UsageError

ANSWER = pa.table(
    {
        "user": ["alice", None, 'o"brien,\nb'],
        "read_bytes": pa.array([12, None, 3_000_000_000], pa.int64()),
        "io_ratio": [0.123456, float("nan"), 98765.432],
        "end_at": pa.array([dt.datetime(2024, 4, 18, 1, 2, 3, tzinfo=dt.UTC), None, None], pa.timestamp("us", tz="UTC")),
        "night": [dt.date(2024, 4, 18), None, None],
        "is_shared": [True, False, None],
        "ost_ids": pa.array([[1, 2], [], None], pa.list_(pa.int64())),
        "total": pa.array([Decimal(10) ** 30, None, None], pa.decimal128(38, 0)),
        "raw": [b"\x00\xff", None, b""],
    }
)


def _written(answer: pa.Table, form: Format, folder: Path) -> str:
    write(answer, form, folder / "answer")
    return (folder / "answer").read_text(encoding="utf-8")


def test_json_is_an_array_of_objects(tmp_path: Path) -> None:
    """JSON keeps whole numbers whole, gives times in ISO 8601 with a zone, and has null for what is no number."""
    first, second, third = json.loads(_written(ANSWER, Format.JSON, tmp_path))
    expected = {
        "user": "alice",
        "read_bytes": 12,
        "io_ratio": 0.123456,
        "end_at": "2024-04-18T01:02:03Z",
        "night": "2024-04-18",
        "is_shared": True,
        "ost_ids": [1, 2],
        "total": 10**30,
        "raw": "00ff",
    }
    assert expected == first
    known = {name: value for name, value in second.items() if value is not None}
    assert known == {"is_shared": False, "ost_ids": []}
    assert (third["user"], third["read_bytes"]) == ('o"brien,\nb', 3_000_000_000)


def test_json_of_nothing_is_an_empty_array(tmp_path: Path) -> None:
    """An answer without rows is still JSON."""
    assert json.loads(_written(ANSWER.slice(0, 0), Format.JSON, tmp_path)) == []


def test_json_refuses_to_lose_a_column(tmp_path: Path) -> None:
    """Two columns of one name would become one, so the asker must name them apart."""
    twins = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["n", "n"])
    with pytest.raises(UsageError, match="Two columns are called n"):
        _written(twins, Format.JSON, tmp_path)


def test_csv_gives_values_as_they_are(tmp_path: Path) -> None:
    """CSV quotes what needs it, leaves NULL empty and cuts no digits."""
    rows = list(csv.reader(io.StringIO(_written(ANSWER, Format.CSV, tmp_path), newline="")))
    assert ANSWER.column_names == rows[0]
    expected = ["alice", "12", "0.123456", "2024-04-18T01:02:03Z", "2024-04-18", "true", "[1, 2]", str(10**30), "00ff"]
    assert expected == rows[1]
    assert rows[3][:3] == ['o"brien,\nb', "3000000000", "98765.432"]
    assert rows[2][0] == ""


def test_parquet_is_the_answer_itself(tmp_path: Path) -> None:
    """Parquet has the same columns, types and values."""
    write(ANSWER, Format.PARQUET, tmp_path / "answer")
    assert ANSWER.drop_columns("io_ratio") == pq.read_table(tmp_path / "answer").drop_columns("io_ratio")


def test_table_is_aligned_and_whole(tmp_path: Path) -> None:
    """A table in a file has a head, numbers to the right, NULL where nothing is known, and every line of one row."""
    answer = pa.table({"user": ["alice", None, "b\nc"], "log_count": [5, 1000, None], "path": ["/" + "x" * 200, "", "漢字"]})
    expected = [
        "user   log_count  path",
        f"-----  ---------  {'-' * 201}",
        f"alice          5  /{'x' * 200}",
        "NULL        1000",
        "b\\nc        NULL  漢字",
    ]
    assert expected == _written(answer, Format.TABLE, tmp_path).splitlines()


def test_table_numbers_are_for_reading(tmp_path: Path) -> None:
    """A table shows about four digits of what is not whole, and never powers of ten for large numbers."""
    answer = pa.table({"io_ratio": [0.123456, 12.0, 98765.432, 12345678901.5]})
    assert _written(answer, Format.TABLE, tmp_path).split()[2:] == ["0.1235", "12", "98765.4", "12345678901.5"]


@pytest.mark.parametrize("form", [Format.TABLE, Format.CSV, Format.JSON])
def test_values_cannot_steer_a_terminal(terminal, form: Format) -> None:
    """Escape sequences in a value or a column's name never reach a terminal."""
    capsys = terminal(200)
    write(pa.table({"exe\x1b]0;": ["\x1b[2Jrm\x9b31m\u202egnp.exe"]}), form)
    shown = capsys.readouterr().out
    assert not {"\x1b[2J", "\x1b]0;", "\x9b", "\u202e"} & {
        part for part in ("\x1b[2J", "\x1b]0;", "\x9b", "\u202e") if part in shown
    }
    assert "rm" in shown


def test_markup_in_values_is_text(terminal) -> None:
    """Square brackets and colons in a value mean nothing to the table."""
    capsys = terminal(80)
    write(pa.table({"app": ["[red]a.out[/red] :smile:"]}), Format.TABLE)
    assert "[red]a.out[/red] :smile:" in capsys.readouterr().out


def test_wide_answer_is_cut_to_the_terminal(terminal) -> None:
    """Columns that do not fit are left out and named on stderr, with what to do."""
    capsys = terminal(40)
    write(pa.table({name: ["x" * 15] for name in ("one", "two", "three", "four")}), Format.TABLE)
    shown = capsys.readouterr()
    assert max(len(line) for line in Text.from_ansi(shown.out).plain.splitlines()) <= 40
    assert shown.err == "Not shown, the terminal is too narrow: three, four. --format csv has them.\n"


def test_hint_names_an_option_that_the_command_has(terminal) -> None:
    """Commands without --format name --json, for columns that are left out and for values that are cut."""
    capsys = terminal(70)
    write(pa.table({"one": ["x" * 80], "two": ["y" * 20]}), Format.TABLE, whole="--json")
    left_out, cut = capsys.readouterr().err.splitlines()
    assert "Not shown, the terminal is too narrow: two. --json has them." == left_out
    assert "Values that end in … are cut: --json has them whole." == cut


def test_columns_that_just_fit_are_all_shown(terminal) -> None:
    """Four columns of nine, with gaps of two, fill a terminal of 42; nothing is cut and nothing said."""
    capsys = terminal(42)
    write(pa.table({name: ["x" * 9] for name in ("one", "two", "three", "four")}), Format.TABLE)
    shown = capsys.readouterr()
    assert shown.out.splitlines()[-1] == "  ".join(["x" * 9] * 4)
    assert shown.err == ""


def test_long_value_is_cut_to_the_terminal(terminal) -> None:
    """A value that is too long ends in an ellipsis, and stderr says how to get it whole."""
    capsys = terminal(30)
    write(pa.table({"path": ["/" + "x" * 100]}), Format.TABLE)
    shown = capsys.readouterr()
    assert f"/{'x' * 28}…" in shown.out
    assert shown.err == "Values that end in … are cut: --format csv has them whole.\n"


def test_parquet_is_kept_from_the_terminal(terminal) -> None:
    """Bytes that nobody can read are not thrown at a person."""
    terminal(80)
    with pytest.raises(UsageError, match="--output FILE"):
        write(ANSWER, Format.PARQUET)


def test_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file in a folder that is not there is refused in one sentence with its path."""
    with pytest.raises(IomineError, match=r"none/answer cannot be written \(No such file or directory\)"):
        write(ANSWER, Format.CSV, tmp_path / "none" / "answer")
