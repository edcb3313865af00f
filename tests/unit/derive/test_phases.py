"""Gaps part phases."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tables import columns, rows_of

from iomine.derive import phase_layers, phases, traces
from iomine.derive.phases import Method, _are_little, _bursts, cuts_between
from iomine.derive.stretches import heatmap_stretches

_FLOOR_SECONDS = 1e-3

Interval = tuple[float, float]
Intervals = list[Interval]

# Milliseconds, so that sums are exact enough to be compared.
_INTERVALS = st.lists(
    st.tuples(st.integers(0, 4000), st.integers(1, 400)).map(lambda pair: (pair[0] / 1e3, (pair[0] + pair[1]) / 1e3)),
    min_size=1,
    max_size=20,
)


def _numbers(intervals: Intervals, method: Method = "gaps") -> list[int]:
    """The number of the phase of each interval, from 1."""
    starts, ends = (np.array(side) for side in zip(*intervals, strict=True))
    return (np.searchsorted(cuts_between(starts, ends, _FLOOR_SECONDS, method), starts) + 1).tolist()


def _by_hand(intervals: Intervals) -> list[int]:
    """The number of the phase of each interval, from 1."""
    ordered = sorted(range(len(intervals)), key=lambda at: intervals[at][0])
    reach, gaps = intervals[ordered[0]][1], {}
    for at in ordered[1:]:
        gaps[at] = intervals[at][0] - reach
        reach = max(reach, intervals[at][1])
    long = sorted((gap for gap in gaps.values() if gap > _FLOOR_SECONDS), reverse=True)
    busy = reach - intervals[ordered[0]][0] - sum(long)
    widest, bar = 1.0, math.inf
    for nth, gap in enumerate(long):
        least = max(_FLOOR_SECONDS, 0.07 * busy / (nth + 2))
        low = max(least, long[nth + 1]) if nth + 1 < len(long) else least
        if gap / low > widest:
            widest, bar = gap / low, math.sqrt(gap * low)
    phase, numbers = 1, {ordered[0]: 1}
    for at in ordered[1:]:
        phase += gaps[at] > bar
        numbers[at] = phase
    return [numbers[at] for at in range(len(intervals))]


@given(_INTERVALS)
def test_phases_equal_brute_force(intervals: Intervals) -> None:
    """Intervals are parted as by a loop over their sorted gaps, in whatever order they come."""
    steps = _steps(intervals)
    # Two steps that are equal but for rounding may be taken for each other.
    assume(len(steps) < 2 or steps[0] > steps[1] * (1 + 1e-9))
    assert _by_hand(intervals) == _numbers(intervals)


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
    """Its bar is the mean of the gaps and one standard deviation, so that equal phases melt together."""
    equal, uneven = [(float(at), at + 0.25) for at in range(5)], [(0.0, 0.1), (0.2, 0.3), (0.4, 0.5), (9.0, 9.1)]
    assert [[1] * 5, [1, 1, 1, 2]] == [_numbers(each, "paper") for each in (equal, uneven)]


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
    assert expected == _are_little(group_of, np.array([part for _, part in moved], float)).tolist()


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
    return {
        "layer": "posix",
        "rank": rank,
        "bin_seconds": 0.5,
        "bin_count": size,
        "write_bins": [0] * size,
        "read_bins": [0] * size,
    } | bins


@pytest.mark.parametrize(
    ("heat", "expected"),
    [
        ([_heat(0, read_bins=[36, 0, 0, 0, 9 << 20])], [(2.0, 9 << 20, 0)]),
        ([_heat(0, read_bins=[36, 9 << 20])], [(0.0, (9 << 20) + 36, 0)]),
        ([_heat(0, read_bins=[36, 0, 0, 0, 99])], [(0.0, 36, 0), (2.0, 99, 0)]),
        ([_heat(0, write_bins=[9 << 20]), _heat(1, read_bins=[0, 0, 0, 36])], [(0.0, 0, 9 << 20)]),
    ],
    ids=["an input file", "within a burst", "little of little", "the other direction"],
)
def test_incidental_bursts_of_heat_maps(heat: list[dict[str, Any]], expected: list[tuple[float, int, int]]) -> None:
    """A burst with next to none of the bytes makes no phase; what lies within a burst belongs to it."""
    tables = {"heatmap_rank": [columns("heatmap_rank", heat)]}
    rows = [row for row in rows_of(phases(phase_layers(tables, []), None)) if row["layer"] == "all"]
    assert expected == [(row["start_seconds"], row["read_bytes"], row["write_bytes"]) for row in rows]


_BINS = st.lists(st.sampled_from([0, 0, 1, 5]), min_size=1, max_size=12)


@given(st.lists(st.tuples(_BINS, _BINS), min_size=1, max_size=3))
def test_bursts_of_heat_maps(layers: list[tuple[list[int], list[int]]]) -> None:
    """Filled bins of a layer in one direction are one burst where no empty one lies between them, and not otherwise."""
    parts, expected = [], []
    for layer, (written, read) in enumerate(layers):
        heat = columns("heatmap_rank", [_heat(0, write_bins=written, read_bins=[*read, 0]), _heat(1, read_bins=read)])
        stretches, width = heatmap_stretches({"heatmap_rank": [heat]}, "posix")
        if len(stretches.starts):
            parts.append((stretches, width))
            for op, start in zip(stretches.ops.tolist(), (stretches.starts / width).tolist(), strict=True):
                bins = (written, read)[op]
                first = max((at + 1 for at in range(int(start)) if not bins[at]), default=0)
                expected.append((layer, op, first))
    if parts:
        got = _bursts(parts).tolist()
        assert len(set(expected)) == len(set(got)) == len(set(zip(expected, got, strict=True)))
