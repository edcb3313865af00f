"""Order, extent and lengths of traced requests."""

from itertools import groupby
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import Row, each, log_of, truth_of, workloads
from tables import Rows, columns, rows_of, types_of

from iomine.derive import file_access, in_order, request_sizes, traces
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import read_log

MIB = 2**20

_SEGMENT = st.fixed_dictionaries(
    {
        "file_id": st.sampled_from([-7, 3, 2**62]),
        "rank": st.integers(0, 2),
        "op": st.sampled_from(["read", "write"]),
        "offset_bytes": st.integers(0, 30),
        "length_bytes": st.integers(0, 6),
        # Binary fractions, whose sum does not depend on the order; few of them, so that starts are often equal.
        "start_seconds": st.integers(0, 6).map(float),
        "end_seconds": st.integers(6, 20).map(lambda eighths: eighths / 8),
    }
)
_TRACES = st.fixed_dictionaries({layer: st.lists(_SEGMENT, max_size=30) for layer in ("posix", "mpiio")})


def segments(**layers: Rows) -> dict[str, list[dict[str, pa.Array]]]:
    return {"segment": [columns("segment", [{"layer": layer, **row} for row in rows]) for layer, rows in layers.items()]}


def accesses(**layers: Rows) -> list[dict[str, Any]]:
    return rows_of(file_access(in_order(traces(segments(**layers)))))


def sizes(**layers: Rows) -> list[dict[str, Any]]:
    return rows_of(request_sizes(traces(segments(**layers))))


def access_by_hand(layer: str, rows: Rows) -> dict[str, Any]:
    """A row from all requests of one file and direction, one by one."""
    order = {"consecutive_count": 0, "backward_count": 0, "rewind_count": 0}
    touched: set[int] = set()
    for rank in {row["rank"] for row in rows}:
        own = sorted((row for row in rows if row["rank"] == rank and row["length_bytes"]), key=lambda row: row["start_seconds"])
        lowest = min((row["offset_bytes"] for row in own), default=0)
        end, visited = None, set()
        for row in own:
            start = row["offset_bytes"]
            if start == end:
                order["consecutive_count"] += 1
            elif end is not None and start < end:
                order["rewind_count" if start == lowest and start in visited else "backward_count"] += 1
            end = start + row["length_bytes"]
            visited.add(start)
            touched |= set(range(start, end))
    return {
        "layer": layer,
        "file_id": rows[0]["file_id"],
        "op": rows[0]["op"],
        "request_count": len(rows),
        "moved_bytes": sum(row["length_bytes"] for row in rows),
        "touched_bytes": len(touched),
        **order,
        "rank_count": len({row["rank"] for row in rows}),
        "request_seconds": sum(max(0, row["end_seconds"] - row["start_seconds"]) for row in rows),
    }


@settings(deadline=None)
@given(_TRACES)
def test_accesses_equal_brute_force(layers: dict[str, Rows]) -> None:
    """Whatever the order of a trace, each file and direction of each layer gives what going through it one by one gives."""

    def key(row):
        return row["file_id"], row["op"] == "write"

    expected = [
        access_by_hand(layer, list(rows)) for layer in layers for _, rows in groupby(sorted(layers[layer], key=key), key=key)
    ]
    assert expected == accesses(**layers)


@settings(deadline=None)
@given(_TRACES)
def test_sizes_equal_brute_force(layers: dict[str, Rows]) -> None:
    """Each length of each direction and layer is counted as often as it was asked for."""
    expected = [
        {"layer": layer, "op": op, "length_bytes": length, "request_count": lengths.count(length)}
        for layer, rows in layers.items()
        for op in ("read", "write")
        for lengths in [[row["length_bytes"] for row in rows if row["op"] == op]]
        for length in sorted(set(lengths))
    ]
    assert expected == sizes(**layers)


def test_columns_are_those_of_the_tables() -> None:
    """Both give all columns of their tables, in the types of the schema."""
    found = traces(segments(posix=[{"op": "read", "length_bytes": 1}]))
    for table, got in (("file_access", file_access(in_order(found))), ("request_size", request_sizes(found))):
        assert {field.name: field.type for field in arrow_schema(table) if field.name != "log_id"} == types_of(table, got)


def test_nothing_without_a_trace() -> None:
    """A log without a trace has no rows, nor has one whose trace holds no requests."""
    for tables in ({}, segments(posix=[])):
        found = traces(tables)
        assert ({}, {}) == (file_access(in_order(found)), request_sizes(found))


def test_passes_over_a_file_are_rewinds() -> None:
    """To begin again at the lowest offset is a rewind; to come to it for the first time, backwards, is not."""

    def counted(*offsets: int) -> tuple[int, int]:
        requests = [
            {"op": "read", "offset_bytes": offset, "length_bytes": 10, "start_seconds": second, "end_seconds": second}
            for second, offset in enumerate(offsets)
        ]
        (row,) = accesses(posix=requests)
        return row["rewind_count"], row["backward_count"]

    assert (2, 0) == counted(100, 110, 120, 100, 110, 120, 100)
    assert (0, 3) == counted(130, 120, 110, 100)
    assert (1, 1) == counted(110, 100, 100)


def test_requests_are_taken_in_order_of_their_start() -> None:
    """Requests that were traced as they ended, and not as they started, are put in order first."""
    late, early = ({"op": "write", "offset_bytes": second, "length_bytes": 1, "start_seconds": second} for second in (1, 0))
    (row,) = accesses(posix=[late, early])
    assert (1, 0) == (row["consecutive_count"], row["backward_count"])


