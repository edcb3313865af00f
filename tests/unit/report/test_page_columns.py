"""The rows that pages carry, read back."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_blocks import columns_of

from iomine.report.columns import page_columns, tick_seconds

NAMES = {"op": ("read", "write"), "file_id": [7, -3]}
LONG_RUNS = st.floats(1e-3, 1e8)
ROWS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.floats(0, 1),
        st.sampled_from(["read", "write"]),
        st.sampled_from([7, -3, 12, None]),
        st.integers(-5, 5) | st.integers(2**31 - 2, 2**40),
        st.none() | st.integers(0, 2**53),
        st.integers(0, 2**53),
    ),
    max_size=30,
)


def _table(rows, run_seconds):
    starts = [start * run_seconds for start, *_ in rows]
    ends = [start + lasts * (run_seconds - start) for start, (_, lasts, *_) in zip(starts, rows, strict=True)]
    columns = list(zip(*rows, strict=True)) or [()] * 7
    return pa.table(
        {
            "start_seconds": pa.array(starts, pa.float64()),
            "end_seconds": pa.array(ends, pa.float64()),
            "op": pa.array(columns[2], pa.string()),
            "file_id": pa.array(columns[3], pa.int64()),
            "rank": pa.array(columns[4], pa.int64()),
            "offset_bytes": pa.array(columns[5], pa.int64()),
            "length_bytes": pa.array(columns[6], pa.int64()),
            "detail_level": pa.array([0] * len(rows), pa.int64()),
        }
    )


@given(LONG_RUNS, ROWS)
def test_times_come_back_within_the_resolution(run_seconds, rows):
    """Starts are right to half a tick, durations to the seventh digit."""
    table, tick = _table(rows, run_seconds), tick_seconds(run_seconds)
    found = columns_of(page_columns(table, NAMES, tick))
    starts, ends = table["start_seconds"].to_numpy(), table["end_seconds"].to_numpy()
    assert (np.abs(found["start_ticks"] * tick - starts) <= tick * (0.5 + 1e-6)).all()
    np.testing.assert_allclose(found["seconds"], ends - starts, rtol=6e-8, atol=1e-30)


@given(ROWS)
def test_names_become_numbers_and_what_is_not_known_minus_one(rows):
    """Values are numbered as listed, others after the last; no null is left; a rank that cannot be one is not known."""
    found = pa.table(columns_of(page_columns(_table(rows, 1.0), NAMES, 1e-6))).to_pylist()
    number_of = {7: 0, -3: 1, 12: 2, None: -1}
    expected = [
        {
            "op": NAMES["op"].index(op),
            "file_id": number_of[file],
            "rank": rank if 0 <= rank < 2**31 else -1,
            "offset_high": -1 if offset is None else offset >> 31,
            "offset_low": 0 if offset is None else offset & 2**31 - 1,
            "length_bytes": float(length),
        }
        for _, _, op, file, rank, offset, length in rows
    ]
    assert expected == [{name: row[name] for name in expected[0]} for row in found]
    assert all("detail_level" not in row for row in found)


@pytest.mark.parametrize(("run_seconds", "tick"), [(1.0, 1e-6), (2147.0, 1e-6), (2148.0, 2e-6), (86_400.0, 6.4e-5)])
def test_ticks_are_as_fine_as_31_bits_allow(run_seconds, tick):
    """A tick is a microsecond, doubled until the run has fewer than 2**31."""
    assert tick == pytest.approx(tick_seconds(run_seconds))
