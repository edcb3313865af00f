"""All shortest paths between switches, for subnets of which no forwarding tables are known.

Bytes are divided over all shortest paths evenly. At each switch they leave over the links that begin such a path, in
proportion to how many of the paths go on over each; so whole bytes enter and leave every switch alike.
"""

from typing import NamedTuple

import numpy as np

from iomine.derive.fabric.graph import SWITCH, UNKNOWN, Graph
from iomine.derive.fabric.shares import divided, summed
from iomine.derive.trace import Floats, Integers


class Shortest(NamedTuple):
    """Distances and numbers of paths to some switches.

    Attributes:
        places: of each node its place among switches, `UNKNOWN` where it is none.
        columns: of each node its place among the switches that are gone to, `UNKNOWN` where it is none.
        distances: (switches gone to, switches), links on a shortest path, infinite where there is none.
        counts: (switches gone to, switches), shortest paths, parallel links each a path of its own.
        links: directed links between switches, by the switch that sends.
        begins: (switches + 1), where the links of each switch begin.
    """

    places: Integers
    columns: Integers
    distances: Floats
    counts: Floats
    links: Integers
    begins: Integers


def shortest_of(graph: Graph, lasts: Integers) -> Shortest:
    """All shortest paths to some switches.

    Args:
        graph: the fabric.
        lasts: nodes of switches that are gone to.
    """
    from scipy.sparse import coo_array  # noqa: PLC0415  takes a tenth of a second
    from scipy.sparse.csgraph import dijkstra  # noqa: PLC0415

    switches = graph.switches
    places, columns = np.full((2, len(graph.kinds)), UNKNOWN)
    places[switches], columns[lasts] = np.arange(len(switches)), np.arange(len(lasts))
    inner = graph.is_up & (graph.kinds[graph.tails] == SWITCH) & (graph.kinds[graph.heads] == SWITCH)
    links = np.flatnonzero(inner & (graph.tails != graph.heads))
    links = links[np.argsort(places[graph.tails[links]], kind="stable")]
    tails, heads = places[graph.tails[links]], places[graph.heads[links]]
    size = (len(switches), len(switches))
    edges = coo_array((np.ones(len(links)), (tails, heads)), shape=size).tocsr()
    distances = np.full((len(lasts), len(switches)), np.inf)
    if len(lasts):
        # Links go both ways, so what leads from there leads there.
        distances = dijkstra(edges, unweighted=True, indices=places[lasts])
    counts = (distances == 0).astype(np.float64)
    for distance in range(1, int(np.max(distances, where=np.isfinite(distances), initial=0)) + 1):
        counts += np.where(distances == distance, np.where(distances == distance - 1, counts, 0) @ edges.T, 0)
    return Shortest(places, columns, distances, counts, links, np.searchsorted(tails, np.arange(len(switches) + 1)))


def spread(graph: Graph, paths: Shortest, firsts: Integers, lasts: Integers, moved: Integers) -> tuple[Integers, Integers]:
    """What moves over each directed link between switches.

    Args:
        graph: the fabric.
        paths: shortest paths to all of the last switches.
        firsts: node of the first switch of each row.
        lasts: node of its last switch, which can be reached.
        moved: (rows, columns), bytes.

    Returns:
        Directed links, each once; and (links, columns), bytes.
    """
    at, to = paths.places[firsts], paths.columns[lasts]
    found: list[tuple[Integers, Integers]] = []
    while True:
        going = np.flatnonzero(paths.distances[to, at] > 0)
        if not len(going):
            break
        # What meets on its way to one switch goes on together.
        keys, group_of = np.unique(to[going] * len(paths.begins) + at[going], return_inverse=True)
        moved = summed(group_of, moved[going], count=len(keys))
        to, at = np.divmod(keys, len(paths.begins))
        sizes = paths.begins[at + 1] - paths.begins[at]
        rows = np.repeat(np.arange(len(at)), sizes)
        links = paths.links[np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes - paths.begins[at], sizes)]
        heads = paths.places[graph.heads[links]]
        nearer = np.flatnonzero(paths.distances[to[rows], heads] == paths.distances[to[rows], at[rows]] - 1)
        rows, links, heads = rows[nearer], links[nearer], heads[nearer]
        moved = divided(moved, paths.counts[to[rows], heads], rows)
        found.append((links, moved))
        to, at = to[rows], heads
    if not found:
        return np.empty(0, np.int64), np.empty((0, moved.shape[1]), np.int64)
    links, moved = (np.concatenate(each) for each in zip(*found, strict=True))
    links, group_of = np.unique(links, return_inverse=True)
    return links, summed(group_of, moved, count=len(links))
