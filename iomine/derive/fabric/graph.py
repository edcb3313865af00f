"""A fabric as a graph: which port of which device leads where.

Nodes, links and directed links are numbered. Link `k` gives the directed links `2 k`, which its lesser end sends, and
`2 k + 1`, which the other end sends.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.derive.trace import Flags, Floats, Integers, group_starts

NODE_KINDS: Final = ("switch", "host", "aggregation", "router")
SWITCH, HOST, AGGREGATION, _ = range(len(NODE_KINDS))
UNKNOWN: Final = -1
# Output ports are bytes, of which the last means no route.
PORTS: Final = 256
_MOST_LMC: Final = 7
_MOST_LID: Final = 0xFFFF


class Graph(NamedTuple):
    """Devices and links of all subnets that were read.

    Attributes:
        guids: of each node, ascending.
        kinds: of each node, an index into `NODE_KINDS`, `UNKNOWN` where it is not known.
        lids: of each node, `UNKNOWN` where it has none that makes sense.
        lid_counts: LIDs that each node owns, from its own on: 2^lmc.
        tiers: of each node, `UNKNOWN` where it is not known.
        names: of each node, its host, or what it calls itself.
        components: the subnet of each node, by number.
        link_ids: of each link.
        tails: node that sends, of each directed link.
        tail_ports: its port.
        heads: node that receives, of each directed link.
        head_ports: its port.
        capacities: bytes a second of each directed link, NaN where that is not known.
        is_up: whether each directed link is up.
        outs: (nodes, 256), the directed link that each port sends, `UNKNOWN` where it has none that is up.
    """

    guids: pa.Array
    kinds: Integers
    lids: Integers
    lid_counts: Integers
    tiers: Integers
    names: list[str]
    components: Integers
    link_ids: pa.Array
    tails: Integers
    tail_ports: Integers
    heads: Integers
    head_ports: Integers
    capacities: Floats
    is_up: Flags
    outs: npt.NDArray[np.int32]

    @property
    def switches(self) -> Integers:
        """Nodes that hand on what they receive."""
        return np.flatnonzero(self.kinds == SWITCH)

    def nodes_of(self, guids: pa.Array | pa.ChunkedArray) -> Integers:
        """The node of each guid, `UNKNOWN` where there is none."""
        return _index(guids, self.guids)

    def owners(self, lids: Integers, component: int) -> Integers:
        """The node of a subnet that owns each LID, `UNKNOWN` where none does or several do."""
        nodes = np.flatnonzero((self.components == component) & (self.lids >= 0))
        nodes = nodes[np.argsort(self.lids[nodes], kind="stable")]
        if not len(nodes):
            return np.full(len(lids), UNKNOWN)
        begins, ends = self.lids[nodes], self.lids[nodes] + self.lid_counts[nodes]
        after = np.searchsorted(begins, lids, side="right")
        at = np.maximum(after - 1, 0)
        is_one = (after > 0) & (lids < ends[at]) & ((at == 0) | (lids >= ends[np.maximum(at - 1, 0)]))
        return np.where(is_one, nodes[at], UNKNOWN)

    def senders(self, nodes: Integers, ports: Integers) -> Integers:
        """The directed link that each port sends, up or not; `UNKNOWN` where there is none."""
        order = np.lexsort((self.tail_ports, self.tails))
        keys = self.tails[order] * (PORTS * PORTS) + self.tail_ports[order]
        wanted = nodes * (PORTS * PORTS) + ports
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        is_there = (nodes >= 0) & (ports >= 0) & (ports < PORTS * PORTS)
        return np.where(is_there & (keys[at] == wanted), order[at], UNKNOWN) if len(keys) else np.full(len(wanted), UNKNOWN)


def graph_of(nodes: pa.Table, links: pa.Table) -> Graph:
    """The graph of what was read at one time, or holds at one time.

    A device that only links name is a node of unknown kind. Where two links claim one port, the first sends.

    Args:
        nodes: rows of `fabric_node`, each device once.
        links: rows of `fabric_link`.
    """
    guids = pc.unique(pa.chunked_array([*_texts(nodes, "guid"), *_texts(links, "guid", "peer_guid")], pa.string()).drop_null())
    guids = guids.take(pc.array_sort_indices(guids))
    rows = _index(guids, nodes["guid"])
    known = nodes.take(pa.array(np.maximum(rows, 0), mask=rows < 0))
    kinds = _index(known["node_kind"].cast(pa.string()), pa.array(NODE_KINDS))
    ends = [(_index(links[guid], guids), _whole(links, port)) for guid, port in (("guid", "port"), ("peer_guid", "peer_port"))]
    is_whole = np.logical_and.reduce([(node >= 0) & (port >= 0) & (port < PORTS * PORTS) for node, port in ends])
    links = links.filter(pa.array(is_whole))
    (tails, tail_ports), (heads, head_ports) = ((node[is_whole], port[is_whole]) for node, port in ends)
    capacities = links["capacity_bytes_per_second"].to_numpy(zero_copy_only=False).astype(np.float64)
    # What is not said to be down is up.
    is_up = pc.fill_null(links["is_up"], fill_value=True).to_numpy(zero_copy_only=False).astype(bool)
    paired = (
        _both_ways(tails, heads),
        _both_ways(tail_ports, head_ports),
        _both_ways(heads, tails),
        _both_ways(head_ports, tail_ports),
    )
    lids, lmcs = _whole(known, "lid"), _whole(known, "lmc")
    return Graph(
        guids,
        kinds,
        np.where((lids > 0) & (lids <= _MOST_LID), lids, UNKNOWN),
        1 << np.clip(lmcs, 0, _MOST_LMC),
        _whole(known, "tier"),
        pc.coalesce(known["host"], known["description"], guids, pa.scalar("")).to_pylist(),
        _components(len(guids), tails[is_up], heads[is_up]),
        links["link_id"].combine_chunks(),
        *paired,
        np.repeat(capacities, 2),
        np.repeat(is_up, 2),
        _outs(len(guids), *paired[:2], np.repeat(is_up, 2)),
    )


def _texts(table: pa.Table, *names: str) -> list[pa.Array]:
    return [chunk.cast(pa.string()) for name in names for chunk in table[name].chunks]


def _index(values: pa.Array | pa.ChunkedArray, among: pa.Array | pa.ChunkedArray) -> Integers:
    """Where each value first stands among others, `UNKNOWN` where it does not, or is NULL."""
    if isinstance(among, pa.ChunkedArray):
        among = among.combine_chunks()
    found = pc.fill_null(pc.index_in(values, value_set=among, skip_nulls=True), UNKNOWN)
    index: Integers = found.to_numpy(zero_copy_only=False).astype(np.int64)
    return index


def _whole(table: pa.Table, name: str) -> Integers:
    whole: Integers = pc.fill_null(table[name], UNKNOWN).to_numpy(zero_copy_only=False).astype(np.int64)
    return whole


def _both_ways(of_lesser: Integers, of_other: Integers) -> Integers:
    return np.stack([of_lesser, of_other], axis=1).ravel()


def _components(count: int, tails: Integers, heads: Integers) -> Integers:
    from scipy.sparse import coo_array  # noqa: PLC0415  takes a tenth of a second
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    if not count:
        return np.empty(0, np.int64)
    edges = coo_array((np.ones(len(tails), np.int8), (tails, heads)), shape=(count, count))
    components: Integers = connected_components(edges, directed=False)[1].astype(np.int64)
    return components


def _outs(count: int, tails: Integers, ports: Integers, is_up: Flags) -> npt.NDArray[np.int32]:
    outs = np.full((count, PORTS), UNKNOWN, np.int32)
    sending = np.flatnonzero(is_up & (ports > 0) & (ports < PORTS - 1))[::-1]
    outs[tails[sending], ports[sending]] = sending
    return outs


def resolved(graph: Graph, lids: Integers, ports: Integers, groups: Integers) -> Integers:
    """The node of each port that an input names by LID only.

    An input is of the subnet that has most of its ports; where several have as many, nothing is known.

    Args:
        graph: all subnets.
        lids: of each port.
        ports: number of each port.
        groups: the input of each port, by number.

    Returns:
        Nodes, `UNKNOWN` where that is not known.
    """
    found = np.full(len(lids), UNKNOWN)
    if not len(lids):
        return found
    subnets = np.unique(graph.components[graph.switches])
    owned = np.stack([graph.owners(lids, subnet) for subnet in subnets]) if len(subnets) else np.empty((0, len(lids)), np.int64)
    order = np.argsort(groups, kind="stable")
    firsts = group_starts(groups[order])
    for rows in np.split(order, firsts[1:]):
        hits = [int(np.count_nonzero(graph.senders(nodes[rows], ports[rows]) >= 0)) for nodes in owned]
        best = max(hits, default=0)
        if best and hits.count(best) == 1:
            found[rows] = owned[hits.index(best)][rows]
    return found


def changed_only(nodes: pa.Table, links: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Snapshots without those that say of the same devices what the one before said, as most do that are taken often.

    Args:
        nodes: rows of `fabric_node` of any time.
        links: rows of `fabric_link`.
    """
    order = [("sampled_at", "ascending")]
    tables = [table.sort_by(order).combine_chunks() for table in (nodes, links)]
    times = [table["sampled_at"].cast(pa.int64()).to_numpy() for table in tables]
    said: dict[tuple[str, ...], list[pa.Table]] = {}
    kept = []
    for moment in np.unique(np.concatenate(times)):
        edges = [np.searchsorted(at, [moment, moment + 1]) for at in times]
        own = [table.slice(begin, end - begin) for table, (begin, end) in zip(tables, edges, strict=True)]
        whose, own = tuple(own[0]["guid"].to_pylist()), [table.drop_columns("sampled_at") for table in own]
        if whose not in said or not all(was.equals(now) for was, now in zip(said[whose], own, strict=True)):
            kept.append(moment)
        said[whose] = own
    nodes, links = (table.filter(pa.array(np.isin(at, kept))) for table, at in zip(tables, times, strict=True))
    return nodes, links


