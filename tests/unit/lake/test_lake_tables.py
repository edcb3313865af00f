"""What the lake promises: partitions replaced in one commit, and one row that says which versions belong together."""

import datetime as dt
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from iomine.lake import Lake, LakeFile, LakeWriter, write_file
from iomine.lake import lake as lakes
from iomine.schema.registry import arrow_schema

MONDAY, TUESDAY = dt.date(2024, 4, 15), dt.date(2024, 4, 16)
LONG_AGO = time.time() - 30 * 86400


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


@pytest.fixture
def opened(lake: Path, staging: Path) -> Callable[[], LakeWriter]:
    """Opens the lake as the next sweep would."""
    return lambda: LakeWriter(Lake(lake), staging)


@pytest.fixture
def writer(opened: Callable[[], LakeWriter]) -> LakeWriter:
    return opened()


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    return tmp_path / "staging"


def staged(staging: Path, *log_ids: str, night: dt.date = MONDAY, cluster: str = "blue", table: str = "mount") -> LakeFile:
    rows = pa.Table.from_pylist([{"log_id": log_id} for log_id in log_ids], schema=arrow_schema(table))
    return write_file(staging, table, rows, cluster, night)


def close_sweep(writer: LakeWriter, staging: Path, *, ended_at: dt.datetime) -> None:
    """Commits the row of a sweep, after those of earlier ones."""
    earlier = writer.snapshot.rows("sweep").to_pylist()
    versions = {table: version for table, version in writer.snapshot.versions.items() if table != "sweep"}
    row = {"sweep_id": str(len(earlier)), "end_at": ended_at, "table_versions": json.dumps(versions)}
    rows = pa.Table.from_pylist([*earlier, row], schema=arrow_schema("sweep"))
    writer.commit("sweep", [write_file(staging, "sweep", rows)], row["sweep_id"])


def held(writer: LakeWriter, lake: Path) -> dict[tuple[str, dt.date] | None, list[str]]:
    """Log ids of each partition of the table `mount`, whose files are those that Delta lists."""
    files = writer.snapshot.of("mount")
    assert sorted(DeltaTable(lake / "mount").file_uris()) == sorted(str(file.path) for file in files)
    assert DeltaTable(lake / "mount").version() == writer.snapshot.versions["mount"]
    return {file.partition: pq.read_table(file.path, columns=["log_id"])["log_id"].to_pylist() for file in files}


def age(lake: Path, seconds: int) -> None:
    """As if all files had been written so much earlier."""
    for file in lake.rglob("*"):
        if file.is_file():
            at = file.stat().st_mtime - seconds
            os.utime(file, (at, at))


def test_a_commit_replaces_its_partitions_and_no_other(writer, lake, staging):
    """A night that comes again has the new rows only; other nights, and other clusters' same night, stay as they were."""
    writer.commit("mount", [staged(staging, "a"), staged(staging, "b", night=TUESDAY)], "1")
    writer.commit("mount", [staged(staging, "c", cluster="red")], "2")
    writer.commit("mount", [staged(staging, "a", "d")], "3")

    expected = {("blue", MONDAY): ["a", "d"], ("blue", TUESDAY): ["b"], ("red", MONDAY): ["c"]}
    assert expected == held(writer, lake)


def test_what_was_never_committed_does_not_lie_in_the_lake(writer, lake, staging):
    """Files are moved into the table's folder by the commit, and not before."""
    file = staged(staging, "a")
    assert not lake.exists()
    writer.commit("mount", [file], "1")

    assert not file.path.exists()
    assert [file.path.name] == [path.name for path in lake.rglob("*.parquet")]


def test_tables_that_are_ahead_are_rolled_back(writer, lake, opened, staging):
    """After a sweep that died between two commits, its table holds again what the last row of `sweep` names."""
    writer.commit("mount", [staged(staging, "a")], "1")
    close_sweep(writer, staging, ended_at=dt.datetime(2024, 4, 16, tzinfo=dt.UTC))
    writer.commit("mount", [staged(staging, "dead")], "2")

    writer = opened()
    assert ["mount"] == writer.ahead
    assert {("blue", MONDAY): ["a"]} == held(writer, lake)


def test_tables_that_no_sweep_knows_are_removed(writer, lake, opened, staging):
    """A table that only a dead sweep wrote is gone, and can be made anew."""
    writer.commit("mount", [staged(staging, "dead")], "1")

    writer = opened()
    assert (["mount"], {}) == (writer.ahead, writer.snapshot.versions)
    writer.commit("mount", [staged(staging, "a")], "2")
    assert {("blue", MONDAY): ["a"]} == held(writer, lake)


def test_what_another_process_committed_is_read(lake, opened, staging, monkeypatch):
    """A process reads what was committed since it read a table, whoever did it."""
    mine = opened()
    mine.commit("mount", [staged(staging, "a")], "1")
    close_sweep(mine, staging, ended_at=dt.datetime(2024, 4, 15, tzinfo=dt.UTC))
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(lakes, "_last_held", [])
        other = opened()
        other.commit("mount", [staged(staging, "a", "b"), staged(staging, "c", night=TUESDAY)], "2")
        close_sweep(other, staging, ended_at=dt.datetime(2024, 4, 16, tzinfo=dt.UTC))

    again = opened()
    assert {("blue", MONDAY): ["a", "b"], ("blue", TUESDAY): ["c"]} == held(again, lake)
    assert 2 == len(again.snapshot.rows("sweep"))


