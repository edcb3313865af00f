"""Values of requests by what they come from and go to."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.batch import LOG
from iomine.derive.columns import coded, counts, labels
from iomine.derive.file_names import paths_of
from iomine.derive.radial.cube import AXES, FEW, LATENCY, METRICS, RINGS, SIZE, TIME_BINS, Span, arcs, values_of
from iomine.derive.radial.medians import Binned, Middles
from iomine.derive.radial.moves import Links, Moves, Nodes, numbers
from iomine.derive.trace import Floats, Integers, Tables, turns
from iomine.schema.column import Column
from iomine.schema.ops import OPS

STRETCHES: Final = ("run", "first", "last")
LEVELS: Final = ("rank", "host", "carrier", "ost", "mount", "file")
RANKS, HOSTS, CARRIERS = range(3)
_TENTH: Final = 0.1
# Files of a run that are looked at one by one, those with most bytes.
_MOST_FILES: Final = 64
# What requests of a ring belong to: by level the node of each request, negative for none.
_Ring = Mapping[int, npt.NDArray[Any]]
# Stretches and directions.
_KINDS: Final = len(STRETCHES) * len(OPS)


class _Level(NamedTuple):
    """Nodes of one kind.

    Attributes:
        name: the kind.
        logs: log of each node.
        ids: id of each in its log.
        names: what each is called.
        hosts: index of the host of each, negative for none.
        arcs: arc of each, negative where it has none.
        positions: where among the ranks each lies, NaN where that means nothing.
    """

    name: str
    logs: Integers
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


def node_rows(links: Links, tables: Tables) -> dict[str, Column]:
    """Columns of the table `link_node`; none where there are no rows."""
    nodes, (outer, inner) = links.nodes, (links.outer, links.inner)
    of_places, places = _places(nodes, inner, tables)
    levels = [*_levels(nodes), *places]
    firsts = np.cumsum([0, *(len(level.ids) for level in levels)])
    hosts, rings = nodes.hosts.astype(np.int32), []
    for moves, others in ((outer, {CARRIERS: _other_carriers(nodes, outer)}), (inner, dict(enumerate(of_places, CARRIERS + 1)))):
        of_levels = {RANKS: moves.ranks, HOSTS: hosts[moves.ranks], **others}
        rings.append({level: of_moves for level, of_moves in of_levels.items() if of_moves is not None})
    sums = [each for part in _values(links) for each in _by_level(part, rings[part.ring], firsts)]
    if not sums:
        return {}
    counted = _Sums._make(np.concatenate(columns) for columns in zip(*sums, strict=True))
    logs = np.concatenate([level.logs for level in levels])
    return _rows(levels, nodes.host_names, _with_twins(_in_order(counted, links, logs), nodes, firsts), logs)


def _other_carriers(nodes: Nodes, outer: Moves) -> npt.NDArray[Any] | None:
    """Carriers in the outer ring that are ranks, negative for those that are hosts; None where all are hosts."""
    is_rank = nodes.carriers < len(nodes.ranks)
    if is_rank.all():
        return outer.carriers
    return np.append(np.where(is_rank, np.arange(len(is_rank)), -1), -1)[outer.carriers] if is_rank.any() else None


def _in_order(sums: _Sums, links: Links, logs: Integers) -> _Sums:
    """Sums in the order of groups, except for logs of many requests, whose rows come level by level, whatever else there is.

    Args:
        sums: sums, level by level.
        links: the requests.
        logs: log of each node.
    """
    nodes = links.nodes
    are_few = nodes.counts(links.outer) + nodes.counts(links.inner) <= FEW
    is_of_few = np.append(are_few[logs], False)[sums.groups % (len(logs) + 1)]
    order = np.argsort(np.where(is_of_few, sums.groups, -1), kind="stable")
    return _Sums._make(column[order] for column in sums)


def _values(links: Links) -> Iterator[_Values]:
    """Values of both rings by both metrics, where there are any."""
    span = Span.of(links)
    for ring, moves in enumerate((links.outer, links.inner)):
        if not len(moves.starts):
            continue
        begin, width = (links.nodes.of_moves(of_logs, moves) for of_logs in (span.begin, span.width * TIME_BINS))
        tenths = (moves.starts - begin) / width
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


def _by_level(part: _Values, ring: _Ring, firsts: Integers) -> Iterator[_Sums]:
    """Sums of values, level by level, which takes less memory than all at once."""
    counts = np.diff(firsts)
    binned = Binned(part.values, int(_KINDS * counts[[*ring]].max()))
    for level, of_requests in ring.items():
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


def _with_twins(sums: _Sums, nodes: Nodes, firsts: Integers) -> _Sums:
    """Sums of nodes, with those of carriers that are the same as a rank or a host copied from it."""
    none = int(firsts[-1])
    kinds, at = np.divmod(sums.groups, none + 1)
    twins = np.full(none + 1, none)
    # Ranks and hosts come first of all nodes.
    twins[nodes.carriers] = firsts[CARRIERS] + np.arange(len(nodes.carriers))
    is_twin = (twins[at] < none) & ((kinds >= len(METRICS) * _KINDS) | (at >= firsts[HOSTS]))
    of_twins = _Sums._make(column[is_twin] for column in sums)
    of_twins = of_twins._replace(groups=kinds[is_twin] * (none + 1) + twins[at[is_twin]])
    every = _Sums._make(np.concatenate(columns) for columns in zip(sums, of_twins, strict=True))
    is_node = every.groups % (none + 1) < none
    return every if is_node.all() else _Sums._make(column[is_node] for column in every)


def _rows(levels: Sequence[_Level], host_names: Sequence[str], sums: _Sums, logs: Integers) -> dict[str, Column]:
    kinds, nodes = np.divmod(sums.groups, len(logs) + 1)
    kinds, ops = np.divmod(kinds, len(OPS))
    kinds, stretches = np.divmod(kinds, len(STRETCHES))
    rings, metrics = np.divmod(kinds, len(METRICS))
    of_levels = np.repeat([LEVELS.index(level.name) for level in levels], [len(level.ids) for level in levels])
    ids, of_arcs, positions, hosts = (
        np.concatenate(columns)[nodes]
        for columns in zip(*((level.ids, level.arcs, level.positions, level.hosts) for level in levels), strict=True)
    )
    names, texts = coded([text for level in levels for text in level.names])
    of_hosts, host_texts = coded([*host_names, None])
    least = np.where(metrics == LATENCY, *(10 ** AXES[metric][0] for metric in (LATENCY, SIZE)))
    low, high = (np.log10(np.maximum(middle, least)) for middle in (sums.low, sums.high))
    return {
        LOG: Column(logs[nodes]),
        "ring": labels(rings, RINGS),
        "node_level": labels(of_levels[nodes], LEVELS),
        "node_id": Column(ids),
        "node_label": labels(names[nodes], texts),
        "host": labels(of_hosts[hosts], host_texts),
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
    rank_count, host_count = len(nodes.ranks), len(nodes.host_names)
    in_logs, named = np.bincount(nodes.rank_logs), np.bincount(nodes.host_logs[:host_count], minlength=nodes.log_count)
    positions = turns(in_logs) / np.maximum(in_logs - 1, 1)[nodes.rank_logs]
    in_host = np.bincount(nodes.hosts, minlength=len(nodes.host_logs))
    of_hosts = np.bincount(nodes.hosts, positions, len(in_host)) / np.maximum(in_host, 1)
    known = np.append(np.arange(host_count), np.full(nodes.log_count, -1))
    names = [*nodes.host_names, *[None] * nodes.log_count]
    ranks = _Level(
        "rank", nodes.rank_logs, nodes.ranks, [None] * rank_count, known[nodes.hosts], arcs(nodes.rank_logs), positions
    )
    hosts = _Level("host", nodes.host_logs, np.append(turns(named), named), names, known, np.full(len(names), -1), of_hosts)
    carrier_logs, ids, of_carriers = (
        np.concatenate(both)[nodes.carriers]
        for both in zip(*((each.logs, each.ids, each.hosts) for each in (ranks, hosts)), strict=True)
    )
    names = [*ranks.names, *names]
    carrier_names = [names[carrier] for carrier in nodes.carriers.tolist()]
    carriers = _Level("carrier", carrier_logs, ids, carrier_names, of_carriers, arcs(carrier_logs), nodes.positions)
    return [ranks, hosts, carriers]


def _places(nodes: Nodes, moves: Moves, tables: Tables) -> tuple[list[npt.NDArray[Any]], list[_Level]]:
    """OSTs, mounts and files: those of each request, and which there are."""
    in_files, nth = np.bincount(moves.files, moves.lengths, len(nodes.file_ids)), turns(np.bincount(nodes.file_logs))
    top = np.sort(np.lexsort((-in_files, nodes.file_logs))[nth < _MOST_FILES])
    osts, mounts = np.flatnonzero(nodes.osts >= 0), np.flatnonzero(nodes.osts < 0)
    of_osts, of_mounts = (nodes.place_logs[of_kind] for of_kind in (osts, mounts))
    mount_names = [nodes.mounts[mount] for mount in mounts.tolist()]
    of_places, place_arcs = (moves.places, len(nodes.osts)), arcs(nodes.place_logs)
    # Record ids are hashes of paths, which exports must not give away.
    paths = paths_of(tables, nodes.file_ids[top])
    found = [
        (osts, *of_places, _elsewhere("ost", of_osts, nodes.osts[osts], [None] * len(osts), place_arcs[osts])),
        (mounts, *of_places, _elsewhere("mount", of_mounts, turns(np.bincount(of_mounts)), mount_names, place_arcs[mounts])),
        (top, moves.files, len(nth), _elsewhere("file", nodes.file_logs[top], nth[top], paths, np.full(len(top), -1))),
    ]
    found = [each for each in found if len(each[0])]
    of_requests = [of if len(at) == total else numbers(at, total)[of] for at, of, total, _ in found]
    return of_requests, [level for *_, level in found]


def _elsewhere(name: str, logs: Integers, ids: Integers, names: Sequence[str | None], of_arcs: Integers) -> _Level:
    """Nodes that are on no host, and lie nowhere among the ranks."""
    return _Level(name, logs, ids, names, np.full(len(ids), -1), of_arcs, np.full(len(ids), np.nan))