def test_requests_without_offsets() -> None:
    """What needs offsets is NULL for a file and direction with an offset that is not known or not to be believed."""
    for odd in ({"offset_bytes": -1}, {"offset_bytes": 2**61}, {"offset_bytes": 0, "length_bytes": 2**61}):
        rows = [{"op": "write", "length_bytes": 5} | odd, {"op": "write", "offset_bytes": 8, "length_bytes": 5}]
        sound = [{"op": "read", "offset_bytes": 8, "length_bytes": 5}]
        read, write = accesses(mpiio=rows + sound)
        needing = ("touched_bytes", "consecutive_count", "backward_count", "rewind_count")
        assert [None] * 4 == [write[name] for name in needing]
        assert [5, 0, 0, 0] == [read[name] for name in needing]
        assert (2, 1) == (write["request_count"], read["request_count"])


def test_far_offsets() -> None:
    """Offsets near the highest that are believed are exact; files that add up to more than 64 bits hold have no extents."""
    far = [{"file_id": file_id, "op": "read", "offset_bytes": 2**60, "length_bytes": 7} for file_id in range(3)]
    assert [7, 7, 7] == [row["touched_bytes"] for row in accesses(posix=far)]
    many = [row | {"file_id": file_id} for file_id in range(5) for row in far]
    assert [None] * 5 == [row["touched_bytes"] for row in accesses(posix=many)]


def test_odd_times_and_lengths() -> None:
    """A request that ends before it starts, or at no time, takes none; one of negative length moves nothing."""
    nan = float("nan")
    times = [(2.0, 1.0), (nan, 1.0), (1.0, nan), (0.0, float("inf")), (-1e308, 1e308), (1.0, 1.5)]
    rows = [{"op": "read", "length_bytes": -4, "start_seconds": start, "end_seconds": end} for start, end in times]
    (row,) = accesses(posix=rows)
    assert (6, 0, 0, 0.5) == tuple(row[name] for name in ("request_count", "moved_bytes", "touched_bytes", "request_seconds"))
    assert [{"layer": "posix", "op": "read", "length_bytes": 0, "request_count": 6}] == sizes(posix=rows)


@settings(deadline=None)
@given(st.sets(st.one_of(st.integers(0, 2**63 - 1), st.integers(0, 2**22)), max_size=50), st.integers(1, 2**40))
@pytest.mark.proof
def test_many_lengths_are_rounded_down(drawn: set[int], step: int) -> None:
    """Beyond 1,024 lengths at most 960 are left, each a little lower, none below a power of two that it was not below."""
    lengths = drawn | {step * factor for factor in range(1, 1100)}
    rows = sizes(posix=[{"op": "write", "length_bytes": length} for length in lengths])
    assert 960 >= len(rows)
    for power in range(64):
        below = sum(row["request_count"] for row in rows if row["length_bytes"] < 2**power)
        assert sum(length < 2**power for length in lengths) == below
    left = {row["length_bytes"] for row in rows}
    assert all(any(length - length // 8 <= low <= length for low in left) for length in lengths)


def test_length_just_below_a_mebibyte() -> None:
    """A length of one byte less than 1 MiB stays below it, however many there are, and 1 MiB itself does not fall."""
    others = [{"op": "read", "length_bytes": length} for length in range(2000)]
    rows = sizes(posix=[*others, {"op": "read", "length_bytes": MIB - 1}, {"op": "read", "length_bytes": MIB}])
    assert (2001, 1) == tuple(
        sum(row["request_count"] for row in rows if (row["length_bytes"] < MIB) == is_below) for is_below in (True, False)
    )


def test_up_to_1024_lengths_stay_as_they_are() -> None:
    """Nothing is rounded where a direction has 1,024 lengths, whatever the other has."""
    reads = [{"op": "read", "length_bytes": 1000 + length} for length in range(1024)]
    writes = [{"op": "write", "length_bytes": 1000 + length} for length in range(1025)]
    rows = sizes(posix=reads + writes)
    assert list(range(1000, 2024)) == [row["length_bytes"] for row in rows if row["op"] == "read"]
    assert 17 == len([row for row in rows if row["op"] == "write"])


# Their own counts begin anew with each opening of a file; their requests went through stdio, which has no trace.
_COUNTED_OTHERWISE = ("s067_reopen_slow_metadata", "s068_reopen_fast_metadata", "s070_textlog_root")


def _is_traced(row: Row) -> bool:
    truth = truth_of(row)
    return bool(
        truth.get("dxt")
        and (truth.get("self_accounting") or {}).get("issued_by_rank")
        and not truth["truth"]["stdio_heavy"]
        and row["id"] not in _COUNTED_OTHERWISE
    )


@pytest.mark.parametrize("row", each(workloads(), _is_traced))
def test_order_of_known_workloads(row: Row) -> None:
    """Requests, and how many are consecutive or go backwards, to begin another pass or not, are as the program counted."""
    issued = truth_of(row)["self_accounting"]["issued_total"]
    rows = rows_of(file_access(in_order(traces(read_log(log_of(row)).tables))))
    through_mpiio = {access["file_id"] for access in rows if access["layer"] == "mpiio"}
    asked = [access for access in rows if access["layer"] == "mpiio" or access["file_id"] not in through_mpiio]
    for op in ("read", "write"):

        def total(*names: str, op: str = op) -> int:
            return sum(access[name] for access in asked if access["op"] == op for name in names)

        assert issued[f"{op}_ops"] == total("request_count")
        assert issued[f"{op}_consecutive"] == total("consecutive_count")
        assert issued[f"{op}_backward"] == total("backward_count", "rewind_count")
