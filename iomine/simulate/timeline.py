"""When runs move their bytes: shares of time bins, from which heat maps and the load on servers follow."""

from typing import Final, NamedTuple

import numpy as np

from iomine.simulate.runs import OPS, Floats, Integers, Runs

# Darshan starts with bins of 0.1 s and doubles them whenever more than 200 would be needed (`darshan-heatmap.c`).
_FIRST_WIDTH_SECONDS: Final = 0.1
_MOST_BINS: Final = 200


class Shares(NamedTuple):
    """Parts of runs that fall into one bin each.

    Attributes:
        runs: index of the run.
        bins: index of the bin.
        before: bytes that the run had moved before.
        moved: bytes that it moved in the bin.
    """

    runs: Integers
    bins: Integers
    before: Integers
    moved: Integers


def shares(runs: Runs, width_seconds: float, origin_seconds: float = 0.0) -> Shares:
    """Cuts runs at the edges of bins.

    A request moves its bytes evenly while it lasts; what it has moved at an edge is rounded, so that nothing is lost.

    Args:
        runs: the runs.
        width_seconds: width of a bin.
        origin_seconds: where the first bin begins.
    """
    first = _bin(runs.starts, width_seconds, origin_seconds)
    counts = _bin(runs.ends, width_seconds, origin_seconds) - first + 1
    which = np.repeat(np.arange(len(first)), counts)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    bins = first[which] + nth
    after = _moved_at(runs, which, (bins + 1) * width_seconds + origin_seconds)
    is_last = nth == counts[which] - 1
    after[is_last] = runs.moved_bytes[which[is_last]]
    before = np.zeros_like(after)
    before[1:] = after[:-1]
    before[nth == 0] = 0
    return Shares(which, bins, before, after - before)


def _bin(times: Floats, width_seconds: float, origin_seconds: float) -> Integers:
    return ((times - origin_seconds) // width_seconds).astype(np.int64)


def _moved_at(runs: Runs, which: Integers, times: Floats) -> Integers:
    past = times - runs.starts[which]
    pitches, counts, lengths = runs.pitches[which], runs.counts[which], runs.lengths[which]
    whole = np.minimum(past // pitches, counts - 1).astype(np.int64)
    part = np.clip((past - whole * pitches) / runs.seconds[which], 0, 1)
    moved: Integers = whole * lengths + np.rint(part * lengths).astype(np.int64)
    return moved


def bin_width(run_seconds: float) -> tuple[float, int]:
    """Width and number of a heat map's bins for a run of this length."""
    width = _FIRST_WIDTH_SECONDS
    while width * _MOST_BINS < run_seconds:
        width *= 2
    return width, max(1, int(np.ceil(run_seconds / width)))


def heatmap(runs: Runs, nprocs: int, run_seconds: float) -> tuple[float, Integers]:
    """A layer's heat map: width of a bin, and bytes by direction, rank and bin."""
    width, bins = bin_width(run_seconds)
    heat = np.zeros((len(OPS), nprocs, bins), np.int64)
    parts = shares(runs, width)
    np.add.at(heat, (runs.ops[parts.runs], runs.ranks[parts.runs], np.minimum(parts.bins, bins - 1)), parts.moved)
    return width, heat
