"""Tables of who moves bytes for whom and to where, as the round picture of a run shows it: `iomine.derive.radial` does the work.

An edge of the outer ring goes from a rank to its carrier: the rank whose POSIX request moved the first byte that an MPI-IO
request asked for. Its latency is from the start of that to the start of this. Where nothing went through MPI-IO, carriers
are hosts, and there is no latency. An edge of the inner ring goes from a carrier to an OST, or to a mount where there is no
Lustre layout; its latency is the time of the POSIX request, whole on each OST that it touched.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from iomine.derive.columns import stacked
from iomine.derive.radial.cube import RINGS, Span, compressed, detail_rows
from iomine.derive.radial.moves import HOST, Links, Moves, Nodes
from iomine.derive.radial.nodes import node_rows
from iomine.derive.trace import Floats, Tables
from iomine.schema.column import Column
from iomine.schema.ops import OPS
from iomine.units import counted

_BANDS: Final = 64

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


def link_ring(links: Links | None) -> dict[str, list[Any]]:
    """Rows of the table `link_ring`: both rings in each direction in which anything was traced.

    Args:
        links: requests with both of their ends, None where nothing was traced.
    """
    rows = list(_rings(links)) if links else []
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _rings(links: Links) -> Iterator[dict[str, Any]]:
    span, nodes = Span.of(links), links.nodes
    rank = int(np.argmax(np.abs(links.ahead)))
    seconds = float(links.ahead[rank]) or None
    host = [*nodes.host_names, None][nodes.hosts[rank]] if seconds else None
    place_count = len(nodes.osts) or len(nodes.mounts)
    for ring, moves in enumerate((links.outer, links.inner)):
        is_outer = RINGS[ring] == "outer"
        odd = links.unsound.sum(axis=0) if is_outer else links.unsound[1]
        is_known = moves.carriers >= 0 if is_outer else moves.places < place_count
        sums = (moves.ops, moves.ops[is_known], moves.ops[moves.seconds < 0])
        for op, (count, known, negative) in enumerate(zip(*(np.bincount(ops, minlength=len(OPS)) for ops in sums), strict=True)):
            if not (count or odd[op]):
                continue
            lacks = [*_missing(links, is_outer, op, int(count - known))]
            if odd[op]:
                lacks.append(f"{counted(int(odd[op]), 'request')} with times that make no sense were left out.")
            yield {
                "ring": RINGS[ring],
                "op": OPS[op],
                "carrier_kind": _carrier_kind(links, op),
                "place_kind": "ost" if len(nodes.osts) else "mount" if len(nodes.mounts) else None,
                "request_count": count,
                "matched_count": known,
                "negative_count": negative,
                "begin_seconds": span.begin,
                "bin_seconds": span.width,
                "skew_seconds": seconds,
                "skew_host": host,
                "skew_rank": int(nodes.ranks[rank]) if seconds and host is None else None,
                "striped_by_ratio": None if is_outer else _striped_by(moves, op, nodes),
                "missing": " ".join(lacks) or None,
            }


def _carrier_kind(links: Links, op: int) -> str:
    """What carriers are in a direction."""
    if links.nodes.carrier_kind == HOST:
        return "host"
    outer = links.outer
    is_other = (links.nodes.carriers[outer.carriers] != outer.ranks) & (outer.carriers >= 0) & (outer.ops == op)
    return "aggregator" if is_other.any() else "rank"


def _striped_by(moves: Moves, op: int, nodes: Nodes) -> float | None:
    """How far the band of ranks decides on the place, by bytes: mutual information over the entropy of the place.

    Of a single place or band nothing can be said.
    """
    if min(len(nodes.osts) + len(nodes.mounts), len(nodes.ranks)) <= 1:
        return None
    at = np.flatnonzero(moves.ops == op)
    place_of, places = compressed(moves.places[at], len(nodes.osts) + len(nodes.mounts))
    rank_of, ranks = compressed(moves.ranks[at], len(nodes.ranks))
    if min(len(places), len(ranks)) <= 1:
        return None
    bands = rank_of * min(_BANDS, len(ranks)) // len(ranks)
    moved = np.bincount(bands * len(places) + place_of, moves.lengths[at]).astype(np.float64)
    moved = np.append(moved, np.zeros(-len(moved) % len(places))).reshape(-1, len(places)) / moved.sum()
    of_bands, of_places, of_both = (_entropy(each) for each in (moved.sum(axis=1), moved.sum(axis=0), moved.ravel()))
    return float(np.clip((of_bands + of_places - of_both) / of_places, 0, 1)) if of_bands and of_places else None


def _entropy(shares: Floats) -> float:
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def _missing(links: Links, is_outer: bool, op: int, left: int) -> Iterator[str]:
    """What a ring lacks in a direction, in sentences.

    Args:
        links: requests with both of their ends.
        is_outer: which ring.
        op: the direction.
        left: requests of which one end is not known.
    """
    nodes, layers, nowhere = links.nodes, links.layers, int(links.without_offset[op])
    if is_outer and "mpiio" not in layers:
        yield NO_MPIIO
    elif is_outer and "posix" not in layers:
        yield NO_POSIX
    elif is_outer and not links.is_matched:
        yield NO_OFFSETS if nowhere else NO_MATCH
    elif is_outer and left:
        if nowhere:
            yield f"It is not known where in the file {counted(nowhere, 'request')} lie, so carriers of these are not known."
        if left > nowhere:
            rest = counted(left - nowhere, "request")
            yield f"No POSIX request holds the first byte of {rest} in its time, so carriers of these are not known."
    elif not is_outer and not len(nodes.osts):
        yield NO_LAYOUTS
    elif not is_outer and left:
        yield f"Of {counted(left, 'request')} the OST is not known."
    if not nodes.host_names:
        yield NO_HOSTS
