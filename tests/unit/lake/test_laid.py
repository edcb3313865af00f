"""Parquet files laid end to end."""

import datetime as dt
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iomine.lake import ParquetSink, files, merge_files
from iomine.lake.laid import laid
from iomine.schema.registry import arrow_schema

NIGHT = dt.date(2024, 4, 18)
_ROW = st.fixed_dictionaries(
    {
        "log_id": st.text("0123456789abcdef", min_size=1, max_size=3),
        "rank": st.none() | st.integers(-(2**63), 2**63 - 1),
        "layer": st.none() | st.sampled_from(("posix", "mpiio", "stdio")),
        "bin_seconds": st.none() | st.floats(allow_nan=False),
        "read_bin_amounts": st.none() | st.lists(st.integers(0, 9), max_size=4),
    }
)
# Of each file its rows, and how many of them are a row group.
_FILES = st.lists(st.tuples(st.lists(_ROW, max_size=40), st.integers(1, 7)), min_size=1, max_size=6)


def heat_maps(rows: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=arrow_schema("heatmap_rank"))


def written(path: Path, rows: pa.Table, notes: dict[str, str] | None = None) -> Path:
    with ParquetSink("heatmap_rank", path, notes or {}) as sink:
        sink.write(rows)
    return path


@given(_FILES)
def test_rows_and_row_groups_are_those_of_the_files(tmp_path_factory, contents):
    """Each reader finds every row group, with what its columns hold and what is said about them, numbered from 0 on."""
    folder = tmp_path_factory.mktemp("laid")
    paths = [folder / str(number) for number in range(len(contents))]
    for path, (rows, size) in zip(paths, contents, strict=True):
        pq.write_table(heat_maps(rows), path, row_group_size=size, use_dictionary=["layer"], write_page_index=size > 3)
    out = folder / "out"

    assert laid(paths, out)
    expected = pa.concat_tables([pq.read_table(path) for path in paths])
    assert expected.to_pylist() == pq.read_table(out).to_pylist()
    assert expected.to_pylist() == duckdb.sql(f"FROM read_parquet('{out}')").to_arrow_table().to_pylist()
    assert said(paths) == said([out])


def said(paths: list[Path]) -> list[object]:
    """What footers say of row groups, their places left out."""
    found = []
    for path in paths:
        metadata = pq.read_metadata(path)
        for number in range(metadata.num_row_groups):
            columns = metadata.row_group(number).to_dict()["columns"]
            found.append([{name: value for name, value in column.items() if "offset" not in name} for column in columns])
    return found


def test_files_that_differ_in_more_than_rows_are_not_laid(tmp_path):
    """One footer can say of all row groups one schema and one note only."""
    rows = heat_maps([{"log_id": "a"}])
    own, noted = written(tmp_path / "own", rows), written(tmp_path / "noted", rows, {"note": "1"})
    pq.write_table(rows.drop_columns("read_bin_amounts"), tmp_path / "older")

    for other in (noted, tmp_path / "older"):
        assert not laid([own, other], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_row_groups_with_fields_that_are_not_known_are_not_laid(tmp_path):
    """Such a field may be a place, which would be that of other bytes in the new file."""
    metadata = pq.read_metadata(written(tmp_path / "own", heat_maps([{"log_id": "a"}])))
    metadata.set_file_path("own")
    metadata.write_metadata_file(tmp_path / "elsewhere")

    assert not laid([tmp_path / "elsewhere"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_fails_leaves_nothing(tmp_path, monkeypatch):
    """On a full disk the part that was written goes."""
    path = written(tmp_path / "own", heat_maps([{"log_id": "a"}]))
    monkeypatch.setattr("shutil.copyfileobj", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))

    with pytest.raises(OSError, match="No space left"):
        laid([path, path], tmp_path / "out")
    assert [path] == [*tmp_path.iterdir()]


@pytest.mark.parametrize(("full", "groups"), [(7, [2, 2]), (9, [4])])
def test_row_groups_stay_that_are_no_small_part_of_a_full_one(tmp_path, monkeypatch, full, groups):
    """To make larger ones of them would be work for nothing; of many small ones a few full ones are made."""
    monkeypatch.setattr(files, "ROW_GROUP_ROWS", full)
    rows = heat_maps([{"log_id": "a"}, {"log_id": "b"}])
    paths = [written(tmp_path / name, rows) for name in ("1", "2")]
    merged = merge_files(tmp_path, "heatmap_rank", paths, "blue", NIGHT)

    metadata = pq.read_metadata(merged.path)
    assert groups == [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    assert ["a", "b", "a", "b"] == pq.read_table(merged.path, partitioning=None)["log_id"].to_pylist()
    assert (4, merged.path.stat().st_size) == (merged.row_count, merged.size_bytes)
