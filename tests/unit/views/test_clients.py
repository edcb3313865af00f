"""The catalog in the hands of other clients: what docs/clients.md shows works as it stands."""

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from iomine.views.catalog import build_catalog

PAGE = (Path(__file__).parents[3] / "docs/clients.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def database(tmp_path: Path, write_rows) -> Path:
    """Two logs of a user, what they sum up to, and a finding about one of them."""
    end_at = datetime(2024, 4, 18, 12, tzinfo=UTC)
    logs = [{"log_id": log_id, "user": "ann", "app": "solver", "io_core_seconds": 9.0, "end_at": end_at} for log_id in "ab"]
    verdict = {
        "log_id": "a",
        "ruleset": "iomine",
        "code": "POSIX-101",
        "level": "high",
        "state": "fired",
        "cost_core_seconds": 4.0,
    }
    night = {"user": "ann", "app": "solver", "log_count": 2, "io_core_seconds": 18.0}
    lake = {name: [write_rows(name, rows)] for name, rows in {"log": logs, "verdict": [verdict], "app_night": [night]}.items()}
    build_catalog(tmp_path / "iomine.duckdb", lake, {}, {})
    return tmp_path / "iomine.duckdb"


def _run(block: str, ending: str, database: Path, folder: Path) -> str:
    """What a program prints that another process runs in another folder, where iomine cannot be imported."""
    program = block.replace("/data/iomine/iomine.duckdb", str(database)) + ending
    found = subprocess.run([sys.executable, "-I", "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert (0, "") == (found.returncode, "" if "nanobind" in found.stderr else found.stderr)
    return found.stdout


def _block(words: str) -> str:
    (block,) = [block for block in BLOCKS if words in block]
    return block


def test_duckdb_answers(database: Path, tmp_path_factory) -> None:
    """A plain connection answers from any folder."""
    assert "[('solver', 4.0)]\n" == _run(_block("rows = "), "print(rows)", database, tmp_path_factory.mktemp("else"))


def test_pandas_and_arrow_answer(database: Path, tmp_path_factory) -> None:
    """Frames and tables have the view's rows, and its names."""
    ending = "print(frame['log_count'].tolist(), table['user'].to_pylist(), list(frame.columns) == table.column_names)"
    assert "[2] ['ann'] True\n" == _run(_block(".df()"), ending, database, tmp_path_factory.mktemp("else"))


def test_polars_answers(database: Path, tmp_path_factory) -> None:
    """A Polars frame has the view's rows."""
    pytest.importorskip("polars", reason="polars is not installed")
    ending = "print(frame['log_count'].to_list(), frame['io_core_seconds'].to_list())"
    assert "[2] [18.0]\n" == _run(_block("import polars"), ending, database, tmp_path_factory.mktemp("else"))


def test_an_attached_catalog_answers(database: Path, tmp_path_factory) -> None:
    """Attached beside others, views find the tables that they read."""
    assert "[(2,)]\n" == _run(_block("ATTACH"), "print(count)", database, tmp_path_factory.mktemp("else"))


def test_no_block_goes_untried() -> None:
    """Every block of Python on the page is one of those above."""
    assert 4 == len(BLOCKS)


def test_a_client_keeps_its_catalog_while_another_takes_its_place(database: Path, tmp_path_factory, write_rows) -> None:
    """A connection that is open hinders no sweep and goes on answering; the next one sees what is new."""
    lake = {"log": [write_rows("log", [{"log_id": log_id} for log_id in "abc"])]}
    build_catalog(database.with_name("next.duckdb"), lake, {}, {})
    ending = f"""
import os
count = "SELECT count(*) FROM logs"
os.replace({str(database.with_name("next.duckdb"))!r}, {str(database)!r})
before = con.sql(count).fetchall()
con.close()
print(before, duckdb.connect({str(database)!r}, read_only=True).sql(count).fetchall())
"""
    assert "[(2,)] [(3,)]\n" == _run(_block("rows = "), ending, database, tmp_path_factory.mktemp("else"))


@pytest.mark.parametrize("zone", ["Etc/GMT+12", "Pacific/Kiritimati"])
def test_the_newest_night_is_one_of_utc_in_any_zone(zone: str, tmp_path: Path, write_rows) -> None:
    """A client's own date, which at any time is another in one of these zones, is not what recent nights are counted from."""
    ahead = str(datetime.now(UTC).date() + timedelta(days=2))
    lake = {"app_night": [write_rows("app_night", [{"log_count": 1}], night=ahead)]}
    build_catalog(tmp_path / "iomine.duckdb", lake, {}, {})
    with duckdb.connect(tmp_path / "iomine.duckdb", read_only=True) as con:
        con.execute(f"SET TimeZone = '{zone}'")
        before = datetime.now(UTC).date()
        ((last_night,),) = con.sql("SELECT last_night FROM core.newest_night").fetchall()
    assert last_night in {before, datetime.now(UTC).date()}
