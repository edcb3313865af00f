"""Which phases do the same: a phase joins the first class whose first phase is like it.

`s(p, q)` is the least, over what is compared, of the smaller of both values over the larger: 1 where all are equal.
"""

from typing import Final

import numpy as np

from iomine.derive.trace import Floats, Integers, group_starts, grouped

# From here on two phases are alike.
ALIKE: Final = 0.9


def joined_by_likeness(kinds: Integers, measures: Floats, alike: float = ALIKE) -> Integers:
    """The class of each phase: numbers from 0, in the order of the classes' first phases.

    Args:
        kinds: what has to be equal, a number for each phase.
        measures: what is compared, a row for each phase, none below 0.
        alike: what `s` has to be at least.
    """
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
        left = by_kind[begin:end]
        while len(left):
            own = measures[left]
            lower, higher = np.minimum(own, own[0]), np.maximum(own, own[0])
            # Both 0 is equal.
            is_like = (np.divide(lower, higher, out=np.ones_like(lower), where=higher > 0) >= alike).all(axis=1)
            class_of[left[is_like]] = leader_count
            leader_count += 1
            left = left[~is_like]
    of_same = np.empty(len(order), np.int64)
    of_same[same[order]] = class_of
    classes = of_same[same]
    # Numbered in the order of their first phases.
    first_of = np.full(leader_count, len(classes))
    np.minimum.at(first_of, classes, np.arange(len(classes)))
    places = np.empty(leader_count, np.int64)
    places[np.argsort(first_of)] = np.arange(leader_count)
    return places[classes]
