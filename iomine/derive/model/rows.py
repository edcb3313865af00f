"""Classes of a layer that has a trace, and of files that have none, number by number."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.model.calls import LAYERS, MINOR, MINOR_SHARE, UNKNOWN, Beneath, Calls, sums
from iomine.derive.model.counters import Counted, whole
from iomine.derive.model.law import Law, law, tiles
from iomine.derive.model.shapes import ORDERS, SEGMENTED, STRIDED, Shapes, commonest, medians, orders_of_phases, shapes
from iomine.derive.model.similarity import joined_by_likeness
from iomine.derive.model.time import Spent, busy, in_calls, spent, waits
from iomine.derive.phases import Layer, Layers, extents, lanes
from iomine.derive.sorting import order_by
from iomine.derive.trace import Floats, Integers, group_sizes, group_starts, grouped
from iomine.schema.ops import OPS

EVIDENCE: Final = ("trace", "counters")
TRACE, COUNTERS = range(len(EVIDENCE))
ACCESSES: Final = ("own", "shared", "mixed")
OWN, SHARED, MIXED = range(len(ACCESSES))
# Where a rank's starts differ by less than a fifth of their distance, phases come regularly.
_REGULAR: Final = 0.8
_FEWEST_STARTS: Final = 3
# Collective, not, and not known.
_COLLECTIVES: Final = 3
# Instead of an order, where it is not known where requests lie.
LOST: Final = len(ORDERS)

Collective = Mapping[tuple[int, int], bool]


class Rows(NamedTuple):
    """Classes, and the files of each; whole numbers are `UNKNOWN` and others NaN where they are not known.

    The names are those of the table `phase_class`, but for these:

    Attributes:
        logs: log.
        layers: an index into `LAYERS`.
        ops: direction.
        evidence: an index into `EVIDENCE`.
        accesses: an index into `ACCESSES`.
        orders: an index into `shapes.ORDERS`.
        caller_count: ranks with requests, those that move nothing among them.
        file_classes: class of each of its files, which come class by class.
        file_ids: file.
        file_bytes: bytes that the class moved of it.
        file_phases: phases of the class that did.
    """

    logs: Integers
    layers: Integers
    ops: Integers
    evidence: Integers
    accesses: Integers
    orders: Integers
    rank_count: Integers
    request_bytes: Integers
    requests_per_rank: Integers
    bytes_per_rank: Integers
    block_bytes: Integers
    segment_count: Integers
    stride_bytes: Integers
    first_offset_bytes: Integers
    rank_step_bytes: Integers
    phase_step_bytes: Integers
    law_ratio: Floats
    tiles_ratio: Floats
    phase_count: Integers
    start_seconds: Floats
    end_seconds: Floats
    gap_seconds: Floats
    period_seconds: Floats
    request_count: Floats
    moved_bytes: Floats
    rank_call_seconds: Floats
    rank_wait_seconds: Floats
    rank_exchange_seconds: Floats
    storage_seconds: Floats
    overcount_seconds: Floats
    caller_count: Integers
    file_classes: Integers
    file_ids: Integers
    file_bytes: Floats
    file_phases: Integers


class Held(NamedTuple):
    """Requests of a layer, and the class of each.

    Attributes:
        calls: the requests.
        classes: class of each phase, negative where it has none.
        nth: number of each phase within its class, from 0.
    """

    calls: Calls
    classes: Integers
    nth: Integers


class _Places(NamedTuple):
    """Where the requests of each class lie.

    Attributes:
        strides: from a block to the next, `UNKNOWN` where they are not at equal distance.
        law: the law of first offsets.
        tiled: share of POSIX requests within their tile.
    """

    strides: Integers
    law: Law
    tiled: Floats


def traced_rows(
    number: int, calls: Calls, layer: Layer, *, collective: Collective, under: Beneath | None, alike: float
) -> tuple[Rows, Held] | None:
    """Classes of a layer's phases; None where no request moves anything.

    Args:
        number: of the layer, an index into `LAYERS`.
        calls: requests of the layer.
        layer: its phases.
        collective: for each file and direction of MPI-IO, whether its calls are collective; not there if that is not known.
        under: what became of MPI-IO's requests, None for other layers, or where POSIX has no trace.
        alike: how like a class's first phase its phases are at least.
    """
    filled = calls.where(calls.lengths > 0)
    if not len(filled.lengths):
        return None
    phases, phase_of = np.unique(filled.phases, return_inverse=True)
    total, (logs, ops) = len(phases), (of_phases[phases] for of_phases in lanes(layer))
    main = _without_minor(filled, phases)
    main_phase = np.searchsorted(phases, main.phases)
    length, weights, piece_of_length = _lengths(main)
    middle = medians(main_phase[piece_of_length], length, total, weights)
    found = shapes(main)
    is_lost = np.bincount(main_phase, np.minimum.reduceat(main.offsets, main.firsts) < 0, total) > 0
    orders = np.where(is_lost, LOST, orders_of_phases(found, main_phase, total))
    accesses, is_collective = _accesses(filled, phase_of, total), _collective(filled, phase_of, ops, collective)
    pairs, pair_of = grouped(phase_of, filled.ranks)
    piece_bytes = np.add.reduceat(filled.lengths, filled.firsts, dtype=np.float64)
    rank_counts = np.bincount(phase_of[pairs], minlength=total)
    requests, moved = np.bincount(phase_of, filled.counts, total), np.bincount(phase_of, piece_bytes, total)
    kinds = (((logs * len(OPS) + ops) * len(ACCESSES) + accesses) * (LOST + 1) + orders) * _COLLECTIVES + is_collective
    measures = np.column_stack([rank_counts, requests / rank_counts, moved / rank_counts, middle])
    class_of = joined_by_likeness(kinds, measures, alike)
    count = int(class_of.max()) + 1
    leaders = np.unique(class_of, return_index=True)[1]
    has_places = orders[leaders] != LOST
    own, main_own = class_of[phase_of], class_of[main_phase]
    nth = _numbered(class_of)
    # POSIX may have requests in phases in which MPI-IO has none.
    last = int(max(calls.phases.max(), under.phases.max(initial=0) if under is not None else 0))
    held = Held(calls, *(_by_number(phases, last, column) for column in (class_of, nth)))
    ranks_of_class = np.bincount(own[grouped(own, filled.ranks)[0]], minlength=count)
    files, file_of = grouped(own, filled.file_ids)
    touched = grouped(file_of, phase_of)[0]
    starts, ends = np.full(total, np.inf), np.full(total, -np.inf)
    np.minimum.at(starts, phase_of, filled.starts[filled.firsts])
    np.maximum.at(ends, phase_of, np.maximum.reduceat(filled.ends, filled.firsts))
    gaps, periods = _rhythm(class_of, starts, ends, count)
    places = _places(main, found, held, orders[leaders], under)
    time, callers = _time(number, held, is_collective[leaders], ranks_of_class, under)
    rows = Rows(
        logs=logs[leaders],
        layers=np.full(count, number),
        ops=ops[leaders],
        evidence=np.full(count, TRACE),
        accesses=accesses[leaders],
        orders=np.where(has_places, orders[leaders], UNKNOWN),
        rank_count=ranks_of_class,
        request_bytes=medians(main_own[piece_of_length], length, count, weights),
        requests_per_rank=medians(own[pairs], np.bincount(pair_of, filled.counts).astype(np.int64), count),
        bytes_per_rank=medians(own[pairs], np.bincount(pair_of, piece_bytes).astype(np.int64), count),
        block_bytes=np.where(has_places, commonest(main_own[found.pieces], found.bytes, found.bytes, count), UNKNOWN),
        segment_count=np.where(has_places, medians(main_own, found.block_counts, count), UNKNOWN),
        stride_bytes=places.strides,
        first_offset_bytes=places.law.first_offsets,
        rank_step_bytes=places.law.rank_steps,
        phase_step_bytes=places.law.phase_steps,
        law_ratio=places.law.ratios,
        tiles_ratio=places.tiled,
        phase_count=np.bincount(class_of, minlength=count),
        start_seconds=starts[leaders],
        end_seconds=_latest(class_of, ends, count),
        gap_seconds=gaps,
        period_seconds=periods,
        request_count=sums(class_of, requests, count),
        moved_bytes=sums(class_of, moved, count),
        rank_call_seconds=time.calls,
        rank_wait_seconds=time.waits,
        rank_exchange_seconds=time.exchange,
        storage_seconds=time.storage,
        overcount_seconds=time.excess,
        caller_count=callers,
        file_classes=own[files],
        file_ids=filled.file_ids[files],
        file_bytes=sums(file_of, piece_bytes, len(files)),
        file_phases=np.bincount(file_of[touched], minlength=len(files)),
    )
    return rows, held


def _lengths(calls: Calls) -> tuple[Integers, Integers, Integers]:
    """Lengths of requests, how often each follows itself in a piece, and that piece."""
    piece_of = calls.of_requests(np.arange(len(calls.counts)))
    firsts = group_starts(piece_of, calls.lengths)
    return calls.lengths[firsts], group_sizes(firsts, len(piece_of)), piece_of[firsts]


def _without_minor(calls: Calls, phases: Integers) -> Calls:
    """Requests without those that move next to nothing beside the others of their phase, as headers do."""
    if calls.lengths.max() <= calls.lengths.min() * MINOR:
        return calls
    length, weights, piece_of = _lengths(calls)
    phase_of = np.searchsorted(phases, calls.phases)
    heavy = commonest(phase_of[piece_of], length, length * weights.astype(np.float64), len(phases))
    phase_of = calls.of_requests(phase_of)
    is_minor = calls.lengths * float(MINOR) < heavy[phase_of]
    minor = np.bincount(phase_of[is_minor], calls.lengths[is_minor], len(phases))
    is_little = minor < MINOR_SHARE * np.bincount(phase_of, calls.lengths, len(phases))
    return calls.where(~(is_minor & is_little[phase_of]))


def _numbered(class_of: Integers) -> Integers:
    """The number of each phase within its class, from 0."""
    nth = np.empty_like(class_of)
    by_class = np.argsort(class_of, kind="stable")
    begins = group_starts(class_of[by_class])
    nth[by_class] = np.arange(len(class_of)) - np.repeat(begins, group_sizes(begins, len(class_of)))
    return nth


def _by_number(phases: Integers, last: int, values: Integers) -> Integers:
    """What is known of phases, by the number that their layer gives them; -1 for those that have no class."""
    found = np.full(last + 1, -1)
    found[phases] = values
    return found


def _places(calls: Calls, found: Shapes, held: Held, orders: Integers, under: Beneath | None) -> _Places:
    """Where the requests of each class lie."""
    count = len(orders)
    own, nth = held.classes[calls.phases], held.nth[calls.phases]
    firsts = np.lexsort((calls.starts[calls.firsts], calls.ranks, calls.phases))
    firsts = firsts[group_starts(calls.phases[firsts], calls.ranks[firsts])]
    offsets = law(own[firsts], nth[firsts], calls.ranks[firsts], calls.offsets[calls.firsts[firsts]], count)
    has_stride = np.isin(orders, (STRIDED, SEGMENTED))
    strides = commonest(own[found.pieces][~found.is_last], found.steps[~found.is_last], None, count)
    tiled = np.full(count, np.nan)
    if under is not None and len(under.offsets):
        by_block = offsets.phase_steps == UNKNOWN
        steps = np.where(by_block, np.where(has_stride, strides, 0), offsets.phase_steps)
        tiled = tiles(calls, found, under, held.classes, held.nth, steps=steps, bases=offsets.bases, by_block=by_block)
    return _Places(np.where(has_stride, strides, UNKNOWN), offsets, tiled)


def _accesses(calls: Calls, phase_of: Integers, total: int) -> Integers:
    """Whether ranks of a phase have files of their own, share them, or both."""
    pairs, pair_of = grouped(phase_of, calls.file_ids)
    is_shared = np.bincount(pair_of, minlength=len(pairs)) > 1
    shared, files = np.bincount(phase_of[pairs], is_shared, total), np.bincount(phase_of[pairs], minlength=total)
    return np.where(shared == 0, OWN, np.where(shared == files, SHARED, MIXED))


def _collective(calls: Calls, phase_of: Integers, ops: Integers, known: Collective) -> Integers:
    """Whether a phase's calls are collective: 0 no, 1 on any file, 2 where that is not known."""
    total = len(ops)
    if not known:
        return np.full(total, 2)
    firsts, key_of = grouped(calls.file_ids, ops[phase_of])
    keys = zip(calls.file_ids[firsts].tolist(), ops[phase_of][firsts].tolist(), strict=True)
    found = np.array([known.get(key, -1) for key in keys], np.int64)[key_of]
    is_any = np.bincount(phase_of, found == 1, total) > 0
    is_known = np.bincount(phase_of, found >= 0, total) > 0
    return np.where(is_any, 1, np.where(is_known, 0, 2))


