"""Traces as pictures need them: requests whose gap is less than a pixel are one row, so that a picture reads few.

What is merged under a small tolerance is merged under a larger one too, and whether a row stands for one request or for
many makes no difference to that. So neighbours in the trace are merged first, which needs no order and leaves little to
be sorted; and coarse rows are made from fine ones.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.batch import LOG, TooMuchTogetherError, of_each_log
from iomine.derive.columns import counts, labels, stacked
from iomine.derive.layouts import MOST_BYTES, Lustre
from iomine.derive.sorting import order_by
from iomine.derive.trace import Flags, Floats, Integers, Trace, grouped
from iomine.schema.column import Column
from iomine.schema.ops import OPS
from iomine.units import MIB

# A picture is about as many pixels wide; the second is a picture of an eighth of the run.
_PIXELS: Final = (2048, 16384)
_COARSE, _FINE = range(len(_PIXELS))
# The most rows of one level in a log: a hostile trace has one request a pixel for each of a million ranks.
_MOST_ROWS: Final = 250_000
# Blurring further is worse than to show ranks together.
_RANK_DOUBLINGS: Final = 2
_MOST_DOUBLINGS: Final = 11
# Less memory, and it stays in the cache.
_BLOCK: Final = 1 << 17
# Rows of a block that are worth sorting, so that fewer are left to be sorted together.
_MANY: Final = _BLOCK // 8
# The run's length is rounded to whole seconds in old logs, and clocks of nodes differ a little.
_CLOCK_SLACK_SECONDS: Final = 2.0
# No run is as long.
_ABSURD_SECONDS: Final = 1e9

_TIME: Final = ("start_seconds", "end_seconds")
_OFFSET: Final = ("offset_bytes", "end_offset_bytes")
_LONGEST: Final = ("longest_seconds", "longest_start_seconds")
_REDUCTIONS: Final = {
    **dict.fromkeys(("start_seconds", "offset_bytes"), np.minimum),
    **dict.fromkeys(("end_seconds", "end_offset_bytes"), np.maximum),
    **dict.fromkeys(("request_count", "moved_bytes", "busy_seconds", "small_count"), np.add),
}

# Columns by name, among them `group`: twice the index of what rows belong to (a rank, a file), plus the direction.
Rows = dict[str, npt.NDArray[Any]]


class _Requests(NamedTuple):
    """Requests of a layer that a picture can show, in runs as in `Trace`.

    Attributes:
        layer: the layer.
        logs: log of each run, ascending.
        file_ids: file of each run.
        ranks: rank of each run.
        ops: direction of each run, an index into `OPS`.
        counts: requests of each run, at least one.
        offsets: where in its file each request starts.
        lengths: bytes of each request.
        starts: when each started.
        ends: when each ended.
    """

    layer: str
    logs: Integers
    file_ids: Integers
    ranks: Integers
    ops: Integers
    counts: Integers
    offsets: Integers
    lengths: Integers
    starts: Floats
    ends: Floats

    def of(self, wanted: Flags) -> "_Requests":
        """Some of the requests."""
        if wanted.all():
            return self
        left = np.add.reduceat(wanted, self.firsts, dtype=np.int64)
        has_some = left > 0
        return _Requests(
            self.layer,
            self.logs[has_some],
            self.file_ids[has_some],
            self.ranks[has_some],
            self.ops[has_some],
            left[has_some],
            self.offsets[wanted],
            self.lengths[wanted],
            self.starts[wanted],
            self.ends[wanted],
        )

    @property
    def firsts(self) -> Integers:
        """Index of each run's first request."""
        firsts: Integers = np.cumsum(self.counts) - self.counts
        return firsts

    @property
    def has_offset(self) -> Flags:
        """Which requests lie in the file where the trace says."""
        is_sound: Flags = (self.offsets >= 0) & (self.offsets <= MOST_BYTES) & (self.lengths <= MOST_BYTES)
        return is_sound


class _Limits(NamedTuple):
    """What to do where a level has too many rows.

    Attributes:
        most_rows: more are too many.
        most_doublings: how often the tolerance may be doubled, which is tried first.
        most_together: how many ranks, in order, may share rows.
    """

    most_rows: int
    most_doublings: int
    most_together: int