def in_force(nodes: pa.Table, links: pa.Table, routes: pa.Table, moment: pa.Scalar) -> tuple[pa.Table, pa.Table, pa.Table]:
    """What holds at a moment: of each device what was last read of it, and its links of then.

    What was read first holds before it too. A link ends when one of its ends is read without it.

    Args:
        nodes: rows of `fabric_node` of any time.
        links: rows of `fabric_link`.
        routes: rows of `fabric_route`.
        moment: the time.
    """
    if links.num_rows:
        # Devices without their links are not a reading of the fabric.
        is_linked = pc.is_in(nodes["sampled_at"], value_set=pc.unique(links["sampled_at"]))
        among = pc.unique(nodes.filter(is_linked)["guid"])
        nodes = nodes.filter(pc.or_(is_linked, pc.invert(pc.is_in(nodes["guid"], value_set=among))))
    nodes, routes = (_latest(table.filter(pc.is_valid(table["guid"])), moment, "guid") for table in (nodes, routes))
    read = pa.table({"guid": nodes["guid"], "read_at": nodes["sampled_at"]})
    at = [_index(links[name], read["guid"]) for name in ("guid", "peer_guid")]
    sampled, read_at = links["sampled_at"].cast(pa.int64()).to_numpy(), read["read_at"].cast(pa.int64()).to_numpy()
    # An end that is in no reading does not end a link.
    holds = np.logical_and.reduce([(rows < 0) | (sampled == _taken(read_at, rows, sampled)) for rows in at])
    held = _latest(links.filter(pa.array(holds)), moment, "link_id")
    # What had links when it was read, and has none now, is gone.
    had, has = (
        _index(nodes["guid"], pa.chunked_array([*_texts(each, "guid", "peer_guid")], pa.string())) for each in (links, held)
    )
    return nodes.filter(pa.array((had < 0) | (has >= 0))), held, routes


def _taken(values: Integers, rows: Integers, otherwise: Integers) -> Integers:
    return np.where(rows < 0, otherwise, values[np.maximum(rows, 0)]) if len(values) else otherwise


def _latest(table: pa.Table, moment: pa.Scalar, key: str) -> pa.Table:
    """The last row of each key at or before a moment, or its first one after it."""
    if not table.num_rows:
        return table
    sampled, at = table["sampled_at"].cast(pa.int64()).to_numpy(), moment.cast(pa.int64()).as_py()
    keys = pc.dictionary_encode(table[key]).combine_chunks().indices.to_numpy(zero_copy_only=False)
    # Later ones first, then what was read after the moment, the earliest of it first.
    order = np.lexsort((np.where(sampled <= at, -sampled, sampled), sampled > at, keys))
    return table.take(pa.array(np.sort(order[group_starts(keys[order])])))
