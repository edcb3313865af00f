"""Which directed links lead from a switch to a device: by forwarding tables, or by all shortest paths where there are none.

A packet's way depends on the first switch and on the LID that it goes to, and on nothing else (InfiniBand Architecture
Specification 1.4, 14.2.1: linear forwarding tables), so ways are kept by these two, and not by pairs of hosts.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.derive.fabric.graph import PORTS, SWITCH, UNKNOWN, Graph
from iomine.derive.trace import Flags, Integers

Narrow = npt.NDArray[np.int32]

ROUTED, MISSING, LOOPING = range(3)
NO_ROUTE: Final = PORTS - 1
# What passes more links than OpenSM lets a path have (IB_SUBNET_PATH_HOPS_MAX) walks in a circle.
_MOST_HOPS: Final = 64
# Few enough for what is on its way to stay small.
_DESTS_AT_ONCE: Final = 256


class Routes(NamedTuple):
    """Ways from first switches to devices.

    Attributes:
        places: of each node its place among first switches, `UNKNOWN` where it is none.
        columns: of each node its place among destinations, `UNKNOWN` where it is none.
        states: (destinations, firsts), `ROUTED`, `MISSING` or `LOOPING`.
        hops: for each step a plane (destinations, firsts) of directed links, `UNKNOWN` beyond the last.
    """

    places: Integers
    columns: Integers
    states: npt.NDArray[np.int8]
    hops: list[Narrow]

    def states_of(self, firsts: Integers, dests: Integers) -> Integers:
        """What became of packets from some switches to some devices, pair by pair; nodes that are not among them miss."""
        rows, columns = self.columns[dests], self.places[firsts]
        is_there = (rows >= 0) & (columns >= 0)
        return np.where(is_there, self.states[rows, columns] if self.states.size else MISSING, MISSING)

    def links_of(self, firsts: Integers, dests: Integers) -> Narrow:
        """(pairs, steps), the directed links from some switches to some devices, pair by pair, `UNKNOWN` beyond the last."""
        rows, columns = self.columns[dests], self.places[firsts]
        if not self.hops:
            return np.empty((len(rows), 0), np.int32)
        return np.stack([plane[rows, columns] for plane in self.hops], axis=1)


def has_tables(graph: Graph, routes: pa.Table) -> Flags:
    """Whether each node's subnet is routed by tables: more than half of its switches have one.

    Args:
        graph: the fabric.
        routes: rows of `fabric_route`, each switch once.
    """
    switches = graph.switches
    is_listed = np.zeros(len(graph.kinds), bool)
    is_listed[[node for node in graph.nodes_of(routes["guid"]) if node >= 0]] = True
    subnets = int(graph.components.max(initial=-1)) + 1
    known, there = (
        np.bincount(graph.components[nodes], minlength=subnets) for nodes in (switches[is_listed[switches]], switches)
    )
    of_node: Flags = (2 * known > there)[graph.components]
    return of_node


def walked(graph: Graph, routes: pa.Table, firsts: Integers, dests: Integers) -> Routes:
    """Ways from each first switch to each device by forwarding tables, all of them a step at a time.

    Args:
        graph: the fabric.
        routes: rows of `fabric_route`, each switch once.
        firsts: nodes of switches.
        dests: nodes of devices; each is reached by its own LID.
    """
    nodes = graph.nodes_of(routes["guid"])
    rows = np.flatnonzero(nodes >= 0)
    switches = nodes[rows]
    lids = graph.lids[dests]
    ports = np.full((len(rows), len(dests)), NO_ROUTE, np.uint8)
    for place, row in enumerate(rows.tolist()):
        table = np.frombuffer(routes["out_ports"][row].as_py() or b"", np.uint8)
        is_known = (lids >= 0) & (lids < len(table))
        ports[place, is_known] = table[lids[is_known]]
    ports[graph.components[switches][:, None] != graph.components[dests]] = NO_ROUTE
    place_of = _places(switches, graph)
    states = np.full((len(dests), len(firsts)), MISSING, np.int8)
    hops: list[Narrow] = []
    for begin in range(0, len(dests), _DESTS_AT_ONCE):
        chunk = slice(begin, begin + _DESTS_AT_ONCE)
        way = _way(graph, switches, place_of, ports[:, chunk].T, dests[chunk])
        _walk(way, place_of[firsts], states[chunk], hops=hops, shape=states.shape, chunk=chunk)
    return Routes(_places(firsts, graph), _places(dests, graph), states, hops)


def _places(nodes: Integers, graph: Graph) -> Integers:
    places = np.full(len(graph.kinds), UNKNOWN)
    places[nodes] = np.arange(len(nodes))
    return places


class _Way(NamedTuple):
    """Where switches send what goes to some devices; each an array (destinations, switches with a table).

    Attributes:
        links: the directed link, `UNKNOWN` without a route.
        onward: place of the switch at its end, `UNKNOWN` where it is none with a table.
        arrives: whether the device is at its end, or is the switch itself.
    """

    links: Narrow
    onward: Narrow
    arrives: Flags


def _way(graph: Graph, switches: Integers, place_of: Integers, ports: npt.NDArray[np.uint8], dests: Integers) -> _Way:
    links = graph.outs[switches, ports]
    heads = np.where(links >= 0, graph.heads[links] if len(graph.heads) else UNKNOWN, UNKNOWN)
    arrives = heads == dests[:, None]
    onward = np.where((heads >= 0) & ~arrives, place_of[heads], UNKNOWN)
    arrives |= (ports == 0) & (switches == dests[:, None])
    return _Way(links, onward.astype(np.int32), arrives)


def _walk(
    way: _Way, firsts: Integers, states: npt.NDArray[np.int8], *, hops: list[Narrow], shape: tuple[int, ...], chunk: slice
) -> None:
    """Walks from first switches to some devices; fills their states and their rows of hops.

    Args:
        way: where switches send.
        firsts: place of each first switch, `UNKNOWN` where it has no table.
        states: (destinations, firsts), to be filled.
        hops: planes of all destinations; missing ones are added.
        shape: of a plane.
        chunk: the destinations.
    """
    size = way.links.shape[1]
    begins = np.repeat(np.arange(len(states)) * size, len(firsts))
    cells = np.arange(states.size)
    at: npt.NDArray[np.signedinteger] = np.tile(firsts, len(states))
    going = np.flatnonzero(at >= 0)
    cells, begins, at = cells[going], begins[going], at[going]
    links, onward, arrives = way.links.ravel(), way.onward.ravel(), way.arrives.ravel()
    flat = states.reshape(-1)
    steps: list[tuple[Integers, Narrow]] = []
    for _ in range(_MOST_HOPS):
        if not len(cells):
            break
        index = begins + at
        flat[cells[arrives[index]]] = ROUTED
        steps.append((cells, links[index]))
        at = onward[index]
        going = np.flatnonzero(at >= 0)
        if len(going) < len(cells):
            cells, begins, at = cells[going], begins[going], at[going]
    flat[cells] = LOOPING
    for step, (of, along) in enumerate(steps):
        is_routed = (flat[of] == ROUTED) & (along >= 0)
        if not is_routed.any():
            break
        if step == len(hops):
            hops.append(np.full(shape, UNKNOWN, np.int32))
        hops[step][chunk].reshape(-1)[of[is_routed]] = along[is_routed]


def unroutable_pairs(graph: Graph, routes: pa.Table) -> tuple[int, Integers]:
    """How many pairs of adapters in one subnet have no way by forwarding tables, and the devices that these do not reach.

    Args:
        graph: the fabric.
        routes: rows of `fabric_route`, each switch once.
    """
    out = np.flatnonzero(graph.is_up & (graph.kinds[graph.tails] != SWITCH) & (graph.kinds[graph.heads] == SWITCH))
    firsts, count = np.unique(graph.heads[out], return_counts=True)
    dests = np.unique(graph.tails[out])
    states = walked(graph, routes, firsts, dests).states
    is_apart = graph.components[dests][:, None] != graph.components[firsts]
    lost = np.where((states != ROUTED) & ~is_apart, count, 0)
    # A device needs no way to itself.
    own = np.zeros_like(lost)
    np.add.at(own, (np.searchsorted(dests, graph.tails[out]), np.searchsorted(firsts, graph.heads[out])), 1)
    lost -= np.where(lost > 0, own, 0)
    return int(lost.sum()), dests[lost.any(axis=1)]


def way_between(graph: Graph, routes: pa.Table, source: int, dest: int) -> list[int]:
    """The directed links from one device to another; none where no way leads there.

    Without forwarding tables it is the first of the shortest ways.

    Args:
        graph: the fabric.
        routes: rows of `fabric_route`, each switch once.
        source: node.
        dest: node.
    """
    begins = (
        [[]] if graph.kinds[source] == SWITCH else [[int(link)] for link in np.flatnonzero((graph.tails == source) & graph.is_up)]
    )
    if has_tables(graph, routes)[source]:
        for begin in begins:
            first = np.array([graph.heads[begin[0]] if begin else source])
            if begin and first[0] == dest:
                return begin
            found = walked(graph, routes, first, np.array([dest])) if graph.kinds[first[0]] == SWITCH else None
            if found is not None and found.states[0, 0] == ROUTED:
                return [*begin, *(int(link) for link in found.links_of(first, np.array([dest]))[0] if link >= 0)]
        return []
    return _first_shortest(graph, source, dest)


def _first_shortest(graph: Graph, source: int, dest: int) -> list[int]:
    came_by = {source: UNKNOWN}
    edge = [source]
    while edge and dest not in came_by:
        reached = []
        for node in edge:
            if node == source or graph.kinds[node] == SWITCH:
                links = [int(link) for link in graph.outs[node] if link >= 0 and int(graph.heads[link]) not in came_by]
                for link in links:
                    if int(graph.heads[link]) not in came_by:
                        came_by[int(graph.heads[link])] = link
                        reached.append(int(graph.heads[link]))
        edge = reached
    way: list[int] = []
    at = dest if dest in came_by else source
    while at != source:
        way.append(came_by[at])
        at = int(graph.tails[came_by[at]])
    return way[::-1]
