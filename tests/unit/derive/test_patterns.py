"""Requests compressed into runs of one pattern."""

import random
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import Row, each, log_of, truth_of, workloads
from tables import Rows, columns, repeated, rows_of, types_of

from iomine.derive import access_runs, in_order, traces
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import read_log

MOST = 64
Request = tuple[int, int]

# Pieces of a few patterns, so that runs of all kinds come, end and touch each other: offset, length, stride and requests.
_PIECE = st.tuples(st.integers(0, 40), st.integers(0, 3), st.integers(-5, 6), st.integers(1, 24))
_REQUESTS = st.lists(_PIECE, max_size=8).map(
    lambda pieces: [(offset + 200 + stride * step, length) for offset, length, stride, count in pieces for step in range(count)]
)


def runs(rows: Rows) -> list[dict[str, Any]]:
    return rows_of(access_runs(in_order(traces({"segment": [columns("segment", [{"layer": "posix", **row} for row in rows])]}))))


def requests_of(requests: list[Request], **more: Any) -> list[dict[str, Any]]:
    return [
        {"op": "read", "offset_bytes": offset, "length_bytes": length, "start_seconds": second, "end_seconds": second + 1, **more}
        for second, (offset, length) in enumerate(requests)
    ]


def patterns(*requests: Request) -> list[tuple[str, int]]:
    """Pattern and requests of each run."""
    return [(row["pattern"], row["request_count"]) for row in runs(requests_of([*requests]))]


class Block(list[int]):
    """Requests, by their number, of which each starts where the one before ended."""

    begin: int
    length: int


def blocks_of(requests: list[Request]) -> list[Block]:
    blocks: list[Block] = []
    for number, (offset, length) in enumerate(requests):
        if not blocks or offset != blocks[-1].begin + blocks[-1].length:
            blocks.append(Block())
            blocks[-1].begin, blocks[-1].length = offset, 0
        blocks[-1].append(number)
        blocks[-1].length += length
    return blocks


def goes_back(earlier: Block, later: Block) -> bool:
    return later.begin < earlier.begin + earlier.length