def _time(layer: int, held: Held, collective: Integers, rank_counts: Integers, under: Beneath | None) -> tuple[Spent, Integers]:
    """Where the time of each class goes, and how many ranks called."""
    count = len(rank_counts)
    calls = held.calls
    if (held.classes[calls.phases] < 0).any():
        calls = calls.where(calls.of_requests(held.classes[calls.phases]) >= 0)
    own = held.classes[calls.phases]
    callers = np.bincount(own[grouped(own, calls.ranks)[0]], minlength=count)
    called = in_calls(calls, own, callers)
    is_buffered, is_known = np.zeros(count, bool), np.ones(count, bool)
    if LAYERS[layer] != "mpiio":
        storage = busy(calls.starts, calls.ends, calls.of_requests(own), count)
    elif under is None:
        storage, is_known = np.full(count, np.nan), collective == 0
    else:
        classes = held.classes[under.phases]
        at = np.flatnonzero((classes >= 0) & np.isin(under.file_ids, calls.file_ids))
        classes = classes[at]
        storage = busy(under.starts[at], under.ends[at], classes, count)
        posix_ranks = np.bincount(classes[grouped(classes, under.ranks[at])[0]], minlength=count) if len(at) else np.zeros(count)
        is_known = (posix_ranks > 0) | (collective == 0)
        storage = np.where(posix_ranks > 0, storage, np.nan)
        is_buffered = (posix_ranks > 0) & (posix_ranks < rank_counts) & (collective != 0)
    parts = spent(called, waits(calls, own, callers, is_buffered), storage, is_buffered)
    waited, exchange, excess = (np.where(is_known, part, np.nan) for part in (parts.waits, parts.exchange, parts.excess))
    return parts._replace(waits=waited, exchange=exchange, excess=excess), callers


