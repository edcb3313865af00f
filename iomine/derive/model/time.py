"""Where the time of a class goes: waiting for the last rank, exchanging data, storage.

A collective call begins when the last of its ranks has come, and where few ranks move the data of all, they exchange it
before or after. So the time in calls of the mean rank has three parts: it waits for the last rank, POSIX is busy,
and the rest is the exchange. Waiting and exchange are the program's, storage is the system's.
"""

from typing import NamedTuple

import numpy as np

from iomine.derive.collective import grouped_calls
from iomine.derive.model.calls import Calls
from iomine.derive.sorting import order_by
from iomine.derive.trace import Flags, Floats, Integers, group_starts, grouped, turns


class Spent(NamedTuple):
    """Seconds of each class.

    Attributes:
        calls: in its requests, of the mean rank.
        waits: of them until the last rank of a call has come.
        storage: in which any POSIX request of it was under way, NaN where that is not known.
        exchange: the rest.
        excess: by how much waiting and storage exceed the calls: storage that worked while nobody was in a call, or twice
            counted where ranks wait for different calls.
    """

    calls: Floats
    waits: Floats
    storage: Floats
    exchange: Floats
    excess: Floats


def spent(in_calls: Floats, waits: Floats, storage: Floats, is_buffered: Flags) -> Spent:
    """The parts of the time in calls.

    Args:
        in_calls: time in calls of the mean rank, for each class.
        waits: of that the time until the last rank has come.
        storage: time in which POSIX was busy, NaN where that is not known.
        is_buffered: fewer ranks called POSIX than MPI-IO; of other classes nobody waits or exchanges.
    """
    waits = np.where(is_buffered, waits, 0.0)
    rest = np.where(is_buffered, in_calls - waits - storage, 0.0)
    return Spent(in_calls, waits, storage, np.maximum(rest, 0.0), np.maximum(-rest, 0.0))


def in_calls(calls: Calls, classes: Integers, rank_counts: Integers) -> Floats:
    """Time in requests of each class, of its mean rank.

    Args:
        calls: requests.
        classes: class of each piece.
        rank_counts: ranks of each class.
    """
    seconds = np.add.reduceat(calls.ends - calls.starts, calls.firsts)
    return np.bincount(classes, seconds, len(rank_counts)) / rank_counts


def waits(calls: Calls, classes: Integers, rank_counts: Integers, wanted: Flags) -> Floats:
    """Time of the mean rank until the last rank has come to a call, at most until the call ends for that rank.

    The k-th requests of ranks on a file in a phase are one call.

    Args:
        calls: requests.
        classes: class of each piece.
        rank_counts: ranks of each class.
        wanted: classes that are asked for; others are 0.
    """
    pieces = np.flatnonzero(wanted[classes])
    if not len(pieces):
        return np.zeros(len(rank_counts))
    counts = calls.counts[pieces]
    call_of, call_count = grouped_calls(grouped(calls.phases[pieces], calls.file_ids[pieces])[1], counts)
    at = np.repeat(calls.firsts[pieces], counts) + turns(counts)
    starts, ends = calls.starts[at], calls.ends[at]
    last = np.full(call_count, -np.inf)
    np.maximum.at(last, call_of, starts)
    seconds = np.minimum(last[call_of], ends) - starts
    return np.bincount(np.repeat(classes[pieces], counts), seconds, len(rank_counts)) / rank_counts


def busy(starts: Floats, ends: Floats, classes: Integers, total: int) -> Floats:
    """Length of the union of each class's intervals.

    Args:
        starts: when each interval starts.
        ends: when each ends.
        classes: class of each.
        total: number of classes.
    """
    seconds = np.zeros(total)
    if not len(starts):
        return seconds
    order = order_by(classes, starts)
    starts, ends, classes = starts[order], ends[order], classes[order]
    begins = group_starts(classes)
    for begin, end in zip(begins, np.append(begins[1:], len(classes)), strict=True):
        until = np.maximum.accumulate(ends[begin:end])
        since = np.maximum(starts[begin:end], np.append(-np.inf, until[:-1]))
        seconds[classes[begin]] = np.maximum(until - since, 0.0).sum()
    return seconds
