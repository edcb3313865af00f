"""The published views for questions about a few logs."""

import shutil
import tempfile
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from iomine.errors import LimitError
from iomine.lake import write_file
from iomine.schema.registry import arrow_schema
from iomine.views.catalog import build_catalog
from iomine.views.of_logs import open_for_logs
from iomine.views.query import answer_own

NIGHT = date(2024, 4, 18)
FARTHEST, FAR, NEAR, PAST = (NIGHT - timedelta(days=days) for days in (92, 91, 1, -2))
NIGHTS = [FARTHEST, FAR, NEAR, NIGHT, PAST]
LOGS = {"log_ids": ["a"], "first_night": NIGHT, "last_night": NIGHT, "first_log_id": "a", "last_log_id": "a"}


@pytest.fixture
def database(tmp_path: Path, write_rows) -> Path:
    """A catalog of two logs with a file each."""
    rows = [{"log_id": log_id, "file_id": 1, "rank": 0, "read_count": 5} for log_id in "ab"]
    logs = write_rows("log", [{"log_id": log_id} for log_id in "ab"])
    build_catalog(tmp_path / "iomine.duckdb", {"log": [logs], "posix_file": [write_rows("posix_file", rows)]}, {}, {})
    return tmp_path / "iomine.duckdb"


def test_a_place_without_room_is_a_sentence(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy of the catalog needs some; who asks may do without it."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", fail)
    with (
        pytest.raises(LimitError, match=r"^The catalog cannot be copied to .*: name a folder with free space in \$TMPDIR\.$"),
        open_for_logs(database, LOGS),
    ):
        pass


def test_the_catalog_stays_as_it_was(database: Path) -> None:
    """What is worked out for the connection alone is in a copy, of which nothing stays."""
    before = database.read_bytes()
    with open_for_logs(database, LOGS) as con:
        assert ["a"] == answer_own(con, "SELECT log_id FROM core.posix_file")["log_id"].to_pylist()
    assert before == database.read_bytes()
    assert ["iomine.duckdb"] == [path.name for path in database.parent.iterdir() if "duckdb" in path.name]


def test_a_process_that_is_killed_leaves_no_copy(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is in use already, the copy has no name."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with open_for_logs(database, LOGS) as con:
        assert [] == list(folder.iterdir())
        assert ["a"] == answer_own(con, "SELECT log_id FROM core.posix_file")["log_id"].to_pylist()


@pytest.mark.parametrize(("name", "is_narrow"), [("warehouse", True), ("bob's", False)])
def test_tables_show_nights_that_questions_about_the_logs_may_read(tmp_path: Path, name: str, is_narrow: bool) -> None:
    """They look back at runs of a lineage, and no further than what is near in most tables. With a quote in the path all stay."""
    root = tmp_path / name
    files = {
        table: [
            str(write_file(root / "lake", table, pa.Table.from_pylist([row], schema=arrow_schema(table)), "x", night).path)
            for night in NIGHTS
        ]
        for table, row in (("log", {"log_id": "a"}), ("phase", {"log_id": "a"}), ("finding_night", {"code": "P05"}))
    }
    build_catalog(root / "iomine.duckdb", files, {}, {})
    with open_for_logs(root / "iomine.duckdb", LOGS) as con:
        shown = {table: answer_own(con, f"SELECT night FROM core.{table} ORDER BY night")["night"].to_pylist() for table in files}
    looked_back = NIGHTS[1:4] if is_narrow else NIGHTS
    assert {"log": looked_back, "phase": NIGHTS[2:4] if is_narrow else NIGHTS, "finding_night": looked_back} == shown
