"""A trace block by block: what is made on the way stays in the processor's caches, and asks the system for no memory."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.trace import Integers


class Block(NamedTuple):
    """Some requests that follow each other.

    Attributes:
        at: the requests.
        runs: the runs that they are part of.
        counts: requests of each of these runs in the block.
    """

    at: slice
    runs: slice
    counts: Integers

    @property
    def firsts(self) -> Integers:
        """Where in the block the requests of each run begin."""
        firsts: Integers = np.cumsum(self.counts) - self.counts
        return firsts

    def spread(self, of_runs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For each request what its run has."""
        return np.repeat(of_runs[self.runs], self.counts)


def blocks(counts: Integers, size: int) -> Iterator[Block]:
    """All requests, so many at a time.

    Args:
        counts: requests of each run.
        size: requests of a block, of which the last may have fewer.
    """
    ends = np.cumsum(counts)
    for begin in range(0, int(counts.sum()), size):
        end = min(begin + size, int(ends[-1]))
        first, last = (int(run) for run in np.searchsorted(ends, (begin, end - 1), side="right"))
        upto = np.minimum(ends[first : last + 1], end)
        yield Block(slice(begin, end), slice(first, last + 1), np.diff(upto, prepend=begin))