class _Level(NamedTuple):
    """A level of detail.

    Attributes:
        number: 0 is coarse.
        tolerances: gaps of as many seconds are closed, for each group.
        together: how many ranks share rows.
        logs: log of each row.
        rows: its rows.
    """

    number: int
    tolerances: Floats
    together: int
    logs: Integers
    rows: Rows

    def columns(self, layer: str) -> dict[str, Column]:
        """What all tables of levels have."""
        return {
            LOG: Column(self.logs),
            "detail_level": Column(np.full(len(self.logs), self.number)),
            "tolerance_seconds": Column(self.tolerances[self.rows["group"]]),
            **_columns(layer, self.rows),
        }


def rank_detail(traces: Sequence[Trace], run_seconds: Floats | float | None) -> dict[str, Column]:
    """Rows of the table `rank_detail`; no columns where there are no rows.

    Level 0 merges requests of one layer, rank and direction whose gap is at most 1/2048 of the run, level 1 those whose
    gap is at most 1/16384. A level of a layer is left out where it has more than half as many rows as the next finer one
    that is there, be it the trace itself. A level has at most 250,000 rows, of which each traced layer has an equal share:
    where there would be more, the tolerance is doubled, twice at most, and beyond that ranks share rows. Requests that
    start before the run or end after it, or that have times that make no sense, are left out.

    Args:
        traces: the traces of one log, or of several.
        run_seconds: length of the run, or of each log's; where it is not known, the trace's own is taken.
    """
    run_seconds = of_each_log(run_seconds)
    layers = _requests(traces, run_seconds)
    widths, most_rows = _picture_seconds(layers, run_seconds), _MOST_ROWS // max(len(layers), 1)
    return stacked([part for requests in layers for part in _rank_levels(requests, widths, most_rows)])


