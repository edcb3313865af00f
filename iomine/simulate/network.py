"""How the fabric is cabled and routed: switches, adapters, cables, and the forwarding table of each switch.

A tree of two tiers. Every leaf switch has a cable to each of two spines. Servers hang on a switch of their own, which has
cables to the first spine only, so that all that nodes read and write passes the first uplink of their leaf switch. The last
leaf switch is older and slower than the others. Routes go up and then down; between equal ways the destination's LID chooses.
"""

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from iomine.simulate import filesystem as fs
from iomine.simulate.program import host
from iomine.simulate.runs import Floats, Integers

NODES_PER_LEAF: Final = 32
RANKS_PER_NODE: Final = 16
OLD_NODES: Final = 8
UPLINKS: Final = 2
FIRST_UPLINK: Final = 37
# The uplink that leads to the servers.
STORAGE_UPLINK: Final = FIRST_UPLINK
_TARGETS_PER_SERVER: Final = 4
_OSS_COUNT: Final = -(-fs.OST_COUNT // _TARGETS_PER_SERVER)
SERVERS: Final = (*(f"oss{place:02d}" for place in range(_OSS_COUNT)), "mds00")
_SERVER_CABLES: Final = 4
_SERVER_LID, _SPINE_LID, _SERVER_SWITCH_LID, _LEAF_LID, _NODE_LID = 10, 90, 92, 100, 200
_SWITCH_GUID, _ADAPTER_GUID, _GUID_STEP = 0x0002C90300A00000, 0x0002C90300100000, 16
# Bytes a second that a cable of four lanes moves in one direction, by its speed.
CAPACITIES: Final = {"DDR": 2e9, "EDR": 12.5e9, "HDR": 25e9}
_SPEEDS: Final = tuple(CAPACITIES)
_DDR, _EDR, _HDR = range(len(_SPEEDS))
# Adapter, leaf, spine, leaf, adapter.
_MOST_LINKS: Final = 4


class Device(NamedTuple):
    """A switch or an adapter.

    Attributes:
        lid: its LID.
        guid: its GUID.
        name: what it calls itself: a switch's name, or the host of an adapter.
        is_switch: whether it is a switch.
    """

    lid: int
    guid: int
    name: str
    is_switch: bool

    @property
    def description(self) -> str:
        """The node description."""
        return self.name if self.is_switch else f"{self.name} HCA-1"

    @property
    def port_guid(self) -> int:
        """GUID of the port: a switch has one for all of them."""
        return self.guid if self.is_switch else self.guid + 1


class Network:
    """Devices, directed links and routes.

    Link n of a cable in one direction is link n + `cable_count` in the other.

    Args:
        leaves: leaf switches, without the older one.

    Attributes:
        leaf_count: leaf switches.
        node_count: nodes.
        cable_count: cables.
        lids: LID of the device that sends, by directed link.
        ports: port that sends, by directed link.
        capacities: bytes a second, by directed link.
        devices: by LID.
    """

    def __init__(self, leaves: int) -> None:
        self.leaf_count = leaves + 1
        self.node_count = leaves * NODES_PER_LEAF + OLD_NODES
        cables = self._cables(leaves)
        self.cable_count = cables.shape[1]
        lids, ports, peer_lids, peer_ports, speeds = cables
        self.lids, self._peer_lids = np.concatenate([lids, peer_lids]), np.concatenate([peer_lids, lids])
        self.ports = np.concatenate([ports, peer_ports])
        self._speeds = np.tile(speeds, 2)
        self.capacities: Floats = np.array(list(CAPACITIES.values()))[self._speeds]
        self.devices = self._devices()
        self._link_at: Integers = np.full((int(self.lids.max()) + 1, int(self.ports.max()) + 1), -1)
        self._link_at[self.lids, self.ports] = np.arange(len(self.lids))
        # Link by which a switch sends what is for a LID: -1 without a route, and for all that is no switch.
        self._next: Integers = np.full((len(self._link_at), len(self._link_at)), -1)
        for lid in self.switch_lids:
            out = self._out_ports(lid)
            self._next[lid] = np.where(out > 0, self._link_at[lid, out], -1)

    def _cables(self, leaves: int) -> Integers:
        """A column for each cable: LID and port of both ends, and speed."""
        nodes, all_leaves = np.arange(self.node_count), np.arange(self.leaf_count)
        servers, cables = np.arange(len(SERVERS)), np.arange(_SERVER_CABLES)
        host_speeds = np.where(nodes // NODES_PER_LEAF == leaves, _DDR, _EDR)
        hosts = _rows(_NODE_LID + nodes, 1, _LEAF_LID + nodes // NODES_PER_LEAF, 1 + nodes % NODES_PER_LEAF, host_speeds)
        leaf_speeds = np.where(all_leaves == leaves, _DDR, _EDR)
        ups = [
            _rows(_LEAF_LID + all_leaves, FIRST_UPLINK + spine, _SPINE_LID + spine, 1 + all_leaves, leaf_speeds)
            for spine in range(UPLINKS)
        ]
        trunk = _rows(_SERVER_SWITCH_LID, FIRST_UPLINK + cables, _SPINE_LID, 1 + self.leaf_count + cables, _HDR)
        return np.concatenate(
            [hosts, *ups, trunk, _rows(_SERVER_LID + servers, 1, _SERVER_SWITCH_LID, 1 + servers, _HDR)], axis=1
        )

    def _devices(self) -> dict[int, Device]:
        names = {_SERVER_LID + place: name for place, name in enumerate(SERVERS)}
        names |= {_SPINE_LID + spine: f"spine{spine:02d}" for spine in range(UPLINKS)} | {_SERVER_SWITCH_LID: "storage00"}
        names |= {_LEAF_LID + leaf: f"leaf{leaf:02d}" for leaf in range(self.leaf_count)}
        names |= {_NODE_LID + node: host(node) for node in range(self.node_count)}
        return {
            lid: Device(lid, (_SWITCH_GUID if is_switch else _ADAPTER_GUID) + _GUID_STEP * lid, name, is_switch)
            for lid, name in names.items()
            for is_switch in (_SPINE_LID <= lid < _NODE_LID,)
        }

    def _out_ports(self, lid: int) -> Integers:
        """Port by which a switch sends what is for each LID; 0 without a route, and for itself."""
        lids = np.arange(len(self._link_at))
        is_known = np.isin(lids, list(self.devices)) & (lids != lid)
        is_node, is_leaf = lids >= _NODE_LID, (lids >= _LEAF_LID) & (lids < _NODE_LID)
        is_storage = (lids < _SPINE_LID) | (lids == _SERVER_SWITCH_LID)
        leaf_of = np.where(is_node, (lids - _NODE_LID) // NODES_PER_LEAF, lids - _LEAF_LID)
        if lid >= _LEAF_LID:
            up = FIRST_UPLINK + lids % UPLINKS
            up[is_storage] = STORAGE_UPLINK
            up[_SPINE_LID : _SPINE_LID + UPLINKS] = FIRST_UPLINK + np.arange(UPLINKS)
            out = np.where(is_node & (leaf_of == lid - _LEAF_LID), 1 + (lids - _NODE_LID) % NODES_PER_LEAF, up)
        elif lid == _SERVER_SWITCH_LID:
            out = np.where(is_storage, 1 + lids - _SERVER_LID, FIRST_UPLINK + lids % _SERVER_CABLES)
            # Nothing leads there but down and up again.
            out[_SPINE_LID + 1 : _SPINE_LID + UPLINKS] = 0
        else:
            out = np.where(is_node | is_leaf, 1 + leaf_of, 0)
            if lid == _SPINE_LID:
                out[is_storage] = 1 + self.leaf_count + lids[is_storage] % _SERVER_CABLES
        return np.where(is_known, out, 0)

    @property
    def switch_lids(self) -> list[int]:
        """LIDs of switches, in order."""
        return sorted(lid for lid, device in self.devices.items() if device.is_switch)

    def out_ports(self, lid: int) -> dict[int, int]:
        """The forwarding table of a switch: port by destination; 0 is the switch itself."""
        links = self._next[lid]
        found = {to: int(self.ports[links[to]]) for to in np.flatnonzero(links >= 0).tolist()} | {lid: 0}
        return dict(sorted(found.items()))

    def link(self, lid: int, port: int) -> int:
        """The directed link on which a port sends."""
        return int(self._link_at[lid, port])

    def reverse(self, links: Integers) -> Integers:
        """The other direction of each link."""
        found: Integers = (links + self.cable_count) % (2 * self.cable_count)
        return found

    def speed(self, link: int) -> str:
        """Width and speed of a link."""
        return f"4x{_SPEEDS[self._speeds[link]]}"

    def links_of(self, lid: int) -> Integers:
        """Links on which a device sends, in the order of ports."""
        links = self._link_at[lid]
        found: Integers = links[links >= 0]
        return found

    def route(self, senders: Integers, receivers: Integers) -> Integers:
        """Links on the way from adapters to adapters, by step and pair; -1 after the last.

        Args:
            senders: LID of each pair's adapter that sends.
            receivers: LID of the one that receives.
        """
        at = self._link_at[senders, 1]
        found = [at]
        for _ in range(_MOST_LINKS - 1):
            here = self._peer_lids[at]
            at = np.where((at < 0) | (here == receivers), -1, self._next[here, receivers])
            found.append(at)
        return np.array(found)


def _rows(*columns: Integers | int) -> Integers:
    return np.array(np.broadcast_arrays(*columns))


@lru_cache(maxsize=1)
def network(leaves: int) -> Network:
    """The network of a facility with so many leaf switches, the older one not counted."""
    return Network(leaves)


def node_lids(nodes: Integers) -> Integers:
    """LIDs of nodes' adapters."""
    return _NODE_LID + nodes


def server_of(target: int) -> str:
    """The server of a target; MDTs come after OSTs."""
    return SERVERS[min(target // _TARGETS_PER_SERVER, _OSS_COUNT)]


def ost_lids(osts: Integers) -> Integers:
    """LIDs of the adapters of OSTs' servers."""
    return _SERVER_LID + osts // _TARGETS_PER_SERVER


def leaf_lid(leaf: int) -> int:
    """LID of a leaf switch."""
    return _LEAF_LID + leaf


def address(device: Device) -> str:
    """The address of an adapter in the fabric's IP network."""
    is_server = device.lid < _SPINE_LID
    upper, lower = divmod(device.lid - (_SERVER_LID if is_server else _NODE_LID), 250)
    return f"10.12.{254 if is_server else upper}.{1 + lower}"
