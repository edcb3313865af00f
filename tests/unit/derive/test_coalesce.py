"""What forwarders would make of requests, held against a loop over bytes and against what MPI-IO made of programs."""

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import NOT_HERE, SHARED_DATA
from tables import Rows, columns, rows_of, types_of

from iomine.derive import access_runs, coalescing, in_order, mpiio_posix, traces
from iomine.derive.batch import LOG
from iomine.derive.coalesce import (
    CAP_BYTES,
    TICK,
    Forwarders,
    Gathering,
    Left,
    Requests,
    by_aggregators,
    by_blocks,
    by_host,
    coalesced,
    requests_of,
)
from iomine.schema.ops import OPS, READ, WRITE
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import Log, read_log
from iomine.units import KIB, MIB

NPROCS = 5
FILES = (-7, 3, 2**62)
STRIPES = {-7: 4, 3: 6}

_ROW = st.fixed_dictionaries(
    {
        "file_id": st.sampled_from(FILES),
        "op": st.sampled_from(OPS),
        "rank": st.integers(0, NPROCS - 1),
        "offset_bytes": st.integers(0, 60),
        "length_bytes": st.integers(0, 20),
        "start_seconds": st.floats(0, 3),
    }
)
# Requests that lie end to end, as most do.
_TILE = st.builds(lambda row, tile: row | {"offset_bytes": tile * 5, "length_bytes": 5}, _ROW, st.integers(0, 12))
_FAR = st.sampled_from([0, 2**29])


def ordered(rows: Rows) -> tuple[dict[str, Any], Any]:
    layouts = [
        {"file_id": file_id, "rank": -1, "component": 0, "stripe_bytes": size, "extent_start_bytes": 0}
        for file_id, size in STRIPES.items()
    ]
    tables = {
        "segment": [columns("segment", [{"layer": "posix", "end_seconds": row["start_seconds"], **row} for row in rows])],
        "lustre_component": [columns("lustre_component", layouts)],
    }
    return tables, in_order(traces(tables))


