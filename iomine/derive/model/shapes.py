"""How requests of a rank lie in its file: in blocks of consecutive ones, which follow each other in one order or in none."""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.model.calls import Calls
from iomine.derive.sorting import order_by
from iomine.derive.trace import Flags, Floats, Integers, group_starts

ORDERS: Final = ("single", "consecutive", "strided", "segmented", "random", "irregular")
SINGLE, CONSECUTIVE, STRIDED, SEGMENTED, RANDOM, IRREGULAR = range(len(ORDERS))
# How much of a phase's bytes has to lie in one order for the phase to be named after it.
_MOST: Final = 0.9
# Programs that go forward, except for a header that they come back to, do not go backwards so often.
_BACKWARD: Final = 0.1


class Shapes(NamedTuple):
    """Blocks of consecutive requests, and what order they make.

    Attributes:
        firsts: index of each block's first request.
        pieces: piece of each block.
        bytes: bytes of each block.
        steps: from the start of each block to that of the next of its piece, 0 where it is the last.
        is_last: the block is its piece's last.
        block_counts: blocks of each piece.
        orders: order of each piece, an index into `ORDERS`.
        moved_bytes: bytes of each piece.
    """

    firsts: Integers
    pieces: Integers
    bytes: Integers
    steps: Integers
    is_last: Flags
    block_counts: Integers
    orders: Integers
    moved_bytes: Floats


def shapes(calls: Calls) -> Shapes:
    """The blocks of requests that move something."""
    is_first = np.ones(len(calls.offsets), bool)
    np.not_equal(calls.offsets[1:], calls.offsets[:-1] + calls.lengths[:-1], out=is_first[1:])
    is_first[calls.firsts] = True
    firsts = np.flatnonzero(is_first)
    pieces = np.searchsorted(calls.firsts, firsts, side="right") - 1
    block_counts = np.bincount(pieces, minlength=len(calls.counts))
    block_bytes = np.add.reduceat(calls.lengths, firsts)
    is_last = np.append(pieces[1:] != pieces[:-1], True)
    places = calls.offsets[firsts]
    steps = np.where(is_last, 0, np.append(places[1:], 0) - places)
    return Shapes(
        firsts,
        pieces,
        block_bytes,
        steps,
        is_last,
        block_counts,
        _orders(calls.counts, pieces, block_counts, block_bytes=block_bytes, steps=steps, is_last=is_last),
        np.add.reduceat(calls.lengths, calls.firsts, dtype=np.float64),
    )


def _orders(
    counts: Integers, pieces: Integers, block_counts: Integers, *, block_bytes: Integers, steps: Integers, is_last: Flags
) -> Integers:
    """The order of each piece."""
    total = len(counts)
    has_before = np.append(False, ~is_last[:-1])

    def any_of(flags: Flags) -> Flags:
        return np.bincount(pieces[flags], minlength=total) > 0

    is_other_step = has_before & ~is_last
    is_other_step[1:] &= steps[1:] != steps[:-1]
    # The last block may be what is left.
    is_other_size = has_before.copy()
    is_other_size[1:] &= (block_bytes[1:] > block_bytes[:-1]) | ((block_bytes[1:] < block_bytes[:-1]) & ~is_last[1:])
    is_regular = ~any_of(is_other_step) & ~any_of(is_other_size)
    backward = np.bincount(pieces[steps < 0], minlength=total)
    orders = np.where(backward >= _BACKWARD * np.maximum(block_counts - 1, 1), RANDOM, IRREGULAR)
    is_single = counts == block_counts
    orders = np.where(is_regular, np.where(is_single, STRIDED, SEGMENTED), orders)
    return np.where(block_counts == 1, np.where(counts == 1, SINGLE, CONSECUTIVE), orders)


def orders_of_phases(found: Shapes, phase_of: Integers, total: int) -> Integers:
    """The order of each phase: that of nine tenths of its bytes.

    Args:
        found: blocks of requests.
        phase_of: phase of each piece.
        total: number of phases.
    """
    # Of blocks at equal distance only those are in line that have the distance of most.
    is_regular = (found.orders == STRIDED) | (found.orders == SEGMENTED)
    own = found.steps[np.cumsum(found.block_counts) - found.block_counts]
    usual = commonest(phase_of[is_regular], own[is_regular], found.moved_bytes[is_regular], total)
    orders = np.where(is_regular & (own != usual[phase_of]), IRREGULAR, found.orders)
    moved = np.bincount(phase_of * len(ORDERS) + orders, found.moved_bytes, total * len(ORDERS)).reshape(total, -1)
    least = _MOST * moved.sum(axis=1)
    result = np.where(moved[:, RANDOM] >= least / 2, RANDOM, IRREGULAR)
    # Ranks with less to do make single requests or consecutive ones where others have blocks.
    plain = moved[:, SINGLE] + moved[:, CONSECUTIVE]
    for order, together in (
        (SEGMENTED, plain + moved[:, SEGMENTED]),
        (STRIDED, moved[:, SINGLE] + moved[:, STRIDED]),
        (CONSECUTIVE, plain),
        (SINGLE, moved[:, SINGLE]),
    ):
        result = np.where(together >= least, order, result)
    return result


def commonest(groups: Integers, values: Integers, weights: npt.NDArray[np.generic] | None, total: int) -> Integers:
    """For each group the value with most weight, the lowest of several; 0 where it has none.

    Args:
        groups: group of each value.
        values: values.
        weights: weight of each, None where all weigh the same.
        total: number of groups.
    """
    result = np.zeros(total, np.int64)
    if not len(values):
        return result
    heavy: Floats = np.ones(len(values)) if weights is None else weights.astype(np.float64)
    # Neighbours that are equal are many, and sorting takes longest.
    firsts = group_starts(groups, values)
    groups, values, heavy = groups[firsts], values[firsts], np.add.reduceat(heavy, firsts)
    order = order_by(groups, values)
    groups, values, heavy = groups[order], values[order], heavy[order]
    firsts = group_starts(groups, values)
    groups, values, heavy = groups[firsts], values[firsts], np.add.reduceat(heavy, firsts)
    order = np.lexsort((values, -heavy, groups))
    firsts = group_starts(groups[order])
    result[groups[order][firsts]] = values[order][firsts]
    return result


def medians(groups: Integers, values: Integers, total: int, weights: Integers | None = None) -> Integers:
    """For each group the middle value, the lower of two; 0 where it has none.

    Args:
        groups: group of each value.
        values: values.
        total: number of groups.
        weights: how often each value is there, None for once.
    """
    result = np.zeros(total, np.int64)
    if not len(values):
        return result
    weights = np.ones(len(values), np.int64) if weights is None else weights
    firsts = group_starts(groups, values)
    groups, values, weights = groups[firsts], values[firsts], np.add.reduceat(weights, firsts)
    order = order_by(groups, values)
    groups, values, weights = groups[order], values[order], weights[order]
    begins = group_starts(groups)
    upto = np.cumsum(weights)
    before = (upto - weights)[begins]
    sizes = np.add.reduceat(weights, begins)
    result[groups[begins]] = values[np.searchsorted(upto, before + (sizes - 1) // 2, side="right")]
    return result
