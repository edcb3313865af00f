"""How requests follow each other in files, and how long they are, from traces."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from iomine.derive.batch import LOG, TooMuchTogetherError
from iomine.derive.columns import counts, labels, stacked
from iomine.derive.order import Order, Ordered
from iomine.derive.sorting import ascending, order_by
from iomine.derive.trace import Flags, Integers, Trace, group_sizes, group_starts
from iomine.schema.column import Column
from iomine.schema.ops import OPS, READ

_LONGEST_LINE: Final = 1 << 62
_MOST_LENGTHS: Final = 1024
_KEPT_DIGITS: Final = 5


def file_access(traces: Sequence[Ordered]) -> dict[str, Column]:
    """Rows of the table `file_access`; no columns where there are no rows.

    A rank's requests are taken in order of their start, those of equal start as they were traced. The first visit to
    the lowest offset is no rewind, since nothing is passed over again. Requests of no length count as requests and give
    ranks, but have no place in the order or the extent of others. What needs offsets is NULL for a file and direction
    with an offset that is not known.
    """
    return stacked([_file_access(trace) for trace in traces])


def _file_access(ordered: Ordered) -> dict[str, Column]:
    trace, groups, order = ordered.trace, ordered.groups, ordered.filled
    row_count = len(groups.file_ids)
    row_of_run = groups.rows[groups.of_run]
    rows = groups.rows[order.groups]
    is_backward, is_rewind = _goes_back(order)
    touched, is_unknown = _touched_bytes(order, rows, row_count, is_of_one_log=trace.is_of_one_log)

    def per_row(flags: Flags) -> Column:
        return Column(np.bincount(rows[flags], minlength=row_count), mask=is_unknown)

    return {
        "layer": labels(np.zeros(row_count, np.int64), [trace.layer]),
        "file_id": Column(groups.file_ids),
        "op": labels(groups.ops, OPS),
        "request_count": counts(np.bincount(row_of_run, trace.counts)),
        "moved_bytes": counts(np.bincount(row_of_run, trace.bytes)),
        "touched_bytes": Column(touched, mask=is_unknown),
        "consecutive_count": per_row(order.is_consecutive),
        "backward_count": per_row(is_backward & ~is_rewind),
        "rewind_count": per_row(is_rewind),
        "rank_count": Column(np.bincount(groups.rows)),
        "request_seconds": Column(np.bincount(row_of_run, trace.seconds)),
    }


def _goes_back(order: Order) -> tuple[Flags, Flags]:
    """Requests that start before the end of the one before in their group, and those of them that are rewinds."""
    is_backward = np.zeros(len(order.begins), dtype=bool)
    np.less(order.begins[1:], order.ends[:-1], out=is_backward[1:])
    is_backward[order.firsts] = False
    return is_backward, is_backward & _is_back_at_lowest(order) if is_backward.any() else is_backward


def _is_back_at_lowest(order: Order) -> Flags:
    """Whether requests start at the lowest offset of their group, and are not the first that do."""
    is_back = np.zeros(len(order.begins), dtype=bool)
    lowest_of_group = np.minimum.reduceat(order.begins, order.firsts)
    lowest = np.flatnonzero(order.begins == np.repeat(lowest_of_group, np.diff(order.firsts, append=len(order.begins))))
    group = order.groups[lowest]
    is_back[lowest[1:][group[1:] == group[:-1]]] = True
    return is_back


def _touched_bytes(order: Order, rows: Integers, row_count: int, *, is_of_one_log: bool) -> tuple[Integers, Flags]:
    """Bytes that the requests of each row cover, and for which rows that is not known.

    Raises:
        TooMuchTogetherError: the files of several logs do not fit on one line.
    """
    is_unknown = np.bincount(rows[~order.is_known], minlength=row_count) > 0
    touched = np.zeros(row_count, np.int64)
    # Consecutive requests are one extent, which leaves fewer to be sorted.
    firsts, ends = order.extents()
    rows, begins = rows[firsts], order.begins[firsts]
    sizes = np.zeros(row_count, np.int64)
    np.maximum.at(sizes, rows, ends + 1)
    if sizes.sum(dtype=np.float64) > _LONGEST_LINE:
        if not is_of_one_log:
            raise TooMuchTogetherError
        return touched, np.ones_like(is_unknown)
    # All files on one line, one after the other.
    at = (np.cumsum(sizes) - sizes)[rows]
    begins, ends = begins + at, ends + at
    by_begin = order_by(begins)
    # In the order of begins, ends mostly ascend.
    begins, ends = begins[by_begin], ascending(ends[by_begin])
    # Between the k-th end and the begin after the k-th, and nowhere else, nothing is covered.
    begins[1:] = np.maximum(begins[1:], ends[:-1])
    np.add.at(touched, np.repeat(np.arange(row_count), np.bincount(rows, minlength=row_count)), ends - begins)
    return touched, is_unknown


def request_sizes(traces: Sequence[Trace]) -> dict[str, Column]:
    """Rows of the table `request_size`; no columns where there are no rows.

    Where a layer and direction has more than 1,024 lengths, each is rounded down to its first five binary digits, so
    that at most 960 are left. Rounding down never takes a length over a power of two: `length_bytes < 2**k` stays as
    true or false as it was. Negative lengths are counted as 0.
    """
    return stacked([part for trace in traces for part in _request_sizes(trace)])


def _request_sizes(trace: Trace) -> list[dict[str, Column]]:
    is_read = np.repeat(trace.ops == READ, trace.counts)
    of_logs = () if trace.is_of_one_log else (np.repeat(trace.logs, trace.counts),)
    parts = []
    for op, is_op in enumerate((is_read, ~is_read)):
        keys = [column[is_op] for column in (*of_logs, trace.lengths)]
        if not len(keys[-1]):
            continue
        order = order_by(*keys)
        keys = [key[order] for key in keys]
        firsts = group_starts(*keys)
        requests = group_sizes(firsts, len(order))
        distinct = keys[-1][firsts]
        logs = keys[0][firsts] if of_logs else np.full(len(firsts), trace.logs[0])
        are_many = np.bincount(logs) > _MOST_LENGTHS
        if are_many.any():
            rounded = np.where(are_many[logs], _rounded_down(distinct), distinct)
            firsts = group_starts(logs, rounded)
            logs, distinct, requests = logs[firsts], rounded[firsts], np.add.reduceat(requests, firsts)
        parts.append(
            {
                LOG: Column(logs),
                "layer": labels(np.zeros(len(distinct), np.int64), [trace.layer]),
                "op": labels(np.full(len(distinct), op), OPS),
                "length_bytes": Column(distinct),
                "request_count": Column(requests),
            }
        )
    return parts


def _rounded_down(lengths: Integers) -> Integers:
    # A length near 2**63 may become the next power of two as a float: then a digit less is kept, which is no harm.
    digits = np.frexp(lengths.astype(np.float64))[1]
    dropped = np.maximum(digits - _KEPT_DIGITS, 0)
    rounded: Integers = lengths >> dropped << dropped
    return rounded
