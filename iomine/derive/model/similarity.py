"""Groups phases that do the same: a phase joins the first class whose first phase is like it.

`s(p, q)` is the least, over what is compared, of the smaller of both values over the larger: 1 where all are equal.
"""

from typing import Final

import numpy as np

from iomine.derive.trace import Floats, Integers, group_starts, grouped

# Likeness from which on two phases are alike.
ALIKE: Final = 0.9
_ROUNDING: Final = 1e-9


def joined_by_likeness(kinds: Integers, measures: Floats, alike: float = ALIKE) -> Integers:
    """The class of each phase: numbers from 0, in the order of the classes' first phases.

    Args:
        kinds: what has to be equal, a number for each phase.
        measures: what is compared, a row for each phase, none below 0.
        alike: what `s` has to be at least, above 0.
    """
    if len(kinds) == 1:
        return np.zeros(1, np.int64)
    # Phases that are the same in all are one to compare.
    _, same = grouped(kinds, *measures.T)
    firsts = np.full(int(same.max()) + 1, len(same))
    np.minimum.at(firsts, same, np.arange(len(same)))
    order = np.sort(firsts)
    kinds, measures = kinds[order], measures[order]
    class_of = np.full(len(order), -1)
    leader_count = 0
    by_kind = np.argsort(kinds, kind="stable")
    begins = group_starts(kinds[by_kind])
    for begin, end in zip(begins, np.append(begins[1:], len(by_kind)), strict=True):
        own = by_kind[begin:end]
        found = _classes(measures[own], alike)
        class_of[own] = found + leader_count
        leader_count += int(found.max()) + 1
    of_same = np.empty(len(order), np.int64)
    of_same[same[order]] = class_of
    classes = of_same[same]
    # Numbered in the order of their first phases.
    first_of = np.full(leader_count, len(classes))
    np.minimum.at(first_of, classes, np.arange(len(classes)))
    places = np.empty(leader_count, np.int64)
    places[np.argsort(first_of)] = np.arange(leader_count)
    return places[classes]


def _classes(measures: Floats, alike: float) -> Integers:
    """The class of each row, numbered in the order of the classes' first rows."""
    if len(measures) == 1:
        return np.zeros(1, np.int64)
    class_of = np.full(len(measures), -1)
    # Only what is like a row in the measure that differs most can be like it at all.
    widest = max(range(measures.shape[1]), key=lambda column: len(np.unique(measures[:, column])))
    by_value = np.argsort(measures[:, widest], kind="stable")
    ordered = measures[by_value, widest]
    # A little wider than need be, for rounding.
    lows = np.searchsorted(ordered, measures[:, widest] * alike * (1 - _ROUNDING)).tolist()
    highs = np.searchsorted(ordered, measures[:, widest] / alike * (1 + _ROUNDING), side="right").tolist()
    count = 0
    for row, (low, high) in enumerate(zip(lows, highs, strict=True)):
        if class_of[row] >= 0:
            continue
        near = by_value[low:high]
        near = near[class_of[near] < 0]
        lower, higher = np.minimum(measures[near], measures[row]), np.maximum(measures[near], measures[row])
        # Both 0 is equal.
        ratios = np.divide(lower, higher, out=np.ones_like(lower), where=higher > 0)
        class_of[near[(ratios >= alike).all(axis=1)]] = count
        count += 1
    return class_of
