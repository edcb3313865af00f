"""A command line to run in-process, and warehouses of a few rows to run it on."""

import datetime as dt
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from iomine.cli.app import build_app
from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.triggers import reference_table
from iomine.views.catalog import build_catalog

NIGHT = dt.date(2024, 4, 18)
Rows = Sequence[Mapping[str, object]]
Run = Callable[..., Result]


@pytest.fixture
def iomine(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line; strings in, exit status and both streams out."""
    monkeypatch.delenv("IOMINE_WAREHOUSE", raising=False)
    monkeypatch.delenv("IOMINE_DEBUG", raising=False)
    # However wide the terminal is that tests are started from.
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str | Path, stdin: str | bytes | None = None, **environment: str) -> Result:
        return CliRunner().invoke(build_app(), [str(argument) for argument in arguments], input=stdin, env=environment)

    return run


@pytest.fixture
def terminal(capsys, monkeypatch: pytest.MonkeyPatch):
    """Makes stdout a terminal of a width that the test gives."""

    def widened(columns: int):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        return capsys

    return widened


@pytest.fixture(scope="session")
def warehouse_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a warehouse, in a folder of its own, that holds the given rows of the lake's tables; columns left out are NULL."""

    def make(**tables: Rows) -> Path:
        folder = tmp_path_factory.mktemp("warehouse")
        files = {name: _written(folder / "lake" / name, name, rows) for name, rows in tables.items()}
        build_catalog(folder / "iomine.duckdb", files, {"triggers": reference_table()}, {})
        return folder

    return make


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of views over nothing, made once."""
    database = tmp_path_factory.mktemp("empty") / "iomine.duckdb"
    build_catalog(database, {}, {"triggers": reference_table()}, {})
    return database


@pytest.fixture
def warehouse(tmp_path: Path, empty_database: Path) -> Path:
    """A warehouse with nothing in it."""
    shutil.copy(empty_database, tmp_path)
    return tmp_path


def _written(folder: Path, name: str, rows: Rows) -> list[str]:
    files = []
    for number, row in enumerate(rows):
        keys = {"cluster": "blue", "night": NIGHT} | row
        place = folder / f"cluster={keys['cluster']}" / f"night={keys['night']}" if TABLES[name].partitioned else folder
        place.mkdir(parents=True, exist_ok=True)
        values = {column: row.get(column) for column in TABLES[name].columns}
        pq.write_table(pa.Table.from_pylist([values], schema=arrow_schema(name)), place / f"{number:04}.parquet")
        files.append(str(place / f"{number:04}.parquet"))
    return files
