"""Values of requests by what they come from and go to."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.derive.columns import counts, labels
from iomine.derive.radial.cube import LATENCY, METRICS, RINGS, TIME_BINS, Span, arcs, log_values, values_of
from iomine.derive.radial.medians import sorted_medians
from iomine.derive.radial.moves import HOST, Links, Moves, Nodes
from iomine.derive.trace import Floats, Integers, Tables
from iomine.schema.ops import OPS

STRETCHES: Final = ("run", "first", "last")
LEVELS: Final = ("rank", "host", "carrier", "ost", "mount", "file")
_TENTH: Final = 0.1
# Files of a run that are looked at one by one, those with most bytes.
_MOST_FILES: Final = 64
# Requests that are counted at all levels at once; of more, level by level, which takes less memory.
_FEW: Final = 1 << 17


class _Level(NamedTuple):
    """Nodes of one kind in a ring.

    Attributes:
        name: the kind.
        node_of: node of each request, negative for none.
        ids: id of each node.
        names: what each is called.
        hosts: host of each.
        arcs: arc of each, negative where it has none.
        positions: where among the ranks each lies, NaN where that means nothing.
    """

    name: str
    node_of: npt.NDArray[Any]
    ids: Integers
    names: Sequence[str | None]
    hosts: Sequence[str | None]
    arcs: Integers
    positions: Floats


class _Sums(NamedTuple):
    """What nodes did, each a row.

    Attributes:
        nodes: number of the node, as all levels of a ring lie end to end.
        ops: direction, an index into `OPS`.
        metrics: metric, an index into `METRICS`.
        stretches: stretch of the run, an index into `STRETCHES`.
        requests: requests.
        moved: bytes.
        medians: median of the logarithms of values.
    """

    nodes: Integers
    ops: Integers
    metrics: Integers
    stretches: Integers
    requests: Integers
    moved: Floats
    medians: Floats


def node_rows(links: Links, tables: Tables) -> list[dict[str, pa.Array]]:
    """Columns of the table `link_node` for each ring."""
    span = Span.of(links)
    found = []
    for ring, moves in enumerate((links.outer, links.inner)):
        if not len(moves.starts):
            continue
        levels = _levels(links.nodes, moves)
        if RINGS[ring] == "inner":
            levels += _places(links.nodes, moves, tables)
        tenths = (moves.starts - span.begin) / (span.width * TIME_BINS)
        stretches = np.where(tenths < _TENTH, 1, np.where(tenths >= 1 - _TENTH, 2, 0))
        parts = [part for metric in range(len(METRICS)) for part in _sums(levels, moves, stretches, metric)]
        found.append(_rows(ring, levels, _Sums._make(np.concatenate(columns) for columns in zip(*parts, strict=True))))
    return found


def _sums(levels: Sequence[_Level], moves: Moves, stretches: Integers, metric: int) -> Iterator[_Sums]:
    """What nodes did, as many levels at once as memory is for.

    Args:
        levels: the levels of a ring.
        moves: its requests.
        stretches: stretch that each is in beside the run, 0 for none.
        metric: which values.
    """
    values = values_of(moves, metric)
    order = np.argsort(values, kind="stable")
    if metric == LATENCY:
        # NaN comes last.
        order = order[: len(order) - np.count_nonzero(np.isnan(values))]
    if not len(order):
        return
    logs = log_values(values[order], metric)
    ops, lengths, of_stretch = (column[order] for column in (moves.ops, moves.lengths, stretches))
    ends = np.cumsum([len(level.ids) for level in levels])
    together = len(levels) if len(order) <= _FEW else 1
    for at in range(0, len(levels), together):
        some = slice(at, at + together)
        first = int(ends[at - 1]) if at else 0
        count = int(ends[some][-1]) - first
        numbered = zip(levels[some], ends[some], strict=True)
        nodes = np.stack([np.where(level.node_of < 0, -1, level.node_of + (end - len(level.ids))) for level, end in numbered])
        nodes = nodes[:, order].ravel()
        filled = np.flatnonzero(nodes >= 0)
        in_tenth = filled[of_stretch[filled % len(order)] > 0]
        # A request counts for the run, and once more for the tenth that it is in, which groups keep apart.
        both = np.concatenate([filled, in_tenth])
        request = both % len(order)
        stretch = np.where(np.arange(len(both)) < len(filled), 0, of_stretch[request])
        groups = (stretch * len(OPS) + ops[request]) * count + nodes[both] - first
        total = len(STRETCHES) * len(OPS) * count
        sizes = np.bincount(groups, minlength=total)
        found = np.flatnonzero(sizes)
        rest, node = np.divmod(found, count)
        yield _Sums(
            node + first,
            rest % len(OPS),
            np.full(len(found), metric),
            rest // len(OPS),
            sizes[found],
            np.bincount(groups, lengths[request], total)[found].astype(np.float64, copy=False),
            sorted_medians(groups, logs[request], total)[found],
        )


def _rows(ring: int, levels: Sequence[_Level], sums: _Sums) -> dict[str, pa.Array]:
    """Rows of a ring."""
    numbers = np.repeat([LEVELS.index(level.name) for level in levels], [len(level.ids) for level in levels])
    ids, of_arcs, positions = (
        np.concatenate([getattr(level, name) for level in levels])[sums.nodes] for name in ("ids", "arcs", "positions")
    )
    names, hosts = (
        pa.array([text for level in levels for text in getattr(level, name)], pa.string()).take(pa.array(sums.nodes))
        for name in ("names", "hosts")
    )
    return {
        "ring": labels(np.full(len(ids), ring), RINGS),
        "node_level": labels(numbers[sums.nodes], LEVELS),
        "node_id": pa.array(ids),
        "node_label": names,
        "host": hosts.dictionary_encode(),
        "arc": pa.array(of_arcs, mask=of_arcs < 0),
        "position": pa.array(positions, mask=np.isnan(positions)),
        "op": labels(sums.ops, OPS),
        "metric": labels(sums.metrics, METRICS),
        "stretch": labels(sums.stretches, STRETCHES),
        "request_count": pa.array(sums.requests),
        "moved_bytes": counts(sums.moved),
        "median_log10": pa.array(sums.medians),
    }


def _levels(nodes: Nodes, moves: Moves) -> list[_Level]:
    """Ranks, hosts and carriers."""
    rank_count, host_names = len(nodes.ranks), [*nodes.host_names, None]
    positions = np.arange(rank_count) / max(rank_count - 1, 1)
    host_count = len(host_names)
    in_host = np.maximum(np.bincount(nodes.hosts, minlength=host_count), 1)
    of_hosts = np.bincount(nodes.hosts, positions, host_count) / in_host
    no_arcs = np.full(host_count, -1)
    by_host = _Level("host", nodes.hosts[moves.ranks], np.arange(host_count), host_names, host_names, no_arcs, of_hosts)
    names = [host_names[host] for host in nodes.hosts.tolist()]
    by_rank = _Level("rank", moves.ranks, nodes.ranks, [None] * rank_count, names, arcs(rank_count), positions)
    is_host = nodes.carrier_kind == HOST
    at = nodes.carriers.tolist()
    by_carrier = _Level(
        "carrier",
        moves.carriers,
        nodes.carriers if is_host else nodes.ranks[nodes.carriers],
        [host_names[host] for host in at] if is_host else [None] * len(at),
        [host_names[host] if is_host else names[host] for host in at],
        arcs(len(at)),
        nodes.positions,
    )
    return [by_rank, by_host, by_carrier]


def _places(nodes: Nodes, moves: Moves, tables: Tables) -> list[_Level]:
    """OSTs, mounts and files."""
    ost_count, mount_count = len(nodes.osts), len(nodes.mounts)
    place_arcs = arcs(ost_count + mount_count)

    def level(name: str, node_of: npt.NDArray[Any], ids: Integers, names: Sequence[str | None], of_arcs: Integers) -> _Level:
        return _Level(name, node_of, ids, names, [None] * len(ids), of_arcs, np.full(len(ids), np.nan))

    in_files = np.bincount(moves.files, moves.lengths, len(nodes.file_ids))
    top = np.sort(np.argsort(-in_files, kind="stable")[:_MOST_FILES])
    number_of = np.full(len(in_files), -1)
    number_of[top] = np.arange(len(top))
    ids = nodes.file_ids[top]
    wanted = set(ids.tolist())
    path_of = {
        file_id: path
        for part in tables.get("file_name", ())
        for file_id, path in zip(part["file_id"], part["path"], strict=True)
        if file_id in wanted
    }
    paths, no_arcs = [path_of.get(file_id) for file_id in ids.tolist()], np.full(len(top), -1)
    by_file = level("file", number_of[moves.files], ids, paths, no_arcs)
    is_ost = moves.places < ost_count
    on_ost, on_mount = np.where(is_ost, moves.places, -1), np.where(is_ost, -1, moves.places - ost_count)
    by_ost = level("ost", on_ost, nodes.osts, [None] * ost_count, place_arcs[:ost_count])
    by_mount = level("mount", on_mount, np.arange(mount_count), nodes.mounts, place_arcs[ost_count:])
    return [*([by_ost] if ost_count else []), *([by_mount] if mount_count else []), by_file]
