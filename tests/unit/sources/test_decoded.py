"""Columns of many logs made Arrow tables at once."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from iomine.schema.column import Column
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import assembled, row_count
from iomine.sources.darshan.counters import LAYOUTS
from iomine.sources.darshan.decoded import Columns, Records, labels

_LENGTHS = st.lists(st.integers(1, 4), min_size=1, max_size=5)
_POSIX = LAYOUTS["POSIX"]


def _alone(table: str, log_id: str, columns: Columns) -> pa.Table:
    """The rows of one log, column by column."""
    schema = arrow_schema(table)
    given_ = {name: values if isinstance(values, list) else values.to_pylist() for name, values in columns.items()}
    rows = [{"log_id": log_id} | {name: values[row] for name, values in given_.items()} for row in range(row_count(columns))]
    return pa.Table.from_pylist(rows, schema)


def _same(table: str, parts: list[tuple[str, Columns]]) -> None:
    one_by_one = pa.concat_tables([_alone(table, *part) for part in parts])
    assert one_by_one.to_pylist() == assembled(table, parts).to_pylist()
    assert one_by_one.schema.equals(assembled(table, parts).schema)


@given(_LENGTHS)
def test_records_of_many_logs(lengths: list[int]) -> None:
    """Records of equal width that are stacked have the rows that each log's records have, in their order."""
    numbers = iter(range(10**6))
    parts = [
        (
            f"log{at}",
            Records("posix_file", _POSIX.words, np.array([[next(numbers) for _ in _POSIX.words] for _ in range(length)])),
        )
        for at, length in enumerate(lengths)
    ]
    assert lengths == [row_count(columns) for _, columns in parts]
    _same("posix_file", parts)


@given(_LENGTHS, st.data())
def test_columns_that_some_logs_lack(lengths: list[int], data: st.DataObject) -> None:
    """Columns come as lists or arrays, and where a log has none of a column its rows are NULL."""
    parts = []
    for at, length in enumerate(lengths):
        columns: dict[str, pa.Array | list[int]] = {"file_id": list(range(length))}
        for name in ("rank", "stripe_count", "fs_ost_count"):
            values = data.draw(st.lists(st.integers(-1, 9), min_size=length, max_size=length))
            kind = data.draw(st.sampled_from(["list", "array", "none"]))
            if kind != "none":
                columns[name] = values if kind == "list" else pa.array(values, pa.int64())
        parts.append((f"log{at}", columns))
    _same("lustre_component", parts)


_TEXTS = st.lists(st.sampled_from(["read", "write", "é", ""]), min_size=1, max_size=4, unique=True).map(tuple)


@given(_LENGTHS, st.data())
def test_columns_that_become_arrow_later(lengths: list[int], data: st.DataObject) -> None:
    """Numbers with and without NULLs, and labels of whatever texts in whatever order, are those that each log has by itself."""
    parts: list[tuple[str, Columns]] = []
    for at, length in enumerate(lengths):
        texts = data.draw(_TEXTS)
        codes = data.draw(st.lists(st.integers(-1, len(texts) - 1), min_size=length, max_size=length))
        numbers = data.draw(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=length, max_size=length))
        mask = np.array([number is None for number in numbers]) if data.draw(st.booleans()) else None
        values = np.array([number or 0 for number in numbers], np.int64)
        labelled, later = Column(np.array(codes), None, texts), Column(values, mask)
        parts.append((f"log{at}", {"file_id": Column(np.arange(length)), "op": labelled, "offset_bytes": later}))
        assert [texts[code] if code >= 0 else None for code in codes] == labelled.to_pylist() == labelled.arrow().to_pylist()
        assert later.to_pylist() == later.arrow().to_pylist() == numbers if mask is not None else values.tolist()
        rows = data.draw(st.lists(st.integers(0, length - 1)))
        assert [later.to_pylist()[row] for row in rows] == later.taken(np.array(rows, np.int64)).to_pylist()
        np.testing.assert_array_equal(
            later.arrow().to_numpy(zero_copy_only=False), later.to_numpy(zero_copy_only=False), strict=True
        )
    _same("access_run", parts)


def test_no_logs() -> None:
    """No log gives no rows, in the table's schema."""
    assert arrow_schema("segment").empty_table().equals(assembled("segment", []))


def test_labels_of_no_rows_are_texts_too():
    """A log may be cut before all of its heat maps, and its column still has to fit the table."""
    assert pa.dictionary(pa.int32(), pa.string()) == labels(np.empty(0, np.int64), []).type
