"""Which POSIX request moved the first byte that an MPI-IO request asked for.

A rank that moves its own bytes does so within its call, by its own clock: that is looked for first, since other ranks may
read the same byte at the same time for themselves. Otherwise it is the first request of any rank that holds the byte while the
collective call lasts. What was asked for without blocking is carried out later, by a request for the same bytes.

Requests that hold a byte are found in a segment tree over the bytes that are asked for: each request hangs on as few nodes as
make up what it holds of them, and a byte asks the nodes above its leaf for the first start that is not too early.
However requests overlap, that takes n log n, where a walk over all that overlap would take n squared.
"""

from typing import Final, NamedTuple

import numpy as np

from iomine.derive.collective import Calls
from iomine.derive.columns import ROUNDING_SECONDS
from iomine.derive.sorting import ascending, order_by
from iomine.derive.trace import Flags, Floats, Integers

# How far clocks that were corrected may still be apart.
_SLACK_SECONDS: Final = 1e-3


class Requests(NamedTuple):
    """Requests of a layer that move something, at times that make sense.

    Attributes:
        at: index of each in its trace.
        rows: file and direction of each, as one number.
        groups: file, direction and rank of each, as one number.
        ranks: index of the rank of each.
        offsets: where in its file each starts, negative where that is not known or cannot be trusted.
        lengths: bytes of each.
        starts: when each started, by a clock that was corrected.
        ends: when each ended.
    """

    at: Integers
    rows: Integers
    groups: Integers
    ranks: Integers
    offsets: Integers
    lengths: Integers
    starts: Floats
    ends: Floats

    def where(self, flags: Flags) -> "Requests":
        """Some of the requests."""
        return self if flags.all() else Requests._make(column[flags] for column in self)


class _Asked(NamedTuple):
    """Bytes that are asked for.

    Attributes:
        keys: what has to be equal.
        offsets: where in its file each byte lies.
        since: the request that moves it starts no earlier.
        until: nor later.
    """

    keys: Integers
    offsets: Integers
    since: Floats
    until: Floats


class _Done(NamedTuple):
    """Requests that move bytes.

    Attributes:
        keys: what has to be equal.
        begins: where in its file each request begins.
        ends: where it ends, after where it begins.
        starts: when each started; finite.
    """

    keys: Integers
    begins: Integers
    ends: Integers
    starts: Floats


def carriers(mpiio: Requests, posix: Requests, calls: Calls, until: Floats) -> Integers:
    """For each MPI-IO request the POSIX request that moved its first byte, negative where there is none.

    Args:
        mpiio: requests of MPI-IO.
        posix: requests of POSIX.
        calls: calls of each row by records.
        until: when the collective call of each MPI-IO request ended, or, if none is known, the request.
    """
    done = np.flatnonzero((posix.offsets >= 0) & np.isin(posix.rows, mpiio.rows))
    posix = Requests._make(column[done] for column in posix)
    ends = posix.offsets + posix.lengths
    found = np.full(len(mpiio.rows), -1)

    def look(flags: Flags, asked: Integers, keys: Integers, since: Floats, until: Floats) -> None:
        at = np.flatnonzero(flags & (found < 0) & (mpiio.offsets >= 0))
        if len(at):
            of_at = _Asked(asked[at], mpiio.offsets[at], since[at], until[at])
            found[at] = _first_holders(of_at, _Done(keys, posix.offsets, ends, posix.starts))

    look(np.ones(len(found), bool), mpiio.groups, posix.groups, mpiio.starts - ROUNDING_SECONDS, mpiio.ends)
    # Comparisons with NaN are false: of calls that are not known some may be of the kind.
    look((calls.collective != 0)[mpiio.rows], mpiio.rows, posix.rows, mpiio.starts - _SLACK_SECONDS, until)
    look((calls.other != 0)[mpiio.rows], mpiio.groups, posix.groups, mpiio.starts - ROUNDING_SECONDS, np.full(len(found), np.inf))
    return np.where(found >= 0, done[found], -1) if len(done) else found


def _first_holders(asked: _Asked, done: _Done) -> Integers:
    """For each byte the request that holds it and starts first in its time, negative where there is none."""
    if not len(done.keys):
        return np.full(len(asked.keys), -1)
    by_start = order_by(done.starts)
    turns = np.empty_like(by_start)
    turns[by_start] = np.arange(len(by_start))
    earliest = np.searchsorted(done.starts[by_start], asked.since)
    found = np.full(len(asked.keys), len(by_start))
    begins, ends, places = _leaves(asked, done)
    leaf_count = int(places.max()) + 1
    begins, ends, nodes = begins + leaf_count, ends + leaf_count, places + leaf_count
    width = len(by_start) + 1
    while (stays := begins < ends).any():
        begins, ends, turns = begins[stays], ends[stays], turns[stays]
        left, right = (begins & 1).nonzero()[0], (ends & 1).nonzero()[0]
        hung = np.concatenate([begins[left] * width + turns[left], (ends[right] - 1) * width + turns[right]])
        if len(hung):
            _improve(found, ascending(hung), nodes * width, earliest)
        begins, ends, nodes = (begins + 1) >> 1, ends >> 1, nodes >> 1
    request = np.append(by_start, -1)[found]
    return np.where(np.append(done.starts, np.inf)[request] <= asked.until, request, -1)


def _leaves(asked: _Asked, done: _Done) -> tuple[Integers, Integers, Integers]:
    """The first leaf of each request and the one after its last, and the leaf of each byte: one for each that differs."""
    keys = np.concatenate([done.keys, done.keys, asked.keys])
    offsets = np.concatenate([done.begins, done.ends, asked.offsets])
    # Of equal offsets, bytes come last: a request that begins there holds them, and one that ends there does not.
    order = order_by(keys, offsets)
    is_byte = order >= 2 * len(done.keys)
    is_leaf = is_byte.copy()
    is_leaf[1:] &= ~is_byte[:-1] | (np.diff(keys[order]) != 0) | (np.diff(offsets[order]) != 0)
    leaves = np.empty_like(order)
    leaves[order] = np.cumsum(is_leaf) - is_byte
    begins, ends, places = np.split(leaves, [len(done.keys), 2 * len(done.keys)])
    return begins, ends, places


def _improve(found: Integers, hung: Integers, wanted: Integers, earliest: Integers) -> None:
    """Takes requests that hang on the nodes where they are the first in time.

    Args:
        found: turn of the request found for each byte, changed in place.
        hung: what hangs on nodes, as a number that begins with the node and ends with the turn, in order.
        wanted: such numbers of the node of each byte, with turn 0.
        earliest: the first turn that is not too early for each byte.
    """
    at = np.minimum(np.searchsorted(hung, wanted + earliest), len(hung) - 1)
    turns = hung[at] - wanted
    is_better: Flags = (turns >= earliest) & (turns < found)
    found[is_better] = turns[is_better]
