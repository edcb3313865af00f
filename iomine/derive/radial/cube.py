"""Requests counted by edge, time and value."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.columns import counts, labels
from iomine.derive.radial.moves import Indices, Links, Moves
from iomine.derive.trace import Floats, Integers, grouped
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
    """The time that pictures show.

    Attributes:
        begin: when the first bin begins.
        width: seconds of a bin.
    """

    begin: float
    width: float

    @classmethod
    def of(cls, links: Links) -> "Span":
        """That of all requests of a run."""
        starts = [moves.starts for moves in (links.outer, links.inner) if len(moves.starts)]
        if not starts:
            return cls(0.0, 1.0)
        begin, last = min(float(each.min()) for each in starts), max(float(each.max()) for each in starts)
        return cls(begin, max((last - begin) / TIME_BINS, 1e-9))

    def bins(self, starts: Floats) -> Indices:
        """The bin of each request."""
        return np.clip((starts - self.begin) / self.width, 0, TIME_BINS - 1).astype(np.int32)


class _Edges(NamedTuple):
    """Edges of a ring.

    Attributes:
        ring: the ring, an index into `RINGS`.
        moves: its requests that have both ends.
        of_from: arc of each node where edges begin.
        of_to: arc of each node where they end.
        slots: for each request its edge and time bin, as one number.
        keys: direction and arcs of each edge, as one number.
    """

    ring: int
    moves: Moves
    of_from: Indices
    of_to: Indices
    slots: Integers
    keys: Integers


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


def arcs(count: int) -> Integers:
    """The arc of each of some nodes in order.

    Beyond 1,024 neighbours share one, by powers of two, since nodes of a machine mostly have as many ranks: arcs then end where
    hosts do.
    """
    shift = 0
    while count > MOST_ARCS and count > _MOST_SHARED << shift:
        shift += 1
    return np.arange(count) >> shift


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
    of_rank, of_carrier, of_place = (
        arcs(count).astype(np.int32) for count in (len(nodes.ranks), len(nodes.carriers), len(nodes.osts) + len(nodes.mounts))
    )
    for ring, every in enumerate((links.outer, links.inner)):
        moves = every.where(every.carriers >= 0)
        if not len(moves.starts):
            continue
        of_from, of_to = (of_rank, of_carrier) if RINGS[ring] == "outer" else (of_carrier, of_place)
        froms, tos = (moves.ranks, moves.carriers) if RINGS[ring] == "outer" else (moves.carriers, moves.places)
        keys = (moves.ops * len(of_from) + of_from[froms]).astype(np.int64) * len(of_to) + of_to[tos]
        slots, keys = compressed(keys, len(OPS) * len(of_from) * len(of_to))
        yield _Edges(ring, moves, of_from, of_to, slots * TIME_BINS + span.bins(moves.starts), keys)


def _counted(work: Sequence[tuple[_Edges, int]]) -> Iterator[dict[str, Column]]:
    """Columns of some rings and metrics, counted at once."""
    parts, labels_of, first = [], [], 0
    for edges, metric in work:
        part = _cells(edges, metric)
        if not len(part.keys):
            continue
        parts.append(part._replace(keys=part.keys + first * (TIME_BINS * VALUE_BINS)))
        froms = len(edges.of_from)
        ops, rest = np.divmod(edges.keys, froms * len(edges.of_to))
        labels_of.append((np.full(len(ops), edges.ring), np.full(len(ops), metric), ops, *np.divmod(rest, len(edges.of_to))))
        first += len(edges.keys)
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
    rings, metrics, ops, froms_of, tos_of = (np.concatenate(columns)[edges_of] for columns in zip(*labels_of, strict=True))
    yield {
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
    # Whole numbers would be brought into the floats of least and most one by one.
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
