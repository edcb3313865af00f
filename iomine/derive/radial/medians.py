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
    return sorted_medians(groups[order], values[order], total)


def sorted_medians(groups: Integers, values: npt.NDArray[Any], total: int) -> Floats:
    """The same of values that ascend."""
    if not len(values):
        return np.full(total, np.nan)
    # Stable sorts of 16 bits are quick.
    order = np.argsort(groups.astype(np.uint16), kind="stable")
    if total > 1 << 16:
        order = order[np.argsort((groups >> 16).astype(np.uint16)[order], kind="stable")]
    values = values[order]
    sizes = np.bincount(groups, minlength=total)
    firsts = np.cumsum(sizes) - sizes
    low, high = (np.minimum(firsts + np.maximum(half, 0), len(values) - 1) for half in ((sizes - 1) // 2, sizes // 2))
    middles: Floats = np.where(sizes > 0, (values[low] + values[high]) / 2, np.nan)
    return middles
