"""Phases: stretches of time in which a log reads, or writes, separated by gaps in which it does not.

Which gaps part phases is decided by the gaps themselves (`gaps`). The direction is that which was asked for. Opens and
closes are no gaps, and what moves next to nothing is not a phase. `docs/decisions/phases.md` says why, and `docs/phases.md`
shows how often it is right.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.batch import LOG, logs_in, of_each_log
from iomine.derive.columns import counts, known, label, labels, stacked
from iomine.derive.gaps import parted
from iomine.derive.opening import with_opens
from iomine.derive.sorting import order_by
from iomine.derive.special import logs_with_data_through_stdio
from iomine.derive.stretches import Stretches, by_log, chains, heatmap_stretches, joined, pieces, sieve_reads
from iomine.derive.trace import Flags, Floats, Integers, Tables, Trace, group_sizes, group_starts, grouped
from iomine.schema.column import Column
from iomine.schema.ops import OPS, READ, WRITE

# Shorter gaps are a computer doing something else for a moment.
_FLOOR_SECONDS: Final = 1e-3
# Where a log reads and writes in turn, shorter turns are those of a program that copies (a bin of Darshan's heat maps).
_TURN_SECONDS: Final = 0.1
# Configuration and messages: files and bursts that hold next to nothing of a log's bytes make no phases.
_INCIDENTAL_BYTES: Final = 65_536
_INCIDENTAL_SHARE: Final = 1e-3
# A trace that holds a smaller share of a log's bytes is not used for the whole log.
_WHOLE_SHARE: Final = 0.9
# Median deviations of a normal distribution that make an outlier (Iglewicz and Hoaglin 1993), and how much slower it is.
_OUTLIER: Final = 3.5 * 1.4826
_SLOW: Final = 1.5
_FEWEST_RANKS: Final = 4
_WHOLE_LOG: Final = "all"
# Bins are counted one by one where there are no more of them than so many for each stretch.
_DENSE: Final = 8
_MOST_BINS: Final = 1 << 30
# Layers whose bytes, by their heat maps, are those of the whole log.
_LOWEST: Final = ("posix", "stdio")


class Layer(NamedTuple):
    """What is known of a layer of some logs, or of these as a whole, parted into phases.

    Attributes:
        evidence: `trace` or `heatmap`.
        stretches: what was done, each stretch within one phase.
        phase_of: the phase of each stretch, from 0, log by log in the order of their starts.
        bursts_per_rank: for each log and direction, in how many bursts a rank moves data, the median over ranks.
    """

    evidence: str
    stretches: Stretches
    phase_of: Integers
    bursts_per_rank: Integers


class _Busy(NamedTuple):
    """Stretches, and when they start and end if the opens and closes around them belong to them."""

    stretches: Stretches
    begins: Floats
    finishes: Floats

    def of(self, wanted: Flags | Integers) -> "_Busy":
        """Some of them."""
        return _Busy(self.stretches.of(wanted), self.begins[wanted], self.finishes[wanted])


class _Bins(NamedTuple):
    """Bins of heat maps in which any rank of a log moves data in a direction.

    Attributes:
        holders: a stretch of each.
        of_stretches: number of each stretch's bin.
    """

    holders: Integers
    of_stretches: Integers


Layers = Mapping[str, Layer]


def phases(layers: Layers, run_seconds: Floats | float | None) -> dict[str, Column]:
    """Rows of the table `phase`: phases of each layer and of the whole log; no columns where there are no rows.

    Bytes and requests of the whole log are those of the lowest layer.

    Args:
        layers: what is known of the logs.
        run_seconds: length of each run, NaN or None where it is not known.
    """
    # The whole log is often what one layer is.
    rows = {id(layer): _rows(layer, run_seconds) for layer in layers.values()}
    return stacked([_named(rows[id(layer)], name) for name, layer in layers.items()])


def file_phases(layers: Layers, run_seconds: Floats | float | None) -> dict[str, Column]:
    """Rows of the table `file_phase`: what a layer's phases did to each traced file; no columns where there are no rows.

    Args:
        layers: what is known of the logs.
        run_seconds: length of each run, NaN or None where it is not known.
    """
    traced = {name: layer for name, layer in layers.items() if layer.evidence == "trace" and name != _WHOLE_LOG}
    return stacked([_named(_rows(layer, run_seconds, by_file=True), name) for name, layer in traced.items()])


def phase_layers(tables: Tables, traces: Sequence[Trace]) -> Layers:
    """Each layer, and the whole log, of which anything is known, parted into phases.

    Where a layer has a trace they are exact, otherwise as fine as the bins of its heat map.

    Args:
        tables: columns by table, in one or more parts.
        traces: the traces, of which many logs have none.
    """
    by_name = {trace.layer: trace for trace in traces}
    traced = {name: _kept(tables, by_name, name) for name in by_name}
    found = {}
    for name in ("posix", "mpiio", "stdio"):
        layer = _traced([traced[name]]) if name in traced else _binned(tables, [name])
        if layer is not None:
            found[name] = layer
    if not traces or not _are_whole(tables, traces).all():
        # Where nothing moves through stdio, the log is what POSIX is.
        through_stdio = logs_with_data_through_stdio(tables)
        if "posix" in traced or not len(through_stdio):
            whole = _binned(tables, _LOWEST) if "posix" in traced else found.get("posix")
        else:
            whole = _but_for(through_stdio, found.get("posix"), _binned(tables, _LOWEST, through_stdio))
    elif len(traced) == 1:
        whole = found.get(traces[0].layer)
    else:
        # POSIX first: the bytes of the lowest layer count for the log, the layers above add only when it was busy.
        whole = _traced([traced[name] for name in sorted(traced, key=lambda name: name != "posix")])
    return found | ({} if whole is None else {_WHOLE_LOG: whole})


def are_alike(tables: Tables, traces: Sequence[Trace], log_count: int) -> bool:
    """Whether logs with traces can be parted into phases together.

    All have traces of the same layers, and all traces speak for the whole log, or none.

    Args:
        tables: columns by table, in one or more parts.
        traces: the traces, at least one.
        log_count: number of logs.
    """
    are_there = all(len(np.unique(trace.logs)) == log_count for trace in traces)
    return are_there and len(np.unique(_are_whole(tables, traces))) == 1


def _are_whole(tables: Tables, traces: Sequence[Trace]) -> Flags:
    """Whether a trace holds nearly all that a log moved, for each log."""
    log_count = max(int(trace.logs[-1]) for trace in traces) + 1
    moved = np.zeros(log_count)
    for part in (part for table in ("posix_file", "stdio_file") for part in tables.get(table, ())):
        for op in OPS:
            moved += np.bincount(logs_in(part), np.maximum(part[f"{op}_bytes"].to_numpy(), 0), log_count)[:log_count]
    held = [np.bincount(trace.logs, trace.bytes, log_count) for trace in traces]
    are_whole: Flags = np.max(held, axis=0) >= _WHOLE_SHARE * moved
    return are_whole


def _kept(tables: Tables, traces: Mapping[str, Trace], name: str) -> _Busy:
    """What a layer did, except to incidental files; only gaps that are too short to part phases are closed."""
    trace = traces[name]
    if name == "posix":
        is_sieve, is_unknown = _sieve_reads(tables, traces)
        found = chains(trace, _FLOOR_SECONDS, is_sieve)
        found = found._replace(sieve_bytes=np.where(is_unknown[found.logs], np.nan, found.sieve_bytes))
    else:
        found = chains(trace, _FLOOR_SECONDS)
    incidental = incidental_files(trace)
    if len(incidental):
        found = found.of(~np.isin(found.file_ids, incidental))
    return _Busy(found, *with_opens(found, tables, name))


def _sieve_reads(tables: Tables, traces: Mapping[str, Trace]) -> tuple[Flags, Flags]:
    """Which requests of POSIX read in order to write, and of which logs that is not known."""
    posix = traces["posix"]
    is_unknown = np.zeros(int(posix.logs[-1]) + 1, bool)
    if "mpiio" in traces:
        return sieve_reads(posix, traces["mpiio"]), is_unknown
    read, written = (_moved_through_mpiio(tables, op) for op in OPS)
    both = np.intersect1d(read, written)
    for part in tables.get("mpiio_file", ()) if len(both) else ():
        logs = logs_in(part)[np.isin(part["file_id"].to_numpy(), both)]
        is_unknown[logs[logs < len(is_unknown)]] = True
    is_sieve = (posix.ops == READ) & np.isin(posix.file_ids, written) & ~is_unknown[posix.logs]
    return np.repeat(is_sieve, posix.counts), is_unknown


def _moved_through_mpiio(tables: Tables, op: str) -> Integers:
    """Files that were moved through MPI-IO in that direction."""
    found = [part["file_id"].to_numpy()[part[f"{op}_bytes"].to_numpy() > 0] for part in tables.get("mpiio_file", ())]
    return np.concatenate([np.empty(0, np.int64), *found])


def _nobody_asked_to_read(tables: Tables, log_count: int) -> Flags:
    """Whether nearly all that POSIX read was of files that MPI-IO wrote and did not read, by their counters; for each log."""
    read, written = (_moved_through_mpiio(tables, op) for op in OPS)
    asked, moved = np.zeros(log_count), np.zeros(log_count)
    for part in tables.get("posix_file", ()):
        logs = logs_in(part)
        at = np.flatnonzero(logs < log_count)
        read_bytes = np.maximum(part["read_bytes"].to_numpy(), 0).astype(np.float64)[at]
        files, logs = part["file_id"].to_numpy()[at], logs[at]
        moved += np.bincount(logs, read_bytes, log_count)
        asked += np.bincount(logs, np.where(~np.isin(files, written) | np.isin(files, read), read_bytes, 0.0), log_count)
    return (moved > 0) & (asked < np.minimum(_INCIDENTAL_BYTES, _INCIDENTAL_SHARE * moved))


def _traced(layers: Sequence[_Busy]) -> Layer | None:
    """One layer of several: bytes are those of the first, busy time is that of all."""
    filled = [layer for layer in layers if len(layer.stretches.starts)]
    if not filled:
        return None
    lowest, *above = filled
    silent = [each._replace(stretches=each.stretches.silent()) for each in above]
    stretches = joined([lowest.stretches, *(each.stretches for each in silent)])
    begins, finishes = (np.concatenate(column) for column in zip(*((each.begins, each.finishes) for each in filled), strict=True))
    busy = _Busy(stretches, begins, finishes)
    if above:
        busy = busy.of(np.argsort(stretches.logs, kind="stable"))
    return _layer("trace", busy, np.full(int(stretches.logs.max()) + 1, _FLOOR_SECONDS))


def _binned(tables: Tables, layers: Sequence[str], logs: Integers | None = None) -> Layer | None:
    """Layers by their heat maps as one, of all logs or of some."""
    found = [(name, *heatmap_stretches(tables, name)) for name in layers]
    widths = np.zeros(max(len(width) for *_, width in found))
    parts = []
    for name, stretches, width in found:
        is_held = np.bincount(stretches.logs, stretches.ends == np.inf, len(width)) == 0
        if name == "stdio":
            # Heat maps of stdio do not part files from standard streams, which hold messages and no data.
            is_held &= np.isin(np.arange(len(width)), logs_with_data_through_stdio(tables))
        if logs is not None:
            is_held &= np.isin(np.arange(len(width)), logs)
        has_any = np.bincount(stretches.logs, minlength=len(width)) > 0
        widths[: len(width)] = np.maximum(widths[: len(width)], np.where(is_held & has_any, width, 0.0))
        parts.append(stretches if is_held.all() else stretches.of(is_held[stretches.logs]))
    stretches = by_log(joined([part for part in parts if len(part.starts)] or parts[:1]))
    if not len(stretches.starts):
        return None
    is_read = stretches.ops == READ
    if is_read.any():
        is_sieve = (_nobody_asked_to_read(tables, len(widths)) & (np.bincount(stretches.logs, is_read, len(widths)) > 0))[
            stretches.logs
        ]
        stretches = stretches._replace(
            ops=np.where(is_sieve, WRITE, stretches.ops),
            moved_bytes=np.where(is_sieve & is_read, 0.0, stretches.moved_bytes),
            sieve_bytes=np.where(is_sieve, np.where(is_read, stretches.moved_bytes, 0.0), stretches.sieve_bytes),
        )
    # An empty bin is a gap.
    return _layer("heatmap", _Busy(stretches, stretches.starts, stretches.ends), widths / 2)


def _but_for(logs: Integers, layer: Layer | None, of_logs: Layer | None) -> Layer | None:
    """A layer by heat maps, in which another layer replaces some logs."""
    if layer is None or of_logs is None:
        return layer or of_logs
    stays = ~np.isin(layer.stretches.logs, logs)
    stretches = joined([layer.stretches.of(stays), of_logs.stretches])
    phase_of = np.concatenate([layer.phase_of[stays], of_logs.phase_of + (layer.phase_of.max() + 1)])
    order = np.argsort(stretches.logs, kind="stable")
    stretches = stretches.of(order)
    is_other = np.isin(np.arange(len(layer.bursts_per_rank)), logs)[:, None]
    bursts = np.where(is_other, of_logs.bursts_per_rank, layer.bursts_per_rank)
    return Layer("heatmap", stretches, grouped(stretches.logs, phase_of[order])[1], bursts)


def _layer(evidence: str, busy: _Busy, floors: Floats) -> Layer:
    """Stretches of logs parted into phases, by the shortest gap that may part those of each log."""

    def parted_by_log(busy: _Busy) -> Integers:
        logs = busy.stretches.logs
        if evidence == "trace":
            return _phases_of(busy, logs, _of_logs(floors, logs))
        bins = _bins(busy, 2 * floors)
        once, logs = busy.of(bins.holders), logs[bins.holders]
        return _phases_of(once, logs, _of_logs(floors, logs))[bins.of_stretches]

    phase_of = parted_by_log(busy)
    is_little = are_little(phase_of, busy.stretches.moved_bytes, busy.stretches.logs)
    if is_little.any():
        busy = busy.of(~is_little)
        phase_of = parted_by_log(busy)
    bursts = _bursts_per_rank(busy, floors)
    return Layer(evidence, *_in_order(*pieces(busy.stretches, phase_of)), bursts)


def _of_logs(floors: Floats, logs: Integers) -> Floats:
    """The floor of each stretch's log; for a single log, without memory of its own."""
    return floors[logs] if len(floors) > 1 else np.broadcast_to(floors, len(logs))


