"""Whole bytes divided so that the parts add up to what was divided."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from iomine.derive.trace import Flags, Floats, Integers

# With fewer numbers, building a sparse matrix takes longer than adding them up.
_FEW: Final = 10_000


def divided(totals: npt.NDArray[Any], weights: Floats, groups: Integers) -> Integers:
    """Parts of whole numbers in proportion to weights: each is less than one off, and those of a group sum to its total.

    A part ends at the sum of the weights so far, rounded; so nothing is left over, and nothing is missing.

    Args:
        totals: (groups, columns), whole numbers from 0.
        weights: of each part, from 0; those of a group with a total are not all 0.
        groups: the group of each part, ascending from 0, each group with at least one part.

    Returns:
        (parts, columns), whole numbers from 0.
    """
    parts = np.zeros((len(weights), totals.shape[1]), np.int64)
    if not len(weights):
        return parts
    begins = np.searchsorted(groups, np.arange(len(totals)))
    ends = np.append(begins[1:], len(weights)) - 1
    whole = np.add.reduceat(weights, begins)[groups]
    # Each group weighs 1, so that a heavy one does not blur those after it.
    share = np.cumsum(np.divide(weights, whole, out=np.zeros(len(weights)), where=whole > 0))
    share -= np.append(0.0, share[ends[:-1]])[groups]
    of_part = totals[groups]
    # A double does not hold every count beyond 2^53; no part ends beyond its group.
    edges = np.clip(np.rint(share[:, None] * of_part).astype(np.int64), 0, of_part)
    # Parts without weight at the end of a group get nothing.
    is_last = share >= share[ends][groups]
    edges[is_last] = of_part[is_last]
    parts[1:] = np.diff(edges, axis=0)
    parts[begins] = edges[begins]
    return parts


def summed(groups: Integers, values: npt.NDArray[Any], *, count: int, rows: Integers | None = None) -> Integers:
    """(groups, columns), the sums of each group's rows.

    Args:
        groups: of each row that is summed up, its group.
        values: (rows, columns), whole numbers.
        count: of all groups.
        rows: which rows are summed up, ascending, where not all once.
    """
    if len(groups) * values.shape[1] < _FEW:
        of_groups = np.zeros((count, values.shape[1]), np.int64)
        np.add.at(of_groups, groups, values if rows is None else values[rows])
        return of_groups
    from scipy.sparse import csc_array  # noqa: PLC0415  takes a tenth of a second

    begins = np.arange(len(groups) + 1) if rows is None else np.searchsorted(rows, np.arange(len(values) + 1))
    sums: Integers = csc_array((np.ones(len(groups), np.int64), groups, begins), shape=(count, len(values))) @ values
    return sums


def flags(count: int, numbers: Integers) -> Flags:
    """(count), whether each number from 0 on is among the given ones."""
    is_among = np.zeros(count, bool)
    is_among[numbers] = True
    return is_among
