"""Tables of who moves bytes for whom and to where, as the round picture of a run shows it: `iomine.derive.radial` does the work.

An edge of the outer ring goes from a rank to its carrier: the rank whose POSIX request moved the first byte that an MPI-IO
request asked for. Its latency is from the start of that to the start of this. Where nothing went through MPI-IO, carriers
are hosts, and there is no latency. An edge of the inner ring goes from a carrier to an OST, or to a mount where there is no
Lustre layout; its latency is the time of the POSIX request, whole on each OST that it touched.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from iomine.derive.columns import labels, stacked
from iomine.derive.radial.cube import RINGS, Span, cells
from iomine.derive.radial.moves import HOST, Links, Moves
from iomine.derive.radial.nodes import node_rows
from iomine.derive.trace import Floats, Tables
from iomine.schema.ops import OPS
from iomine.units import counted

_BANDS: Final = 64
_CARRIERS: Final = ("host", "rank", "aggregator")
_PLACES: Final = ("ost", "mount")

NO_MPIIO: Final = "Nothing was traced of MPI-IO, so there is no latency between ranks and carriers."
NO_POSIX: Final = "Nothing was traced of POSIX, so it is not known who carried the bytes, nor where to."
NO_OFFSETS: Final = "The trace does not say where in the file MPI-IO's requests lie, so there is no latency to their carriers."
NO_MATCH: Final = "No POSIX request holds what was asked for through MPI-IO in its time, so carriers are not known."
NO_HOSTS: Final = "The log names no hosts."
NO_LAYOUTS: Final = "The log has no Lustre layouts, so the inner ring ends at mounts."


def link_detail(links: Links | None) -> dict[str, pa.Array]:
    """Rows of the table `link_detail`; no columns where there are no rows."""
    return stacked(cells(links)) if links else {}


def link_node(links: Links | None, tables: Tables) -> dict[str, pa.Array]:
    """Rows of the table `link_node`; no columns where there are no rows.

    Args:
        links: requests with both of their ends.
        tables: columns by table, in one or more parts.
    """
    return stacked(node_rows(links, tables)) if links else {}


def link_ring(links: Links | None) -> dict[str, pa.Array]:
    """Rows of the table `link_ring`: both rings in each direction in which anything was traced."""
    return stacked(list(_rings(links))) if links else {}


def _rings(links: Links) -> Iterator[dict[str, pa.Array]]:
    span, nodes = Span.of(links), links.nodes
    rank = int(np.argmax(np.abs(links.ahead)))
    seconds = float(links.ahead[rank]) or None
    host = [*nodes.host_names, None][nodes.hosts[rank]] if seconds else None
    for ring, moves in enumerate((links.outer, links.inner)):
        odd = links.unsound[1] if RINGS[ring] == "inner" else links.unsound.sum(axis=0)
        for op in range(len(OPS)):
            own = moves.where(moves.ops == op)
            if not (len(own.ops) or odd[op]):
                continue
            is_known = own.carriers >= 0 if RINGS[ring] == "outer" else own.places < (len(nodes.osts) or len(nodes.mounts))
            yield {
                "ring": labels(np.array([ring]), RINGS),
                "op": labels(np.array([op]), OPS),
                "carrier_kind": labels(np.array([_carrier_kind(links, op)]), _CARRIERS),
                "place_kind": labels(np.array([_place_kind(links)]), _PLACES),
                "request_count": pa.array([len(own.ops)]),
                "matched_count": pa.array([np.count_nonzero(is_known)]),
                "negative_count": pa.array([np.count_nonzero(own.seconds < 0)]),
                "begin_seconds": pa.array([span.begin]),
                "bin_seconds": pa.array([span.width]),
                "skew_seconds": pa.array([seconds], pa.float64()),
                "skew_host": pa.array([host], pa.string()),
                "skew_rank": pa.array([int(nodes.ranks[rank]) if seconds and host is None else None], pa.int64()),
                "striped_by_ratio": pa.array([_striped_by(own) if RINGS[ring] == "inner" else None], pa.float64()),
                "missing": pa.array([" ".join(_missing(links, own, (ring, op), int(odd[op]))) or None], pa.string()),
            }


def _carrier_kind(links: Links, op: int) -> int:
    """What carriers are in a direction."""
    if links.nodes.carrier_kind == HOST:
        return _CARRIERS.index("host")
    outer = links.outer.where((links.outer.ops == op) & (links.outer.carriers >= 0))
    has_other = (links.nodes.carriers[outer.carriers] != outer.ranks).any()
    return _CARRIERS.index("aggregator" if has_other else "rank")


def _place_kind(links: Links) -> int:
    """What most places are, negative where there are none."""
    if len(links.nodes.osts):
        return _PLACES.index("ost")
    return _PLACES.index("mount") if len(links.nodes.mounts) else -1


def _striped_by(moves: Moves) -> float | None:
    """How far the band of ranks decides on the place, by bytes: mutual information over the entropy of the place.

    Of a single place or band nothing can be said.
    """
    if not len(moves.ops):
        return None
    ranks, rank_of = np.unique(moves.ranks, return_inverse=True)
    bands = rank_of * min(_BANDS, len(ranks)) // len(ranks)
    places, place_of = np.unique(moves.places, return_inverse=True)
    moved = np.bincount(bands * len(places) + place_of, moves.lengths).astype(np.float64)
    moved = np.append(moved, np.zeros(-len(moved) % len(places))).reshape(-1, len(places)) / moved.sum()
    of_bands, of_places, of_both = (_entropy(each) for each in (moved.sum(axis=1), moved.sum(axis=0), moved.ravel()))
    return float(np.clip((of_bands + of_places - of_both) / of_places, 0, 1)) if of_bands and of_places else None


def _entropy(shares: Floats) -> float:
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def _missing(links: Links, moves: Moves, ring_op: tuple[int, int], odd: int) -> Iterator[str]:
    """What a ring lacks in a direction, in sentences."""
    ring, op = ring_op
    if RINGS[ring] == "outer":
        if "mpiio" not in links.layers:
            yield NO_MPIIO
        elif "posix" in links.layers:
            yield from _unmatched(links, moves, op)
        if "posix" not in links.layers:
            yield NO_POSIX
    elif not len(links.nodes.osts):
        yield NO_LAYOUTS
    elif elsewhere := int(np.count_nonzero(moves.places >= len(links.nodes.osts))):
        yield f"Of {counted(elsewhere, 'request')} the OST is not known."
    if not links.nodes.host_names:
        yield NO_HOSTS
    if odd:
        yield f"{counted(odd, 'request')} with times that make no sense were left out."


def _unmatched(links: Links, moves: Moves, op: int) -> Iterator[str]:
    """Why requests of MPI-IO have no carrier."""
    nowhere = int(links.without_offset[op])
    if not links.is_matched:
        yield NO_OFFSETS if nowhere else NO_MATCH
    elif nowhere:
        yield f"The trace does not say where in the file {counted(nowhere, 'request')} lie, so their carriers are not known."
    if links.is_matched and (left := int(np.count_nonzero(moves.carriers < 0)) - nowhere):
        yield f"No POSIX request holds the first byte of {counted(left, 'request')} in its time, so their carriers are not known."