def strided_by_hand(blocks: list[Block], enough: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    first = 0
    while first < len(blocks) - 2:
        stride, after = blocks[first + 1].begin - blocks[first].begin, first + 1
        while (
            after < len(blocks)
            and blocks[after].begin - blocks[after - 1].begin == stride
            and blocks[after].length == blocks[first].length
        ):
            after += 1
        if after - first < 3:
            first += 1
            continue
        if sum(map(len, blocks[first:after])) >= enough:
            found.append((max(first, found[-1][1] if found else 0), after))
        first = after - 1
    return found


def cuts_by_hand(blocks: list[Block], enough: int, many: int) -> dict[int, bool]:
    """Where runs start among blocks, and which of them are strided."""
    cuts: dict[int, bool] = {}
    taken: set[int] = set()
    for first, after in strided_by_hand(blocks, enough):
        cuts |= {first: True, after: cuts.get(after, False)}
        taken |= {*range(first, after)}
    for number, block in enumerate(blocks):
        if number not in taken and len(block) >= many:
            cuts |= {number: False, number + 1: cuts.get(number + 1, False)}
            taken.add(number)
    forward: list[list[int]] = []
    for number in range(len(blocks)):
        if number in taken:
            continue
        goes_on = bool(forward) and forward[-1][-1] == number - 1 and number not in cuts
        if goes_on and not goes_back(blocks[number - 1], blocks[number]):
            forward[-1].append(number)
        else:
            forward.append([number])
    for stretch in forward:
        if sum(len(blocks[number]) for number in stretch) >= enough:
            cuts.setdefault(stretch[0], False)
            cuts.setdefault(stretch[-1] + 1, False)
    return cuts


def pattern_by_hand(run: list[Block], is_strided: bool, before: Block | None) -> str:
    count = sum(map(len, run))
    links = sum(goes_back(earlier, later) for earlier, later in pairwise(run))
    into = before is not None and goes_back(before, run[0])
    if is_strided:
        stride = run[1].begin - run[0].begin
        return "repeated" if count > len(run) and abs(stride) < run[0].length else "strided"
    if count == 1:
        return "single"
    if len(run) == 1:
        return "consecutive"
    if not links:
        return "sequential"
    return "random" if 10 * (links + into) >= 3 * count else "mixed"


def runs_by_hand(requests: list[Request]) -> list[dict[str, Any]]:
    """Runs of one rank, from going through its requests one by one."""
    enough = min(max(len(requests) // 4, 3), 16)
    blocks = blocks_of(requests)
    cuts = {0: False} | cuts_by_hand(blocks, enough, max(enough, -(-len(requests) // MOST)))
    starts = sorted(start for start in cuts if start < len(blocks))
    found = []
    for first, after in pairwise([*starts, len(blocks)]):
        run = blocks[first:after]
        numbers = [number for block in run for number in block]
        lengths = [requests[number][1] for number in numbers]
        pattern = pattern_by_hand(run, cuts[first], blocks[first - 1] if first else None)
        found.append(
            {
                "pattern": pattern,
                "offset_bytes": run[0].begin,
                "length_bytes": max(lengths) if len({*lengths} - {0}) <= 1 else None,
                "stride_bytes": run[1].begin - run[0].begin if pattern in ("strided", "repeated") else None,
                "request_count": len(numbers),
                "consecutive_count": len(numbers) - len(run),
                "moved_bytes": sum(lengths),
                "start_seconds": float(numbers[0]),
                "end_seconds": float(numbers[-1] + 1),
            }
        )
    return found


@settings(deadline=None)
@given(st.lists(_REQUESTS, max_size=3), st.randoms(use_true_random=False))
def test_runs_equal_brute_force(of_ranks: list[list[Request]], shuffler: random.Random) -> None:
    """Whatever the order of a trace, each rank's requests give the runs that going through them one by one gives."""
    rows = [row for rank, requests in enumerate(of_ranks) for row in requests_of(requests, rank=rank, file_id=5)]
    key = {"layer": "posix", "file_id": 5, "op": "read"}
    expected = [
        key | {"rank": rank} | row for rank, requests in enumerate(of_ranks) if requests for row in runs_by_hand(requests)
    ]
    shuffled = shuffler.sample(rows, len(rows))
    for trace in (rows, shuffled):
        found = runs(trace)
        assert sorted(expected, key=str_of) == sorted(found, key=str_of)


def str_of(row: dict[str, Any]) -> tuple[int, float]:
    return row["rank"], row["start_seconds"]


_ANY = st.fixed_dictionaries(
    {
        "file_id": st.integers(1, 2),
        "rank": st.integers(0, 1),
        "op": st.sampled_from(["read", "write"]),
        "offset_bytes": st.one_of(st.integers(-2, 30), st.integers(-(2**63), 2**63 - 1)),
        "length_bytes": st.one_of(st.integers(0, 4), st.integers(-(2**63), 2**47)),
        "start_seconds": st.floats(),
        "end_seconds": st.floats(),
    }
)


@settings(deadline=None)
@given(st.lists(_ANY, max_size=40))
def test_nothing_is_lost(rows: Rows) -> None:
    """Requests and bytes (up to 2**53) of each rank, file and direction add up exactly, however odd the trace is."""
    expected: dict[Any, Counter[str]] = defaultdict(Counter)
    for row in rows:
        expected[row["file_id"], row["rank"], row["op"]] += Counter(requests=1, bytes=max(row["length_bytes"], 0))
    got: dict[Any, Counter[str]] = defaultdict(Counter)
    for row in runs(rows):
        got[row["file_id"], row["rank"], row["op"]] += Counter(requests=row["request_count"], bytes=row["moved_bytes"])
    assert expected == got


def test_patterns() -> None:
    """Each pattern is known by its requests."""
    assert [("single", 1)] == patterns((7, 5))
    assert [("consecutive", 4)] == patterns((7, 5), (12, 1), (13, 9), (22, 1))
    assert [("sequential", 4)] == patterns((7, 5), (13, 5), (30, 5), (90, 5))
    assert [("strided", 4)] == patterns((7, 5), (17, 5), (27, 5), (37, 5))
    assert [("strided", 4)] == patterns((37, 5), (32, 5), (27, 5), (22, 5))
    assert [("repeated", 6)] == patterns(*[(7, 5), (12, 2)] * 3)
    assert [("strided", 6)] == patterns((40, 2), (42, 2), (30, 2), (32, 2), (20, 2), (22, 2))
    assert [("mixed", 20)] == patterns(*[(start + step, 1) for start in (90, 70, 50, 30, 10) for step in (0, 2, 5, 9)])
    assert [("random", 6)] == patterns((50, 1), (9, 1), (70, 1), (22, 1), (90, 1), (3, 1))


def test_runs_that_meet() -> None:
    """The last request of one stride is not the first of the next, and ranks are apart."""
    assert [("strided", 4), ("strided", 3)] == patterns(*[(offset, 5) for offset in (0, 10, 20, 30, 50, 70, 90)])
    rows = runs([*requests_of([(0, 5)]), *requests_of([(10, 5), (20, 5)], rank=1)])
    assert ["single", "sequential"] == [row["pattern"] for row in rows]


def test_many_short_blocks() -> None:
    """Blocks are runs of their own unless there are too many of them."""
    for count, expected in ((64, 64), (65, 1)):
        blocks = [(block * 100 + block % 2 + step, 1) for block in range(count) for step in range(16)]
        assert expected == len(patterns(*blocks))


def test_stride_is_found() -> None:
    """A strided run has length and stride; that of blocks goes from block to block."""
    (row,) = runs(requests_of([(100 * block + 10 * part, 10) for block in range(5) for part in range(3)]))
    assert ("strided", 0, 10, 100, 15, 10, 150) == tuple(
        row[name]
        for name in (
            "pattern",
            "offset_bytes",
            "length_bytes",
            "stride_bytes",
            "request_count",
            "consecutive_count",
            "moved_bytes",
        )
    )
    (row,) = runs(requests_of([(0, 4), (4, 4)] * 10))
    assert ("repeated", 0) == (row["pattern"], row["stride_bytes"])


def test_lengths_that_differ() -> None:
    """A run whose requests differ in length has none; one that moved nothing, as at the end of a file, does not count."""
    assert [None] == [row["length_bytes"] for row in runs(requests_of([(0, 4), (4, 4), (8, 3)]))]
    assert [4] == [row["length_bytes"] for row in runs(requests_of([(0, 4), (4, 4), (8, 0)]))]
    assert [0] == [row["length_bytes"] for row in runs(requests_of([(8, 0), (8, 0)]))]


def test_million_regular_requests() -> None:
    """A million requests in one pattern are one row."""
    million = np.arange(10**6)
    one = columns("segment", [{"layer": "posix", "op": "write", "length_bytes": 8}])
    same = {name: repeated(column, len(million)) for name, column in one.items()}
    for stride, pattern in ((8, "consecutive"), (64, "strided"), (-8, "strided")):
        regular = same | {"offset_bytes": pa.array(2**40 + stride * million)}
        (row,) = rows_of(access_runs(in_order(traces({"segment": [regular]}))))
        assert (pattern, 10**6, 8 * 10**6) == (row["pattern"], row["request_count"], row["moved_bytes"])


def test_random_requests() -> None:
    """Many random requests are few rows, and nearly all of them in random ones."""
    chance = random.Random(7)
    for highest in (2, 10, 1000, 2**40):
        rows = runs(requests_of([(chance.randrange(highest), 1) for _ in range(30_000)]))
        assert len(rows) <= MOST
        assert sum(row["request_count"] for row in rows) == 30_000
    assert 29_000 <= sum(row["request_count"] for row in rows if row["pattern"] == "random")


def test_more_runs_than_are_kept() -> None:
    """Of more than 64 runs, the 63 with most requests are kept, and the others become one row."""
    passes = [[(1000 * (number % 7) + 3 * step, 2) for step in range(16 + number)] for number in range(100)]
    rows = runs(requests_of([request for requests in passes for request in requests]))
    rest = [row for row in rows if row["pattern"] != "strided"]
    assert (MOST, 1) == (len(rows), len(rest))
    assert sorted(range(16 + 37, 116)) == sorted(row["request_count"] for row in rows if row["pattern"] == "strided")
    assert ("mixed", sum(range(16, 16 + 37)), 0, 2, None) == tuple(
        rest[0][name] for name in ("pattern", "request_count", "offset_bytes", "length_bytes", "stride_bytes")
    )
    assert (0.0, float(rest[0]["request_count"])) == (rest[0]["start_seconds"], rest[0]["end_seconds"])


def test_64_runs_are_kept() -> None:
    """As many runs as may be stay as they are, though another rank has more."""
    passes = [(1000 * (number % 7) + 3 * step, 2) for number in range(MOST + 1) for step in range(16)]
    rows = runs([*requests_of(passes[:-16]), *requests_of(passes, rank=1)])
    assert [("strided", 16)] * MOST == [(row["pattern"], row["request_count"]) for row in rows if row["rank"] == 0]
    assert [16] * (MOST - 1) + [32] == sorted(row["request_count"] for row in rows if row["rank"] == 1)


def test_requests_without_offsets() -> None:
    """Where an offset is not known, a rank's requests are one row without a pattern, and other ranks' are not harmed."""
    for odd in ((-1, 5), (2**61, 5), (0, 2**61)):
        forward = [(5 * step, 5) for step in range(20)]
        unknown, known = runs([*requests_of([*forward, odd, *forward]), *requests_of(forward, rank=1)])
        assert [None] * 4 == [unknown[name] for name in ("pattern", "offset_bytes", "stride_bytes", "consecutive_count")]
        assert (41, 0.0, 41.0) == tuple(unknown[name] for name in ("request_count", "start_seconds", "end_seconds"))
        assert float(200 + odd[1]) == unknown["moved_bytes"]
        assert "consecutive" == known["pattern"]


def test_odd_times() -> None:
    """Times that make no sense are NULL, and do not hide those of others."""
    nan, far = float("nan"), float("inf")
    rows = [{"op": "read", "offset_bytes": 5 * step, "length_bytes": 5} for step in range(3)]
    times = [{"start_seconds": nan, "end_seconds": end} for end in (nan, 2.0, nan)]
    assert [(None, 2.0)] == [
        (row["start_seconds"], row["end_seconds"]) for row in runs([row | time for row, time in zip(rows, times, strict=True)])
    ]
    assert [None] == [row["end_seconds"] for row in runs([rows[0] | {"end_seconds": far}])]


def test_columns_are_those_of_the_table() -> None:
    """All columns of the table come, in the types of the schema."""
    found = access_runs(
        in_order(traces({"segment": [columns("segment", [{"layer": "posix", "op": "read", "length_bytes": 1}])]}))
    )
    assert {field.name: field.type for field in arrow_schema("access_run") if field.name != "log_id"} == types_of(
        "access_run", found
    )


def test_nothing_without_a_trace() -> None:
    """A log without a trace has no rows, nor has one whose trace holds no requests."""
    assert {} == access_runs([])
    assert [] == runs([])


# What patterns a program's requests have whose order is known.
_FITTING = {
    "consecutive": {"consecutive", "strided"},
    "sequential_with_gaps": {"sequential", "strided"},
    "random_or_backward": {"random", "strided"},
    "repeated_passes": {"repeated"},
    "single_request_per_file": {"single"},
}


def _is_posix(row: Row) -> bool:
    truth = truth_of(row)
    uses = ("mpiio_used", "stdio_heavy", "hdf5_used", "collective_writes", "collective_reads")
    return bool(truth.get("dxt") and truth.get("self_accounting") and not any(truth["truth"].get(use) for use in uses))


@pytest.mark.parametrize("row", each(workloads(), _is_posix))
def test_known_workloads(row: Row) -> None:
    """Most requests of a program lie in runs of the pattern that it says it has."""
    rows = rows_of(access_runs(in_order(traces(read_log(log_of(row)).tables))))
    for op in ("read", "write"):
        order = truth_of(row)["truth"].get(f"{op}_order")
        of_op = [found for found in rows if found["op"] == op]
        if order is None or not of_op:
            continue
        total = sum(found["request_count"] for found in of_op)
        fitting = [found for found in of_op if found["pattern"] in _FITTING[order]]
        assert sum(found["request_count"] for found in fitting) > 0.9 * total
        if order == "consecutive":
            assert sum(found["consecutive_count"] for found in of_op) >= 0.5 * total
