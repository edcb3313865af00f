"""How fast each OST served a log's requests, from records and traces that name the OST of every request.

Counters give the time of a file that lies on one OST. A trace gives that of requests to a striped file that touch one OST. The
time of a request to several OSTs, or of an untraced striped file, cannot be divided among OSTs, and is left out.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.batch import LOG, of_each_log
from iomine.derive.columns import TOO_MANY, counts, finite, labels
from iomine.derive.layouts import LAYER, MOST_BYTES, Layouts, Lustre
from iomine.derive.osts import batches, batches_of_trace
from iomine.derive.sorting import order_by
from iomine.derive.trace import Flags, Floats, Integers, Tables, Trace, grouped
from iomine.schema.column import Column
from iomine.schema.ops import OPS

_SHARED: Final = -1
_EVIDENCE: Final = ("records", "trace")
_HALF: Final = 0.5
# Cells to count into: few enough to take no memory to speak of.
_MOST_CELLS: Final = 1 << 20


class Streams(NamedTuple):
    """What ranks did in a file on an OST in one direction, each a row.

    Attributes:
        logs: the log.
        osts: index of the OST.
        ops: direction, an index into `OPS`.
        evidence: its source, an index into `_EVIDENCE`.
        files: index of the file.
        ranks: the rank, negative for all together.
        amounts: rows of bytes, requests and seconds.
    """

    logs: Integers
    osts: Integers
    ops: Integers
    evidence: Integers
    files: Integers
    ranks: Integers
    amounts: Floats


_NONE: Final = np.empty(0, np.int64)
_NOTHING: Final = Streams(_NONE, _NONE, _NONE, _NONE, _NONE, _NONE, np.empty((3, 0)))


def ost_streams(tables: Tables, traces: Sequence[Trace], lustre: Lustre, nprocs: Integers | int) -> Streams:
    """What ranks did on OSTs, as far as the OST of each request is known.

    The record of a file on one OST gives it. A record of all ranks together counts only where the file was not traced.

    Args:
        tables: columns by table, in one or more parts.
        traces: the traces in these.
        lustre: where the bytes of files lie.
        nprocs: number of processes of each run; ranks beyond it are left out.
    """
    traces = [trace for trace in traces if trace.layer == LAYER]
    file_ids = lustre.file_ids
    if not lustre.is_known or not len(file_ids):
        return _NOTHING
    layouts = lustre.layouts
    ost_of_place = np.array([place if isinstance(place, int) else -1 for place in layouts.places], np.int64)
    traced = np.unique(np.concatenate([_NONE, *(trace.file_ids for trace in traces)]))
    with np.errstate(invalid="ignore", over="ignore"):
        counted, is_recorded = _recorded(tables, file_ids, traced, layouts, ost_of_place)
        parts = [_traced(trace, file_ids, is_recorded, layouts, ost_of_place) for trace in traces]
    return _joined([counted, *parts], lustre, of_each_log(nprocs))


def _joined(parts: Sequence[Streams], lustre: Lustre, nprocs: Integers) -> Streams:
    """Streams of OSTs and ranks that there are, that did something, and whose numbers make sense."""
    _, osts, ops, evidence, files, ranks, amounts = (np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True))
    logs = lustre.logs[files]
    ranks = np.where(nprocs[logs] == 1, np.maximum(ranks, 0), ranks)
    is_sound = (osts >= 0) & (ranks >= _SHARED) & (ranks < nprocs[logs]) & lustre.are_known[files]
    is_sound &= (amounts[1] > 0) & ((amounts >= 0) & (amounts < TOO_MANY)).all(axis=0)
    *keys, amounts = (column[..., is_sound] for column in (logs, osts, ops, evidence, files, ranks, amounts))
    if not len(keys[0]):
        return _NOTHING
    # A rank counts once for a file, however many records or runs of the trace it has.
    rows, group_of = grouped(*keys)
    return Streams._make([*(key[rows] for key in keys), np.stack([np.bincount(group_of, of_kind) for of_kind in amounts])])


def _recorded(
    tables: Tables, file_ids: Integers, traced: Integers, layouts: Layouts, ost_of_place: Integers
) -> tuple[Streams, Flags]:
    """What records of files on one OST say, and which files and directions, side by side, they do it of."""
    is_recorded = np.zeros(len(file_ids) * len(OPS), bool)
    if not tables.get("posix_file"):
        return _NOTHING, is_recorded
    rows = []
    furthest = np.zeros(len(file_ids) * len(OPS), np.int64)
    for part in tables["posix_file"]:
        files, ranks = np.searchsorted(file_ids, part["file_id"].to_numpy()), part["rank"].to_numpy()
        for op, name in enumerate(OPS):
            np.maximum.at(furthest, files * len(OPS) + op, part[f"max_{name}_offset_bytes"].to_numpy() + 1)
            amounts = np.stack([part[f"{name}_{word}"].to_numpy() for word in ("bytes", "count", "seconds")]).astype(np.float64)
            rows.append((files, np.full_like(files, op), ranks, amounts))
    files, ops, ranks, amounts = (np.concatenate(columns, axis=-1) for columns in zip(*rows, strict=True))
    keys = files * len(OPS) + ops
    osts = _sole_osts(furthest, layouts, ost_of_place)
    is_recorded = osts >= 0
    is_recorded[keys[(ranks < 0) & np.isin(file_ids[files], traced)]] = False
    keep = is_recorded[keys]
    counted = (files, osts[keys], ops, np.zeros_like(keys), files, ranks, amounts)
    return Streams._make(column[..., keep] for column in counted), is_recorded


def _sole_osts(furthest: Integers, layouts: Layouts, ost_of_place: Integers) -> Integers:
    """The one OST that holds each file up to where a direction's furthest request ended, negative where none is known."""
    sole = np.full(len(furthest), -1)
    at = np.flatnonzero((furthest > 0) & (furthest <= MOST_BYTES))
    files, ends = at // len(OPS), furthest[at]
    for batch in batches(layouts, files, ends):
        sole[at[batch]] = _places(layouts, files[batch], np.zeros_like(ends[batch]), ends[batch], ost_of_place)
    return sole


