"""Counters worked out from a trace, against Darshan's macros followed call by call."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import Rows, columns, rows_of

from iomine.derive import CALL_KINDS, counters, traces
from iomine.schema.ops import OtherCalls
from iomine.schema.registry import arrow_schema

_BINS = {"0_100": 100, "100_1k": 1024, "1k_10k": 10240, "10k_100k": 102400, "100k_1m": 2**20, "1m_4m": 2**22}
_COUNTED = {"open": "open_count", "seek": "seek_count", "stat": "stat_count", "mmap": "mmap_count"}
_COUNTED |= {"fsync": "fsync_count", "fdatasync": "fdsync_count", "flush": "flush_count"}

_LENGTHS = st.sampled_from([0, 1, 3, 100, 101, 4096, 2**20 + 1])
_EVENTS = st.lists(
    st.fixed_dictionaries(
        {
            "call": st.sampled_from(
                ["read", "read", "write", "write", "open", "close", "seek", "stat", "fsync", "flush", "mmap"]
            ),
            "layer": st.sampled_from(["posix", "stdio"]),
            "file_id": st.sampled_from([-7, 3]),
            "rank": st.integers(0, 1),
            "offset_bytes": st.sampled_from([0, 1, 3, 4, 100, 104, 4096]),
            "length_bytes": _LENGTHS,
            # Binary fractions, whose sums do not depend on the order.
            "seconds": st.integers(1, 24).map(lambda eighths: eighths / 8),
        }
    ),
    max_size=40,
)


def _timed(events: Rows) -> list[dict[str, Any]]:
    """Events that end one after the other, and overlap."""
    kept = [event for event in events if event["call"] in {"read", "write", *CALL_KINDS[event["layer"]]}]
    return [
        {**event, "end_seconds": 4.0 + at / 2, "start_seconds": 4.0 + at / 2 - event["seconds"]} for at, event in enumerate(kept)
    ]


def _worked_out(events: Rows, nprocs: int, *, with_calls: bool = True) -> dict[str, list[dict[str, Any]]]:
    data = [event | {"op": event["call"]} for event in events if event["call"] in {"read", "write"}]
    data.sort(key=lambda event: (event["file_id"], event["rank"], event["op"]))
    parts = [columns("segment", own) for layer in CALL_KINDS if (own := [each for each in data if each["layer"] == layer])]
    calls = [_calls(layer, [each for each in events if each["layer"] == layer]) for layer in CALL_KINDS] if with_calls else []
    return {table: rows_of(found) for table, found in counters(traces({"segment": parts}), calls, nprocs).items()}


def _calls(layer: str, events: Rows) -> OtherCalls:
    names = sorted(CALL_KINDS[layer])
    own = [event for event in events if event["call"] in names]
    integers = [np.array([event[name] for event in own], np.int64) for name in ("file_id", "rank")]
    kinds = np.array([names.index(event["call"]) for event in own], np.int64)
    times = [np.array([event[name] for event in own], np.float64) for name in ("start_seconds", "end_seconds")]
    return OtherCalls(layer, *integers, kinds, names, *times)


class _Record:
    """What Darshan keeps of a file in a rank: its record, and what it remembers meanwhile."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self.first: dict[str, float] = {}
        self.last: dict[str, float] = {}
        self.sizes: Counter[int] = Counter()
        self.strides: Counter[int] = Counter()
        self.peak = {"read": 0, "write": 0}
        self.slowest = {"read": (0.0, 0), "write": (0.0, 0)}
        self.seconds = {"read": 0.0, "write": 0.0, "meta": 0.0}
        self._ended = {"read": 0.0, "write": 0.0, "meta": 0.0}
        self._last_byte = {"read": 0, "write": 0}
        self._last_op = ""

    def add(self, event: dict[str, Any]) -> None:
        call = event["call"]
        if call in {"read", "write"}:
            self._move(event)
        elif call in _COUNTED:
            self.counted[_COUNTED[call]] += 1
        if call == "open":
            self._last_byte = {"read": 0, "write": 0}
        timer = {"fsync": "write", "flush": "write", "read": "read", "write": "write"}.get(call, "meta")
        if call == "mmap":
            return
        start, end = event["start_seconds"], event["end_seconds"]
        self.seconds[timer] += end - max(start, self._ended[timer])
        self._ended[timer] = max(self._ended[timer], end)
        if (moment := timer if timer != "meta" else call) in {"open", "close", "read", "write"}:
            self.first[moment] = min(start, self.first.get(moment, start))
            self.last[moment] = max(end, self.last.get(moment, end))

    def _move(self, event: dict[str, Any]) -> None:
        op, offset, length = event["call"], event["offset_bytes"], event["length_bytes"]
        before = self._last_byte[op]
        self.counted[f"{op}_count"] += 1
        self.counted[f"{op}_bytes"] += length
        self.counted[f"sequential_{op}_count"] += offset > before
        self.counted[f"consecutive_{op}_count"] += offset == before + 1
        self.counted["rw_switch_count"] += self._last_op not in {"", op}
        self.counted[f"{op}_size_{next(name for name, most in _BINS.items() if length <= most)}_count"] += 1
        self.strides[offset - before - 1 if offset > before and before and offset else 0] += 1
        self.sizes[length] += 1
        self.peak[op] = max(self.peak[op], offset + length - 1)
        if (seconds := event["end_seconds"] - event["start_seconds"]) > self.slowest[op][0]:
            self.slowest[op] = (seconds, length)
        self._last_byte[op], self._last_op = offset + length - 1, op


