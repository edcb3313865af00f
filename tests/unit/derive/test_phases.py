"""Gaps part phases."""

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from heat_bins import heat_bins
from hypothesis import assume, given
from hypothesis import strategies as st
from paper_phases import rule_of_the_paper
from tables import columns, rows_of

from iomine.derive import phase_layers, phases, traces
from iomine.derive.gaps import parted
from iomine.derive.phases import are_little

_FLOOR_SECONDS = 1e-3

Interval = tuple[float, float]
Intervals = list[Interval]

# Milliseconds, so that sums are exact enough to be compared.
_INTERVALS = st.lists(
    st.tuples(st.integers(0, 4000), st.integers(1, 400)).map(lambda pair: (pair[0] / 1e3, (pair[0] + pair[1]) / 1e3)),
    min_size=1,
    max_size=20,
)


def _numbers(intervals: Intervals, floor: float = _FLOOR_SECONDS) -> list[int]:
    """The number of the phase of each interval, from 1."""
    starts, ends = (np.array(side) for side in zip(*intervals, strict=True))
    return (parted(starts, ends, np.zeros(len(starts), np.int64), floor) + 1).tolist()


def _by_hand(intervals: Intervals) -> list[int]:
    """The number of the phase of each interval, from 1."""
    ordered = sorted(range(len(intervals)), key=lambda at: intervals[at][0])
    reach, gaps = intervals[ordered[0]][1], {}
    for at in ordered[1:]:
        gaps[at] = intervals[at][0] - reach
        reach = max(reach, intervals[at][1])
    long = sorted((gap for gap in gaps.values() if gap > _FLOOR_SECONDS), reverse=True)
    busy = reach - intervals[ordered[0]][0] - sum(long)
    widest, threshold = 1.0, math.inf
    for nth, gap in enumerate(long):
        least = max(_FLOOR_SECONDS, 0.07 * busy / (nth + 2))
        low = max(least, long[nth + 1]) if nth + 1 < len(long) else least
        if gap / low > widest:
            widest, threshold = gap / low, math.sqrt(gap * low)
    phase, numbers = 1, {ordered[0]: 1}
    for at in ordered[1:]:
        phase += gaps[at] > threshold
        numbers[at] = phase
    return [numbers[at] for at in range(len(intervals))]


@given(st.lists(_INTERVALS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_phases_equal_brute_force(sets: list[Intervals], chance: random.Random) -> None:
    """Each set of intervals is parted as by a loop over its sorted gaps, whatever others there are and in whatever order."""
    for intervals in sets:
        steps = _steps(intervals)
        # Two steps that are equal except for rounding may be taken for each other.
        assume(len(steps) < 2 or steps[0] > steps[1] * (1 + 1e-9))
    expected = [(at, number) for at, intervals in enumerate(sets) for number in _by_hand(intervals)]
    rows = [(at, *interval) for at, intervals in enumerate(sets) for interval in intervals]
    order = chance.sample(range(len(rows)), len(rows))
    groups, starts, ends = (np.array([rows[at][column] for at in order]) for column in range(3))
    numbers = {pair: number for number, pair in enumerate(sorted(set(expected)))}
    assert [numbers[expected[at]] for at in order] == parted(starts, ends, groups, _FLOOR_SECONDS).tolist()


def _steps(intervals: Intervals) -> list[float]:
    starts, ends = np.array(sorted(intervals)).T
    gaps = np.sort(starts[1:] - np.maximum.accumulate(ends)[:-1])[::-1]
    gaps = gaps[gaps > _FLOOR_SECONDS]
    busy = ends.max() - starts.min() - gaps.sum()
    least = np.maximum(_FLOOR_SECONDS, 0.07 * busy / (np.arange(len(gaps)) + 2))
    low = np.maximum(least, np.append(gaps[1:], 0)) if len(gaps) else least
    return sorted(gaps / low, reverse=True)


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([(0.0, 1.0)], [1]),
        ([(0.0, 1.0), (0.2, 0.4), (0.5, 2.0)], [1, 1, 1]),
        ([(float(at), at + 0.1) for at in range(5)], [1, 2, 3, 4, 5]),
        ([(0.0, 0.1), (0.101, 0.2), (5.0, 5.1), (5.101, 5.2)], [1, 1, 2, 2]),
        ([(0.0, 0.1), (0.5, 0.6), (4.0, 4.1), (12.0, 12.1)], [1, 2, 3, 4]),
        ([(0.0, 10.0), (10.1, 20.0)], [1, 1]),
    ],
    ids=["one interval", "intervals that overlap", "equal gaps", "two kinds of gaps", "irregular gaps", "a moment's pause"],
)
def test_what_parts_phases(intervals: Intervals, expected: list[int]) -> None:
    """Equal gaps part equal phases, gaps of two kinds part by the longer, and the last phase is there."""
    assert expected == _numbers(intervals)


