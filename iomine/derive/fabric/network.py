"""A fabric as bytes of logs see it: adapters of hosts and servers, and how what moves between them is put onto links."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.derive.fabric.graph import AGGREGATION, SWITCH, Graph
from iomine.derive.fabric.routes import ROUTED, Routes, has_tables, walked
from iomine.derive.fabric.shares import divided, summed
from iomine.derive.fabric.shortest import Shortest, shortest_of, spread
from iomine.derive.trace import Flags, Floats, Integers, group_starts

# How sites call an adapter's interface: oss1-ib0 is one of host oss1.
_INTERFACE: Final = re.compile(r"[-_](?:ib|opa|hsn)[0-9]*$")
_NO_NAMES: Final[Mapping[str, Any]] = {}
_ADDRESS: Final = re.compile(r"[0-9.:]+")


class Names(NamedTuple):
    """What hosts, addresses and targets are also called.

    Attributes:
        hosts: names of the host of a guid, by guid.
        addresses: names of the host of a network address, by address.
        targets: network ids or hosts of the servers of a target, by target.
    """

    hosts: Mapping[str, str]
    addresses: Mapping[str, Sequence[str]]
    targets: Mapping[str, Sequence[str]]

    def servers(self, target: str | None) -> Sequence[str]:
        """Network ids or hosts of a target's servers, none where they are not known."""
        return self.targets.get(target, ()) if target else ()


def names_of(
    rows: pa.Table,
    hosts: Mapping[str, str] = _NO_NAMES,
    servers: Mapping[str, str] = _NO_NAMES,
    gateways: Mapping[str, Sequence[str]] = _NO_NAMES,
) -> Names:
    """What rows of `fabric_name` say, and a site; of several readings of a name, the last holds.

    Args:
        rows: rows of `fabric_name`, of times at which they hold.
        hosts: host by guid.
        servers: host by target or network id.
        gateways: hosts of LNet routers by network id or network; what lies behind them is where they are.
    """
    last: dict[tuple[str, str], tuple[int, list[str]]] = {}
    columns = (rows["sampled_at"].cast(pa.int64()), rows["name_kind"].cast(pa.string()), rows["name"], rows["alias"])
    for at, kind, name, alias in zip(*(column.to_pylist() for column in columns), strict=True):
        if name and alias:
            before = last.get((kind, name), (at, []))
            last[kind, name] = (
                (at, [alias]) if before[0] < at else (before[0], [*before[1], alias] if before[0] == at else before[1])
            )
    known = {
        kind: {name: list(dict.fromkeys(aliases)) for (of_kind, name), (_, aliases) in last.items() if of_kind == kind}
        for kind in ("guid", "address", "target")
    }
    reached = {
        target: [one for nid in nids for one in _reached(nid, servers, gateways)] for target, nids in known["target"].items()
    }
    reached |= {name: [host] for name, host in servers.items() if "@" not in name}
    return Names({guid: aliases[-1] for guid, aliases in known["guid"].items()} | dict(hosts), known["address"], reached)