def _places(layouts: Layouts, files: Integers, begins: Integers, ends: Integers, ost_of_place: Integers) -> Integers:
    """The one OST of each range, negative where it has several or none that is known."""
    parts = layouts.parts(files, begins, ends)
    firsts = np.flatnonzero(np.diff(parts.ranges, prepend=-1))
    is_on_one = np.add.reduceat(parts.is_first, firsts, dtype=np.int64) == 1
    return np.where(is_on_one, ost_of_place[layouts.slot_places[parts.slots[firsts]]], -1)


def _traced(trace: Trace, file_ids: Integers, is_recorded: Flags, layouts: Layouts, ost_of_place: Integers) -> Streams:
    """What a trace says of files and directions that records say nothing of."""
    run_files = np.searchsorted(file_ids, trace.file_ids)
    is_asked = ~is_recorded[run_files * len(OPS) + trace.ops]
    runs = np.repeat(np.arange(len(is_asked)), np.where(is_asked, trace.counts, 0))
    at = np.flatnonzero(np.repeat(is_asked, trace.counts))
    found = []
    for batch in batches_of_trace(trace, layouts, run_files[runs], trace.lengths[at]):
        begins, lengths = trace.offsets[at[batch]], trace.lengths[at[batch]]
        is_known = (begins >= 0) & (begins <= MOST_BYTES) & (lengths <= MOST_BYTES)
        extents = np.maximum(lengths, 1)
        begins = np.where(is_known, begins, -extents)
        osts = _places(layouts, run_files[runs[batch]], begins, begins + extents, ost_of_place)
        seconds = trace.ends[at[batch]] - trace.starts[at[batch]]
        is_sound = (osts >= 0) & (seconds >= 0) & (seconds < TOO_MANY)
        amounts = np.stack([lengths, np.ones(len(lengths)), seconds])[:, is_sound]
        found.append(_summed(osts[is_sound], runs[batch][is_sound], amounts))
    if not found:
        return _NOTHING
    osts, of_runs, amounts = _summed(*(np.concatenate(columns, axis=-1) for columns in zip(*found, strict=True)))
    return Streams(osts, osts, trace.ops[of_runs], np.ones_like(osts), run_files[of_runs], trace.ranks[of_runs], amounts)