def test_the_method_of_the_paper() -> None:
    """Its threshold is the mean of the gaps and one standard deviation, so that equal phases melt together."""
    equal, uneven = [(float(at), at + 0.25) for at in range(5)], [(0.0, 0.1), (0.2, 0.3), (0.4, 0.5), (9.0, 9.1)]
    with rule_of_the_paper():
        assert [[1] * 5, [1, 1, 1, 2]] == [_numbers(each, 0.0) for each in (equal, uneven)]


_MOVED = st.lists(st.tuples(st.integers(0, 8), st.sampled_from([1, 300, 65_535, 65_536, 10**6, 10**9])), min_size=1, max_size=40)


@given(_MOVED)
def test_what_is_next_to_nothing(moved: list[tuple[int, int]]) -> None:
    """Groups below 64 KiB are, if they and all that are as small hold less than a thousandth of all bytes together."""
    names = sorted({group for group, _ in moved})
    sums = {name: sum(part for group, part in moved if group == name) for name in names}
    together = {name: sum(held for held in sums.values() if held <= sums[name]) for name in names}
    little = {name for name in names if sums[name] < 65_536 and together[name] < 1e-3 * sum(sums.values())}
    group_of = np.array([names.index(group) for group, _ in moved])
    expected = [group in little for group, _ in moved]
    assert expected == are_little(group_of, np.array([part for _, part in moved], float)).tolist()


def test_many_small_files_are_no_next_to_nothing() -> None:
    """Files of which none holds a thousandth of the bytes are a log's data all the same, if there is nothing else."""
    rows = [
        {"layer": "posix", "op": "write", "file_id": at, "length_bytes": 4096, "start_seconds": at, "end_seconds": at + 1}
        for at in range(2000)
    ]
    tables = {"segment": [columns("segment", rows)]}
    (row,) = [row for row in rows_of(phases(phase_layers(tables, traces(tables)), None)) if row["layer"] == "all"]
    assert (2000 * 4096, 2000) == (row["write_bytes"], row["file_count"])


def _heat(rank: int, **bins: list[int]) -> dict[str, Any]:
    size = max(map(len, bins.values()))
    return {"layer": "posix", "rank": rank, "bin_seconds": 0.5, "bin_count": size, **heat_bins(**bins)}


@pytest.mark.parametrize(
    ("heat", "expected"),
    [
        ([_heat(0, read=[36, 0, 0, 0, 9 << 20])], [(2.0, 9 << 20, 0)]),
        ([_heat(0, read=[36, 9 << 20])], [(0.0, (9 << 20) + 36, 0)]),
        ([_heat(0, read=[36, 0, 0, 0, 99])], [(0.0, 36, 0), (2.0, 99, 0)]),
        ([_heat(0, write=[9 << 20]), _heat(1, read=[0, 0, 0, 36])], [(0.0, 0, 9 << 20)]),
    ],
    ids=["an input file", "within a burst", "little of little", "the other direction"],
)
def test_incidental_bursts_of_heat_maps(heat: list[dict[str, Any]], expected: list[tuple[float, int, int]]) -> None:
    """A burst with next to none of the bytes makes no phase; what lies within a burst belongs to it."""
    tables = {"heatmap_rank": [columns("heatmap_rank", heat)]}
    rows = [row for row in rows_of(phases(phase_layers(tables, []), None)) if row["layer"] == "all"]
    assert expected == [(row["start_seconds"], row["read_bytes"], row["write_bytes"]) for row in rows]


_MIB = 1 << 20


def _write(start: float, seconds: float, **other: Any) -> dict[str, Any]:
    row = {"layer": "posix", "op": "write", "length_bytes": _MIB, "start_seconds": start, "end_seconds": start + seconds}
    return row | other


def _read(start: float, seconds: float, **other: Any) -> dict[str, Any]:
    return _write(start, seconds, op="read", **other)