def _reached(nid: str, servers: Mapping[str, str], gateways: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Where a network id is on the fabric."""
    if nid in servers:
        return [servers[nid]]
    return gateways.get(nid) or gateways.get(nid.partition("@")[2]) or [nid]


def short_name(host: str) -> str:
    """The name by which a host is compared: what stands before its domain, in lower case."""
    return host.strip().partition(".")[0].lower()


class Ends(NamedTuple):
    """Adapters of some owners, hosts or targets, in their order.

    Attributes:
        links: directed link that each adapter sends.
        owners: owner of each, by number.
        is_named: whether the host's name chose some among several adapters.
    """

    links: Integers
    owners: Integers
    is_named: bool


class Moved(NamedTuple):
    """Bytes on directed links.

    Attributes:
        links: directed links, each once.
        moved: (links, slots), bytes.
        of_some: (links, slots), those of some of the hosts; None where none are asked for.
        unrouted: (slots), bytes that no route leads for.
        is_shortest: whether shortest paths took the place of forwarding tables for any of them.
        firsts: nodes of the switches that the hosts are attached to.
    """

    links: Integers
    moved: Integers
    of_some: Integers | None
    unrouted: Integers
    is_shortest: bool
    firsts: Integers


class Network:
    """A fabric, with routes between all hosts that are asked for.

    Args:
        graph: the fabric.
        routes: rows of `fabric_route`, each switch once.
        names: what hosts are called.
    """

    def __init__(self, graph: Graph, routes: pa.Table, names: Names) -> None:
        self.graph = graph
        self.names = names
        self.guids: list[str] = graph.guids.to_pylist()
        self._tables = routes
        self._by_tables = has_tables(graph, routes)
        self._by_name = _by_name(graph, names)
        is_out = graph.is_up & (graph.kinds[graph.tails] != SWITCH) & (graph.kinds[graph.heads] == SWITCH)
        out = np.flatnonzero(is_out)
        self._out = out[np.argsort(graph.tails[out], kind="stable")]
        self._begins = np.searchsorted(graph.tails[self._out], np.arange(len(graph.kinds) + 1))
        self._known: dict[str, tuple[Integers, bool]] = {}
        self._routes: Routes | None = None
        self._shortest: Shortest | None = None

    def ends(self, owners: Sequence[Sequence[str]]) -> Ends:
        """Adapters of each owner's hosts, whose names may be network ids; an unknown host has none."""
        found = [(owner, *self._adapters(host)) for owner, hosts in enumerate(owners) for host in hosts]
        links = [each for _, each, _ in found]
        of = np.repeat([owner for owner, _, _ in found], [len(each) for each in links]).astype(np.int64)
        return Ends(np.concatenate([np.empty(0, np.int64), *links]), of, any(is_named for _, _, is_named in found))

    def _adapters(self, host: str) -> tuple[Integers, bool]:
        """Directed links that a host's adapters send, and whether its name chose them among several."""
        if host not in self._known:
            nodes, is_named = self._nodes(host)
            found = [self._out[self._begins[node] : self._begins[node + 1]] for node in nodes]
            self._known[host] = np.concatenate(found) if found else self._out[:0], is_named
        return self._known[host]

    def _nodes(self, host: str) -> tuple[list[int], bool]:
        """The nodes of a host, or of one interface of it, and whether that is not all of them."""
        address = host.partition("@")[0]
        # An address must not be cut at its dots.
        called = self.names.addresses.get(address, () if _ADDRESS.fullmatch(address) else (address,))
        for name in map(short_name, called):
            of_host = self._by_name.get(_INTERFACE.sub("", name), [])
            if nodes := self._by_name.get(name, of_host):
                return nodes, len(nodes) < len(of_host)
        return [], False

    def prepare(self, links: Integers) -> None:
        """Finds the routes between adapters, once for all that is to be moved.

        Args:
            links: directed links that the adapters send.
        """
        graph = self.graph
        firsts, nodes = np.unique(graph.heads[links]), np.unique(graph.tails[links])
        tabled, other = firsts[self._by_tables[firsts]], firsts[~self._by_tables[firsts]]
        if len(tabled):
            self._routes = walked(graph, self._tables, tabled, nodes[self._by_tables[nodes]])
        if len(other):
            self._shortest = shortest_of(graph, other)

    def _reaches(self, froms: Integers, tos: Integers) -> Flags:
        """(from, to), whether bytes reach each adapter's host from each other adapter, pairs of the same node left out."""
        graph = self.graph
        firsts, nodes = graph.heads[froms], graph.tails[tos]
        reaches: Flags = graph.components[firsts][:, None] == graph.components[nodes]
        reaches &= graph.tails[froms][:, None] != nodes
        by_tables = self._by_tables[firsts]
        if self._routes is not None and by_tables.any():
            rows, columns = np.repeat(firsts[by_tables], len(nodes)), np.tile(nodes, int(by_tables.sum()))
            reaches[by_tables] &= (self._routes.states_of(rows, columns) == ROUTED).reshape(-1, len(nodes))
        if self._shortest is not None and not by_tables.all():
            to = self._shortest.columns[graph.heads[tos]]
            at = self._shortest.places[firsts[~by_tables]]
            reaches[~by_tables] &= np.isfinite(self._shortest.distances[to, at[:, None]])
        return reaches

    def put(
        self, totals: Integers, servers: Ends, hosts: Ends, weights: Floats, *, to_servers: bool, some: Flags | None = None
    ) -> Moved:
        """Puts bytes between servers and hosts onto links.

        What a server moves is divided over hosts by weight, and over pairs of adapters evenly among those with a route.

        Args:
            totals: (servers, slots), bytes of each server.
            servers: adapters of the servers.
            hosts: adapters of the hosts.
            weights: of each host; not all are 0.
            to_servers: whether bytes go from hosts to servers, or back.
            some: of each host, whether bytes of it are asked for beside all.
        """
        graph, slots = self.graph, totals.shape[1]
        # Adapters of a switch stand together.
        order = np.argsort(graph.heads[hosts.links], kind="stable")
        near, far, owners = hosts.links[order], servers.links, hosts.owners[order]
        if not len(near) or not len(far):
            return Moved(
                np.empty(0, np.int64), np.empty((0, slots), np.int64), None, totals.sum(axis=0), False, np.empty(0, np.int64)
            )
        reaches = self._reaches(near, far).T if to_servers else self._reaches(far, near)
        parts = self._parts(totals, servers, owners, weights, reaches)
        unrouted = totals.sum(axis=0) - parts.sum(axis=(0, 1))
        is_far_table = self._by_tables[graph.heads[near if to_servers else far]]
        links, moved = self._laid(parts, near, far, to_servers=to_servers)
        of_some = None
        if some is not None:
            chosen = np.where(some[owners][:, None], parts, 0)
            # Where shares are rounded, some may seem to be more than all by a byte.
            of_some = np.minimum(self._laid(chosen, near, far, to_servers=to_servers, among=links)[1], moved)
        return Moved(links, moved, of_some, unrouted, not bool(is_far_table.all()), np.unique(graph.heads[near]))

    def _parts(self, totals: Integers, servers: Ends, owners: Integers, weights: Floats, reaches: Flags) -> Integers:
        """(server's adapters, host's adapters, slots), whole bytes of each pair; what no route leads for is left out."""
        count = len(weights)
        pairs = servers.owners[:, None] * count + owners
        choices = np.bincount(pairs.ravel(), reaches.ravel(), len(totals) * count)
        of_pair = np.where(reaches, weights[owners] / np.maximum(choices[pairs], 1), 0.0)
        # Bytes that do not reach a server are put after its last adapter.
        lost = np.where(choices.reshape(-1, count) == 0, weights, 0.0).sum(axis=1)
        is_last = np.append(servers.owners[1:] != servers.owners[:-1], True)
        left_over = np.where(is_last, lost[servers.owners], 0.0)
        groups, group_of = np.unique(servers.owners, return_inverse=True)
        flat = np.column_stack([of_pair, left_over]).ravel()
        parts = divided(totals[groups], flat, np.repeat(group_of, len(owners) + 1))
        return parts.reshape(len(servers.owners), len(owners) + 1, -1)[:, :-1]

    def _laid(
        self, parts: Integers, near: Integers, far: Integers, *, to_servers: bool, among: Integers | None = None
    ) -> tuple[Integers, Integers]:
        """Directed links, and (links, slots) bytes of pairs of adapters on these; among given links, which hold all."""
        graph = self.graph
        of_near, of_far = parts.sum(axis=0), parts.sum(axis=1)
        if to_servers:
            sent, froms, received, tos = of_near, near, of_far, far
            flows, firsts = _by_switch(parts, graph.heads[near], 1)
            flows = flows.swapaxes(0, 1)
        else:
            sent, froms, received, tos = of_far, far, of_near, near
            order = np.argsort(graph.heads[far], kind="stable")
            flows, firsts = _by_switch(parts[order], graph.heads[far[order]], 0)
        rows, columns = (each.ravel() for each in np.indices(flows.shape[:2]))
        flows = flows.reshape(len(rows), -1)
        moves = np.flatnonzero(flows.any(axis=1))
        flows, rows, columns = flows[moves], firsts[rows[moves]], tos[columns[moves]]
        by_tables = self._by_tables[rows]
        found = [(froms, sent)]
        if self._routes is not None and by_tables.any():
            hops = self._routes.links_of(rows[by_tables], graph.tails[columns[by_tables]])
            found.append(_along(hops, flows[by_tables], len(graph.tails)))
        if self._shortest is not None and not by_tables.all():
            firsts, lasts = rows[~by_tables], graph.heads[columns[~by_tables]]
            found.append(spread(graph, self._shortest, firsts, lasts, flows[~by_tables]))
            # With tables, the last link is one of their hops already.
            is_last = ~self._by_tables[graph.heads[tos]]
            found.append((tos[is_last] ^ 1, received[is_last]))
        links, moved = (np.concatenate(each) for each in zip(*found, strict=True))
        keys, group_of = np.unique(links, return_inverse=True) if among is None else (among, np.searchsorted(among, links))
        return keys, summed(group_of, moved, count=len(keys))


def _by_name(graph: Graph, names: Names) -> dict[str, list[int]]:
    """Nodes of each host, by its short name, and of each interface where devices say it."""
    found: dict[str, list[int]] = {}
    for node, (guid, name) in enumerate(zip(graph.guids.to_pylist(), graph.names, strict=True)):
        if graph.kinds[node] in {SWITCH, AGGREGATION}:
            continue
        called = short_name(names.hosts.get(guid, name))
        for each in dict.fromkeys((called, _INTERFACE.sub("", called))):
            found.setdefault(each, []).append(node)
    return found


def _by_switch(parts: Integers, switches: Integers, axis: int) -> tuple[Integers, Integers]:
    """Sums of what stands together in the order of switches along an axis; and the switches."""
    firsts = group_starts(switches)
    return np.add.reduceat(parts, firsts, axis=axis), switches[firsts]


def _along(hops: npt.NDArray[np.int32], flows: Integers, count: int) -> tuple[Integers, Integers]:
    """Directed links, each once, and (links, slots) bytes of what goes along ways, (ways, steps); of so many links."""
    is_step = hops >= 0
    passed = hops[is_step]
    is_used = np.zeros(count, bool)
    is_used[passed] = True
    places = np.cumsum(is_used) - 1
    links = np.flatnonzero(is_used)
    return links, summed(places[passed], flows, count=len(links), rows=np.nonzero(is_step)[0])
