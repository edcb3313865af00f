"""Requests counted by edge, time and value."""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.derive.columns import counts, labels
from iomine.derive.radial.moves import Indices, Links, Moves
from iomine.derive.trace import Floats, Integers
from iomine.schema.ops import OPS

RINGS: Final = ("outer", "inner")
METRICS: Final = ("latency", "size")
LATENCY, SIZE = range(2)
TIME_BINS: Final = 64
VALUE_BINS: Final = 24
# The least value and the highest of each metric's axis, as logarithms: 1 us to 1,000 s, 1 B to 16 GiB.
AXES: Final = ((-6.0, 3.0), (0.0, 34 * np.log10(2)))
# A picture has no room for more.
MOST_ARCS: Final = 1024
# Cells that are worth having empty, so that nothing has to be sorted.
_MOST_EMPTY: Final = 1 << 22


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


def arcs(count: int) -> Integers:
    """The arc of each of some nodes in order; beyond 1,024 neighbours share one."""
    nodes = np.arange(count)
    return nodes if count <= MOST_ARCS else nodes * MOST_ARCS // count


def values_of(moves: Moves, metric: int) -> npt.NDArray[Any]:
    """Values of requests, NaN for one that has none."""
    return moves.seconds if metric == LATENCY else moves.lengths


def log_values(values: npt.NDArray[Any], metric: int) -> Floats:
    """Common logarithms, none of them below the axis."""
    logs: Floats = np.log10(np.maximum(values, 10 ** AXES[metric][0]))
    return logs


def cells(links: Links) -> list[dict[str, pa.Array]]:
    """Columns of the table `link_detail` for each ring and metric."""
    span = Span.of(links)
    nodes = links.nodes
    of_rank, of_carrier, of_place = (
        arcs(count).astype(np.int32) for count in (len(nodes.ranks), len(nodes.carriers), len(nodes.osts) + len(nodes.mounts))
    )
    ends = ((links.outer, of_rank, "ranks", of_carrier, "carriers"), (links.inner, of_carrier, "carriers", of_place, "places"))
    found = []
    for ring, (every, of_from, froms, of_to, tos) in enumerate(ends):
        moves = every.where(every.carriers >= 0)
        if not len(moves.starts):
            continue
        edges = (moves.ops * len(of_from) + of_from[getattr(moves, froms)]).astype(np.int64) * len(of_to)
        edges += of_to[getattr(moves, tos)]
        edge_of, edges = compressed(edges, len(OPS) * len(of_from) * len(of_to))
        edge_of *= TIME_BINS
        edge_of += span.bins(moves.starts)
        for metric in range(len(METRICS)):
            part = _cells(moves, edge_of, metric)
            if part is None:
                continue
            at, time_bins, value_bins, columns = part
            ops, rest = np.divmod(edges[at], len(of_from) * len(of_to))
            found.append(
                {
                    "ring": labels(np.full(len(at), ring), RINGS),
                    "metric": labels(np.full(len(at), metric), METRICS),
                    "op": labels(ops, OPS),
                    "from_node": pa.array(rest // len(of_to)),
                    "to_node": pa.array(rest % len(of_to)),
                    "time_bin": pa.array(time_bins),
                    "value_bin": pa.array(value_bins),
                    **columns,
                }
            )
    return found


def _cells(moves: Moves, slots: Integers, metric: int) -> tuple[Integers, Integers, Integers, dict[str, pa.Array]] | None:
    """Edge, time bin and value bin of each cell, and what it holds.

    Args:
        moves: requests.
        slots: edge times the number of time bins plus the time bin of each.
        metric: which values.
    """
    values = values_of(moves, metric)
    lengths, seconds = moves.lengths, moves.seconds
    is_known = ~np.isnan(seconds)
    if metric == LATENCY and not is_known.all():
        values, lengths, seconds, slots = values[is_known], lengths[is_known], seconds[is_known], slots[is_known]
    if not len(values):
        return None
    low, high = AXES[metric]
    bins = np.minimum((log_values(values, metric) - low) * (VALUE_BINS / (high - low)), VALUE_BINS - 1)
    cell_of, keys = compressed(slots * VALUE_BINS + bins.astype(np.int64), (int(slots.max()) + 1) * VALUE_BINS)
    least, most = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
    np.minimum.at(least, cell_of, values)
    np.maximum.at(most, cell_of, values)
    timed = seconds if is_known.all() or metric == LATENCY else np.where(is_known, seconds, 0.0)
    has_time = np.ones(len(keys), bool) if timed is seconds else np.bincount(cell_of, is_known, len(keys)) > 0
    slots, value_bins = np.divmod(keys, VALUE_BINS)
    edges, time_bins = np.divmod(slots, TIME_BINS)
    return (
        edges,
        time_bins,
        value_bins,
        {
            "request_count": pa.array(np.bincount(cell_of)),
            "moved_bytes": counts(np.bincount(cell_of, lengths)),
            "latency_seconds": pa.array(np.bincount(cell_of, timed), mask=~has_time),
            "least_value": pa.array(least),
            "most_value": pa.array(most),
        },
    )


def compressed(keys: Integers, total: int) -> tuple[Integers, Integers]:
    """The number of each key among those that there are, and these in order.

    Args:
        keys: numbers from 0 on.
        total: all are below.
    """
    if total > max(_MOST_EMPTY, len(keys)):
        distinct, numbers = np.unique(keys, return_inverse=True)
        return numbers, distinct
    is_there = np.zeros(total, bool)
    is_there[keys] = True
    distinct = np.flatnonzero(is_there)
    numbers = np.empty(total, np.int64)
    numbers[distinct] = np.arange(len(distinct))
    return numbers[keys], distinct