def by_hand(rows: Rows, forwarder_of: list[int], window: Any, cap: int) -> dict[tuple[int, str], dict[str, int]]:
    """What is left of the requests of each file and direction, by a forwarder that takes them one by one."""
    ticks: dict[Any, int] = defaultdict(int)
    held: dict[Any, set[int]] = defaultdict(set)
    found: dict[tuple[int, str], dict[str, Any]] = defaultdict(lambda: defaultdict(int))
    pairs: dict[Any, set[Any]] = defaultdict(set)
    bytes_in: dict[Any, int] = defaultdict(int)
    for row in sorted((row for row in rows if row["length_bytes"]), key=lambda row: row["start_seconds"]):
        key, size = (row["file_id"], row["op"]), STRIPES.get(row["file_id"], MIB)
        begin, end = row["offset_bytes"], row["offset_bytes"] + row["length_bytes"]
        tick = ticks[key, row["rank"]]
        ticks[key, row["rank"]] += 1
        forwarder = forwarder_of[row["rank"]]
        number = tick if window == TICK else math.floor(row["start_seconds"] / window)
        held[key, forwarder, number] |= {*range(begin, end)}
        bytes_in[key, forwarder, number] += end - begin
        one = found[key]
        one["request_count"] += -(-(end - begin) // cap)
        one["moved_bytes"] += end - begin
        one["aligned_count"] += begin % size == 0
        for byte in range(begin, end):
            pairs[key, "rank"].add((byte // size, row["rank"]))
            pairs[key, "forwarder"].add((byte // size, forwarder))
            pairs[key, "stripe"].add(byte // size)
            pairs[key, "byte"].add(byte)
    for (key, forwarder, number), touched in held.items():
        one, size = found[key], STRIPES.get(key[0], MIB)
        starts = [byte for byte in touched if byte - 1 not in touched or byte % cap == 0]
        one["left_count"] += len(starts)
        one["left_bytes"] += len(touched)
        one["left_aligned_count"] += sum(byte % size == 0 for byte in starts)
        if window != TICK:
            one["held_bytes"] = max(one["held_bytes"], bytes_in[key, forwarder, number])
    for key, one in found.items():
        one["stripe_client_count"] = len(pairs[key, "rank"])
        one["left_stripe_client_count"] = len(pairs[key, "forwarder"])
        one["stripe_count"] = len(pairs[key, "stripe"])
        one["touched_bytes"] = len(pairs[key, "byte"])
    return {key: dict(one) for key, one in found.items()}


def as_rows(requests: Requests, left: Left) -> dict[tuple[int, str], dict[str, int]]:
    names = [name for name, column in left._asdict().items() if column is not None]
    return {
        (file_id, OPS[op]): {name: int(getattr(left, name)[row]) for name in names}
        for row, (file_id, op) in enumerate(zip(requests.file_ids.tolist(), requests.ops.tolist(), strict=True))
        if left.request_count[row]
    }


_ROWS = st.sampled_from([_ROW, _TILE, _ROW | _TILE]).flatmap(
    lambda kind: st.lists(kind, min_size=1, max_size=40, unique_by=lambda row: row["start_seconds"])
)
_OF_RANK = st.lists(st.integers(0, 3), min_size=NPROCS, max_size=NPROCS)
_WINDOWS = st.sampled_from([TICK, 0.1, 1.0])


@settings(deadline=None)
@given(_ROWS, _OF_RANK, _WINDOWS, st.integers(1, 16), _FAR)
def test_left_requests_equal_brute_force(rows: Rows, forwarder_of: list[int], window: Any, cap: int, far: int) -> None:
    """Whatever the mapping, window and cap, each file and direction gives what a loop over bytes gives."""
    tables, (trace,) = ordered(rows)
    requests = requests_of(trace, tables)
    # Far out in a file, where numbers of groups and places no longer fit one integer; all that counts repeats there.
    shift = far * cap * 24 * MIB
    moved = requests._replace(begins=requests.begins + shift, ends=requests.ends + shift)
    gathering = Gathering(Forwarders(1, 4, np.array(forwarder_of)), window, cap)
    expected = by_hand(rows, forwarder_of, window, cap)
    assert as_rows(requests, coalesced(moved, np.arange(len(requests.file_ids)), gathering)) == expected


@settings(deadline=None)
@given(_ROWS, _OF_RANK, _WINDOWS, st.sets(st.sampled_from(FILES)))
def test_requests_of_some_rows_are_gathered_alone(rows: Rows, forwarder_of: list[int], window: Any, files: set[int]) -> None:
    """Requests of some files give what they give where there are no others."""
    tables, (trace,) = ordered(rows)
    requests = requests_of(trace, tables)
    taken = requests.of_rows(np.isin(requests.file_ids, list(files)))
    gathered = coalesced(taken, np.arange(len(requests.file_ids)), Gathering(Forwarders(1, 4, np.array(forwarder_of)), window, 7))
    assert as_rows(taken, gathered) == by_hand([row for row in rows if row["file_id"] in files], forwarder_of, window, 7)


def layer_of(log: Log, layer: str) -> Requests:
    (trace,) = (one for one in in_order(traces(log.tables)) if one.trace.layer == layer)
    return requests_of(trace, log.tables)


# Requests of at most 4 MiB that 16 forwarders leave within a time.
@pytest.mark.parametrize(
    ("log", "op", "left", "pairs"),
    [
        ("jeanbez_8_benchmark_parallel_id45195555_8-6-50011-11681279140261054765_1628283217", READ, 980, (12_514, 1_426)),
        ("jlbez_IO_test5.Linux_id1797024_12-1-78642-14680324743816948210_159", WRITE, 8_827, None),
    ],
)
def test_large_traces_are_gathered(log: str, op: int, left: int, pairs: tuple[int, int] | None) -> None:
    """Two traces of other machines leave what other means found: so many requests, and so many pairs of stripe and client."""
    path = SHARED_DATA / "darshan/dxt-explorer" / f"{log}.darshan"
    if not path.exists():
        pytest.skip(NOT_HERE)
    found = read_log(path)
    requests = layer_of(found, "posix").with_stripes(MIB)
    gathered = coalesced(requests, requests.ops, Gathering(by_blocks(found.job.nprocs, 16), 1.0, CAP_BYTES))
    assert left == gathered.left_count[op]
    if pairs:
        assert pairs == (gathered.stripe_client_count[op], gathered.left_stripe_client_count[op])


def table(rows: Rows, nprocs: int = 2, **more: Any) -> list[dict[str, Any]]:
    tables = {"segment": [columns("segment", [{"layer": "posix", "op": "write", "file_id": 1, **row} for row in rows])], **more}
    found = in_order(traces(tables))
    return rows_of(coalescing(tables, found, nprocs, mpiio_posix(tables, traces(tables)), access_runs(found)))


def small(count: int, **more: Any) -> list[dict[str, Any]]:
    """Requests of two ranks in turn, which lie end to end, each of 4 KiB and 1 ms."""
    return [
        {
            "rank": k % 2,
            "offset_bytes": k * 4 * KIB,
            "length_bytes": 4 * KIB,
            "start_seconds": k // 2 * 0.01,
            "end_seconds": k // 2 * 0.01 + 0.001,
            **more,
        }
        for k in range(count)
    ]


def test_rows_say_what_would_change() -> None:
    """A forwarder for all leaves half of the requests of two ranks in ticks, and says what that saves at 1 ms each."""
    (tick,) = (row for row in table(small(200)) if row["forwarder_count"] == 1 and row["window_seconds"] is None)
    assert (tick["request_count"], tick["left_count"], tick["merge_mode"], tick["held_bytes"]) == (200, 100, "blocking", None)
    assert tick["gathering_core_seconds"] == pytest.approx(100 * 0.001)
    assert (tick["access"], tick["stripe_evidence"], tick["touched_ratio"]) == ("shared", "assumed", 1.0)


def test_a_request_longer_than_the_cap_starts_once() -> None:
    """Requests of 5 MiB count as two each, and all of them start on a stripe."""
    rows = [row | {"offset_bytes": 5 * k * MIB, "length_bytes": 5 * MIB} for k, row in enumerate(small(200))]
    found = table(rows)
    assert {(row["request_count"], row["stripe_aligned_ratio"]) for row in found} == {(400, 1.0)}
    off = table([row | {"offset_bytes": row["offset_bytes"] + (k % 4 == 0)} for k, row in enumerate(rows)])
    assert {row["stripe_aligned_ratio"] for row in off} == {0.75}


def test_modes_say_what_merging_takes() -> None:
    """Writes are written behind, strided reads are read ahead, reads in no order may be at most as few."""
    steps = np.random.default_rng(1).permutation(200)
    jumps = [row | {"offset_bytes": int(step) * 4 * KIB} for row, step in zip(small(200), steps, strict=True)]
    modes = {
        name: {row["merge_mode"] for row in table(rows) if row["window_seconds"]}
        for name, rows in {"w": small(200), "r": small(200, op="read"), "j": [row | {"op": "read"} for row in jumps]}.items()
    }
    assert modes == {"w": {"write_behind"}, "r": {"read_ahead"}, "j": {"at_most"}}


@pytest.mark.parametrize(
    "rows",
    [
        small(98),
        [row | {"offset_bytes": row["offset_bytes"] * 1024, "length_bytes": 4 * MIB} for row in small(200)],
        [row | {"rank": 7} for row in small(200)],
        [*small(199), {"rank": 0, "offset_bytes": -1, "length_bytes": 1, "start_seconds": 0.0, "end_seconds": 0.0}],
    ],
    ids=["few", "large and aligned", "a rank that is not of the run", "an offset that is not known"],
)
def test_no_row_where_nothing_would_change_or_nothing_is_known(rows: Rows) -> None:
    """Few requests, requests that fill an RPC, and traces that make no sense have no row."""
    assert table(rows) == []


@pytest.mark.parametrize("start", [float("nan"), float("inf"), -1e300, 1e300])
def test_a_start_that_makes_no_sense_is_held_with_the_first(start: float) -> None:
    """Times of a hostile log neither fail nor take memory."""
    rows = small(200)
    rows[5] |= {"start_seconds": start, "end_seconds": start}
    assert all(0 < row["left_count"] < row["request_count"] for row in table(rows))


def test_columns_are_those_of_the_table() -> None:
    """Each has the type that the table gives it, or rows of many logs would not fit together."""
    tables = {"segment": [columns("segment", [{"layer": "posix", "op": "write", "file_id": 1, **row} for row in small(200)])]}
    found = in_order(traces(tables))
    given = coalescing(tables, found, 2, {}, access_runs(found))
    schema = arrow_schema("coalescing")
    assert types_of("coalescing", given) == {name: schema.field(name).type for name in given if name != LOG}


def test_forwarders_by_host_and_aggregator() -> None:
    """Ranks go to the forwarder of their host, or to the aggregator at or before them."""
    hosts = [{"rank": rank, "host": host} for rank, host in enumerate(("b", "a", "b", "a"))]
    found = by_host(4, {"dxt_file": [columns("dxt_file", hosts)]})
    assert found is not None
    assert (found.total, len({*found.of_rank[[0, 2]].tolist()}), len({*found.of_rank.tolist()})) == (2, 1, 2)
    assert by_host(5, {"dxt_file": [columns("dxt_file", hosts)]}) is None
    assert by_aggregators(6, (0, 3)).of_rank.tolist() == [0, 0, 0, 1, 1, 1]
    assert by_blocks(5, 2).of_rank.tolist() == [0, 0, 0, 1, 1]


def test_absurd_runs_have_no_rows() -> None:
    """A header that claims 2**62 processes takes no memory."""
    assert table(small(200), nprocs=2**62) == []
