"""Medians of groups."""

from typing import Any

import numpy as np
import numpy.typing as npt

from iomine.derive.trace import Floats, Integers


def medians(groups: Integers, values: npt.NDArray[Any], total: int) -> Floats:
    """Median of each group's values, the mean of the two in the middle where they are even; NaN where there are none.

    Args:
        groups: group of each value.
        values: the values, none of them NaN.
        total: number of groups, at most 2**32.
    """
    order = np.argsort(values)
    sizes = np.bincount(groups, minlength=total)
    low, high = middles(groups[order], values[order], sizes)
    found = np.full(total, np.nan)
    found[sizes > 0] = (low + high) / 2
    return found


def middles(groups: Integers, values: npt.NDArray[Any], sizes: Integers) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The two values in the middle of each group that has any, which are one where they are odd.

    Args:
        groups: group of each value.
        values: the values, in order within each group.
        sizes: how many values each group has.
    """
    # Stable sorts of 16 bits are quick.
    order = np.argsort(groups.astype(np.uint16), kind="stable")
    if len(sizes) > 1 << 16:
        order = order[np.argsort((groups >> 16).astype(np.uint16)[order], kind="stable")]
    firsts, filled = np.cumsum(sizes) - sizes, np.flatnonzero(sizes)
    firsts, sizes = firsts[filled], sizes[filled]
    return values[order[firsts + (sizes - 1) // 2]], values[order[firsts + sizes // 2]]
