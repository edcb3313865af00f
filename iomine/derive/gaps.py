"""Finds the gaps that separate phases, in many sets of intervals at once: those of a log, or those of each of its ranks.

Sorted by length, long gaps between phases and short ones between requests leave a step between them, and the widest on a
logarithmic scale is where the two kinds part. `docs/decisions/phases.md` gives the reasons.
"""

from typing import Final

import numpy as np

from iomine.derive.sorting import order_by
from iomine.derive.trace import Floats, Integers, group_starts

# A gap that is short compared with the phases does not separate them.
_LEAST_SHARE: Final = 0.07
_FEW: Final = 1 << 16


def parted(starts: Floats, ends: Floats, groups: Integers, floor: Floats | float) -> Integers:
    """The phase of each interval: numbers from 0, in the order of groups and, within a group, of time.

    Args:
        starts: when each interval starts, in seconds; at least one.
        ends: when each ends.
        groups: the set that each belongs to.
        floor: shortest gap that may part phases, in seconds: of all, or for each interval that of its set.
    """
    # Before the n-th start in order of time there is a gap if n intervals have ended by then: no need to know whose.
    order = _order(groups, starts)
    begins = group_starts(groups[order])
    starts, ends = starts[order], ends[_order(groups, ends)]
    floors = _taken(np.broadcast_to(floor, len(order)), order[1:])
    is_new = np.zeros(len(order), bool)
    is_new[begins] = True
    lengths = starts[1:] - ends[:-1]
    at = np.flatnonzero((lengths > floors) & ~is_new[1:])
    if len(at):
        gaps, owners = lengths[at], np.searchsorted(begins, at, side="right") - 1
        del lengths
        lasts = np.append(begins[1:], len(order)) - 1
        busy = ends[lasts] - starts[begins] - np.bincount(owners, gaps, len(begins))
        del starts, ends
        thresholds = _gap_thresholds(gaps, owners, busy, _taken(floors, at))
        is_new[at[gaps > thresholds] + 1] = True
    phase_of = np.empty(len(order), np.int64)
    phase_of[order] = np.cumsum(is_new) - 1
    return phase_of


def _gap_thresholds(gaps: Floats, owners: Integers, busy: Floats, floors: Floats) -> Floats:
    """For each gap the length beyond which a gap of its owner parts phases: infinite where none does."""
    order = _order(owners, -gaps)
    begins = group_starts(owners[order])
    sizes = np.diff(begins, append=len(order))
    nth = np.arange(len(order)) - np.repeat(begins, sizes)
    longest = gaps[order]
    # The longest n gaps part n + 1 phases. In place, since a long trace has as many gaps as requests.
    low = busy[owners[order]]
    low *= _LEAST_SHARE
    low /= nth + 2
    del nth
    np.maximum(low, _taken(floors, order), out=low)
    lasts = begins + sizes - 1
    of_lasts = np.maximum(low[lasts], 0.0)
    np.maximum(low[:-1], longest[1:], out=low[:-1])
    low[lasts] = of_lasts
    # Where bins are as narrow as no clock has them, a step is as wide as numbers go.
    with np.errstate(over="ignore"):
        steps = longest / low
    is_widest = np.flatnonzero(steps == np.repeat(np.maximum.reduceat(steps, begins), sizes))
    widest = is_widest[np.searchsorted(is_widest, begins)]
    # Roots by themselves, as the product of what a log claims may be too high for a number.
    of_owner = np.where(steps[widest] > 1, np.sqrt(longest[widest]) * np.sqrt(low[widest]), np.inf)
    thresholds = np.empty(len(gaps))
    thresholds[order] = np.repeat(of_owner, sizes)
    return thresholds


def _taken(floors: Floats, places: Integers) -> Floats:
    """The floors at these places. Of a long trace, as many equal ones would take as much memory as all starts."""
    return np.broadcast_to(floors[:1], len(places)) if floors.strides == (0,) else floors[places]


def _order(groups: Integers, values: Floats) -> Integers:
    """Their order by group and, within it, by value."""
    # NumPy sorts numbers of 16 bits many times as fast.
    keys = groups.astype(np.uint16) if groups.max() < _FEW else groups
    order = np.argsort(keys, kind="stable")
    group, ordered = keys[order], values[order]
    # Bins of a rank, and most traces, are in order of time as they come, and nothing takes as long as to sort them.
    is_late = (ordered[1:] < ordered[:-1]) & (group[1:] == group[:-1])
    if is_late.any():
        is_mixed = np.zeros(int(groups.max()) + 1, bool)
        is_mixed[group[1:][is_late]] = True
        are_mixed = is_mixed[group]
        if are_mixed.all():
            return order[order_by(group, ordered)]
        at = np.flatnonzero(are_mixed)
        order[at] = order[at][order_by(group[at], ordered[at])]
    return order
