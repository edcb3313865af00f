"""How requests follow each other in files, and how long they are, from traces."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from iomine.derive.columns import counts, labels, stacked
from iomine.derive.trace import OPS, Flags, Integers, Trace, group_starts, grouped

# No file is as long: a request that is said to lie beyond has an offset or a length that cannot be trusted.
_ABSURD_BYTES: Final = 1 << 60
_LONGEST_LINE: Final = 1 << 62
_MOST_LENGTHS: Final = 1024
_KEPT_DIGITS: Final = 5


class _Order(NamedTuple):
    """Requests that have a length, group by group (a rank's on a file in one direction), each group in order of time.

    Attributes:
        rows: row of the table that each belongs to: its file and direction.
        begins: where in the file each starts.
        ends: where in the file each ends.
        is_known: offset and length can be trusted.
        is_consecutive: it starts where the one before in its group ended.
        is_backward: it starts before the end of the one before in its group.
        is_rewind: it is backward and returns to the lowest offset of its group.
    """

    rows: Integers
    begins: Integers
    ends: Integers
    is_known: Flags
    is_consecutive: Flags
    is_backward: Flags
    is_rewind: Flags


def file_access(traces: Sequence[Trace]) -> dict[str, pa.Array]:
    """Rows of the table `file_access`; no columns where there are no rows.

    A rank's requests are taken in order of their start, those of equal start as they were traced. The first visit to
    the lowest offset is no rewind, since nothing is passed over again. Requests of no length count as requests and give
    ranks, but have no place in the order or the extent of others. What needs offsets is NULL for a file and direction
    with an offset that is not known.
    """
    return stacked([_file_access(trace) for trace in traces])


def _file_access(trace: Trace) -> dict[str, pa.Array]:
    groups, group_of_run = grouped(trace.file_ids, trace.ops, trace.ranks)
    # A row is the groups of all ranks.
    file_ids, ops = trace.file_ids[groups], trace.ops[groups]
    firsts = group_starts(file_ids, ops)
    row_count = len(firsts)
    row_of_group = np.repeat(np.arange(row_count), np.diff(firsts, append=len(groups)))
    row_of_run = row_of_group[group_of_run]
    order = _ordered(trace, row_of_run, group_of_run)
    touched, is_unknown = _touched_bytes(order, row_count)

    def per_row(flags: Flags) -> pa.Array:
        return pa.array(np.bincount(order.rows[flags], minlength=row_count), mask=is_unknown)

    return {
        "layer": labels(np.zeros(row_count, np.int64), [trace.layer]),
        "file_id": pa.array(file_ids[firsts]),
        "op": labels(ops[firsts], OPS),
        "request_count": counts(np.bincount(row_of_run, trace.counts)),
        "moved_bytes": counts(np.bincount(row_of_run, trace.bytes)),
        "touched_bytes": pa.array(touched, mask=is_unknown),
        "consecutive_count": per_row(order.is_consecutive),
        "backward_count": per_row(order.is_backward & ~order.is_rewind),
        "rewind_count": per_row(order.is_rewind),
        "rank_count": pa.array(np.bincount(row_of_group)),
        "request_seconds": pa.array(np.bincount(row_of_run, trace.seconds)),
    }


def _ordered(trace: Trace, row_of_run: Integers, group_of_run: Integers) -> _Order:
    groups, rows = (np.repeat(of_run, trace.counts) for of_run in (group_of_run, row_of_run))
    offsets, lengths, starts = trace.offsets, trace.lengths, trace.starts
    if not lengths.all():
        kept = lengths > 0
        groups, rows, offsets, lengths, starts = groups[kept], rows[kept], offsets[kept], lengths[kept], starts[kept]
    has_before = np.zeros(len(groups), dtype=bool)
    has_before[1:] = groups[1:] == groups[:-1]
    # Nearly all traces are in order as they come, and to sort takes longer than all else.
    is_scattered = len(group_of_run) > group_of_run.max() + 1
    if is_scattered or np.any(has_before[1:] & (starts[1:] < starts[:-1])):
        order = np.lexsort((starts, groups))
        groups, rows, offsets, lengths = groups[order], rows[order], offsets[order], lengths[order]
        has_before[1:] = groups[1:] == groups[:-1]
    is_known = (offsets >= 0) & (offsets <= _ABSURD_BYTES) & (lengths <= _ABSURD_BYTES)
    if not is_known.all():
        offsets, lengths = np.where(is_known, offsets, 0), np.where(is_known, lengths, 0)
    ends = offsets + lengths
    is_consecutive, is_backward = has_before.copy(), has_before.copy()
    is_consecutive[1:] &= offsets[1:] == ends[:-1]
    is_backward[1:] &= offsets[1:] < ends[:-1]
    is_rewind = is_backward & _is_back_at_lowest(offsets, has_before) if is_backward.any() else is_backward
    return _Order(rows, offsets, ends, is_known, is_consecutive, is_backward, is_rewind)


def _is_back_at_lowest(begins: Integers, has_before: Flags) -> Flags:
    """Whether requests start at the lowest offset of their group, and are not the first that do."""
    is_back = np.zeros(len(begins), dtype=bool)
    firsts = np.flatnonzero(~has_before)
    lowest_of_group = np.repeat(np.minimum.reduceat(begins, firsts), np.diff(firsts, append=len(begins)))
    lowest = np.flatnonzero(begins == lowest_of_group)
    group = np.searchsorted(firsts, lowest, side="right")
    is_back[lowest[1:][group[1:] == group[:-1]]] = True
    return is_back


def _touched_bytes(order: _Order, row_count: int) -> tuple[Integers, Flags]:
    """Bytes that the requests of each row cover, and for which rows that is not known."""
    is_unknown = np.bincount(order.rows[~order.is_known], minlength=row_count) > 0
    touched = np.zeros(row_count, np.int64)
    # Consecutive requests are one extent, which leaves fewer to be sorted.
    firsts = np.flatnonzero(~order.is_consecutive)
    if not len(firsts):
        return touched, is_unknown
    rows, begins = order.rows[firsts], order.begins[firsts]
    ends = order.ends[np.append(firsts[1:], len(order.rows)) - 1]
    sizes = np.zeros(row_count, np.int64)
    np.maximum.at(sizes, rows, ends + 1)
    if sizes.sum(dtype=np.float64) > _LONGEST_LINE:
        return touched, np.ones_like(is_unknown)
    # All files on one line, one after the other.
    at = (np.cumsum(sizes) - sizes)[rows]
    begins, ends = np.sort(begins + at), np.sort(ends + at)
    # Between the k-th end and the begin after the k-th, and nowhere else, nothing is covered.
    begins[1:] = np.maximum(begins[1:], ends[:-1])
    np.add.at(touched, np.repeat(np.arange(row_count), np.bincount(rows, minlength=row_count)), ends - begins)
    return touched, is_unknown


def request_sizes(traces: Sequence[Trace]) -> dict[str, pa.Array]:
    """Rows of the table `request_size`; no columns where there are no rows.

    Where a layer and direction has more than 1,024 lengths, each is rounded down to its first five binary digits, so
    that at most 960 are left. Rounding down never takes a length over a power of two: `length_bytes < 2**k` stays as
    true or false as it was. Negative lengths are counted as 0.
    """
    return stacked([part for trace in traces for part in _request_sizes(trace)])


def _request_sizes(trace: Trace) -> list[dict[str, pa.Array]]:
    is_read = np.repeat(trace.ops == OPS.index("read"), trace.counts)
    parts = []
    for op, lengths in zip(OPS, (trace.lengths[~is_read], trace.lengths[is_read]), strict=True):
        distinct, requests = np.unique(lengths, return_counts=True)
        if len(distinct) > _MOST_LENGTHS:
            rounded = _rounded_down(distinct)
            firsts = group_starts(rounded)
            distinct, requests = rounded[firsts], np.add.reduceat(requests, firsts)
        parts.append(
            {
                "layer": labels(np.zeros(len(distinct), np.int64), [trace.layer]),
                "op": labels(np.full(len(distinct), OPS.index(op)), OPS),
                "length_bytes": pa.array(distinct),
                "request_count": pa.array(requests),
            }
        )
    return parts


def _rounded_down(lengths: Integers) -> Integers:
    # A length near 2**63 may become the next power of two as a float: then a digit less is kept, which is no harm.
    digits = np.frexp(lengths.astype(np.float64))[1]
    dropped = np.maximum(digits - _KEPT_DIGITS, 0)
    rounded: Integers = lengths >> dropped << dropped
    return rounded
