"""Values of requests by what they come from and go to."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.derive.columns import counts, labels
from iomine.derive.file_names import paths_of
from iomine.derive.radial.cube import AXES, FEW, LATENCY, METRICS, RINGS, SIZE, TIME_BINS, Span, arcs, values_of
from iomine.derive.radial.medians import middles
from iomine.derive.radial.moves import HOST, RANK, Links, Moves, Nodes
from iomine.derive.trace import Floats, Integers, Tables
from iomine.schema.ops import OPS

STRETCHES: Final = ("run", "first", "last")
LEVELS: Final = ("rank", "host", "carrier", "ost", "mount", "file")
RANKS, HOSTS, CARRIERS = range(3)
_TENTH: Final = 0.1
# Files of a run that are looked at one by one, those with most bytes.
_MOST_FILES: Final = 64


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
        twin: where carriers are all that their ranks or hosts are, for each of these its carrier, negative for none.
    """

    name: str
    node_of: npt.NDArray[Any]
    ids: Integers
    names: Sequence[str | None]
    hosts: Sequence[str | None]
    arcs: Integers
    positions: Floats
    twin: Integers | None = None


class _Ring(NamedTuple):
    """A ring's requests and nodes.

    Attributes:
        ring: the ring, an index into `RINGS`.
        moves: its requests.
        stretches: stretch that each is in beside the run, 0 for none.
        levels: its nodes.
        firsts: number of the first node of each level, as the levels of all rings lie end to end, and of the first that follows.
    """

    ring: int
    moves: Moves
    stretches: Integers
    levels: Sequence[_Level]
    firsts: Integers


class _Values(NamedTuple):
    """Values of requests at nodes, from the least on in each group.

    Attributes:
        groups: stretch, direction, metric and node of each, as one number.
        values: the values.
        lengths: bytes of the request.
    """

    groups: Integers
    values: npt.NDArray[Any]
    lengths: Integers


class _Sums(NamedTuple):
    """What groups of values are, each a row.

    Attributes:
        groups: stretch, direction, metric and node, as one number.
        requests: requests.
        moved: bytes.
        medians: median of the common logarithms.
    """

    groups: Integers
    requests: Integers
    moved: Floats
    medians: Floats


def node_rows(links: Links, tables: Tables) -> dict[str, pa.Array]:
    """Columns of the table `link_node`; none where there are no rows."""
    rings = list(_rings(links, tables))
    if not rings:
        return {}
    node_count = int(rings[-1].firsts[-1])
    parts: Iterator[_Values]
    parts = (part for ring in rings for metric in range(len(METRICS)) for part in _values(ring, metric, node_count))
    if sum(len(ring.stretches) for ring in rings) <= FEW:
        parts = iter([_Values._make(np.concatenate(columns) for columns in zip(*parts, strict=True))])
    sums = [_sums(part, node_count) for part in parts]
    of_twin = RANKS if links.nodes.carrier_kind == RANK else HOSTS
    sums += [_of_twins(each, ring, of_twin, node_count) for ring in rings for each in sums]
    return _rows(rings, _Sums._make(np.concatenate(columns) for columns in zip(*sums, strict=True)), node_count)


def _rings(links: Links, tables: Tables) -> Iterator[_Ring]:
    """The rings in which anything was traced."""
    span, first = Span.of(links), 0
    for ring, moves in enumerate((links.outer, links.inner)):
        if not len(moves.starts):
            continue
        levels = _levels(links.nodes, moves, has_twin=RINGS[ring] == "inner" or links.nodes.carrier_kind == HOST)
        if RINGS[ring] == "inner":
            levels += _places(links.nodes, moves, tables)
        tenths = (moves.starts - span.begin) / (span.width * TIME_BINS)
        firsts = np.cumsum([first, *(len(level.ids) for level in levels)])
        yield _Ring(ring, moves, (tenths < _TENTH) + 2 * (tenths >= 1 - _TENTH), levels, firsts)
        first = int(firsts[-1])


def _values(ring: _Ring, metric: int, node_count: int) -> Iterator[_Values]:
    """Values of a ring, level by level."""
    moves, values = ring.moves, values_of(ring.moves, metric)
    order = np.argsort(values)
    if metric == LATENCY:
        # NaN comes last.
        order = order[: len(order) - np.count_nonzero(np.isnan(values))]
    if not len(order):
        return
    values, lengths, stretches = values[order], moves.lengths[order], ring.stretches[order]
    kinds = (moves.ops[order].astype(np.int64) * len(METRICS) + metric) * node_count
    # A request counts for the run, and once more for the tenth that it is in, which groups keep apart.
    tenth = np.flatnonzero(stretches)
    kinds_of_tenth = kinds[tenth] + stretches[tenth] * (len(OPS) * len(METRICS) * node_count)
    for level, first in zip(ring.levels, ring.firsts.tolist(), strict=False):
        if level.twin is not None:
            continue
        nodes = level.node_of[order]
        groups = np.concatenate([kinds + nodes, kinds_of_tenth + nodes[tenth]]) + first
        both = _Values(groups, np.concatenate([values, values[tenth]]), np.concatenate([lengths, lengths[tenth]]))
        if not (is_known := nodes >= 0).all():
            flags = np.concatenate([is_known, is_known[tenth]])
            both = _Values._make(column[flags] for column in both)
        yield both


