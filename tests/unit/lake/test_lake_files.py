import datetime as dt
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iomine.lake import ParquetSink, linked, merge_files, write_file
from iomine.lake.files import ROW_GROUP_ROWS
from iomine.schema.registry import arrow_schema

NIGHT = dt.date(2024, 4, 18)


def mounts(*log_ids: str) -> pa.Table:
    rows = [{"log_id": log_id, "mount": "/", "fs_type": "ext4"} for log_id in log_ids]
    return pa.Table.from_pylist(rows, schema=arrow_schema("mount"))


def log_ids(path: Path) -> list[str]:
    return pq.read_table(path, columns=["log_id"])["log_id"].to_pylist()


def test_a_file_lies_in_the_folders_of_its_partition(tmp_path):
    """The partition keys are in the path, named as Hive does, and the file says how many rows it has."""
    file = write_file(tmp_path, "mount", mounts("a", "b"), "blue", NIGHT)

    assert tmp_path / "mount" / "cluster=blue" / "night=2024-04-18" == file.path.parent
    assert (2, file.path.stat().st_size) == (file.row_count, file.size_bytes)
    assert ["a", "b"] == log_ids(file.path)


def test_no_two_files_have_one_name(tmp_path):
    """Writing the same rows again makes another file, so a second attempt never touches what the first has written."""
    first, second = (write_file(tmp_path, "mount", mounts("a"), "blue", NIGHT) for _ in range(2))

    assert first.path != second.path


@pytest.mark.parametrize("has_links", [True, False])
def test_the_same_bytes_get_a_name_of_their_own(tmp_path, monkeypatch, has_links):
    """As a link, or as a copy on a file system that has none; the first stays where it is."""
    if not has_links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(PermissionError(1, "Operation not permitted")))
    file = write_file(tmp_path / "lake", "mount", mounts("a", "b"), "blue", NIGHT)
    other = linked(tmp_path / "staging", file, "red")

    assert ("red", NIGHT, 2, file.size_bytes) == (other.cluster, other.night, other.row_count, other.path.stat().st_size)
    assert tmp_path / "staging" / "mount" / "cluster=red" / "night=2024-04-18" == other.path.parent
    assert ["a", "b"] == log_ids(other.path) == log_ids(file.path)
    assert has_links == other.path.samefile(file.path)


def test_rows_are_written_in_full_row_groups(tmp_path):
    """Few rows at a time are gathered until a row group is full, so that DuckDB's threads have whole ones to share."""
    path = tmp_path / "part.parquet"
    with ParquetSink("mount", path) as sink:
        for _ in range(3):
            sink.write(mounts(*("a" for _ in range(ROW_GROUP_ROWS // 2))))

    groups = pq.read_metadata(path)
    assert [ROW_GROUP_ROWS, ROW_GROUP_ROWS // 2] == [groups.row_group(n).num_rows for n in range(groups.num_row_groups)]


def test_long_rows_do_not_pile_up_in_memory(tmp_path):
    """Rows of heat maps hold thousands of numbers each, so their row groups end by size."""
    bins = pa.array([[0] * 2**20], pa.list_(pa.int64()))
    schema = arrow_schema("heatmap_rank")
    row = pa.table([bins if "_bin_" in field.name else pa.nulls(1, field.type) for field in schema], schema=schema)
    path = tmp_path / "part.parquet"
    with ParquetSink("heatmap_rank", path) as sink:
        for _ in range(20):
            sink.write(row)

    assert 1 < pq.read_metadata(path).num_row_groups < 20


def test_labels_of_different_logs_keep_their_texts(tmp_path):
    """Each log indexes a list of labels of its own; in one file every row still has the text that it came with."""
    schema = arrow_schema("dxt_file")
    path = tmp_path / "part.parquet"
    with ParquetSink("dxt_file", path) as sink:
        for layer, host in (("posix", "n1"), ("mpiio", "n2")):
            sink.write(pa.Table.from_pylist([{"log_id": "a", "layer": layer, "host": host}], schema=schema))

    rows = pq.read_table(path, columns=["layer", "host"]).to_pylist()
    assert [{"layer": "posix", "host": "n1"}, {"layer": "mpiio", "host": "n2"}] == rows


def test_merged_files_keep_the_order_they_are_given_in(tmp_path):
    """Rows lie as the files were given, so files that are ranges of log ids make one that is sorted."""
    files = [write_file(tmp_path, "mount", mounts(*ids), "blue", NIGHT) for ids in (("a", "b"), ("c",), ("d", "e"))]
    merged = merge_files(tmp_path / "staging", "mount", [file.path for file in files], "blue", NIGHT)

    assert list("abcde") == log_ids(merged.path)
    assert 5 == merged.row_count


def test_files_of_an_older_program_are_merged(tmp_path):
    """A column that a file is older than is NULL in its rows, and one that is no more is left out."""
    old, new = tmp_path / "old.parquet", write_file(tmp_path, "mount", mounts("b"))
    pq.write_table(mounts("a").drop_columns("fs_type").append_column("gone", pa.array([1])), old)
    merged = merge_files(tmp_path, "mount", [old, new.path], "blue", NIGHT)

    rows = pq.read_table(merged.path, partitioning=None)
    assert arrow_schema("mount").names == rows.column_names
    assert [("a", "/", None), ("b", "/", "ext4")] == [tuple(row.values()) for row in rows.to_pylist()]


def test_a_file_is_not_there_before_it_is_whole(tmp_path):
    """Until the last row is in, the file has another name; what is under its own name can be read."""
    path = tmp_path / "part.parquet"
    with ParquetSink("mount", path) as sink:
        sink.write(mounts("a"))
        assert not path.exists()

    assert ["a"] == log_ids(path)


def test_a_writer_that_fails_leaves_nothing(tmp_path):
    """An exception among the rows removes what was written of the file."""

    def write() -> None:
        with ParquetSink("mount", tmp_path / "part.parquet") as sink:
            sink.write(mounts("a"))
            raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        write()

    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_file_that_cannot_be_finished_leaves_nothing(tmp_path, monkeypatch):
    """On a full disk the last bytes fail, and once more while the file is given up: nothing of it stays to fill the disk."""
    close, fails = pq.ParquetWriter.close, [True, True]

    def full(writer: pq.ParquetWriter) -> None:
        if fails:
            fails.pop()
            raise OSError(28, "No space left on device")
        close(writer)

    monkeypatch.setattr(pq.ParquetWriter, "close", full)
    with pytest.raises(OSError, match="No space left"):
        write_file(tmp_path, "mount", mounts("a"), "blue", NIGHT)

    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]
