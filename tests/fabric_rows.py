"""Fabrics as rows of the lake's tables: small ones of any shape, and one as large as the largest published."""

import random
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from iomine.schema.registry import arrow_schema

READ_AT = datetime(2024, 4, 18, tzinfo=UTC)
CAPACITY = 12.5e9
# Leaf switches, those above them, and those at the top; and links between these.
LARGE = (182, 208, 104)
LARGE_NODES, LARGE_LINKS = 8_811, 22_819
_UPLINKS = 48

Link = tuple[int, int, int, int]


class Fabric:
    """A fabric under construction: switches first, then hosts; a device's number is its guid, and its LID one more.

    Args:
        switches: how many.
        hosts: names.
    """

    def __init__(self, switches: int, hosts: Sequence[str]) -> None:
        self.switches = switches
        self.names = list(hosts)
        self.links: list[Link] = []
        self._ports = [0] * (switches + len(hosts))
        self.tables: dict[int, bytearray] = {}

    def link(self, one: int, other: int) -> None:
        """Links the next free ports of two devices."""
        ports = []
        for device in (one, other):
            self._ports[device] += 1
            ports.append(self._ports[device])
        self.links.append((one, ports[0], other, ports[1]))

    def route(self, seed: int | None = None) -> None:
        """Fills the forwarding tables by shortest paths; which of several, a seed or the LID says."""
        chosen = random.Random(seed)
        outs: list[dict[int, list[int]]] = [{} for _ in self._ports]
        for one, port, other, peer in self.links:
            outs[one].setdefault(other, []).append(port)
            outs[other].setdefault(one, []).append(peer)
        self.tables = {switch: bytearray([255]) * (len(self._ports) + 1) for switch in range(self.switches)}
        for last in range(self.switches):
            self.tables[last][last + 1] = 0
            devices = [device for device in outs[last] if device >= self.switches and min(outs[device]) == last]
            for device in devices:
                self.tables[last][device + 1] = outs[last][device][0]
            distances = self._distances(last, outs)
            for switch in distances.keys() - {last}:
                ports = [
                    port
                    for other in outs[switch]
                    if distances.get(other) == distances[switch] - 1
                    for port in outs[switch][other]
                ]
                for device in (last, *devices):
                    which = device % len(ports) if seed is None else chosen.randrange(len(ports))
                    self.tables[switch][device + 1] = ports[which]

    def _distances(self, last: int, outs: Sequence[Mapping[int, object]]) -> dict[int, int]:
        distances = {last: 0}
        queue = deque([last])
        while queue:
            at = queue.popleft()
            for other in outs[at]:
                if other < self.switches and other not in distances:
                    distances[other] = distances[at] + 1
                    queue.append(other)
        return distances

    def nodes_table(self, at: datetime = READ_AT) -> pa.Table:
        """Rows of `fabric_node`."""
        rows = [
            {
                "sampled_at": at,
                "guid": guid(device),
                "node_kind": "switch" if device < self.switches else "host",
                "description": f"switch{device}" if device < self.switches else self.names[device - self.switches],
                "host": None if device < self.switches else self.names[device - self.switches],
                "lid": device + 1,
                "lmc": 0,
                "tier": 1 if device < self.switches else 0,
            }
            for device in range(len(self._ports))
        ]
        return pa.Table.from_pylist(rows, schema=arrow_schema("fabric_node"))

    def links_table(self, at: datetime = READ_AT) -> pa.Table:
        """Rows of `fabric_link`."""
        ends = [sorted([(guid(one), port), (guid(other), peer)]) for one, port, other, peer in self.links]
        rows = [
            {
                "sampled_at": at,
                "link_id": f"{one[0]}/{one[1]}",
                **dict(zip(("guid", "port", "peer_guid", "peer_port"), (*one, *other), strict=True)),
                "lanes": 4,
                "speed": "EDR",
                "capacity_bytes_per_second": CAPACITY,
                "is_up": True,
            }
            for one, other in ends
        ]
        return pa.Table.from_pylist(rows, schema=arrow_schema("fabric_link"))

    def routes_table(self, at: datetime = READ_AT) -> pa.Table:
        """Rows of `fabric_route`."""
        rows = [{"sampled_at": at, "guid": guid(switch), "out_ports": bytes(table)} for switch, table in self.tables.items()]
        return pa.Table.from_pylist(rows, schema=arrow_schema("fabric_route"))


def guid(device: int) -> str:
    """The guid of a device."""
    return f"{device:016x}"


def large() -> Fabric:
    """A tree of three tiers with 8,811 nodes, 494 switches and 22,819 links, and its tables."""
    leaves, middle, top = LARGE
    fabric = Fabric(sum(LARGE), [f"node{number:05d}" for number in range(LARGE_NODES)])
    for number in range(LARGE_NODES):
        fabric.link(sum(LARGE) + number, number * leaves // LARGE_NODES)
    # Pods of leaves share the switches above them; each of those has links to half of the top or so.
    pods = 13
    for leaf in range(leaves):
        for uplink in range(_UPLINKS):
            fabric.link(leaf, leaves + (leaf % pods) * (middle // pods) + uplink % (middle // pods))
    left = LARGE_LINKS - len(fabric.links)
    for number in range(left):
        above = number % middle
        fabric.link(leaves + above, leaves + middle + (number // middle + above * 7) % top)
    fabric.route()
    return fabric


def names_table(targets: dict[str, Sequence[str]], at: datetime = READ_AT) -> pa.Table:
    """Rows of `fabric_name` for targets and their servers."""
    rows = [
        {"sampled_at": at, "name_kind": "target", "name": target, "alias": server}
        for target, servers in targets.items()
        for server in servers
    ]
    return pa.Table.from_pylist(rows, schema=arrow_schema("fabric_name"))


def random_fabric(seed: int) -> Fabric:
    """A few switches linked at random, all of one subnet, with parallel links, and hosts of one or two adapters."""
    chosen = np.random.default_rng(seed)
    switches, hosts = int(chosen.integers(1, 8)), int(chosen.integers(2, 12))
    fabric = Fabric(switches, [f"h{number // (1 + seed % 2)}" for number in range(hosts)])
    for switch in range(1, switches):
        fabric.link(switch, int(chosen.integers(switch)))
    for _ in range(int(chosen.integers(0, 2 * switches))):
        one, other = chosen.integers(switches, size=2).tolist()
        if one != other:
            fabric.link(one, other)
    for host in range(hosts):
        fabric.link(switches + host, int(chosen.integers(switches)))
    fabric.route(seed)
    return fabric
