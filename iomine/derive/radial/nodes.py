"""Values of requests by what they come from and go to."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.columns import counts, labels
from iomine.derive.file_names import paths_of
from iomine.derive.radial.cube import AXES, FEW, LATENCY, METRICS, RINGS, SIZE, TIME_BINS, Span, arcs, values_of
from iomine.derive.radial.medians import Binned, Middles, middles
from iomine.derive.radial.moves import HOST, RANK, Links, Moves, Nodes
from iomine.derive.trace import Floats, Integers, Tables
from iomine.schema.column import Column
from iomine.schema.ops import OPS

STRETCHES: Final = ("run", "first", "last")
LEVELS: Final = ("rank", "host", "carrier", "ost", "mount", "file")
RANKS, HOSTS, CARRIERS = range(3)
_TENTH: Final = 0.1
# Files of a run that are looked at one by one, those with most bytes.
_MOST_FILES: Final = 64
# Stretches and directions.
_KINDS: Final = len(STRETCHES) * len(OPS)


class _Level(NamedTuple):
    """Nodes of one kind.

    Attributes:
        name: the kind.
        ids: id of each node.
        names: what each is called.
        hosts: index of the host of each, negative for none.
        arcs: arc of each, negative where it has none.
        positions: where among the ranks each lies, NaN where that means nothing.
    """

    name: str
    ids: Integers
    names: Sequence[str | None]
    hosts: Integers
    arcs: Integers
    positions: Floats


class _Values(NamedTuple):
    """Values of a ring's requests by one metric, each once for the run, and once more for the tenth that it is in.

    Attributes:
        ring: the ring, an index into `RINGS`.
        metric: the metric, an index into `METRICS`.
        at: the request of each.
        kinds: stretch and direction of each, as one number.
        values: the values.
        lengths: bytes of the request.
    """

    ring: int
    metric: int
    at: Integers
    kinds: npt.NDArray[Any]
    values: Floats
    lengths: Integers


class _Sums(NamedTuple):
    """What groups of values are, each a row.

    Attributes:
        groups: ring, metric, stretch, direction and node, as one number. Nodes of all levels lie end to end; the last is
            none.
        requests: requests.
        moved: bytes.
        low: the value in the middle, of two the lower.
        high: the same, of two the higher.
    """

    groups: Integers
    requests: Integers
    moved: Floats
    low: Floats
    high: Floats


class _Nodes(NamedTuple):
    """What requests of a ring belong to at each level at which they are counted.

    Attributes:
        levels: the levels, by number.
        nodes: for each level the node of each request, negative for none.
    """

    levels: Sequence[int]
    nodes: Sequence[npt.NDArray[Any]]


def node_rows(links: Links, tables: Tables) -> dict[str, Column]:
    """Columns of the table `link_node`; none where there are no rows."""
    nodes, moves = links.nodes, (links.outer, links.inner)
    of_places, places = _places(nodes, links.inner, tables)
    levels = [*_levels(nodes), *places]
    firsts = np.cumsum([0, *(len(level.ids) for level in levels)])
    # Where carriers are all that their ranks or hosts are, they are not counted once more.
    has_twin = (nodes.carrier_kind == HOST, True)
    rings = [
        _Nodes(
            [RANKS, HOSTS, *(() if twin else (CARRIERS,)), *range(CARRIERS + 1, CARRIERS + 1 + len(own))],
            [of_ring.ranks, nodes.hosts[of_ring.ranks], *(() if twin else (of_ring.carriers,)), *own],
        )
        for of_ring, twin, own in zip(moves, has_twin, ((), of_places), strict=True)
    ]
    if sum(len(of_ring.starts) for of_ring in moves) <= FEW:
        sums = _at_once(list(_values(links)), rings, firsts)
    else:
        sums = [each for part in _values(links) for each in _by_level(part, rings[part.ring], firsts)]
    if not sums:
        return {}
    counted = _Sums._make(np.concatenate(columns) for columns in zip(*sums, strict=True))
    return _rows(levels, nodes.host_names, _with_twins(counted, nodes, has_twin, firsts), int(firsts[-1]) + 1)


def _values(links: Links) -> Iterator[_Values]:
    """Values of both rings by both metrics, where there are any."""
    span = Span.of(links)
    for ring, moves in enumerate((links.outer, links.inner)):
        if not len(moves.starts):
            continue
        tenths = (moves.starts - span.begin) / (span.width * TIME_BINS)
        stretches = (tenths < _TENTH) + np.int32(2) * (tenths >= 1 - _TENTH)
        tenth = np.flatnonzero(stretches)
        of_all = np.concatenate([np.arange(len(stretches)), tenth])
        kinds = np.concatenate([moves.ops, stretches[tenth] * np.int32(len(OPS)) + moves.ops[tenth]])
        for metric in range(len(METRICS)):
            at, of_kinds, values = of_all, kinds, values_of(moves, metric)[of_all].astype(np.float64, copy=False)
            if metric == LATENCY and (is_unknown := np.isnan(values)).any():
                at, of_kinds, values = (column[~is_unknown] for column in (at, of_kinds, values))
            if len(values):
                yield _Values(ring, metric, at, of_kinds, values, moves.lengths[at])


def _at_once(parts: Sequence[_Values], rings: Sequence[_Nodes], firsts: Integers) -> list[_Sums]:
    """Sums of few values, of all levels in one go."""
    if not parts:
        return []
    none = int(firsts[-1])
    numbered = [np.stack([np.where(of < 0, none, of + firsts[level]) for level, of in zip(*ring, strict=True)]) for ring in rings]
    groups, columns = [], []
    for part in parts:
        order = part.values.argsort()
        nodes = numbered[part.ring][:, part.at[order]]
        kinds = (part.ring * len(METRICS) + part.metric) * _KINDS + part.kinds[order]
        groups.append((nodes + kinds * (none + 1)).ravel())
        columns += [(part.values[order], part.lengths[order])] * len(nodes)
    values, lengths = (np.concatenate(column) for column in zip(*columns, strict=True))
    of_values = np.concatenate(groups)
    total = len(RINGS) * len(METRICS) * _KINDS * (none + 1)
    return [_summed(middles(of_values, values, total), of_values, lengths)]


def _by_level(part: _Values, ring: _Nodes, firsts: Integers) -> Iterator[_Sums]:
    """Sums of many values, level by level, which takes less memory."""
    counts = np.diff(firsts)
    binned = Binned(part.values, int(_KINDS * counts[ring.levels].max()))
    for level, of_requests in zip(*ring, strict=True):
        count = int(counts[level])
        nodes = of_requests[part.at].astype(np.int32, copy=False)
        if nodes.min() < 0:
            nodes = np.where(nodes < 0, np.int32(count), nodes)
        groups = part.kinds * np.int32(count + 1) + nodes
        sums = _summed(binned.middles(groups, _KINDS * (count + 1)), groups, part.lengths)
        kinds, found = np.divmod(sums.groups, count + 1)
        kinds += (part.ring * len(METRICS) + part.metric) * _KINDS
        is_node = found < count
        yield _Sums._make(
            column[is_node] for column in sums._replace(groups=kinds * (int(firsts[-1]) + 1) + firsts[level] + found)
        )


def _summed(found: Middles, groups: npt.NDArray[Any], lengths: Integers) -> _Sums:
    filled = found.sizes.nonzero()[0]
    moved = np.bincount(groups, lengths, len(found.sizes))[filled].astype(np.float64, copy=False)
    return _Sums(filled, found.sizes[filled], moved, found.low, found.high)


def _with_twins(sums: _Sums, nodes: Nodes, has_twin: tuple[bool, bool], firsts: Integers) -> _Sums:
    """Sums of nodes, those of carriers among them that are all that their ranks or hosts are."""
    stride = int(firsts[-1]) + 1
    kinds, at = np.divmod(sums.groups, stride)
    level = RANKS if nodes.carrier_kind == RANK else HOSTS
    twins = np.full(firsts[level + 1] - firsts[level], stride - 1)
    twins[nodes.carriers] = firsts[CARRIERS] + np.arange(len(nodes.carriers))
    is_twin = np.array(has_twin)[kinds // (len(METRICS) * _KINDS)] & (at >= firsts[level]) & (at < firsts[level + 1])
    of_twins = _Sums._make(column[is_twin] for column in sums)
    of_twins = of_twins._replace(groups=kinds[is_twin] * stride + twins[at[is_twin] - firsts[level]])
    every = _Sums._make(np.concatenate(columns) for columns in zip(sums, of_twins, strict=True))
    is_node = every.groups % stride < stride - 1
    return every if is_node.all() else _Sums._make(column[is_node] for column in every)


def _rows(levels: Sequence[_Level], host_names: Sequence[str], sums: _Sums, stride: int) -> dict[str, Column]:
    kinds, nodes = np.divmod(sums.groups, stride)
    kinds, ops = np.divmod(kinds, len(OPS))
    kinds, stretches = np.divmod(kinds, len(STRETCHES))
    rings, metrics = np.divmod(kinds, len(METRICS))
    of_levels = np.repeat([LEVELS.index(level.name) for level in levels], [len(level.ids) for level in levels])
    ids, of_arcs, positions, hosts = (
        np.concatenate(columns)[nodes]
        for columns in zip(*((level.ids, level.arcs, level.positions, level.hosts) for level in levels), strict=True)
    )
    names = [text for level in levels for text in level.names]
    is_named = np.array([text is not None for text in names], bool)
    least = np.where(metrics == LATENCY, *(10 ** AXES[metric][0] for metric in (LATENCY, SIZE)))
    low, high = (np.log10(np.maximum(middle, least)) for middle in (sums.low, sums.high))
    return {
        "ring": labels(rings, RINGS),
        "node_level": labels(of_levels[nodes], LEVELS),
        "node_id": Column(ids),
        "node_label": labels(np.where(is_named[nodes], nodes, -1), [text or "" for text in names]),
        "host": labels(hosts, host_names),
        "arc": Column(of_arcs, mask=of_arcs < 0),
        "position": Column(positions, mask=np.isnan(positions)),
        "op": labels(ops, OPS),
        "metric": labels(metrics, METRICS),
        "stretch": labels(stretches, STRETCHES),
        "request_count": Column(sums.requests),
        "moved_bytes": counts(sums.moved),
        "median_log10": Column((low + high) / 2),
    }


def _levels(nodes: Nodes) -> list[_Level]:
    """Ranks, hosts and carriers."""
    rank_count, names = len(nodes.ranks), [*nodes.host_names, None]
    positions = np.arange(rank_count) / max(rank_count - 1, 1)
    # The host that is not known comes last.
    of_names = np.append(np.arange(len(names) - 1), -1)
    of_ranks = of_names[nodes.hosts]
    in_host = np.maximum(np.bincount(nodes.hosts, minlength=len(names)), 1)
    of_hosts = np.bincount(nodes.hosts, positions, len(names)) / in_host
    is_host = nodes.carrier_kind == HOST
    return [
        _Level("rank", nodes.ranks, [None] * rank_count, of_ranks, arcs(rank_count), positions),
        _Level("host", np.arange(len(names)), names, of_names, np.full(len(names), -1), of_hosts),
        _Level(
            "carrier",
            nodes.carriers if is_host else nodes.ranks[nodes.carriers],
            [names[host] for host in nodes.carriers.tolist()] if is_host else [None] * len(nodes.carriers),
            (of_names if is_host else of_ranks)[nodes.carriers],
            arcs(len(nodes.carriers)),
            nodes.positions,
        ),
    ]


def _places(nodes: Nodes, moves: Moves, tables: Tables) -> tuple[list[npt.NDArray[Any]], list[_Level]]:
    """OSTs, mounts and files: those of each request, and which there are."""
    ost_count, mount_count = len(nodes.osts), len(nodes.mounts)
    place_arcs = arcs(ost_count + mount_count)
    in_files = np.bincount(moves.files, moves.lengths, len(nodes.file_ids))
    top = np.sort(np.argsort(-in_files, kind="stable")[:_MOST_FILES])
    number_of = np.full(len(in_files), -1, np.int32)
    number_of[top] = np.arange(len(top))
    # Record ids are hashes of paths, which exports must not give away.
    found: list[tuple[npt.NDArray[Any], str, Integers, Sequence[str | None], Integers]] = [
        (number_of[moves.files], "file", top, paths_of(tables, nodes.file_ids[top]), np.full(len(top), -1))
    ]
    if mount_count:
        of_mounts = np.maximum(moves.places - ost_count, -1)
        found.insert(0, (of_mounts, "mount", np.arange(mount_count), nodes.mounts, place_arcs[ost_count:]))
    if ost_count:
        of_osts = np.where(moves.places < ost_count, moves.places, -1) if mount_count else moves.places
        found.insert(0, (of_osts, "ost", nodes.osts, [None] * ost_count, place_arcs[:ost_count]))
    levels = [
        _Level(name, ids, names, np.full(len(ids), -1), of_arcs, np.full(len(ids), np.nan))
        for _, name, ids, names, of_arcs in found
    ]
    return [of_requests for of_requests, *_ in found], levels
