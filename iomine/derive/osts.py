"""What each OST did for a log: from its trace and the Lustre layouts of its files, or from records where there is no trace."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.batch import LOG, TooMuchTogetherError
from iomine.derive.columns import TOO_MANY, counts, finite, label, labels, stacked
from iomine.derive.layouts import LAYER, MOST_BYTES, Layouts, Lustre, Parts, Place
from iomine.derive.trace import Floats, Integers, Tables, Trace, grouped
from iomine.schema.column import Column
from iomine.schema.ops import OPS

# Ranges that are taken apart at once, and parts that may come of them: few enough to stay in the processor's caches.
_MOST_RANGES: Final = 1 << 16
_MOST_PARTS: Final = 1 << 20
_EXACT: Final = 2.0**53


class _Sums(NamedTuple):
    """What each slot did in each direction, the directions of a slot side by side.

    Attributes:
        moved: bytes, which wrap around beyond 64 bits where they are integers.
        rough: bytes, which do not.
        requests: requests, NaN where they are not known.
        seconds: time in requests.
    """

    moved: npt.NDArray[Any]
    rough: Floats
    requests: Floats
    seconds: Floats

    @classmethod
    def none(cls, layouts: Layouts, kind: type[np.generic]) -> "_Sums":
        """Nothing yet, bytes in numbers of some kind."""
        length = len(OPS) * len(layouts.files)
        return cls(np.zeros(length, kind), *np.zeros((3, length)))

    def add(self, keys: Integers, moved: npt.NDArray[Any], requests: npt.NDArray[Any], seconds: Floats) -> None:
        """Adds amounts, by slot and direction."""
        for sums, amounts in zip(self, (moved, moved, requests, seconds), strict=True):
            # In this way sums are floats, which are quicker and exact up to 2**53.
            quick = np.bincount(keys, amounts, minlength=len(sums))
            if sums.dtype == np.float64 or quick.sum() < _EXACT:
                np.add(sums, quick.astype(sums.dtype), out=sums)
            else:
                np.add.at(sums, keys, amounts)


def ost_io(tables: Tables, traces: Sequence[Trace], lustre: Lustre) -> dict[str, Column]:
    """Rows of the table `ost_io`; no columns where there are no rows.

    Each traced byte is counted once: on its OST, or under the reason why that is not known. A request counts once on
    each OST that it touches, one of no bytes where its offset lies, and its time is divided in proportion to bytes.

    What a file's records count beyond its trace, all of it where there is none, is spread evenly over the file up to
    the highest offset, and so over its OSTs; which requests went where is then known only of files on a single one.

    Args:
        tables: columns by table, in one or more parts.
        traces: the traces in these.
        lustre: where the bytes of files lie.
    """
    traces = [trace for trace in traces if trace.layer == LAYER]
    file_ids = lustre.file_ids
    if not len(file_ids):
        return {}
    layouts = lustre.layouts
    traced, spread = _Sums.none(layouts, np.int64), _Sums.none(layouts, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        for trace in traces:
            _add_trace(trace, file_ids, layouts, traced)
        _add_records(*_untraced(tables, traces, file_ids), layouts, spread)
        return stacked([_rows(lustre, traced, "trace"), _rows(lustre, spread, "spread")])


def batches(layouts: Layouts, files: Integers, lengths: Integers) -> Iterator[slice]:
    """Ranges, as many at once as memory allows."""
    for start in range(0, len(files), _MOST_RANGES):
        chunk = slice(start, start + _MOST_RANGES)
        ends = np.cumsum(layouts.most_parts(files[chunk], lengths[chunk]))
        first = done = 0
        while first < len(ends):
            last = max(first + 1, int(np.searchsorted(ends, done + _MOST_PARTS, side="right")))
            yield slice(start + first, start + last)
            first, done = last, ends[last - 1]


def batches_of_trace(trace: Trace, layouts: Layouts, files: Integers, lengths: Integers) -> Iterator[slice]:
    """Batches of the requests of a trace.

    Raises:
        TooMuchTogetherError: those of several logs are too many for one batch: sums are added batch by batch.
    """
    found = list(batches(layouts, files, lengths))
    if len(found) > 1 and not trace.is_of_one_log:
        raise TooMuchTogetherError
    return iter(found)


def _add_trace(trace: Trace, file_ids: Integers, layouts: Layouts, sums: _Sums) -> None:
    """Adds the requests of a trace."""
    files, ops = (np.repeat(of_run, trace.counts) for of_run in (np.searchsorted(file_ids, trace.file_ids), trace.ops))
    for batch in batches_of_trace(trace, layouts, files, trace.lengths):
        offsets, lengths = trace.offsets[batch], trace.lengths[batch]
        is_known = (offsets >= 0) & (offsets <= MOST_BYTES) & (lengths <= MOST_BYTES)
        # A request of no bytes has a place too.
        extents = np.maximum(lengths, 1)
        begins = np.where(is_known, offsets, -extents)
        parts = layouts.parts(files[batch], begins, begins + extents)
        seconds = trace.ends[batch] - trace.starts[batch]
        seconds[~((seconds >= 0) & (seconds < TOO_MANY))] = 0.0
        sums.add(
            _keys(parts, ops[batch]),
            parts.sizes * (lengths > 0)[parts.ranges],
            parts.is_first,
            seconds[parts.ranges] * (parts.sizes / extents[parts.ranges]),
        )


def _keys(parts: Parts, ops: Integers) -> Integers:
    keys: Integers = parts.slots * len(OPS) + ops[parts.ranges]
    return keys


def _untraced(tables: Tables, traces: Sequence[Trace], file_ids: Integers) -> tuple[Floats, Integers]:
    """What the records of files hold beyond their traces, the directions of a file side by side.

    Returns:
        Rows of bytes, requests and seconds; and where the furthest request ended, not positive where that is not known.
    """
    length = len(OPS) * len(file_ids)
    left, ends = np.zeros((3, length)), np.zeros(length, np.int64)
    for part in tables.get("posix_file", ()):
        for op, name in enumerate(OPS):
            keys = np.searchsorted(file_ids, part["file_id"].to_numpy()) * len(OPS) + op
            for sums, word in zip(left, ("bytes", "count", "seconds"), strict=True):
                # Darshan writes a negative value for an unknown counter.
                np.add.at(sums, keys, np.fmax(part[f"{name}_{word}"].to_numpy(), 0))
            np.maximum.at(ends, keys, part[f"max_{name}_offset_bytes"].to_numpy() + 1)
    for trace in traces:
        keys = np.searchsorted(file_ids, trace.file_ids) * len(OPS) + trace.ops
        for sums, amounts in zip(left, (trace.bytes, trace.counts, trace.seconds), strict=True):
            np.subtract.at(sums, keys, amounts)
    return np.fmax(left, 0), ends


def _add_records(untraced: Floats, furthest: Integers, layouts: Layouts, sums: _Sums) -> None:
    """Adds what records hold, spread over their files up to where the furthest request ended."""
    at = np.flatnonzero(np.any(untraced[:2] > 0, axis=0))
    moved, requests, seconds = untraced[:, at]
    files, ops, furthest = at // len(OPS), at % len(OPS), furthest[at]
    is_known = (furthest > 0) & (furthest <= MOST_BYTES)
    begins, ends = np.where(is_known, 0, -1), np.where(is_known, furthest, 0)
    for batch in batches(layouts, files, ends):
        parts = layouts.parts(files[batch], begins[batch], ends[batch])
        extents, ranges = (ends - begins)[batch], parts.ranges
        is_new = np.diff(ranges, prepend=-1) > 0
        reach = np.cumsum(parts.sizes)
        reach -= (reach - parts.sizes)[is_new][ranges]
        # Shares are rounded so that they add up.
        upto = np.rint(reach / extents[ranges] * moved[batch][ranges])
        before = np.where(is_new, 0.0, np.roll(upto, 1))
        is_on_one = np.bincount(ranges, parts.is_first) == 1
        sums.add(
            _keys(parts, ops[batch]),
            upto - before,
            np.where(is_on_one[ranges], parts.is_first * requests[batch][ranges], np.nan),
            seconds[batch][ranges] * (parts.sizes / extents[ranges]),
        )


def _rows(lustre: Lustre, sums: _Sums, evidence: str) -> dict[str, Column]:
    """Rows of one kind of evidence, OSTs in order and then reasons."""
    layouts = lustre.layouts
    keys = np.flatnonzero(np.any([column != 0 for column in sums], axis=0))
    slots, ops = np.divmod(keys, len(OPS))
    order = np.empty(len(layouts.places), np.int64)
    order[sorted(range(len(order)), key=lambda place: _in_order(layouts.places[place]))] = np.arange(len(order))
    logs = lustre.logs[layouts.files[slots]]
    places = layouts.slot_places[slots]
    firsts, group_of = grouped(logs, order[places], ops) if len(keys) else (keys, keys)
    places, ops = places[firsts], ops[firsts]
    totals = _Sums(*(np.zeros(len(firsts), column.dtype) for column in sums))
    for total, column in zip(totals, sums, strict=True):
        np.add.at(total, group_of, column[keys])
    # Each file once, however many slots it has on a place.
    touched = np.unique(layouts.files[slots] * len(firsts) + group_of) % max(len(firsts), 1)
    is_held = (totals.rough < TOO_MANY) & (totals.moved >= 0)
    osts = np.array([place if isinstance(place, int) else -1 for place in layouts.places], np.int64)[places]
    return {
        LOG: Column(logs[firsts]),
        "layer": labels(np.zeros(len(firsts), np.int64), [LAYER]),
        "ost_id": Column(np.maximum(osts, 0), osts < 0),
        "op": labels(ops, OPS),
        "evidence": label(evidence, len(firsts)),
        "reason": labels(np.where(osts < 0, places, -1), [str(place) for place in layouts.places]),
        "request_count": counts(totals.requests),
        "moved_bytes": Column(np.where(is_held, totals.moved, 0).astype(np.int64), mask=~is_held),
        "request_seconds": finite(totals.seconds),
        "file_count": Column(np.bincount(touched, minlength=len(firsts))),
    }


def _in_order(place: Place) -> tuple[bool, Place]:
    return isinstance(place, str), place
