"""When runs move their bytes: shares of time bins, from which heat maps and the load on servers follow."""

from typing import Final, NamedTuple

import numpy as np

from iomine.simulate.runs import Floats, Integers, Runs

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


def shares(runs: Runs, widths: Floats | float, origins: Floats | float = 0.0) -> Shares:
    """Cuts runs at the edges of bins.

    A request moves its bytes evenly while it lasts; what it has moved at an edge is rounded, so that nothing is lost.

    Args:
        runs: the runs.
        widths: width of a bin in seconds, of each run or of all.
        origins: where the first bin begins, likewise.
    """
    first = ((runs.starts - origins) // widths).astype(np.int64)
    counts = ((runs.ends - origins) // widths).astype(np.int64) - first + 1
    which = np.repeat(np.arange(len(first)), counts)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    bins = first[which] + nth
    widths, origins = (np.broadcast_to(each, len(first))[which] for each in (widths, origins))
    after = _moved_at(runs, which, (bins + 1) * widths + origins)
    is_last = nth == counts[which] - 1
    after[is_last] = runs.moved_bytes[which[is_last]]
    before = np.zeros_like(after)
    before[1:] = after[:-1]
    before[nth == 0] = 0
    return Shares(which, bins, before, after - before)


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
