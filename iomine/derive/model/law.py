"""The law of first offsets: where the k-th phase of a class begins for its i-th rank, `first + rank_step * i + phase_step * k`.

All of it is in whole numbers: a pair of rank and phase obeys exactly or not at all.
"""

from typing import Final, NamedTuple

import numpy as np

from iomine.derive.model.calls import UNKNOWN, Beneath, Calls
from iomine.derive.model.shapes import Shapes, commonest
from iomine.derive.trace import Flags, Floats, Integers, group_sizes, group_starts, grouped

# Beyond, sums of places and steps would not hold.
_MOST: Final = 1 << 60


class Law(NamedTuple):
    """The law of each class.

    Attributes:
        first_offsets: where the first phase begins for the first rank, by the law; `UNKNOWN` where no place is known.
        rank_steps: from the base of a rank to that of the next, `UNKNOWN` where there is no such step.
        phase_steps: from a phase to the next, `UNKNOWN` where no rank has several.
        ratios: share of pairs of rank and phase that obey; NaN where no place is known.
        bases: where the class begins for any rank at the least.
    """

    first_offsets: Integers
    rank_steps: Integers
    phase_steps: Integers
    ratios: Floats
    bases: Integers


def law(classes: Integers, nth: Integers, ranks: Integers, places: Integers, total: int) -> Law:
    """The law of first offsets.

    A rank's base is where most of its phases would have begun. Of a class of one phase the law is that of its ranks;
    of others a pair obeys that lies where its rank's base and the step of phases say, whether the bases have a step or not.

    Args:
        classes: class of each pair of rank and phase.
        nth: number of the phase within its class, from 0.
        ranks: rank of each.
        places: offset of its first request, negative where that is not known.
        total: number of classes.
    """
    is_known = places >= 0
    classes, nth, ranks, places = (column[is_known] for column in (classes, nth, ranks, places))
    if not len(classes):
        unknown = np.full(total, UNKNOWN)
        return Law(unknown, unknown, unknown, np.full(total, np.nan), np.zeros(total, np.int64))
    order = np.lexsort((nth, ranks, classes))
    classes, nth, ranks, places = (column[order] for column in (classes, nth, ranks, places))
    begins = group_starts(classes, ranks)
    rank_of = np.repeat(np.arange(len(begins)), group_sizes(begins, len(classes)))
    is_next = (rank_of[1:] == rank_of[:-1]) & (nth[1:] == nth[:-1] + 1)
    has_phase_step = np.bincount(classes[1:][is_next], minlength=total) > 0
    phase_steps = commonest(classes[1:][is_next], np.diff(places)[is_next], None, total)
    # A step that leads out of every file is none.
    last = np.zeros(total, np.int64)
    np.maximum.at(last, classes, nth)
    is_far = np.abs(phase_steps.astype(np.float64)) * last >= _MOST
    phase_steps[is_far], has_phase_step[is_far] = 0, False
    starts = places - phase_steps[classes] * nth
    bases = commonest(rank_of, starts, None, len(begins))
    own_class = classes[begins]
    is_next = own_class[1:] == own_class[:-1]
    rank_steps = commonest(own_class[1:][is_next], np.diff(bases)[is_next], None, total)
    firsts_of_class = group_starts(own_class)
    sizes = group_sizes(firsts_of_class, len(own_class))
    number = np.arange(len(own_class)) - np.repeat(firsts_of_class, sizes)
    is_far = np.abs(rank_steps.astype(np.float64)) * np.bincount(own_class, minlength=total) >= _MOST
    rank_steps[is_far] = 0
    beginnings = bases - rank_steps[own_class] * number
    first_offsets = commonest(own_class, beginnings, None, total)
    is_linear = beginnings == first_offsets[own_class]
    all_linear = np.bincount(own_class[~is_linear], minlength=total) == 0
    most_linear = 2 * np.bincount(own_class, is_linear, total) > np.bincount(own_class, minlength=total)
    has_rank_step = np.where(has_phase_step, all_linear, most_linear) & (np.bincount(own_class, minlength=total) > 1)
    obeys = (starts == bases[rank_of]) & (has_phase_step[classes] | is_linear[rank_of])
    pairs = np.bincount(classes, minlength=total)
    with np.errstate(invalid="ignore"):
        ratios = np.bincount(classes, obeys, total) / pairs
    lowest = np.full(total, _MOST)
    np.minimum.at(lowest, own_class, bases)
    # Without a step of ranks the law begins at the first rank's base.
    own_first = np.full(total, UNKNOWN)
    own_first[own_class[firsts_of_class]] = bases[firsts_of_class]
    return Law(
        np.where(has_rank_step, first_offsets, own_first),
        np.where(has_rank_step, rank_steps, UNKNOWN),
        np.where(has_phase_step, phase_steps, UNKNOWN),
        ratios,
        lowest,
    )