def _summed(osts: Integers, runs: Integers, amounts: Floats) -> tuple[Integers, Integers, Floats]:
    """Each OST of each run once."""
    if not len(osts):
        return osts, runs, amounts
    width = int(osts.max()) + 1
    # Runs ascend. An index of an OST may be any number.
    if (int(runs[-1]) - int(runs[0]) + 1) * width > _MOST_CELLS:
        rows, group_of = grouped(runs, osts)
        return osts[rows], runs[rows], np.stack([np.bincount(group_of, of_kind) for of_kind in amounts])
    keys = (runs - runs[0]) * width + osts
    cells = np.flatnonzero(np.bincount(keys))
    return cells % width, cells // width + runs[0], np.stack([np.bincount(keys, of_kind)[cells] for of_kind in amounts])


def ost_pace(streams: Streams, nprocs: Integers | int) -> dict[str, Column]:
    """Rows of the table `ost_pace`; no columns where there are no rows.

    Args:
        streams: what ranks did on OSTs.
        nprocs: number of processes of each run.
    """
    if not len(streams.osts):
        return {}
    rows, group_of = grouped(streams.logs, streams.ops, streams.evidence, streams.osts)
    totals = np.stack([np.bincount(group_of, amounts) for amounts in streams.amounts])
    moved, requests, seconds = streams.amounts
    is_shared = np.bincount(group_of, streams.ranks < 0) > 0
    # A direction's ranks and files, however many OSTs, and on each how many.
    rank_counts, has_roaming_rank = _distinct(streams, group_of, streams.ranks)
    file_counts, has_roaming_file = _distinct(streams, group_of, streams.files)
    is_comparable = (is_shared | (rank_counts > 1) | has_roaming_rank) & ((file_counts > 1) | has_roaming_file)
    return {
        LOG: Column(streams.logs[rows]),
        "layer": labels(np.zeros(len(rows), np.int64), [LAYER]),
        "ost_id": Column(streams.osts[rows]),
        "op": labels(streams.ops[rows], OPS),
        "evidence": labels(streams.evidence[rows], _EVIDENCE),
        "request_count": counts(totals[1]),
        "moved_bytes": counts(totals[0]),
        "request_seconds": finite(totals[2]),
        "rank_count": Column(np.where(is_shared, of_each_log(nprocs)[streams.logs[rows]], rank_counts)),
        "file_count": Column(file_counts),
        "is_comparable": Column(is_comparable),
        "typical_seconds_per_byte": _lower_medians(
            group_of, np.divide(seconds, moved, where=moved > 0, out=np.full_like(moved, np.nan))
        ),
        "typical_seconds_per_request": _lower_medians(group_of, seconds / requests),
    }


def _distinct(streams: Streams, group_of: Integers, members: Integers) -> tuple[Integers, Flags]:
    """How many different members each group has, and whether one of them is on other OSTs too."""
    rows, _ = grouped(group_of, members)
    _, peer_of = grouped(streams.logs[rows], streams.ops[rows], streams.evidence[rows], members[rows])
    is_roaming = np.bincount(peer_of)[peer_of] > 1
    return np.bincount(group_of[rows]), np.bincount(group_of[rows], is_roaming) > 0


def _lower_medians(group_of: Integers, values: Floats) -> Column:
    """The median of each group, the lower one of two, NaN left out: most of a group are no less."""
    order = order_by(group_of, values)
    sizes = np.bincount(group_of)
    known = np.bincount(group_of, ~np.isnan(values)).astype(np.int64)
    # NaN comes last.
    at = np.cumsum(sizes) - sizes + np.maximum(known - 1, 0) // 2
    return Column(values[order][at], mask=known == 0)


def rank_ost(streams: Streams) -> dict[str, Column]:
    """Rows of the table `rank_ost`: ranks that spent most of their time on one OST; no columns where there are no rows.

    Args:
        streams: what ranks did on OSTs.
    """
    is_own = streams.ranks >= 0
    if not is_own.any():
        return {}
    logs, ranks, osts, spent = (column[is_own] for column in (streams.logs, streams.ranks, streams.osts, streams.amounts[2]))
    rows, group_of = grouped(logs, ranks, osts)
    seconds = np.bincount(group_of, spent)
    rank_of = grouped(logs, ranks)[1]
    is_most = seconds > _HALF * np.bincount(rank_of, spent)[rank_of[rows]]
    if not is_most.any():
        return {}
    rows = rows[is_most]
    return {
        LOG: Column(logs[rows]),
        "layer": labels(np.zeros(len(rows), np.int64), [LAYER]),
        "rank": Column(ranks[rows]),
        "ost_id": Column(osts[rows]),
        "request_seconds": Column(seconds[is_most]),
    }