def _bins(busy: _Busy, widths: Floats) -> _Bins:
    """The bins of heat maps; a stretch that is none of its log's width, or lies far from others, is one by itself.

    Ranks are busy in the same bins, and gaps do not depend on how many are.
    """
    logs = busy.stretches.logs
    width, lanes = widths[logs], logs * len(OPS) + busy.stretches.ops
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        numbers = np.rint(busy.begins / width)
        is_bin = (numbers * width == busy.begins) & ((numbers + 1) * width == busy.finishes) & (numbers < _MOST_BINS)
    numbers = np.where(is_bin, numbers, 0).astype(np.int64)
    counts = np.zeros(len(widths) * len(OPS), np.int64)
    np.maximum.at(counts, lanes, numbers + 1)
    is_dense = counts <= _DENSE * np.bincount(lanes, minlength=len(counts))
    is_bin &= is_dense[lanes]
    counts[~is_dense] = 0
    cells = ((np.cumsum(counts) - counts)[lanes] + numbers)[is_bin]
    holders = np.full(int(counts.sum()), -1)
    holders[cells] = np.flatnonzero(is_bin)
    filled, alone = np.flatnonzero(holders >= 0), np.flatnonzero(~is_bin)
    number_of = np.empty(len(holders), np.int64)
    number_of[filled] = np.arange(len(filled))
    of_stretches = np.empty(len(logs), np.int64)
    of_stretches[is_bin] = number_of[cells]
    of_stretches[alone] = len(filled) + np.arange(len(alone))
    return _Bins(np.concatenate([holders[filled], alone]), of_stretches)


