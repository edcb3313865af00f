"""Requests counted by edge, time and value."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.batch import LOG
from iomine.derive.columns import counts, labels
from iomine.derive.radial.moves import Links, Moves
from iomine.derive.trace import Floats, Integers, grouped, turns
from iomine.schema.column import Column
from iomine.schema.ops import OPS

RINGS: Final = ("outer", "inner")
METRICS: Final = ("latency", "size")
LATENCY, SIZE = range(2)
TIME_BINS: Final = 64
VALUE_BINS: Final = 24
# The least value and the highest of each metric's axis, as logarithms: 1 us to 1,000 s, 1 B to 16 GiB.
AXES: Final = ((-6.0, 3.0), (0.0, 34 * np.log10(2)))
# Where all bins but the first start.
_BIN_STARTS: Final = tuple(10 ** np.linspace(low, high, VALUE_BINS + 1)[1:-1] for low, high in AXES)
# A picture has no room for more.
MOST_ARCS: Final = 1024
# Arcs that several nodes share are fewer, so that cells of a long trace stay small.
_MOST_SHARED: Final = 640
# Requests that are counted all at once; of more, ring by ring and metric by metric, which takes less memory.
FEW: Final = 1 << 14
# Steps between two powers of two in which times are kept.
_STEPS: Final = 256
# Cells for each request that are worth having empty, so that nothing has to be sorted.
_EMPTY: Final = 4


class Span(NamedTuple):
    """The time that the picture of each log shows.

    Attributes:
        begin: when the first bin begins.
        width: seconds of a bin.
    """

    begin: Floats
    width: Floats

    @classmethod
    def of(cls, links: Links) -> "Span":
        """The time of all requests of a run."""
        begin, last = np.full(links.nodes.log_count, np.inf), np.full(links.nodes.log_count, -np.inf)
        for moves in (links.outer, links.inner):
            logs, firsts = links.nodes.stretches(moves)
            np.minimum.at(begin, logs, np.minimum.reduceat(moves.starts, firsts))
            np.maximum.at(last, logs, np.maximum.reduceat(moves.starts, firsts))
        has_any = begin <= last
        width = np.maximum(np.where(has_any, last - begin, TIME_BINS) / TIME_BINS, 1e-9)
        return cls(np.where(has_any, begin, 0.0), width)


class _Edges(NamedTuple):
    """Edges of a ring.

    Attributes:
        ring: the ring, an index into `RINGS`.
        moves: its requests that have both ends.
        slots: for each request its edge and time bin, as one number.
        logs: log of each edge.
        ops: direction of each.
        froms: arc in its log where each begins.
        tos: arc where it ends.
    """

    ring: int
    moves: Moves
    slots: Integers
    logs: Integers
    ops: Integers
    froms: Integers
    tos: Integers


class _Cells(NamedTuple):
    """Requests by cell.

    Attributes:
        keys: edge, time bin and value bin of each, as one number.
        values: value of each.
        lengths: its bytes.
        seconds: its latency, NaN where it has none.
    """

    keys: Integers
    values: Floats
    lengths: Integers
    seconds: Floats


def arcs(logs: Integers) -> Integers:
    """The arc of each of some nodes, those of a log in order.

    Beyond 1,024 neighbours share one, by powers of two, since nodes of a machine mostly have as many ranks: arcs then end where
    hosts do.

    Args:
        logs: log of each node, ascending.
    """
    node_counts = np.bincount(logs)
    shifts = np.zeros_like(node_counts)
    for log in np.flatnonzero(node_counts > MOST_ARCS).tolist():
        while node_counts[log] > _MOST_SHARED << shifts[log]:
            shifts[log] += 1
    return turns(node_counts) >> np.repeat(shifts, node_counts)


def values_of(moves: Moves, metric: int) -> npt.NDArray[Any]:
    """Values of requests, NaN for one that has none."""
    return moves.seconds if metric == LATENCY else moves.lengths


def detail_rows(links: Links) -> list[dict[str, Column]]:
    """Columns of the table `link_detail`, in one or more parts."""
    rings = list(_rings(links))
    work = [(edges, metric) for edges in rings for metric in range(len(METRICS))]
    is_large = sum(len(edges.slots) for edges in rings) > FEW
    batches = [[each] for each in work] if is_large else [work]
    return [columns for batch in batches for columns in _counted(batch)]


def _rings(links: Links) -> Iterator[_Edges]:
    """Edges of the rings that have any."""
    span, nodes = Span.of(links), links.nodes
    ranks, carriers, places = nodes.rank_logs, nodes.carrier_logs, nodes.place_logs
    for ring, every in enumerate((links.outer, links.inner)):
        moves = every.where(every.carriers >= 0)
        if not len(moves.starts):
            continue
        froms, tos, from_logs, to_logs = (
            (moves.ranks, moves.carriers, ranks, carriers)
            if RINGS[ring] == "outer"
            else (moves.carriers, moves.places, carriers, places)
        )
        to_counts = np.bincount(to_logs, minlength=nodes.log_count)
        of_op = np.bincount(from_logs, minlength=nodes.log_count) * to_counts
        # Keys of a log come after those of all logs before it.
        ends = np.cumsum(of_op) * len(OPS)
        begins = ends - of_op * len(OPS)
        of_from = begins[from_logs] + arcs(from_logs) * to_counts[from_logs]
        keys = of_from[froms]
        keys += moves.ops * nodes.of_moves(of_op, moves)
        keys += arcs(to_logs)[tos]
        slots, keys = compressed(keys, int(ends[-1]))
        logs = np.searchsorted(ends, keys, side="right")
        ops, rest = np.divmod(keys - begins[logs], of_op[logs])
        begin, width = (nodes.of_moves(of_logs, moves) for of_logs in span)
        bins = np.clip((moves.starts - begin) / width, 0, TIME_BINS - 1).astype(np.int32)
        yield _Edges(ring, moves, slots * TIME_BINS + bins, logs, ops, *np.divmod(rest, to_counts[logs]))


def _counted(work: Sequence[tuple[_Edges, int]]) -> Iterator[dict[str, Column]]:
    """Columns of some rings and metrics, counted at once."""
    parts, labels_of, first = [], [], 0
    for edges, metric in work:
        part = _cells(edges, metric)
        if not len(part.keys):
            continue
        parts.append(part._replace(keys=part.keys + first * (TIME_BINS * VALUE_BINS)))
        count = len(edges.ops)
        labels_of.append((np.full(count, edges.ring), np.full(count, metric), edges.logs, edges.ops, edges.froms, edges.tos))
        first += count
    if not parts:
        return
    cells = parts[0] if len(parts) == 1 else _Cells._make(np.concatenate(columns) for columns in zip(*parts, strict=True))
    cell_of, keys = compressed(cells.keys, first * TIME_BINS * VALUE_BINS)
    least, most = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
    np.minimum.at(least, cell_of, cells.values)
    np.maximum.at(most, cell_of, cells.values)
    has_time = ~np.isnan(cells.seconds)
    is_whole = bool(has_time.all())
    sums = np.bincount(cell_of, cells.seconds if is_whole else np.where(has_time, cells.seconds, 0.0)).astype(
        np.float64, copy=False
    )
    lacks_time = np.zeros(len(keys), bool) if is_whole else np.bincount(cell_of, has_time) == 0
    edges_of, bins = np.divmod(keys, TIME_BINS * VALUE_BINS)
    rings, metrics, logs, ops, froms_of, tos_of = (np.concatenate(columns)[edges_of] for columns in zip(*labels_of, strict=True))
    yield {
        LOG: Column(logs),
        "ring": labels(rings, RINGS),
        "metric": labels(metrics, METRICS),
        "op": labels(ops, OPS),
        "from_node": Column(froms_of),
        "to_node": Column(tos_of),
        "time_bin": Column(bins // VALUE_BINS),
        "value_bin": Column(bins % VALUE_BINS),
        "request_count": Column(np.bincount(cell_of)),
        "moved_bytes": counts(np.bincount(cell_of, cells.lengths)),
        "latency_seconds": Column(_rounded(sums), mask=lacks_time),
        "least_value": Column(np.where(metrics == LATENCY, _rounded(least), least)),
        "most_value": Column(np.where(metrics == LATENCY, _rounded(most), most)),
    }


def _rounded(seconds: Floats) -> Floats:
    """Seconds to 1 in 256, of which Parquet takes a fifth."""
    mantissas, exponents = np.frexp(seconds)
    rounded: Floats = np.ldexp(np.round(mantissas * _STEPS) / _STEPS, exponents)
    return rounded


def _cells(edges: _Edges, metric: int) -> _Cells:
    """Requests of a ring that have a value."""
    moves, slots = edges.moves, edges.slots
    if metric == LATENCY and not (is_known := ~np.isnan(moves.seconds)).all():
        moves, slots = moves.where(is_known), slots[is_known]
    values = values_of(moves, metric)
    bins = np.searchsorted(_BIN_STARTS[metric], values, side="right")
    # Whole numbers would be converted one by one to the floats of least and most.
    return _Cells(slots * VALUE_BINS + bins, values.astype(np.float64, copy=False), moves.lengths, moves.seconds)


def compressed(keys: npt.NDArray[np.signedinteger[Any]], total: int) -> tuple[Integers, Integers]:
    """The number of each key among those that there are, and these in order.

    Args:
        keys: numbers from 0 on.
        total: all are below.
    """
    if total > _EMPTY * len(keys):
        rows, numbers = grouped(keys)
        return numbers, keys[rows]
    is_there = np.zeros(total, bool)
    is_there[keys] = True
    distinct = np.flatnonzero(is_there)
    numbers = np.empty(total, np.int64)
    numbers[distinct] = np.arange(len(distinct))
    return numbers[keys], distinct