def tiles(
    calls: Calls,
    found: Shapes,
    under: Beneath,
    classes: Integers,
    nth: Integers,
    *,
    steps: Integers,
    bases: Integers,
    by_block: Flags,
) -> Floats:
    """Share of the POSIX requests of a class that lie within the tile of their phase, or of their block; NaN without any.

    The k-th tile is `[base + k * step, base + (k + 1) * step)`. Under a file view MPI-IO says of a request only where its
    first piece lies; what became of it in POSIX tells whether the phases, or blocks, of all ranks lie one after the other.

    Args:
        calls: MPI-IO's requests.
        found: their blocks.
        under: what became of them.
        classes: class of each phase, negative where it has none.
        nth: number of each phase within its class.
        steps: length of each class's tiles, 0 or less where it has none.
        bases: where the first begins.
        by_block: a class's tiles are those of its blocks; otherwise of its phases.
    """
    total = len(steps)
    own = classes[under.phases]
    at = np.flatnonzero((own >= 0) & (steps[own] > 0) & (under.offsets >= 0) & (under.lengths > 0))
    if not len(at):
        return np.full(total, np.nan)
    own, phases = own[at], under.phases[at]
    tile = nth[phases]
    if by_block[own].any():
        tile = np.where(by_block[own], _block_of(calls, found, under, at), tile)
    # What lies in no call of its rank lies in no tile.
    offsets, lengths = under.offsets[at], under.lengths[at]
    # A quotient instead of a product, which 64 bits may not hold.
    apart = offsets - bases[own]
    is_within = (tile >= 0) & (apart // steps[own] == tile) & (apart % steps[own] + lengths <= steps[own])
    with np.errstate(invalid="ignore"):
        return np.bincount(own, is_within.astype(np.float64), total) / np.bincount(own, minlength=total)


def _block_of(calls: Calls, found: Shapes, under: Beneath, at: Integers) -> Integers:
    """For each of some POSIX requests the number, within its piece, of the block of the call that made it; negative for none."""
    pieces = np.concatenate([calls.phases, under.phases[at]]), np.concatenate([calls.file_ids, under.file_ids[at]])
    keys = grouped(*pieces, np.concatenate([calls.ranks, under.ranks[at]]))[1]
    own, wanted = keys[: len(calls.phases)], keys[len(calls.phases) :]
    moments, sought = np.empty(len(calls.starts), np.complex128), np.empty(len(at), np.complex128)
    moments.real, moments.imag = calls.of_requests(own), calls.starts
    sought.real, sought.imag = wanted, under.starts[at]
    order = np.argsort(moments, kind="stable")
    nearest = order[np.maximum(np.searchsorted(moments[order], sought, side="right") - 1, 0)]
    is_within = (moments.real[nearest] == sought.real) & (calls.starts[nearest] <= under.starts[at])
    is_within &= under.ends[at] <= calls.ends[nearest]
    blocks = np.searchsorted(found.firsts, nearest, side="right") - 1
    first_block = (np.cumsum(found.block_counts) - found.block_counts)[found.pieces[blocks]]
    return np.where(is_within, blocks - first_block, -1)
