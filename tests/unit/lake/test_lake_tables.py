"""What the lake promises: partitions replaced in one commit, and one row that says which versions belong together."""

import datetime as dt
import json
import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iomine.lake import Lake, LakeFile, write_file
from iomine.schema.registry import arrow_schema

MONDAY, TUESDAY = dt.date(2024, 4, 15), dt.date(2024, 4, 16)
LONG_AGO = time.time() - 30 * 86400


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    return tmp_path / "staging"


def staged(staging: Path, *log_ids: str, night: dt.date = MONDAY, cluster: str = "blue", table: str = "mount") -> LakeFile:
    rows = pa.Table.from_pylist([{"log_id": log_id} for log_id in log_ids], schema=arrow_schema(table))
    return write_file(staging, table, rows, cluster, night)


def close_sweep(lake: Lake, staging: Path, *, ended_at: dt.datetime) -> None:
    """Commits the row of a sweep, after those of earlier ones."""
    files = [file for file in lake.files(lake.pins()) if file.table == "sweep"]
    earlier = [row for file in files for row in pq.read_table(file.path).to_pylist()]
    versions = {table: version for table, version in lake.versions().items() if table != "sweep"}
    row = {"sweep_id": str(len(earlier)), "end_at": ended_at, "table_versions": json.dumps(versions)}
    rows = pa.Table.from_pylist([*earlier, row], schema=arrow_schema("sweep"))
    lake.commit("sweep", [write_file(staging, "sweep", rows)], row["sweep_id"])


def held(lake: Lake, table: str = "mount") -> dict[tuple[str | None, dt.date | None], list[str]]:
    """Log ids of each partition, as they stand now."""
    versions = lake.versions()
    files = lake.files({table: versions[table]} if table in versions else {})
    return {(file.cluster, file.night): pq.read_table(file.path, columns=["log_id"])["log_id"].to_pylist() for file in files}


def test_a_commit_replaces_its_partitions_and_no_other(lake, staging):
    """A night that comes again has the new rows only; other nights, and other clusters' same night, stay as they were."""
    lake.commit("mount", [staged(staging, "a"), staged(staging, "b", night=TUESDAY)], "1")
    lake.commit("mount", [staged(staging, "c", cluster="red")], "2")
    lake.commit("mount", [staged(staging, "a", "d")], "3")

    expected = {("blue", MONDAY): ["a", "d"], ("blue", TUESDAY): ["b"], ("red", MONDAY): ["c"]}
    assert expected == held(lake)


def test_what_was_never_committed_does_not_lie_in_the_lake(lake, staging):
    """Files are moved into the table's folder by the commit, and not before."""
    file = staged(staging, "a")
    assert not lake.root.exists()
    lake.commit("mount", [file], "1")

    assert not file.path.exists()
    assert [file.path.name] == [path.name for path in lake.root.rglob("*.parquet")]


def test_tables_that_are_ahead_are_rolled_back(lake, staging):
    """After a sweep that died between two commits, its table holds again what the last row of `sweep` names."""
    lake.commit("mount", [staged(staging, "a")], "1")
    close_sweep(lake, staging, ended_at=dt.datetime(2024, 4, 16, tzinfo=dt.UTC))
    lake.commit("mount", [staged(staging, "dead")], "2")

    assert ["mount"] == lake.roll_back(staging)
    assert {("blue", MONDAY): ["a"]} == held(lake)


def test_tables_that_no_sweep_knows_are_removed(lake, staging):
    """A table that only a dead sweep wrote is gone, and can be made anew."""
    lake.commit("mount", [staged(staging, "dead")], "1")

    assert ["mount"] == lake.roll_back(staging)
    assert {} == lake.versions()
    lake.commit("mount", [staged(staging, "a")], "2")
    assert {("blue", MONDAY): ["a"]} == held(lake)


def test_a_clock_that_was_set_back_makes_no_sweep_forgotten(lake, staging):
    """The last row counts, whatever time it bears: the sweep before it must not be rolled back to."""
    lake.commit("mount", [staged(staging, "a")], "1")
    close_sweep(lake, staging, ended_at=dt.datetime(2024, 4, 18, tzinfo=dt.UTC))
    lake.commit("mount", [staged(staging, "b", night=TUESDAY)], "2")
    close_sweep(lake, staging, ended_at=dt.datetime(2024, 4, 17, tzinfo=dt.UTC))

    assert [] == lake.roll_back(staging)
    assert {("blue", MONDAY): ["a"], ("blue", TUESDAY): ["b"]} == held(lake)


def test_replaced_files_outlive_the_grace_period(lake, staging):
    """A file that was replaced just now stays, however old it is itself, since readers may still have it listed."""
    lake.commit("mount", [staged(staging, "a")], "1")
    (replaced,) = lake.root.rglob("*.parquet")
    os.utime(replaced, (LONG_AGO, LONG_AGO))
    lake.commit("mount", [staged(staging, "b")], "2")

    lake.vacuum(grace_days=7)
    assert replaced.exists()
    lake.vacuum(grace_days=0)
    assert not replaced.exists()
    assert {("blue", MONDAY): ["b"]} == held(lake)


def test_files_of_dead_sweeps_are_swept_away(lake, staging):
    """A file that was moved in but never committed goes once it is older than the grace period."""
    lake.commit("mount", [staged(staging, "a")], "1")
    left = staged(lake.root, "dead").path
    lake.vacuum(grace_days=7)
    assert left.exists()

    os.utime(left, (LONG_AGO, LONG_AGO))
    lake.vacuum(grace_days=7)
    assert not left.exists()