def _latest(class_of: Integers, ends: Floats, count: int) -> Floats:
    latest = np.full(count, -np.inf)
    np.maximum.at(latest, class_of, ends)
    return latest


def _rhythm(class_of: Integers, starts: Floats, ends: Floats, count: int) -> tuple[Floats, Floats]:
    """The median gap between the phases of each class, and its period where there is one."""
    if len(class_of) == count:
        return np.full(count, np.nan), np.full(count, np.nan)
    order = order_by(class_of, starts)
    classes, starts, ends = class_of[order], starts[order], ends[order]
    is_next = classes[1:] == classes[:-1]
    classes = classes[1:][is_next]
    gaps = _middle(classes, (starts[1:] - ends[:-1])[is_next], count)
    distances = np.diff(starts)[is_next]
    periods = _middle(classes, distances, count)
    deviations = _middle(classes, np.abs(distances - periods[classes]), count)
    is_regular = (np.bincount(classes, minlength=count) >= _FEWEST_STARTS - 1) & (deviations <= (1 - _REGULAR) * periods)
    return gaps, np.where(is_regular, periods, np.nan)


def _middle(groups: Integers, values: Floats, count: int) -> Floats:
    """The median of each group, NaN where it has no value."""
    found = np.full(count, np.nan)
    if len(values):
        order = order_by(groups, values)
        ordered, begins = values[order], group_starts(groups[order])
        sizes = group_sizes(begins, len(order))
        found[groups[order][begins]] = (ordered[begins + (sizes - 1) // 2] + ordered[begins + sizes // 2]) / 2
    return found


def counted_rows(files: Counted, collective: Collective, layers: Layers, alike: float) -> Rows:
    """Classes of files that no trace speaks for: those that are alike, as phases are.

    Args:
        files: what counters say of them.
        collective: as for `traced_rows`.
        layers: phases by heat map.
        alike: as for `traced_rows`.
    """
    keys = zip(files.file_ids.tolist(), files.ops.tolist(), strict=True)
    is_collective = np.array([int(collective.get(key, 2)) for key in keys])
    kinds = (
        (((files.logs * len(LAYERS) + files.layers) * len(OPS) + files.ops) * 2 + files.is_shared) * 8
        + np.maximum(files.orders, -1)
        + 1
    ) * 3 + is_collective
    has_ranks, ranks = files.rank_counts > 0, np.maximum(files.rank_counts, 1)
    requests, sizes = np.maximum(files.request_counts, 0), np.maximum(files.request_bytes, 0)
    class_of = joined_by_likeness(kinds, np.column_stack([ranks, requests / ranks, files.moved_bytes / ranks, sizes]), alike)
    count = int(class_of.max()) + 1
    leaders = np.full(count, len(class_of))
    np.minimum.at(leaders, class_of, np.arange(len(class_of)))

    def of_most(values: Integers) -> Integers:
        return commonest(class_of, values, files.moved_bytes, count)

    per_rank = np.where(has_ranks & (files.request_counts != UNKNOWN), np.rint(requests / ranks).astype(np.int64), UNKNOWN)
    blocks = np.where(has_ranks & (files.block_counts != UNKNOWN), np.rint(files.block_counts / ranks).astype(np.int64), UNKNOWN)
    each_moved = np.where(has_ranks, whole(np.rint(files.moved_bytes / ranks)), UNKNOWN)
    # A rank may have many files of its own.
    rank_firsts, _ = grouped(class_of, np.where(files.is_shared, 0, files.ranks))
    rank_counts = np.where(
        files.is_shared[leaders], files.rank_counts[leaders], np.bincount(class_of[rank_firsts], minlength=count)
    )
    rank_counts = np.where(rank_counts > 0, rank_counts, UNKNOWN)
    starts, ends = np.full(count, np.inf), np.full(count, -np.inf)
    np.fmin.at(starts, class_of, files.starts)
    np.fmax.at(ends, class_of, files.ends)
    phase_counts, gaps, periods = _mapped(files.logs[leaders], files.layers[leaders], files.ops[leaders], layers)
    unknown, never = np.full(count, UNKNOWN), np.full(count, np.nan)
    by_class = np.argsort(class_of, kind="stable")
    is_posix = files.layers[leaders] != LAYERS.index("mpiio")
    nobody = np.where(is_posix | (is_collective[leaders] == 0), 0.0, np.nan)
    unknown_requests = np.bincount(class_of, files.request_counts == UNKNOWN, count) > 0
    return Rows(
        logs=files.logs[leaders],
        layers=files.layers[leaders],
        ops=files.ops[leaders],
        evidence=np.full(count, COUNTERS),
        accesses=np.where(files.is_shared[leaders], SHARED, OWN),
        orders=files.orders[leaders],
        rank_count=rank_counts,
        request_bytes=of_most(files.request_bytes),
        requests_per_rank=of_most(per_rank),
        bytes_per_rank=of_most(each_moved),
        block_bytes=of_most(files.block_bytes),
        segment_count=of_most(blocks),
        stride_bytes=of_most(files.stride_bytes),
        first_offset_bytes=unknown,
        rank_step_bytes=unknown,
        phase_step_bytes=unknown,
        law_ratio=never,
        tiles_ratio=never,
        phase_count=phase_counts,
        start_seconds=np.where(starts <= ends, starts, np.nan),
        end_seconds=np.where(starts <= ends, ends, np.nan),
        gap_seconds=gaps,
        period_seconds=periods,
        request_count=np.where(unknown_requests, np.nan, sums(class_of, requests, count)),
        moved_bytes=sums(class_of, files.moved_bytes, count),
        rank_call_seconds=np.bincount(class_of, files.seconds, count) / np.where(rank_counts > 0, rank_counts, np.nan),
        rank_wait_seconds=nobody,
        rank_exchange_seconds=nobody,
        storage_seconds=never,
        overcount_seconds=nobody,
        caller_count=rank_counts,
        file_classes=class_of[by_class],
        file_ids=files.file_ids[by_class],
        file_bytes=files.moved_bytes[by_class],
        file_phases=np.ones(len(class_of), np.int64),
    )


def _mapped(logs: Integers, layers: Integers, ops: Integers, known: Layers) -> tuple[Integers, Floats, Floats]:
    """Phases of each class by heat map, the gap between them and their period, where a class is the only one of its direction."""
    counts, gaps, periods = np.full(len(ops), UNKNOWN), np.full(len(ops), np.nan), np.full(len(ops), np.nan)
    for number, name in enumerate(LAYERS):
        layer = known.get(name)
        rows = np.flatnonzero(layers == number)
        if layer is None or layer.evidence != "heatmap" or not len(rows):
            continue
        firsts, row_of = grouped(logs[rows], ops[rows])
        rows = rows[firsts[np.bincount(row_of) == 1]]
        of_log, of_op = lanes(layer)
        # In the order of logs and directions, as `rows` are.
        lane_of, wanted = of_log * len(OPS) + of_op, logs[rows] * len(OPS) + ops[rows]
        at = np.flatnonzero(np.isin(lane_of, wanted))
        if not len(at):
            continue
        starts, ends = extents(layer.stretches, layer.phase_of)
        found, class_of = np.unique(lane_of[at], return_inverse=True)
        rows = rows[np.searchsorted(wanted, found)]
        counts[rows] = np.bincount(class_of)
        gaps[rows], periods[rows] = _rhythm(class_of, starts[at], ends[at], len(rows))
    return counts, gaps, periods


def together(parts: list[Rows]) -> Rows:
    """Parts as one, with their classes numbered through; at least one part."""
    if len(parts) == 1:
        return parts[0]
    befores = np.cumsum([0, *(len(part.layers) for part in parts[:-1])])
    parts = [part._replace(file_classes=part.file_classes + before) for part, before in zip(parts, befores, strict=True)]
    return Rows._make(map(np.concatenate, zip(*parts, strict=True)))


def in_order(rows: Rows) -> tuple[Rows, Integers]:
    """The same log by log in the order of their start, those that have none last; and the new number of each."""
    # NaN sorts last.
    order = np.lexsort((rows.layers, rows.ops, rows.start_seconds, rows.logs))
    if (order[1:] > order[:-1]).all():
        return rows, order
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    of_classes = rows._fields.index("file_classes")
    columns = [column[order] for column in rows[:of_classes]]
    return Rows._make([*columns, places[rows.file_classes], *rows[of_classes + 1 :]]), places
