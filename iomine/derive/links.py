"""Tables of who moves bytes for whom and to where, as the round picture of a run shows it: `iomine.derive.radial` does the work.

An edge of the outer ring goes from a rank to its carrier: the rank whose POSIX request moved the first byte that an MPI-IO
request asked for. Its latency is from the start of that to the start of this. Where nothing went through MPI-IO, carriers
are hosts, and there is no latency. An edge of the inner ring goes from a carrier to an OST, or to a mount where there is no
Lustre layout; its latency is the time of the POSIX request, whole on each OST that it touched.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from iomine.derive.batch import LOG, sums_of_logs
from iomine.derive.columns import stacked
from iomine.derive.radial.cube import RINGS, Span, detail_rows
from iomine.derive.radial.moves import Links, Moves, Nodes
from iomine.derive.radial.nodes import node_rows
from iomine.derive.trace import Flags, Floats, Integers, Tables, group_starts, turns
from iomine.schema.column import Column
from iomine.schema.ops import OPS
from iomine.units import counted

_BANDS: Final = 64
_CARRIER_KINDS: Final = ("host", "rank", "aggregator")
_HOST, _RANK, _AGGREGATOR = range(len(_CARRIER_KINDS))

NO_MPIIO: Final = "Nothing was traced of MPI-IO, so there is no latency between ranks and carriers."
NO_POSIX: Final = "Nothing was traced of POSIX, so it is not known who carried the bytes, nor where to."
NO_OFFSETS: Final = "The trace does not say where in the file MPI-IO's requests lie, so there is no latency to their carriers."
NO_MATCH: Final = "No POSIX request holds what was asked for through MPI-IO in its time, so carriers are not known."
NO_HOSTS: Final = "The log names no hosts."
NO_LAYOUTS: Final = "The log has no Lustre layouts, so the inner ring ends at mounts."


def link_detail(links: Links | None) -> dict[str, Column]:
    """Rows of the table `link_detail`; no columns where there are no rows.

    Args:
        links: requests with both of their ends, None where nothing was traced.
    """
    return stacked(detail_rows(links)) if links else {}


def link_node(links: Links | None, tables: Tables) -> dict[str, Column]:
    """Rows of the table `link_node`; no columns where there are no rows.

    Args:
        links: requests with both of their ends, None where nothing was traced.
        tables: columns by table, in one or more parts.
    """
    return node_rows(links, tables) if links else {}


def link_ring(links: Links | None) -> dict[str, Any]:
    """Rows of the table `link_ring`: both rings in each direction in which anything was traced; no columns where there are none.

    Args:
        links: requests with both of their ends, None where nothing was traced.
    """
    rows = list(_rings(links)) if links else []
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    return columns | {LOG: Column(np.array(columns[LOG]))} if rows else {}


class _Counted(NamedTuple):
    """Requests of a ring, for each log and direction.

    Attributes:
        requests: requests.
        known: those of which both ends are known.
        negative: those whose latency is negative.
        unsound: requests that were left out, as their times make no sense.
        striped_by: how far the band of ranks decides on the place, NaN where nothing can be said of that.
    """

    requests: Integers
    known: Integers
    negative: Integers
    unsound: Integers
    striped_by: Floats


def _rings(links: Links) -> Iterator[dict[str, Any]]:
    span, nodes, kinds = Span.of(links), links.nodes, _carrier_kinds(links)
    has_places = np.bincount(nodes.place_logs, minlength=nodes.log_count) > 0
    has_osts = np.bincount(nodes.place_logs, nodes.osts >= 0, nodes.log_count) > 0
    rings = [_counted(links, ring, has_osts) for ring in range(len(RINGS))]
    for log, (seconds, host, rank) in enumerate(_skews(links)):
        of_directions = (
            (ring, op, *(column[log, op] for column in rings[ring])) for ring in range(len(RINGS)) for op in range(len(OPS))
        )
        for ring, op, count, known, negative, odd, striped_by in of_directions:
            if not (count or odd):
                continue
            lacks = [*_missing(links, log, op, int(count - known), is_outer=RINGS[ring] == "outer")]
            if odd:
                lacks.append(f"{counted(int(odd), 'request')} with times that make no sense were left out.")
            yield {
                LOG: log,
                "ring": RINGS[ring],
                "op": OPS[op],
                "carrier_kind": _CARRIER_KINDS[kinds[log, op]],
                "place_kind": "ost" if has_osts[log] else "mount" if has_places[log] else None,
                "request_count": count,
                "matched_count": known,
                "negative_count": negative,
                "begin_seconds": span.begin[log],
                "bin_seconds": span.width[log],
                "skew_seconds": seconds,
                "skew_host": host,
                "skew_rank": rank,
                "striped_by_ratio": None if np.isnan(striped_by) else striped_by,
                "missing": " ".join(lacks) or None,
            }


def _counted(links: Links, ring: int, has_osts: Flags) -> _Counted:
    """Requests of a ring.

    Args:
        links: requests with both of their ends.
        ring: the ring, an index into `RINGS`.
        has_osts: whether anything of each log went to an OST that is known.
    """
    nodes, is_outer = links.nodes, RINGS[ring] == "outer"
    moves = links.outer if is_outer else links.inner
    is_known = moves.carriers >= 0 if is_outer else ((nodes.osts >= 0) | ~has_osts[nodes.place_logs])[moves.places]
    keys = nodes.of_moves(np.arange(nodes.log_count) * len(OPS), moves) + moves.ops
    requests, known, negative = (
        np.bincount(each, minlength=nodes.log_count * len(OPS)).reshape(-1, len(OPS))
        for each in (keys, keys[is_known], keys[moves.seconds < 0])
    )
    return _Counted(
        requests,
        known,
        negative,
        links.unsound.sum(axis=0) if is_outer else links.unsound[1],
        np.full((nodes.log_count, len(OPS)), np.nan) if is_outer else _striped_by(moves, nodes),
    )


def _skews(links: Links) -> Iterator[tuple[float | None, str | None, int | None]]:
    """For each log how far the clock that is furthest from others was ahead, its host, or its rank where that is not known."""
    nodes, sizes = links.nodes, np.abs(links.ahead)
    most = np.maximum.reduceat(sizes, group_starts(nodes.rank_logs))
    furthest = np.flatnonzero(sizes == most[nodes.rank_logs])
    names = [*nodes.host_names, *[None] * nodes.log_count]
    for rank in furthest[group_starts(nodes.rank_logs[furthest])].tolist():
        seconds = float(links.ahead[rank]) or None
        host = names[nodes.hosts[rank]] if seconds else None
        yield seconds, host, int(nodes.ranks[rank]) if seconds and host is None else None


def _carrier_kinds(links: Links) -> Integers:
    """What carriers of each log are in each direction, an index into `_CARRIER_KINDS`."""
    nodes, outer = links.nodes, links.outer
    is_other = (nodes.carriers[outer.carriers] != outer.ranks) & (outer.carriers >= 0)
    keys = (nodes.of_moves(np.arange(nodes.log_count) * len(OPS), outer) + outer.ops)[is_other]
    has_other = np.bincount(keys, minlength=nodes.log_count * len(OPS)).reshape(-1, len(OPS)) > 0
    return np.where(nodes.are_hosts[:, None], _HOST, np.where(has_other, _AGGREGATOR, _RANK))


def _striped_by(moves: Moves, nodes: Nodes) -> Floats:
    """How far the band of ranks decides on the place, by bytes: mutual information over the entropy of the place.

    Of a single place or band nothing can be said.
    """
    # Groups are requests of a direction and a log.
    total = len(OPS) * nodes.log_count
    rank_keys, place_keys = moves.ops * len(nodes.ranks) + moves.ranks, moves.ops * len(nodes.place_logs) + moves.places
    rank_groups, place_groups = (
        (np.arange(len(OPS))[:, None] * nodes.log_count + logs).ravel() for logs in (nodes.rank_logs, nodes.place_logs)
    )
    rank_of, rank_counts = _numbered(rank_keys, rank_groups, total)
    place_of, place_counts = _numbered(place_keys, place_groups, total)
    has_several = (rank_counts > 1) & (place_counts > 1)
    band_counts = np.where(has_several, np.minimum(_BANDS, rank_counts), 0)
    # Each group has a cell for each band and place; those without come after all others.
    sizes = band_counts * place_counts
    cell_count = int(sizes.sum())
    firsts = np.where(has_several, np.cumsum(sizes) - sizes, cell_count)
    bands = rank_of * band_counts[rank_groups] // np.maximum(rank_counts, 1)[rank_groups]
    cells = (firsts[rank_groups] + bands * place_counts[rank_groups])[rank_keys] + place_of[place_keys]
    moved = np.bincount(cells, moves.lengths, cell_count)[:cell_count].astype(np.float64, copy=False)
    groups, groups_of_bands = np.repeat(np.arange(total), sizes), np.repeat(np.arange(total), band_counts)
    places_of_bands = place_counts[groups_of_bands]
    shares = moved / sums_of_logs(moved, groups, total)[groups]
    of_bands = sums_of_logs(shares, np.repeat(np.arange(len(groups_of_bands)), places_of_bands), len(groups_of_bands))
    before = np.cumsum(place_counts) - place_counts
    columns = np.repeat(before[groups_of_bands], places_of_bands) + turns(places_of_bands)
    of_places = np.bincount(columns, shares, int(place_counts.sum())).astype(np.float64, copy=False)
    by_band, by_place, by_both = (
        _entropies(of_parts, of_groups, total)
        for of_parts, of_groups in (
            (of_bands, groups_of_bands),
            (of_places, np.repeat(np.arange(total), place_counts)),
            (shares, groups),
        )
    )
    is_known = (by_band != 0) & (by_place != 0)
    ratios = np.full(total, np.nan)
    np.divide(by_band + by_place - by_both, by_place, out=ratios, where=is_known)
    return ratios.clip(0, 1).reshape(len(OPS), -1).T


def _numbered(keys: Integers, groups: Integers, total: int) -> tuple[Integers, Integers]:
    """The number of each key among those of its group that there are, and how many each group has.

    Args:
        keys: keys that there are.
        groups: group of each key that may be, ascending.
        total: groups.
    """
    used = np.flatnonzero(np.bincount(keys, minlength=len(groups)))
    key_counts = np.bincount(groups[used], minlength=total)
    numbers = np.zeros_like(groups)
    numbers[used] = turns(key_counts)
    return numbers, key_counts


def _entropies(shares: Floats, groups: Integers, total: int) -> Floats:
    """The entropy of the shares of each group."""
    is_any = shares > 0
    shares = shares[is_any]
    entropies: Floats = np.negative(sums_of_logs(shares * np.log(shares), groups[is_any], total))
    return entropies


def _missing(links: Links, log: int, op: int, left: int, *, is_outer: bool) -> Iterator[str]:
    """What a ring of a log lacks in a direction, in sentences.

    Args:
        links: requests with both of their ends.
        log: the log.
        op: the direction.
        left: requests of which one end is not known.
        is_outer: which ring.
    """
    nodes, layers, nowhere = links.nodes, links.layers, int(links.without_offset[log, op])
    if is_outer and "mpiio" not in layers:
        yield NO_MPIIO
    elif is_outer and "posix" not in layers:
        yield NO_POSIX
    elif is_outer and not links.are_matched[log]:
        yield NO_OFFSETS if nowhere else NO_MATCH
    elif is_outer and left:
        if nowhere:
            yield f"It is not known where in the file {counted(nowhere, 'request')} lie, so carriers of these are not known."
        if left > nowhere:
            rest = counted(left - nowhere, "request")
            yield f"No POSIX request holds the first byte of {rest} in its time, so carriers of these are not known."
    elif not is_outer and not (nodes.osts[nodes.place_logs == log] >= 0).any():
        yield NO_LAYOUTS
    elif not is_outer and left:
        yield f"Of {counted(left, 'request')} the OST is not known."
    if np.count_nonzero(nodes.host_logs == log) == 1:
        yield NO_HOSTS