def _sums(values: _Values, node_count: int) -> _Sums:
    sizes = np.bincount(values.groups, minlength=len(STRETCHES) * len(OPS) * len(METRICS) * node_count)
    found = np.flatnonzero(sizes)
    moved = np.bincount(values.groups, values.lengths, len(sizes))[found].astype(np.float64, copy=False)
    least = np.where(found // node_count % len(METRICS) == LATENCY, *(10 ** AXES[metric][0] for metric in (LATENCY, SIZE)))
    low, high = (np.log10(np.maximum(middle, least)) for middle in middles(*values[:2], sizes))
    return _Sums(found, sizes[found], moved, (low + high) / 2)


def _of_twins(sums: _Sums, ring: _Ring, twins: int, node_count: int) -> _Sums:
    """The same of carriers that are all that their ranks or hosts are.

    Args:
        sums: what groups of values are.
        ring: the ring.
        twins: the level of these ranks or hosts.
        node_count: nodes of all levels.
    """
    twin = ring.levels[CARRIERS].twin
    if twin is None:
        return _Sums._make(column[:0] for column in sums)
    kinds, nodes = np.divmod(sums.groups, node_count)
    nodes -= ring.firsts[twins]
    at = np.flatnonzero((nodes >= 0) & (nodes < len(twin)))
    groups = kinds[at] * node_count + ring.firsts[CARRIERS] + twin[nodes[at]]
    return _Sums._make([groups, *(column[at] for column in sums[1:])])


def _rows(rings: Sequence[_Ring], sums: _Sums, node_count: int) -> dict[str, pa.Array]:
    kinds, nodes = np.divmod(sums.groups, node_count)
    kinds, metrics = np.divmod(kinds, len(METRICS))
    stretches, ops = np.divmod(kinds, len(OPS))
    levels = [level for ring in rings for level in ring.levels]
    at = np.repeat(np.arange(len(levels)), [len(level.ids) for level in levels])[nodes]
    of_levels = np.array([(ring.ring, LEVELS.index(level.name)) for ring in rings for level in ring.levels])[at]
    ids, of_arcs, positions = (
        np.concatenate([getattr(level, name) for level in levels])[nodes] for name in ("ids", "arcs", "positions")
    )
    names, hosts = (
        pa.array([text for level in levels for text in getattr(level, name)], pa.string()).take(pa.array(nodes))
        for name in ("names", "hosts")
    )
    return {
        "ring": labels(of_levels[:, 0], RINGS),
        "node_level": labels(of_levels[:, 1], LEVELS),
        "node_id": pa.array(ids),
        "node_label": names,
        "host": hosts.dictionary_encode(),
        "arc": pa.array(of_arcs, mask=of_arcs < 0),
        "position": pa.array(positions, mask=np.isnan(positions)),
        "op": labels(ops, OPS),
        "metric": labels(metrics, METRICS),
        "stretch": labels(stretches, STRETCHES),
        "request_count": pa.array(sums.requests),
        "moved_bytes": counts(sums.moved),
        "median_log10": pa.array(sums.medians),
    }


def _levels(nodes: Nodes, moves: Moves, *, has_twin: bool) -> list[_Level]:
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
    twin = np.full(host_count if is_host else rank_count, -1)
    twin[nodes.carriers] = np.arange(len(at))
    by_carrier = _Level(
        "carrier",
        moves.carriers,
        nodes.carriers if is_host else nodes.ranks[nodes.carriers],
        [host_names[host] for host in at] if is_host else [None] * len(at),
        [host_names[host] if is_host else names[host] for host in at],
        arcs(len(at)),
        nodes.positions,
        twin if has_twin else None,
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
    # Record ids are hashes of paths, which exports must not give away.
    by_file = level("file", number_of[moves.files], top, paths_of(tables, nodes.file_ids[top]), np.full(len(top), -1))
    is_ost = moves.places < ost_count
    on_ost, on_mount = np.where(is_ost, moves.places, -1), np.where(is_ost, -1, moves.places - ost_count)
    by_ost = level("ost", on_ost, nodes.osts, [None] * ost_count, place_arcs[:ost_count])
    by_mount = level("mount", on_mount, np.arange(mount_count), nodes.mounts, place_arcs[ost_count:])
    return [*([by_ost] if ost_count else []), *([by_mount] if mount_count else []), by_file]
