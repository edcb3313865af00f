"""Medians of groups."""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.sorting import order_by
from iomine.derive.trace import Floats, Integers

# To sort so many values once takes no longer than to count them for each kind of group.
_FEW: Final = 1 << 16
# Bits by which values differ, before those are put in one bin that are neighbours and rare.
_FINE_BITS: Final = 16
# More bins leave too few values in each for that to be worth it.
_MOST_BINS: Final = 256


class Middles(NamedTuple):
    """The values in the middle of groups.

    Attributes:
        sizes: how many values each group has.
        low: of each group that has any, the value in the middle, of two the lower.
        high: the same, of two the higher.
    """

    sizes: Integers
    low: Floats
    high: Floats


class Binned:
    """Values of which the middle of groups is wanted, in bins, so that only those in the middle's bin need be sorted.

    Args:
        values: the values, none of them NaN.
        group_count: how many groups there may be; of more, bins are fewer.
    """

    def __init__(self, values: Floats, group_count: int) -> None:
        self._values = values
        self._order = order_by(values) if len(values) <= _FEW else None
        if self._order is None:
            self._bin(min(max(len(values) // group_count, 2), _MOST_BINS))

    def _bin(self, wanted: int) -> None:
        """Puts values in about as many bins as are wanted, which hold about as many each, or a single value."""
        values = self._values
        bits = values.view(np.int64)
        if values.min() < 0:
            # Floats are in the order of their bits, but negative ones the other way round.
            bits = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
        least, most = int(bits.min()), int(bits.max())
        shift = max((most - least).bit_length() - _FINE_BITS, 0)
        fine = bits >> shift
        fine -= least >> shift
        counted = np.bincount(fine)
        is_heavy = counted * wanted >= len(values)
        turn = (counted.cumsum() - counted) * wanted // len(values)
        is_first = is_heavy.copy()
        is_first[1:] |= is_heavy[:-1] | (turn[1:] > turn[:-1])
        is_first[0] = True
        bin_of = (is_first.cumsum() - 1).astype(np.int32)
        codes = bin_of[fine]
        self._codes, self._bin_count = codes, int(bin_of[-1]) + 1
        # Of any bin a value; where that is all, as of sizes, nothing has to be sorted.
        self._samples, self._is_alike = np.zeros(self._bin_count), np.zeros(self._bin_count, bool)
        if is_heavy.any():
            self._samples[codes] = values
            self._is_alike[bin_of[is_heavy]] = True
            self._is_alike[codes[values != self._samples[codes]]] = False

    def middles(self, groups: npt.NDArray[Any], total: int) -> Middles:
        """The values in the middle of each group.

        Args:
            groups: group of each value.
            total: number of groups, at most 2**32.
        """
        if self._order is not None:
            return _middles(groups[self._order], self._values[self._order], total)
        numbers = np.arange(self._bin_count)
        keys = groups * np.int64(self._bin_count)
        keys += self._codes
        sums = np.bincount(keys, minlength=total * len(numbers)).reshape(total, -1).cumsum(axis=1)
        sizes = sums[:, -1].copy()
        filled = np.flatnonzero(sizes)
        places = np.stack([(sizes[filled] - 1) // 2, sizes[filled] // 2])
        sums = sums[filled]
        bins = np.stack([(sums <= of_middle[:, None]).sum(axis=1) for of_middle in places])
        found = self._samples[bins]
        rest = np.flatnonzero(~self._is_alike[bins].all(axis=0))
        if len(rest):
            sums, (first, last) = sums[rest], bins[:, rest]
            is_wanted = np.zeros((total, len(numbers)), bool)
            is_wanted[filled[rest]] = (numbers >= first[:, None]) & (numbers <= last[:, None])
            at = np.flatnonzero(is_wanted.ravel()[keys])
            at = at[order_by(self._values[at])]
            ordered = self._values[at[_by_group(groups[at], total)]]
            rows = np.arange(len(rest))
            before = np.where(first > 0, sums[rows, first - 1], 0)
            counts = sums[rows, last] - before
            found[:, rest] = ordered[counts.cumsum() - counts + places[:, rest] - before]
        return Middles(sizes, *found)


def medians(groups: Integers, values: Floats, total: int) -> Floats:
    """Median of each group's values, the mean of the two in the middle where they are even; NaN where there are none.

    Args:
        groups: group of each value.
        values: the values, none of them NaN.
        total: number of groups, at most 2**32.
    """
    sizes, low, high = Binned(values, total).middles(groups, total)
    found = np.full(total, np.nan)
    found[sizes > 0] = (low + high) / 2
    return found


def _middles(groups: npt.NDArray[Any], values: Floats, total: int) -> Middles:
    """The values in the middle of each group.

    Args:
        groups: group of each value.
        values: the values, in order within each group.
        total: number of groups, at most 2**32.
    """
    sizes = np.bincount(groups, minlength=total)
    order = _by_group(groups, total)
    counts = sizes[sizes.nonzero()]
    firsts = counts.cumsum() - counts
    return Middles(sizes, values[order[firsts + (counts - 1) // 2]], values[order[firsts + counts // 2]])


def _by_group(groups: npt.NDArray[Any], total: int) -> Integers:
    """Group by group, those of one as they come."""
    # Stable sorts of 16 bits are quick.
    order = groups.astype(np.uint16).argsort(kind="stable")
    if total > 1 << 16:
        order = order[(groups >> 16).astype(np.uint16)[order].argsort(kind="stable")]
    return order