def _phases_of(busy: _Busy, groups: Integers, floors: Floats) -> Integers:
    """The phase of each stretch, of one group and one direction, numbered from 0."""
    ops = busy.stretches.ops
    keys = groups * len(OPS) + ops
    own = parted(busy.begins, busy.finishes, keys, floors)
    is_turn = _lasting(busy.stretches, own) < _TURN_SECONDS
    if not is_turn.any() or (ops == ops[0]).all():
        return own
    # A short turn in the other direction is no gap.
    begins, finishes, floors = (np.append(moments, moments[is_turn]) for moments in (busy.begins, busy.finishes, floors))
    with_turns = parted(begins, finishes, np.append(keys, (groups * len(OPS) + 1 - ops)[is_turn]), floors)
    return grouped(with_turns[: len(ops)])[1]


def _lasting(stretches: Stretches, phase_of: Integers) -> Floats:
    """For each stretch how long its phase lasts."""
    starts, ends = extents(stretches, phase_of)
    return (ends - starts)[phase_of]


def extents(stretches: Stretches, row_of: Integers) -> tuple[Floats, Floats]:
    """When each row starts and ends.

    Args:
        stretches: the stretches, at least one.
        row_of: number of each one's row, all from 0 up.
    """
    total = int(row_of.max()) + 1
    starts, ends = np.full(total, np.inf), np.full(total, -np.inf)
    np.minimum.at(starts, row_of, stretches.starts)
    np.maximum.at(ends, row_of, stretches.ends)
    return starts, ends