def _requests(traces: Sequence[Trace], run_seconds: Floats) -> list[_Requests]:
    """Requests of each layer whose times lie in the run.

    Raises:
        TooMuchTogetherError: requests of several logs may have more rows than a level of one has.
    """
    if len(run_seconds) > 1 and any(len(trace.starts) > _MOST_ROWS // len(traces) for trace in traces):
        raise TooMuchTogetherError
    of_logs = np.fmin(run_seconds + _CLOCK_SLACK_SECONDS, _ABSURD_SECONDS)
    found = []
    for trace in traces:
        requests = _Requests(
            trace.layer,
            *(trace.logs, trace.file_ids, trace.ranks, trace.ops, trace.counts),
            *(trace.offsets, trace.lengths, trace.starts, trace.ends),
        )
        latest = of_logs if len(of_logs) == 1 else np.repeat(of_logs[trace.logs], trace.counts)
        found.append(requests.of((trace.starts >= 0) & (trace.starts <= trace.ends) & (trace.ends <= latest)))
    return [requests for requests in found if len(requests.starts)]


def _picture_seconds(layers: Sequence[_Requests], run_seconds: Floats) -> Floats:
    """Seconds that a picture of each log shows, NaN of one without requests."""
    first, last = np.full((2, len(run_seconds)), np.nan)
    for requests in layers:
        np.fmin.at(first, requests.logs, np.minimum.reduceat(requests.starts, requests.firsts))
        np.fmax.at(last, requests.logs, np.maximum.reduceat(requests.ends, requests.firsts))
    # A run of a second may be said to have taken none.
    widths: Floats = np.where(np.isnan(run_seconds), last - first, np.maximum(run_seconds, last))
    return widths


def _rank_levels(requests: _Requests, widths: Floats, most_rows: int) -> Iterator[dict[str, Column]]:
    runs, index_of_run = grouped(requests.logs, requests.ranks)
    ranks, logs = requests.ranks[runs], np.repeat(requests.logs[runs], len(OPS))
    groups = np.repeat((2 * index_of_run + requests.ops).astype(np.int32), requests.counts)
    for level in _levels(requests, groups, logs, widths, _Limits(most_rows, _RANK_DOUBLINGS, len(ranks))):
        firsts = level.rows["group"].astype(np.int64) // 2 * level.together
        yield {
            "rank": Column(ranks[firsts]),
            "merged_rank_count": Column(np.minimum(level.together, len(ranks) - firsts)),
            **level.columns(requests.layer),
        }


def _levels(requests: _Requests, groups: npt.NDArray[Any], logs: Integers, widths: Floats, limits: _Limits) -> Iterator[_Level]:
    """Levels that are worth it, the fine one first.

    Args:
        requests: the requests, at least one.
        groups: group of each.
        logs: log of each group.
        widths: seconds that a picture of each log shows.
        limits: what to do where there are too many rows.
    """
    finer_counts = np.bincount(requests.logs, requests.counts, len(widths))
    rows = _merged_requests(requests, groups, _TIME, widths[logs] / _PIXELS[_FINE])
    for level in (_FINE, _COARSE):
        tolerances = widths[logs] / _PIXELS[level]
        rows = _merged(rows, _TIME, tolerances)
        shown, doublings = _blurred(rows, _TIME, tolerances, limits.most_rows, limits.most_doublings)
        tolerances *= 2**doublings
        shown, together = _together(shown, tolerances, limits)
        of_rows = logs[shown["group"]]
        row_counts = np.bincount(of_rows, minlength=len(widths))
        is_worth_it = 2 * row_counts <= finer_counts
        finer_counts = np.where(is_worth_it, row_counts, finer_counts)
        yield _Level(level, tolerances, together, of_rows[is_worth_it[of_rows]], _where(shown, is_worth_it[of_rows]))


def _where(rows: Rows, flags: Flags) -> Rows:
    """Some of the rows."""
    return rows if flags.all() else {name: column[flags] for name, column in rows.items()}


def ost_detail(traces: Sequence[Trace], lustre: Lustre, run_seconds: Floats | float | None) -> dict[str, Column]:
    """Rows of the table `ost_detail`; no columns where there are no rows.

    As `rank_detail`, but of requests of layer `posix` by the OST that holds the first byte, whichever rank made them; and
    where there are too many rows the tolerance is doubled further instead. Requests whose OST is not known are left out.

    Args:
        traces: the traces of one log, or of several.
        lustre: where the bytes of files lie.
        run_seconds: length of the run, or of each log's; where it is not known, the trace's own is taken.
    """
    run_seconds = of_each_log(run_seconds)
    layers = [requests for requests in _requests(traces, run_seconds) if requests.layer == "posix"]
    if not lustre.is_known:
        return {}
    widths = _picture_seconds(layers, run_seconds)
    return stacked([part for requests in layers for part in _ost_levels(requests, lustre, widths, _MOST_ROWS // len(layers))])


def _ost_levels(requests: _Requests, lustre: Lustre, widths: Floats, most_rows: int) -> Iterator[dict[str, Column]]:
    osts, logs, place_of = _first_places(requests, lustre)
    ops = np.repeat(requests.ops.astype(np.int32), requests.counts)
    is_known = (osts >= 0)[place_of]
    requests, groups = requests.of(is_known), (2 * place_of + ops)[is_known]
    if not len(groups):
        return
    for level in _levels(requests, groups, np.repeat(logs, len(OPS)), widths, _Limits(most_rows, _MOST_DOUBLINGS, 1)):
        yield {"ost_id": Column(osts[level.rows["group"] // 2]), **level.columns(requests.layer)}


def _first_places(requests: _Requests, lustre: Lustre) -> tuple[Integers, Integers, npt.NDArray[np.int32]]:
    """OSTs of each log in the order of its layouts, negative for other places; the log of each; and that of each first byte."""
    layouts = lustre.layouts
    osts = np.array([place if isinstance(place, int) else -1 for place in layouts.places], np.int64)
    keys = lustre.logs[layouts.files] * len(osts) + layouts.slot_places
    firsts = np.full(int(keys[-1]) // len(osts) * len(osts) + len(osts), len(keys))
    np.minimum.at(firsts, keys, np.arange(len(keys)))
    places = np.argsort(firsts, kind="stable")[: np.count_nonzero(firsts < len(keys))]
    number_of = np.empty(len(firsts), np.int32)
    number_of[places] = np.arange(len(places))
    of_slots = number_of[keys]
    files = np.repeat(np.searchsorted(lustre.file_ids, requests.file_ids), requests.counts)
    offsets = np.where(requests.has_offset, requests.offsets, -1)
    found = np.empty(len(files), np.int32)
    for at in range(0, len(files), _BLOCK):
        block = slice(at, at + _BLOCK)
        found[block] = of_slots[layouts.slots(files[block], offsets[block])]
    logs, codes = np.divmod(places, len(osts))
    return osts[codes], logs, found


def offset_detail(traces: Sequence[Trace], run_seconds: Floats | float | None) -> dict[str, Column]:
    """Rows of the table `offset_detail`; no columns where there are no rows.

    Requests of one layer, file and direction are merged whose gap is at most 1/2048 of what the layer touched of the
    file, from the lowest offset to the highest. A file of which that leaves more than half as many rows as it has requests
    is left out. Where a layer has more rows than its share of 250,000, all tolerances are doubled, eleven times at most.
    Requests without an offset are left out, and those that `rank_detail` leaves out.

    Args:
        traces: the traces of one log, or of several.
        run_seconds: length of the run, or of each log's, None where it is not known.
    """
    found = [requests.of(requests.has_offset) for requests in _requests(traces, of_each_log(run_seconds))]
    layers = [requests for requests in found if len(requests.starts)]
    return stacked([_offset_rows(requests, _MOST_ROWS // len(layers)) for requests in layers])


def _offset_rows(requests: _Requests, most_rows: int) -> dict[str, Column]:
    file_ids, index_of_run = np.unique(requests.file_ids, return_inverse=True)
    groups = np.repeat((2 * index_of_run + requests.ops).astype(np.int32), requests.counts)
    tolerances = _offset_tolerances(requests, index_of_run, len(file_ids))
    rows = _merged_requests(requests, groups, _OFFSET, tolerances)
    row_counts = np.bincount(rows["group"] // 2, minlength=len(file_ids))
    request_counts = np.bincount(index_of_run, requests.counts, minlength=len(file_ids))
    is_worth_it = (2 * row_counts <= request_counts)[rows["group"] // 2]
    rows, doublings = _blurred(_where(rows, is_worth_it), _OFFSET, tolerances, most_rows, _MOST_DOUBLINGS)
    return {
        "file_id": Column(file_ids[rows["group"] // 2]),
        "tolerance_bytes": Column(tolerances[rows["group"]] << doublings),
        **_columns(requests.layer, rows),
    }


def _offset_tolerances(requests: _Requests, index_of_run: Integers, file_count: int) -> Integers:
    """For each group of rows, 1/2048 of what was touched of its file, in bytes."""
    lowest, highest = np.full(file_count, 2 * MOST_BYTES), np.zeros(file_count, np.int64)
    np.minimum.at(lowest, index_of_run, np.minimum.reduceat(requests.offsets, requests.firsts))
    np.maximum.at(highest, index_of_run, np.maximum.reduceat(requests.offsets + requests.lengths, requests.firsts))
    return np.repeat((highest - lowest) // _PIXELS[_COARSE], 2)


def _merged_requests(requests: _Requests, groups: npt.NDArray[Any], axis: tuple[str, str], tolerances: npt.NDArray[Any]) -> Rows:
    """Requests of each group merged where the gap along an axis is at most the group's tolerance.

    Args:
        requests: the requests, at least one.
        groups: group of each.
        axis: names of the columns for begin and end.
        tolerances: of each group.
    """
    parts = []
    for at in range(0, len(groups), _BLOCK):
        rows = _chained(_raw_rows(requests, groups, axis, slice(at, at + _BLOCK)), axis, tolerances)
        # Neighbours in the trace need not be neighbours in the picture.
        parts.append(_merged(rows, axis, tolerances) if len(rows["group"]) > _MANY else rows)
    return _merged({name: np.concatenate([part.pop(name) for part in parts]) for name in tuple(parts[0])}, axis, tolerances)


def _raw_rows(requests: _Requests, groups: npt.NDArray[Any], axis: tuple[str, str], at: slice) -> Rows:
    """Some requests as rows of their own."""
    starts, ends, lengths = requests.starts[at], requests.ends[at], requests.lengths[at]
    seconds = ends - starts
    extents = {"offset_bytes": requests.offsets[at], "end_offset_bytes": requests.offsets[at] + lengths}
    return {
        "group": groups[at],
        **(extents if axis is _OFFSET else {}),
        "start_seconds": starts,
        "end_seconds": ends,
        "request_count": np.ones(len(starts), np.int64),
        "moved_bytes": lengths.astype(np.float64),
        "small_count": (lengths < MIB).astype(np.int64),
        "busy_seconds": seconds,
        "longest_seconds": seconds,
        "longest_start_seconds": starts,
    }


def _chained(rows: Rows, axis: tuple[str, str], tolerances: npt.NDArray[Any]) -> Rows:
    """Neighbours merged, in whatever order they are."""
    groups, begins, ends = rows["group"], rows[axis[0]], rows[axis[1]]
    reach = ends + tolerances[groups]
    is_first = np.ones(len(groups), dtype=bool)
    is_first[1:] = (groups[1:] != groups[:-1]) | (begins[1:] > reach[:-1]) | (begins[:-1] > reach[1:])
    return _reduced(rows, is_first)


def _merged(rows: Rows, axis: tuple[str, str], tolerances: npt.NDArray[Any]) -> Rows:
    """Rows of each group merged where the gap between them is at most the group's tolerance; in order of group and begin."""
    groups, begins, ends = rows["group"], rows[axis[0]], rows[axis[1]]
    if not _is_ordered(groups, begins):
        order = order_by(groups, begins)
        rows = {name: column[order] for name, column in rows.items()}
        groups, begins, ends = groups[order], begins[order], ends[order]
    # Nothing reaches from the first k rows of a group to the next where that begins after the k-th end, in order of ends.
    if not _is_ordered(groups, ends):
        ends = ends[order_by(groups, ends)]
    is_first = np.ones(len(groups), dtype=bool)
    is_first[1:] = (groups[1:] != groups[:-1]) | (begins[1:] > (ends + tolerances[groups])[:-1])
    return _reduced(rows, is_first)


def _is_ordered(groups: npt.NDArray[Any], values: npt.NDArray[Any]) -> bool:
    falls = (groups[1:] < groups[:-1]) | ((groups[1:] == groups[:-1]) & (values[1:] < values[:-1]))
    return not falls.any()


def _reduced(rows: Rows, is_first: Flags) -> Rows:
    """One row for each stretch of rows, of which some are the first."""
    if is_first.all():
        return rows
    firsts = np.flatnonzero(is_first)
    reduced = {name: reduction.reduceat(rows[name], firsts) for name, reduction in _REDUCTIONS.items() if name in rows}
    seconds, starts = (rows[name] for name in _LONGEST)
    longest = np.maximum.reduceat(seconds, firsts)
    is_longest = seconds == np.repeat(longest, np.diff(firsts, append=len(seconds)))
    since = np.minimum.reduceat(np.where(is_longest, starts, np.inf), firsts)
    return {"group": rows["group"][firsts], **reduced, **dict(zip(_LONGEST, (longest, since), strict=True))}


def _blurred(
    rows: Rows, axis: tuple[str, str], tolerances: npt.NDArray[Any], most_rows: int, most_doublings: int
) -> tuple[Rows, int]:
    """As few rows as wanted or as many doublings of the tolerance as allowed, and how many these are."""
    doublings = 0
    while len(rows["group"]) > most_rows and doublings < most_doublings:
        doublings += 1
        rows = _merged(rows, axis, tolerances * 2**doublings)
    return rows, doublings


def _together(rows: Rows, tolerances: Floats, limits: _Limits) -> tuple[Rows, int]:
    """As few rows as wanted, of as many neighbouring ranks together as it takes, and how many these are."""
    together = 1
    while len(rows["group"]) > limits.most_rows and together < limits.most_together:
        together *= 2
        rows = _merged(rows | {"group": rows["group"] // 4 * 2 + rows["group"] % 2}, _TIME, tolerances)
    return rows, together


def _columns(layer: str, rows: Rows) -> dict[str, Column]:
    """What all tables of detail have; rows of `moved_bytes` that 64 bits do not hold are NULL."""
    count = len(rows["group"])
    return {
        "layer": labels(np.zeros(count, np.int64), [layer]),
        "op": labels(rows["group"].astype(np.int64) % 2, OPS),
        **{name: Column(column) for name, column in rows.items() if name not in {"group", "moved_bytes"}},
        "moved_bytes": counts(rows["moved_bytes"]),
    }