def _by_hand(layer: str, events: Rows, nprocs: int) -> dict[tuple[int, int], dict[str, Any]]:
    records: dict[tuple[int, int], _Record] = {}
    for event in events:
        if event["layer"] == layer:
            records.setdefault((event["file_id"], event["rank"]), _Record()).add(event)
    rows = {}
    for file_id in {file_id for file_id, _ in records}:
        own = {rank: record for (of, rank), record in records.items() if of == file_id}
        groups = [(-1, own)] if nprocs > 1 and len(own) == nprocs else [(rank, {rank: own[rank]}) for rank in own]
        for rank, of_ranks in groups:
            rows[file_id, rank] = _reduced(of_ranks)
    return rows


def _reduced(records: dict[int, _Record]) -> dict[str, Any]:
    each = list(records.values())
    row: dict[str, Any] = dict(sum((record.counted for record in each), Counter()))
    for name, counts in (("access", [record.sizes for record in each]), ("stride", [record.strides for record in each])):
        common = sorted(((count, value) for value, count in sum(counts, Counter()).items() if value), reverse=True)
        for n, (count, value) in enumerate([*common, *[(0, 0)] * 4][:4], 1):
            row |= {f"{name}{n}_bytes": value, f"{name}{n}_count": count}
    for op in ("read", "write"):
        row[f"max_{op}_offset_bytes"] = max(record.peak[op] for record in each)
        row[f"max_{op}_seconds"] = max(record.slowest[op][0] for record in each)
    for timer in ("read", "write", "meta"):
        row[f"{timer}_seconds"] = sum(record.seconds[timer] for record in each)
    for moment in ("open", "close", "read", "write"):
        row[f"{moment}_start_seconds"] = min((record.first[moment] for record in each if moment in record.first), default=0.0)
        row[f"{moment}_end_seconds"] = max((record.last[moment] for record in each if moment in record.last), default=0.0)
    if len(records) > 1:
        took = {rank: sum(record.seconds.values()) for rank, record in records.items()}
        moved = {rank: record.counted["read_bytes"] + record.counted["write_bytes"] for rank, record in records.items()}
        for name, rank in (("fastest", min(took, key=lambda rank: (took[rank], rank))), ("slowest", _slowest(took))):
            row |= {f"{name}_rank": rank, f"{name}_rank_bytes": moved[rank], f"{name}_rank_seconds": took[rank]}
        row["rank_seconds_variance"] = float(np.var(list(took.values())))
        row["rank_bytes_variance"] = float(np.var(list(moved.values())))
    return row


def _slowest(took: dict[int, float]) -> int:
    return min(took, key=lambda rank: (-took[rank], rank))


@settings(max_examples=300)
@given(_EVENTS, st.integers(1, 3))
def test_as_darshan_counts(events: Rows, nprocs: int) -> None:
    """Every counter is what Darshan's macros give, call by call, and its reduction makes of it."""
    timed = [event | {"rank": event["rank"] if nprocs > 1 else 0} for event in _timed(events)]
    found = _worked_out(timed, nprocs)
    for layer in CALL_KINDS:
        expected = _by_hand(layer, timed, nprocs)
        rows = found.get(f"{layer}_file", [])
        assert sorted(expected) == sorted((row["file_id"], row["rank"]) for row in rows)
        for row in rows:
            by_hand = expected[row["file_id"], row["rank"]]
            known = {name for name, value in row.items() if value != -1} - {"file_id", "rank", *_of_equals(row)}
            assert {name: row[name] for name in known} == pytest.approx({name: by_hand.get(name, 0) for name in known})
            assert known >= by_hand.keys() & row.keys() - _of_equals(row)


def _of_equals(row: dict[str, Any]) -> set[str]:
    """What depends on which of equally slow requests came first."""
    return {name for name in row if name.startswith("max_") and name.endswith("_seconds_bytes")}


def test_columns() -> None:
    """All columns of the tables are there, of their types, whatever is known."""
    event = {"call": "read", "layer": "posix", "file_id": 1, "rank": 0, "offset_bytes": 0, "length_bytes": 5, "seconds": 1.0}
    for with_calls in (True, False):
        found = _worked_out(_timed([event, event | {"layer": "stdio"}]), 1, with_calls=with_calls)
        for table in ("posix_file", "stdio_file"):
            assert {*found[table][0]} == {field.name for field in arrow_schema(table)} - {"log_id"}


def test_unknown_is_not_zero() -> None:
    """An offset that is not known leaves order and extent of its direction unknown; calls that were not traced theirs."""
    event = {"call": "read", "layer": "posix", "file_id": 1, "rank": 0, "offset_bytes": -1, "length_bytes": 5, "seconds": 1.0}
    events = _timed([event, event | {"call": "write", "offset_bytes": 8}, event | {"call": "write", "offset_bytes": 13}])
    (row,) = _worked_out(events, 1)["posix_file"]
    unknown = ("sequential_read_count", "consecutive_read_count", "max_read_offset_bytes", "stride1_bytes", "stride1_count")
    assert {row[name] for name in unknown} == {-1}
    assert (row["sequential_write_count"], row["consecutive_write_count"], row["max_write_offset_bytes"]) == (2, 1, 17)
    assert (row["read_count"], row["read_bytes"], row["open_count"], row["mem_not_aligned_count"]) == (1, 5, 0, -1)
    (row,) = _worked_out(events, 1, with_calls=False)["posix_file"]
    assert (row["open_count"], row["meta_seconds"], row["fastest_rank_seconds"]) == (-1, -1.0, -1.0)
