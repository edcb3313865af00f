"""Gaps part phases."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from iomine.derive.phases import Method, cuts_between

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
