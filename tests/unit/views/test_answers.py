"""Rows of answers are plain values, whatever unit their times have and however their columns are cut into chunks."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from iomine.views.answers import rows_of

_BEFORE_1970 = datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", ["UTC", None])
def test_times_are_those_of_the_column(unit, zone):
    times = [_BEFORE_1970, None, datetime(2026, 1, 5, 3, 35, 12, tzinfo=UTC)]
    counts = [None if at is None else (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1) for at in times]
    factor = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    chunks = [pa.array([None if count is None else count * factor for count in counts]), pa.array([], pa.int64())]
    column = pa.chunked_array([chunk.view(pa.timestamp(unit, zone)) for chunk in (*chunks, chunks[0].slice(1))])
    expected = [at and (at if zone else at.replace(tzinfo=None)) for at in (*times, *times[1:])]
    assert rows_of(pa.table({"start_at": column})) == [{"start_at": at} for at in expected]


def test_what_is_no_number_is_none():
    assert rows_of(pa.table({"io_ratio": [0.5, float("nan"), float("inf"), None]})) == [
        {"io_ratio": value} for value in (0.5, None, None, None)
    ]
