"""Traces are kept in order."""

from importlib import import_module
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import Rows, columns, rows_of

from iomine.derive import segments

LAYERS = ("posix", "mpiio")
_REQUESTS = st.lists(
    st.fixed_dictionaries(
        {
            "layer": st.sampled_from(LAYERS),
            "file_id": st.integers(-3, 3),
            "rank": st.integers(0, 2),
            "host": st.sampled_from(["n1", "n2"]),
            "op": st.sampled_from(["read", "write"]),
            "offset_bytes": st.integers(0, 9),
            "length_bytes": st.integers(0, 9),
            "start_seconds": st.integers(0, 4).map(float),
            "end_seconds": st.integers(5, 9).map(float),
            "thread_id": st.integers(0, 9),
        }
    ),
    max_size=20,
)


def _tables(rows: Rows) -> dict[str, list[dict[str, pa.Array]]]:
    return {"segment": [columns("segment", [row for row in rows if row["layer"] == layer]) for layer in LAYERS]}


def _kept(rows: Rows) -> list[dict[str, Any]]:
    return [row for part in segments(_tables(rows)) for row in rows_of(part)]


@given(_REQUESTS)
def test_all_come_in_order(rows: Rows) -> None:
    """Every request comes once, as it was, file by file and in order of its start."""

    def key(row: dict[str, Any]) -> tuple[object, ...]:
        return row["file_id"], row["start_seconds"], *sorted(map(str, row.items()))

    kept = _kept(rows)
    assert sorted(rows, key=key) == sorted(kept, key=key)
    for layer in LAYERS:
        of_layer = [(row["file_id"], row["start_seconds"]) for row in kept if row["layer"] == layer]
        assert sorted(of_layer) == of_layer


def test_long_traces_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than so many rows are put in order at once, and a file's of both layers come near each other."""
    monkeypatch.setattr(import_module("iomine.derive.segments"), "_ROWS", 150)
    rows = [
        {"layer": layer, "file_id": file_id, "op": "write", "start_seconds": float(start), "length_bytes": 1}
        for layer in LAYERS
        for file_id in (2, 1)
        for start in range(100)
    ]
    pieces = [rows_of(part) for part in segments(_tables(rows))]
    assert [75, 75, 75, 75, 50, 50] == list(map(len, pieces))
    assert [1, 1] == [piece[0]["file_id"] for piece in pieces[:2]]


def test_nothing_without_a_trace() -> None:
    """A log without a trace has no rows."""
    assert [] == list(segments({}))