def lanes(layer: Layer) -> tuple[Integers, Integers]:
    """The log and the direction of each of a layer's phases."""
    logs, ops = np.empty((2, int(layer.phase_of.max()) + 1), np.int64)
    logs[layer.phase_of], ops[layer.phase_of] = layer.stretches.logs, layer.stretches.ops
    return logs, ops


def _in_order(stretches: Stretches, phase_of: Integers) -> tuple[Stretches, Integers]:
    """The same, with phases numbered log by log in the order of their starts."""
    starts, ends = extents(stretches, phase_of)
    logs = np.empty(len(starts), np.int64)
    logs[phase_of] = stretches.logs
    places = np.empty(len(starts), np.int64)
    places[np.lexsort((ends, starts, logs))] = np.arange(len(starts))
    return stretches, places[phase_of]


def _bursts_per_rank(busy: _Busy, floors: Floats) -> Integers:
    """For each log and direction the bursts of a rank by itself: the median over ranks, the lower of two; 0 for none."""
    logs, ranks, ops = busy.stretches.logs, busy.stretches.ranks, busy.stretches.ops
    burst_of = _phases_of(busy, grouped(logs, ranks)[1], _of_logs(floors, logs))
    firsts, _ = grouped(burst_of)
    logs, ranks, ops = logs[firsts], ranks[firsts], ops[firsts]
    of_rank, rank_of = grouped(logs, ops, ranks)
    bursts = np.bincount(rank_of)
    lanes = logs[of_rank] * len(OPS) + ops[of_rank]
    order = order_by(lanes, bursts)
    begins = group_starts(lanes)
    medians = np.zeros((len(floors), len(OPS)), np.int64)
    medians.ravel()[lanes[begins]] = bursts[order][begins + (group_sizes(begins, len(lanes)) - 1) // 2]
    return medians


def incidental_files(trace: Trace) -> Integers:
    """Files that hold next to nothing of what a layer moved."""
    return np.unique(trace.file_ids[are_little(grouped(trace.file_ids)[1], trace.bytes, trace.logs)])


def are_little(group_of: Integers, moved_bytes: Floats, logs: Integers | None = None) -> Flags:
    """Whether a group's bytes are next to nothing, and so are those of all groups of its log with no more bytes together.

    Args:
        group_of: number of each row's group, all from 0 up.
        moved_bytes: of each row.
        logs: log of each row, None for a single one.
    """
    moved = np.bincount(group_of, moved_bytes)
    log_of = np.zeros(len(moved), np.int64)
    if logs is not None:
        log_of[group_of] = logs
    order = order_by(log_of, moved)
    log, ordered = log_of[order], moved[order]
    # Groups that hold something cannot be little, and are as good as infinite: so sums are exact, whatever is before them.
    together = np.cumsum(np.where(ordered < _INCIDENTAL_BYTES, ordered, 0.0))
    begins = group_starts(log)
    together -= np.repeat(np.append(0.0, together)[begins], group_sizes(begins, len(log)))
    ties = group_starts(log, ordered)
    sizes = group_sizes(ties, len(log))
    of_group = np.empty(len(moved))
    of_group[order] = np.repeat(together[ties + sizes - 1], sizes)
    is_little: Flags = (moved < _INCIDENTAL_BYTES) & (of_group < _INCIDENTAL_SHARE * np.bincount(log_of, moved)[log_of])
    return is_little[group_of]


def _named(rows: Mapping[str, Column], layer: str) -> dict[str, Column]:
    """Rows of a layer, with its name."""
    return {**rows, "layer": label(layer, len(next(iter(rows.values()))))}


def _rows(layer: Layer, run_seconds: Floats | float | None, *, by_file: bool = False) -> dict[str, Column]:
    stretches, phase_of = layer.stretches, layer.phase_of
    firsts, row_of = grouped(phase_of, stretches.file_ids) if by_file else grouped(phase_of)
    total = len(firsts)

    def summed(values: Floats, op: int | None = None) -> Floats:
        wanted = slice(None) if op is None else stretches.ops == op
        sums: Floats = np.bincount(row_of[wanted], values[wanted], minlength=total).astype(np.float64)
        return sums

    starts, ends = extents(stretches, row_of)
    logs = stretches.logs[firsts]
    first_phases = np.full(len(layer.bursts_per_rank), len(phase_of))
    np.minimum.at(first_phases, logs, phase_of[firsts])
    run = of_each_log(run_seconds)[logs]
    of_layer = Column(layer.bursts_per_rank[logs, stretches.ops[firsts]])
    more = {"file_id": Column(stretches.file_ids[firsts])} if by_file else {"bursts_per_rank": of_layer}
    has_files = layer.evidence == "trace"
    columns = {
        LOG: Column(logs),
        "evidence": label(layer.evidence, total),
        "phase": Column(phase_of[firsts] - first_phases[logs] + 1),
        "op": labels(stretches.ops[firsts], OPS),
        "start_seconds": Column(starts),
        "end_seconds": Column(ends),
        # The last bin of a heat map may end after the run.
        "run_ratio": known((np.minimum(ends, np.maximum(starts, run)) - starts) / np.where(run > 0, run, np.nan)),
        "read_count": counts(summed(stretches.request_counts, READ)),
        "write_count": counts(summed(stretches.request_counts, WRITE)),
        "request_count": counts(summed(stretches.request_counts)),
        "read_bytes": counts(summed(stretches.moved_bytes, READ)),
        "write_bytes": counts(summed(stretches.moved_bytes, WRITE)),
        "sieve_read_bytes": counts(summed(stretches.sieve_bytes)),
        "file_count": Column(_distinct(row_of, stretches.file_ids, total), mask=np.full(total, not has_files)),
    }
    return more | columns | _ranks(stretches, row_of, total)


def _distinct(phase_of: Integers, keys: Integers, total: int) -> Integers:
    firsts, _ = grouped(phase_of, keys)
    return np.bincount(phase_of[firsts], minlength=total)


def _ranks(stretches: Stretches, row_of: Integers, total: int) -> dict[str, Column]:
    """Which ranks took part in each row, and which were out of line: slower for a request and for a byte than others."""
    moving = np.flatnonzero(stretches.moved_bytes > 0)
    if not len(moving):
        none = np.ones(total, bool)
        nobody = dict.fromkeys(("fastest_rank", "slowest_rank", "straggler_count"), Column(np.zeros(total, np.int64), none))
        no_time = dict.fromkeys(("fastest_rank_seconds", "slowest_rank_seconds"), Column(np.zeros(total), none))
        return {"rank_count": Column(np.zeros(total, np.int64)), **nobody, **no_time}
    pairs, pair_of = grouped(row_of[moving], stretches.ranks[moving])
    rows, ranks = row_of[moving][pairs], stretches.ranks[moving][pairs]
    seconds, moved, requests = (
        np.bincount(pair_of, of_all[moving]) for of_all in (stretches.seconds, stretches.moved_bytes, stretches.request_counts)
    )
    begins = group_starts(rows)
    sizes = np.diff(begins, append=len(rows))
    by_seconds = order_by(rows, seconds)
    fastest, slowest = by_seconds[begins], by_seconds[begins + sizes - 1]

    def over_median(values: Floats) -> tuple[Floats, Floats]:
        median = np.repeat(_medians(values, rows, begins, sizes), sizes)
        deviation = np.repeat(_medians(np.abs(values - median), rows, begins, sizes), sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            return values / median, (values - median) / deviation

    slower, deviations = over_median(seconds / requests)
    is_straggler = (slower > _SLOW) & (deviations > _OUTLIER) & (over_median(seconds / moved)[0] > _SLOW)
    is_straggler &= np.repeat(sizes, sizes) >= _FEWEST_RANKS
    filled = rows[begins]
    is_timed = np.zeros(total, bool)
    is_timed[filled] = ~np.isnan(seconds[slowest])

    def spread(values: Integers | Floats, is_known: Flags) -> Column:
        full = np.zeros(total, values.dtype)
        full[filled] = values
        return Column(full, mask=~is_known)

    return {
        "rank_count": spread(sizes, np.ones(total, bool)),
        "fastest_rank": spread(ranks[fastest], is_timed),
        "fastest_rank_seconds": spread(seconds[fastest], is_timed),
        "slowest_rank": spread(ranks[slowest], is_timed),
        "slowest_rank_seconds": spread(seconds[slowest], is_timed),
        "straggler_count": spread(np.add.reduceat(is_straggler.astype(np.int64), begins), is_timed),
    }


def _medians(values: Floats, rows: Integers, begins: Integers, sizes: Integers) -> Floats:
    ordered = values[order_by(rows, values)]
    medians: Floats = (ordered[begins + (sizes - 1) // 2] + ordered[begins + sizes // 2]) / 2
    return medians