def _reported(requests: list[dict[str, Any]], layer: str = "all", **tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Phases of a layer, by the traces of requests and by records."""
    by_layer = [[row for row in requests if row["layer"] == name] for name in ("posix", "mpiio")]
    made = {"segment": [columns("segment", rows) for rows in by_layer if rows]}
    made |= {name: [columns(name, rows)] for name, rows in tables.items()}
    return [row for row in rows_of(phases(phase_layers(made, traces(made)), None)) if row["layer"] == layer]


def _shown(rows: list[dict[str, Any]]) -> list[tuple[str, float, float]]:
    return [(row["op"], row["start_seconds"], row["end_seconds"]) for row in rows]


def test_the_last_dump_and_the_reads_after_it_are_two_phases() -> None:
    """Phases are of one direction, each with its own start and end, and numbered in the order of their starts."""
    rows = _reported([*(_write(float(at), 0.25) for at in range(3)), _read(2.25, 0.5)])
    assert [("write", 0.0, 0.25), ("write", 1.0, 1.25), ("write", 2.0, 2.25), ("read", 2.25, 2.75)] == _shown(rows)
    assert [1, 2, 3, 4] == [row["phase"] for row in rows]
    assert [(_MIB, 0)] * 3 + [(0, _MIB)] == [(row["write_bytes"], row["read_bytes"]) for row in rows]


def test_reads_between_dumps_do_not_join_them() -> None:
    """Where a log reads all the time, its checkpoints are phases all the same."""
    reads = [_read(at / 2, 0.5, rank=1) for at in range(40)]
    rows = _reported([*reads, *(_write(at * 5.0, 0.5) for at in range(4))])
    assert [("read", 0.0, 20.0), *(("write", at * 5.0, at * 5.0 + 0.5) for at in range(4))] == sorted(_shown(rows))


def test_copying_is_one_phase_of_reads_and_one_of_writes() -> None:
    """A program that reads and writes in turn, some milliseconds each, pauses neither here nor there."""
    turns = [_read(at / 64, 1 / 128) for at in range(50)] + [_write(at / 64 + 1 / 128, 1 / 128) for at in range(50)]
    assert [("read", 0.0, 49 / 64 + 1 / 128), ("write", 1 / 128, 50 / 64)] == _shown(_reported(turns))


def _sieved(**other: Any) -> list[dict[str, Any]]:
    """Two collective writes, each of which reads before it writes; the second is followed by a read that was asked for."""
    calls = [_write(float(at), 0.5, layer="mpiio") for at in range(2)] + [_read(1.5, 0.5, layer="mpiio")]
    beneath = [_read(at + 0.0, 0.25, length_bytes=3 * _MIB) for at in range(2)] + [_write(at + 0.25, 0.25) for at in range(2)]
    return [row | other for row in (*calls, *beneath, _read(1.5, 0.5))]


def test_what_is_read_in_order_to_write_is_no_read() -> None:
    """The direction is that which was asked for; what MPI-IO read beneath a write is a column of the phase of writes."""
    for layer in ("posix", "all"):
        rows = _reported(_sieved(), layer)
        assert [("write", 0.0, 0.5), ("write", 1.0, 1.5), ("read", 1.5, 2.0)] == _shown(rows)
        assert [3 * _MIB, 3 * _MIB, 0] == [row["sieve_read_bytes"] for row in rows]
        assert [0, 0, _MIB] == [row["read_bytes"] for row in rows]
        assert [0, 0, 1] == [row["read_count"] for row in rows]


def test_counters_show_what_was_read_in_order_to_write() -> None:
    """Without a trace of MPI-IO: nothing was asked for of a file that MPI-IO only wrote; otherwise it is not known."""
    requests = [row for row in _sieved(file_id=1) if row["layer"] == "posix"]
    (only_written,) = {row["op"] for row in _reported(requests, mpiio_file=[{"file_id": 1, "write_bytes": 1}])}
    assert "write" == only_written
    rows = _reported(requests, mpiio_file=[{"file_id": 1, "write_bytes": 1, "read_bytes": 1}])
    assert {"read", "write"} == {row["op"] for row in rows}
    assert {None} == {row["sieve_read_bytes"] for row in rows}


def test_requests_that_move_nothing() -> None:
    """Where no request moved anything there is a phase all the same, and no rank that took part."""
    (row,) = _reported([_write(0.0, 1.0, length_bytes=0)])
    assert (0, 0, None, None) == (row["write_bytes"], row["rank_count"], row["slowest_rank"], row["straggler_count"])


@pytest.mark.parametrize(("asked", "expected"), [(0, {("write", 300)}), (300, {("write", None), ("read", None)})])
def test_heat_maps_of_files_that_were_only_written(asked: int, expected: set[tuple[str, int | None]]) -> None:
    """What POSIX read is not asked for where the counters say so, in heat maps too."""
    tables = {
        "heatmap_rank": [columns("heatmap_rank", [_heat(0, read=[300, 0], write=[100, 100])])],
        "posix_file": [columns("posix_file", [{"file_id": 1, "read_bytes": 300, "write_bytes": 200}])],
        "mpiio_file": [columns("mpiio_file", [{"file_id": 1, "read_bytes": asked, "write_bytes": 100}])],
    }
    rows = [row for row in rows_of(phases(phase_layers(tables, []), None)) if row["layer"] == "all"]
    assert expected == {(row["op"], row["sieve_read_bytes"]) for row in rows}


def test_opens_and_closes_are_no_pause() -> None:
    """Whoever opens a file anew for each write does not pause meanwhile, as long as its opens may take."""
    requests = [_write(at * 0.5, 0.125, file_id=1) for at in range(8)]
    record = {"file_id": 1, "open_count": 8, "close_start_seconds": 0.125, "open_end_seconds": 3.5, "close_end_seconds": 4.0}
    opening = _reported(requests, posix_file=[record | {"meta_seconds": 8 * 0.25}])
    assert [("write", 0.0, 3.625)] == _shown(opening)
    computing = _reported(requests, posix_file=[record | {"meta_seconds": 8 * 0.0625}])
    assert 8 == len(computing)


def test_opens_lie_between_the_first_close_and_the_last_open() -> None:
    """A file that was opened twice was opened again where its record says, be other pauses longer."""
    requests = [*(_write(float(at), 0.25, file_id=1) for at in range(3)), _read(2.5, 0.25, file_id=1)]
    record = {"file_id": 1, "open_count": 2, "close_start_seconds": 2.25, "open_end_seconds": 2.5, "meta_seconds": 2.0}
    assert 4 == len(_reported(requests, posix_file=[record]))


def test_a_few_bytes_at_close_are_no_phase() -> None:
    """A header that is written at close, long after the data, makes no phase; the same bytes within a phase belong to it."""
    requests = [_write(0.0, 1.0), _write(9.0, 0.001, length_bytes=512)]
    assert [("write", 0.0, 1.0)] == _shown(_reported(requests))
    assert [("write", 0.0, 1.001)] == _shown(_reported([requests[0], _write(1.0, 0.001, length_bytes=512)]))


@pytest.mark.parametrize(
    ("begins", "phase_count", "bursts"),
    [
        ([[0.0, 8.0], [0.0, 8.0], [0.0, 8.0]], 2, 2),
        ([[0.0, 8.0, 16.0], [4.0, 12.0, 20.0]], 6, 3),
        ([[0.0], [4.0], [8.0], [12.0]], 4, 1),
        ([[0.0, 4.0, 8.0, 12.0], [1.0, 5.0, 9.0, 13.0], [2.0, 6.0, 10.0, 14.0], [3.0, 7.0, 11.0, 15.0]], 1, 4),
        ([[0.0], [0.0, 8.0], [0.0, 8.0], [0.0, 8.0, 16.0]], 3, 2),
    ],
    ids=["together", "one is late", "in turn", "adrift", "some write more often"],
)
def test_bursts_of_a_rank(begins: list[list[float]], phase_count: int, bursts: int) -> None:
    """Gaps of each rank by itself part its bursts; the union over ranks closes gaps, or opens them."""
    rows = _reported([_write(start, 1.0, rank=rank) for rank, starts in enumerate(begins) for start in starts])
    assert phase_count == len(rows)
    assert {bursts} == {row["bursts_per_rank"] for row in rows}


@given(
    st.lists(st.floats(), min_size=4, max_size=4),
    st.integers(-(2**63), 2**63 - 1),
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 2)), min_size=1, max_size=12),
)
def test_hostile_records(times: list[float], opens: int, requests: list[tuple[int, int]]) -> None:
    """Whatever records claim of opens, phases are there, in order, and hold all bytes."""
    names = ("meta_seconds", "open_start_seconds", "open_end_seconds", "close_start_seconds")
    record = {"file_id": 1, "open_count": opens} | dict(zip(names, times, strict=True))
    rows = _reported([_write(float(at), 0.5, file_id=1, rank=rank) for at, rank in requests], posix_file=[record])
    assert len(requests) * _MIB == sum(row["write_bytes"] for row in rows)
    assert all(before["end_seconds"] < after["start_seconds"] for before, after in itertools.pairwise(rows))
