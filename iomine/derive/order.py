"""Requests of a trace in the order in which they were made."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.sorting import order_by
from iomine.derive.trace import Flags, Integers, Trace, group_starts, grouped

# No file is as long: a request that is said to lie beyond has an offset or a length that cannot be trusted.
_ABSURD_BYTES: Final = 1 << 60


class Groups(NamedTuple):
    """Groups of a trace's requests, each a rank's on a file in one direction, and the rows that all ranks' make up.

    Attributes:
        file_ids: file of each row.
        ops: direction of each row, an index into `OPS`.
        logs: log of each row.
        rows: row of each group, ascending.
        ranks: rank of each group.
        of_run: group of each run of the trace.
    """

    file_ids: Integers
    ops: Integers
    logs: Integers
    rows: Integers
    ranks: Integers
    of_run: Integers


class Order(NamedTuple):
    """Requests group by group, each group in order of their start, those of equal start as they were traced.

    Attributes:
        at: index of each in the trace; a slice of all where they are in order as they come.
        groups: group of each.
        firsts: index of each group's first.
        begins: where in the file each starts, 0 where that is not known.
        ends: where in the file each ends, 0 where that is not known.
        is_known: offset and length can be trusted.
        is_consecutive: it starts where the one before in its group ended.
    """

    at: Integers | slice
    groups: Integers
    firsts: Integers
    begins: Integers
    ends: Integers
    is_known: Flags
    is_consecutive: Flags

    def extents(self) -> tuple[Integers, Integers]:
        """Index of the first request of each stretch of consecutive ones, and where in the file the last of it ends."""
        firsts = np.flatnonzero(~self.is_consecutive)
        return firsts, self.ends[np.append(firsts[1:], len(self.ends))[: len(firsts)] - 1]

    def unknown(self, group_count: int) -> Flags:
        """Groups with a request whose offset or length cannot be trusted."""
        is_unknown: Flags = np.bincount(self.groups[~self.is_known], minlength=group_count) > 0
        return is_unknown


class Ordered:
    """A trace in the order in which its requests were made; what takes time is found out once, when it is asked for.

    Args:
        trace: the trace of a layer.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def groups(self) -> Groups:
        """The groups, by file, direction and rank."""
        trace = self.trace
        runs, of_run = grouped(trace.file_ids, trace.ops, trace.ranks)
        file_ids, ops = trace.file_ids[runs], trace.ops[runs]
        firsts = group_starts(file_ids, ops)
        rows = np.repeat(np.arange(len(firsts)), np.diff(firsts, append=len(runs)))
        return Groups(file_ids[firsts], ops[firsts], trace.logs[runs[firsts]], rows, trace.ranks[runs], of_run)

    @cached_property
    def order(self) -> Order:
        """All requests."""
        return self._order(slice(None))

    @cached_property
    def filled(self) -> Order:
        """Requests that moved something."""
        lengths = self.trace.lengths
        return self.order if lengths.all() else self._order(np.flatnonzero(lengths))

    def _order(self, at: Integers | slice) -> Order:
        trace, of_run = self.trace, self.groups.of_run
        groups, starts = np.repeat(of_run, trace.counts)[at], trace.starts[at]
        has_before = _equals_before(groups)
        # Nearly all traces are in order as they come, and to sort takes longer than all else.
        is_late = has_before[1:] & (starts[1:] < starts[:-1])
        is_mixed = np.bincount(trace.logs) > np.bincount(self.groups.logs[self.groups.rows])
        if is_mixed.any() or is_late.any():
            logs = np.repeat(trace.logs, trace.counts)[at]
            is_mixed[logs[1:][is_late]] = True
            # Logs that are in order stay as they come.
            mixed = np.flatnonzero(is_mixed[logs])
            order = np.arange(len(groups))
            order[mixed] = mixed[order_by(groups[mixed], starts[mixed])]
            groups, at = groups[order], order if isinstance(at, slice) else at[order]
            has_before = _equals_before(groups)
        begins, lengths = trace.offsets[at], trace.lengths[at]
        is_known = (begins >= 0) & (begins <= _ABSURD_BYTES) & (lengths <= _ABSURD_BYTES)
        if not is_known.all():
            begins, lengths = np.where(is_known, begins, 0), np.where(is_known, lengths, 0)
        ends = begins + lengths
        is_consecutive = has_before.copy()
        is_consecutive[1:] &= begins[1:] == ends[:-1]
        return Order(at, groups, np.flatnonzero(~has_before), begins, ends, is_known, is_consecutive)


def in_order(traces: Sequence[Trace]) -> list[Ordered]:
    """Each trace in order."""
    return [Ordered(trace) for trace in traces]


def _equals_before(groups: Integers) -> Flags:
    is_equal = np.zeros(len(groups), dtype=bool)
    np.equal(groups[1:], groups[:-1], out=is_equal[1:])
    return is_equal