def test_a_lake_that_another_was_put_in_the_place_of_is_read_anew(lake, opened, staging, tmp_path):
    """Such as a copy that was taken earlier: its tables have the same names, and later other rows at the same version."""
    first = opened()
    first.commit("mount", [staged(staging, "a")], "1")
    close_sweep(first, staging, ended_at=dt.datetime(2024, 4, 15, tzinfo=dt.UTC))
    shutil.copytree(lake, tmp_path / "copy")
    first.commit("mount", [staged(staging, "b")], "2")
    close_sweep(first, staging, ended_at=dt.datetime(2024, 4, 16, tzinfo=dt.UTC))
    lake.rename(tmp_path / "gone")
    (tmp_path / "copy").rename(lake)

    assert {("blue", MONDAY): ["a"]} == held(opened(), lake)


def test_a_clock_that_was_set_back_makes_no_sweep_forgotten(writer, lake, opened, staging):
    """The last row counts, whatever time it bears: the sweep before it must not be rolled back to."""
    writer.commit("mount", [staged(staging, "a")], "1")
    close_sweep(writer, staging, ended_at=dt.datetime(2024, 4, 18, tzinfo=dt.UTC))
    writer.commit("mount", [staged(staging, "b", night=TUESDAY)], "2")
    close_sweep(writer, staging, ended_at=dt.datetime(2024, 4, 17, tzinfo=dt.UTC))

    assert [] == opened().ahead
    assert {("blue", MONDAY): ["a"], ("blue", TUESDAY): ["b"]} == held(writer, lake)


def test_replaced_files_outlive_the_grace_period(writer, lake, staging):
    """A file that was replaced just now stays, however old it is itself, since readers may still have it listed."""
    writer.commit("mount", [staged(staging, "a")], "1")
    (replaced,) = lake.rglob("*.parquet")
    os.utime(replaced, (LONG_AGO, LONG_AGO))
    writer.commit("mount", [staged(staging, "b")], "2")

    writer.tidy(grace_days=7)
    assert replaced.exists()
    writer.tidy(grace_days=0)
    assert not replaced.exists()
    assert {("blue", MONDAY): ["b"]} == held(writer, lake)


@pytest.mark.proof
@pytest.mark.parametrize("night_count", [30, 60])
def test_logs_of_tables_do_not_grow_with_nights(lake, opened, staging, night_count):
    """One sweep a night: there are as many files of commits after 60 nights as after 30, and every night is held."""
    nights = [MONDAY + dt.timedelta(days=day) for day in range(night_count)]
    for number, night in enumerate(nights):
        age(lake, 86400)
        writer = opened()
        assert [] == writer.ahead
        writer.tidy(grace_days=7)
        writer.commit("mount", [staged(staging, str(number), night=night)], str(number))
        close_sweep(writer, staging, ended_at=dt.datetime.combine(night, dt.time(), dt.UTC))

    writer = opened()
    assert {("blue", night): [str(number)] for number, night in enumerate(nights)} == held(writer, lake)
    commits = [len(list((lake / table / "_delta_log").iterdir())) for table in ("mount", "sweep")]
    assert max(commits) < 30


def test_a_sweep_that_died_long_ago_is_rolled_back(lake, opened, staging):
    """Commits before a checkpoint may go, but none that the last row of `sweep` names."""
    for number in range(25):
        writer = opened()
        writer.tidy(grace_days=7)
        writer.commit("mount", [staged(staging, str(number))], str(number))
        close_sweep(writer, staging, ended_at=dt.datetime(2024, 4, 18, tzinfo=dt.UTC))
    for _ in range(12):
        writer = opened()
        writer.tidy(grace_days=7)
        assert {("blue", MONDAY): ["24"]} == held(writer, lake)
        writer.commit("mount", [staged(staging, "dead")], "dead")
        for file in (*lake.rglob("_delta_log/*"), *lake.rglob("*.parquet")):
            os.utime(file, (LONG_AGO, LONG_AGO))


def test_files_of_dead_sweeps_are_swept_away(writer, lake, staging):
    """A file that was moved in but never committed goes once it is older than the grace period, within a day and five commits."""
    left = staged(lake, "dead").path
    for number in range(6):
        writer.commit("mount", [staged(staging, str(number))], str(number))
    writer.tidy(grace_days=7)
    assert left.exists()

    os.utime(left, (LONG_AGO, LONG_AGO))
    for number in range(5):
        writer.commit("mount", [staged(staging, str(number))], str(number))
        writer.tidy(grace_days=7)
    assert left.exists()

    # Every seven hours.
    for number in range(4):
        age(lake, 7 * 3600)
        assert left.exists()
        for commit in range(5):
            writer.commit("mount", [staged(staging, f"{number}-{commit}")], str(number))
        writer.tidy(grace_days=7)
    assert not left.exists()
    assert {("blue", MONDAY): ["3-4"]} == held(writer, lake)


def test_a_table_that_is_written_no_more_is_tidied_too(writer, lake, staging):
    """What a dead sweep left in it goes after the grace period, with no further commit."""
    writer.commit("mount", [staged(staging, "a")], "1")
    left = staged(lake, "dead").path
    os.utime(left, (LONG_AGO, LONG_AGO))
    writer.tidy(grace_days=7)
    assert left.exists()

    for file in lake.rglob("_delta_log/*"):
        os.utime(file, (LONG_AGO, LONG_AGO))
    writer.tidy(grace_days=7)
    assert not left.exists()
    assert {("blue", MONDAY): ["a"]} == held(writer, lake)
