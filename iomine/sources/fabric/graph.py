"""Devices and links of a fabric, put together from what each end says of itself and of the other.

A tool lists a link at both of its ends. Where they agree it is one link; where an end is also said to be linked with
something else, the ends contradict each other, and the link that only one end knows is left out.
"""

from collections import deque
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.sources.fabric.guids import Guids, guid_text, guid_texts
from iomine.sources.fabric.hosts import description_of, host_of, is_aggregation
from iomine.sources.lustre.doubts import doubt
from iomine.sources.series.rows import rows

Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NODE: Final = "fabric_node"
LINK: Final = "fabric_link"
SWITCH, HOST, ROUTER = range(3)
_AGGREGATION: Final = 3
_KINDS: Final = ("switch", "host", "router", "aggregation")
# Gbit/s that a lane moves, after encoding.
LANE_GBITS: Final = {"SDR": 2.0, "DDR": 4.0, "QDR": 8.0, "FDR10": 10.0, "FDR": 13.64, "EDR": 25.0, "HDR": 50.0, "NDR": 100.0}
SPEEDS: Final = (*LANE_GBITS,)
_RATES: Final = np.array([*LANE_GBITS.values(), np.nan]) * 1e9 / 8
_LANES: Final = np.array([1, 2, 4, 8, 12])
# Numbers that an input may leave open.
UNKNOWN: Final = -1
_LAST_LID: Final = 0xFFFF
_LAST_PORT: Final = 254
_MOST_LMC: Final = 7
_ONE_SIDED: Final = "links that only one of their ends lists"
_TIME: Final = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True)
class Ends:
    """What each end of a link says; all arrays are of one length. 0 is no guid, and UNKNOWN no number.

    Attributes:
        guid: of the device that says it.
        port: its port.
        peer_guid: of the other device.
        peer_port: its port.
        lanes: how many lanes the link has.
        speed: number of its speed in SPEEDS.
        is_up: whether the link is up.
        port_guid: guid of the port, which adapters have beside their own.
        peer_port_guid: that of the other port.
        lid: LID of the port.
        peer_lid: LID of the other port.
    """

    guid: Guids
    port: Integers
    peer_guid: Guids
    peer_port: Integers
    lanes: Integers
    speed: Integers
    is_up: Mask
    port_guid: Guids
    peer_port_guid: Guids
    lid: Integers
    peer_lid: Integers

    def __len__(self) -> int:
        return len(self.guid)

    def take(self, where: Integers | Mask) -> Self:
        """Those at some places."""
        return type(self)(*(getattr(self, each.name)[where] for each in fields(self)))

    def turned(self, where: Mask) -> Self:
        """The same with the two ends exchanged at some places."""
        names = [each.name for each in fields(self)]

        def other(name: str) -> str:
            opposite = name.removeprefix("peer_") if name.startswith("peer_") else f"peer_{name}"
            return opposite if opposite in names else name

        return type(self)(*(np.where(where, getattr(self, other(name)), getattr(self, name)) for name in names))


class Device(NamedTuple):
    """A device, as something says of it.

    Attributes:
        guid: its guid, not 0.
        kind: SWITCH, HOST or ROUTER.
        description: what it calls itself.
        lid: its LID.
        lmc: its LID mask control.
        port_count: its ports.
        chassis: guid of its chassis.
    """

    guid: int
    kind: int
    description: bytes
    lid: int = UNKNOWN
    lmc: int = UNKNOWN
    port_count: int = UNKNOWN
    chassis: int = 0


def tables_of(devices: list[Device], ends: Ends, at: datetime, *, is_twice: bool = True) -> tuple[dict[str, pa.Table], str]:
    """The devices and links of a fabric as tables, and what is not to be trusted in them.

    Args:
        devices: what devices say of themselves, then what their neighbours say of them; the first counts.
        ends: what ends of links say.
        at: when it was read.
        is_twice: whether the tool lists each link at both of its ends.
    """
    found: dict[str, int | bool] = {}
    by_guid = _merged(devices, found)
    links = _links(ends, by_guid, found)
    if not is_twice:
        found.pop(_ONE_SIDED, None)
    nodes = _nodes(by_guid, links, found)
    moment = pa.scalar(at, _TIME)
    tables = {NODE: _node_rows(nodes, moment), LINK: _link_rows(links, moment)}
    return {name: table for name, table in tables.items() if len(table)}, doubt(found)


def _merged(devices: list[Device], found: dict[str, int | bool]) -> dict[int, Device]:
    """Each device once; what it does not say of itself is as others say of it."""
    by_guid: dict[int, Device] = {}
    contradictions = set()
    for device in devices:
        if (known := by_guid.setdefault(device.guid, device)) is device:
            continue
        if known.kind != device.kind or (device.description and known.description.strip() != device.description.strip()):
            contradictions.add(device.guid)
        if known.lid == UNKNOWN or not known.description or known.lmc == UNKNOWN:
            by_guid[device.guid] = known._replace(
                lid=device.lid if known.lid == UNKNOWN else known.lid,
                lmc=device.lmc if known.lmc == UNKNOWN else known.lmc,
                description=known.description or device.description,
            )
    found["devices of which different things are said"] = len(contradictions)
    return by_guid


def _links(ends: Ends, by_guid: dict[int, Device], found: dict[str, int | bool]) -> Ends:
    """Links, each once and named by its lesser end."""
    of_nobody = (ends.guid == 0) | (ends.peer_guid == 0)
    no_port = (np.minimum(ends.port, ends.peer_port) < 1) | (np.maximum(ends.port, ends.peer_port) > _LAST_PORT)
    to_itself = (ends.guid == ends.peer_guid) & (ends.port == ends.peer_port)
    is_sound = ~(of_nobody | no_port | to_itself)
    found["lines left out, of links that no two ports have"] = int(np.count_nonzero(~is_sound))
    ends = ends.take(is_sound)
    is_greater = (ends.guid > ends.peer_guid) | ((ends.guid == ends.peer_guid) & (ends.port > ends.peer_port))
    ends = ends.turned(is_greater)
    order = np.lexsort((ends.peer_port, ends.peer_guid, ends.port, ends.guid))
    ends, by_other = ends.take(order), is_greater[order]
    if not len(ends):
        return ends
    is_first = np.ones(len(ends), np.bool_)
    is_first[1:] = False
    for name in ("guid", "port", "peer_guid", "peer_port"):
        values = getattr(ends, name)
        is_first[1:] |= values[1:] != values[:-1]
    first = np.flatnonzero(is_first)
    by_peer = np.logical_or.reduceat(by_other, first)
    is_double = by_peer & np.logical_or.reduceat(~by_other, first)
    links, differing = _agreed(ends, first)
    kept = _uncontradicted(links, is_double)
    found["links left out, whose two ends name different ports"] = int(np.count_nonzero(~kept))
    # In the list of a cut or partial reading one end may be missing altogether: then nothing contradicts.
    silent = np.where(by_peer, links.guid, links.peer_guid)[kept & ~is_double].tolist()
    found[_ONE_SIDED] = sum(guid in by_guid for guid in silent)
    found["links of which the ends give different widths or speeds"] = int(np.count_nonzero(differing & kept))
    return links.take(kept)


def _agreed(ends: Ends, first: npt.NDArray[np.intp]) -> tuple[Ends, Mask]:
    """One row for the ends of each link, and where they give different widths or speeds, which are unknown then."""
    links = ends.take(first)
    differs = np.zeros(len(first), np.bool_)
    agreed: dict[str, Any] = {}
    for name in ("lanes", "speed"):
        values = getattr(ends, name)
        most = np.maximum.reduceat(values, first)
        least = np.minimum.reduceat(np.where(values == UNKNOWN, np.iinfo(np.int64).max, values), first)
        is_other = (most != UNKNOWN) & (least != most)
        agreed[name] = np.where(is_other, UNKNOWN, most)
        differs |= is_other
    agreed |= {
        name: np.maximum.reduceat(getattr(ends, name), first) for name in ("lid", "peer_lid", "port_guid", "peer_port_guid")
    }
    agreed["is_up"] = np.logical_and.reduceat(ends.is_up, first)
    return Ends(**{each.name: agreed.get(each.name, getattr(links, each.name)) for each in fields(Ends)}), differs


def _uncontradicted(links: Ends, is_double: Mask) -> Mask:
    """Which links have ports that no other has; of several with one port, that which both ends list stays."""
    kept = np.ones(len(links), np.bool_)
    for among, suspect in ((is_double, is_double), (kept, ~is_double)):
        at = np.flatnonzero(among & kept)
        _, device = np.unique(np.concatenate([links.guid[at], links.peer_guid[at]]), return_inverse=True)
        ports = device.ravel() * (_LAST_PORT + 1) + np.concatenate([links.port[at], links.peer_port[at]])
        _, index, count = np.unique(ports, return_inverse=True, return_counts=True)
        is_shared = (count[index.ravel()] > 1).reshape(2, -1).any(axis=0)
        kept[at[is_shared & suspect[at]]] = False
    return kept


class _Nodes(NamedTuple):
    devices: list[Device]
    kinds: Integers
    tiers: Integers
    places: Guids


def _nodes(by_guid: dict[int, Device], links: Ends, found: dict[str, int | bool]) -> _Nodes:
    devices = [by_guid[guid] for guid in sorted(by_guid)]
    guids = np.array([device.guid for device in devices], np.uint64)
    kinds = np.array(
        [
            _AGGREGATION if device.kind == HOST and is_aggregation(description_of(device.description)) else device.kind
            for device in devices
        ],
        np.int64,
    )
    found["LIDs that no device has, above 65,535"] = sum(device.lid > _LAST_LID for device in devices)
    a, b = np.searchsorted(guids, links.guid), np.searchsorted(guids, links.peer_guid)
    tiers = tiers_of(kinds == HOST, kinds == SWITCH, a, b)
    places = np.zeros(len(devices), np.uint64)
    for one, other, port in ((a, b, links.port), (b, a, links.peer_port)):
        is_leaf = (kinds[one] != SWITCH) & (kinds[other] == SWITCH)
        # Of several ports the first.
        order = np.flatnonzero(is_leaf)[np.argsort(-port[is_leaf], kind="stable")]
        places[one[order]] = guids[other[order]]
    return _Nodes(devices, kinds, tiers, places)


def tiers_of(is_host: Mask, is_switch: Mask, a: npt.NDArray[np.intp], b: npt.NDArray[np.intp]) -> Integers:
    """Tiers of devices: 0 of hosts, 1 of switches next to them, one more with each step away; UNKNOWN where no host is reached.

    Args:
        is_host: which devices are hosts.
        is_switch: which are switches; all others, such as SHARP's, are passed over.
        a: for each link the number of one device.
        b: and of the other.
    """
    tier = np.full(len(is_host), UNKNOWN, np.int64)
    tier[is_host] = 0
    is_leaf = np.zeros(len(is_host), np.bool_)
    is_leaf[a[is_host[b]]] = is_leaf[b[is_host[a]]] = True
    tier[is_leaf & is_switch] = 1
    between = is_switch[a] & is_switch[b]
    one = np.concatenate([a[between], b[between]])
    order = np.argsort(one, kind="stable")
    other = np.concatenate([b[between], a[between]])[order].tolist()
    begin = np.searchsorted(one[order], np.arange(len(is_host) + 1)).tolist()
    distance = tier.tolist()
    left = deque(np.flatnonzero(tier == 1).tolist())
    while left:
        device = left.popleft()
        for neighbour in other[begin[device] : begin[device + 1]]:
            if distance[neighbour] == UNKNOWN:
                distance[neighbour] = distance[device] + 1
                left.append(neighbour)
    return np.array(distance, np.int64)


def _known(values: Any, is_known: Any) -> Any:  # noqa: ANN401
    return pa.array(values, pa.int64(), mask=~np.asarray(is_known, np.bool_))


def _node_rows(nodes: _Nodes, moment: pa.Scalar) -> pa.Table:
    devices = nodes.devices
    numbers = {name: np.array([getattr(device, name) for device in devices], np.int64) for name in ("lid", "lmc", "port_count")}
    texts = [description_of(device.description) for device in devices]
    hosts = [host_of(text) if kind == HOST else None for text, kind in zip(texts, nodes.kinds.tolist(), strict=True)]
    columns = {
        "sampled_at": pa.repeat(moment, len(devices)),
        "guid": pa.array([guid_text(device.guid) for device in devices], pa.string()),
        "node_kind": pa.DictionaryArray.from_arrays(pa.array(nodes.kinds.astype(np.int32)), pa.array(_KINDS)),
        "description": pa.array([text or None for text in texts], pa.string()),
        "host": pa.array(hosts, pa.string()),
        "lid": _known(numbers["lid"], _is_lid(numbers["lid"])),
        "lmc": _known(numbers["lmc"], (numbers["lmc"] >= 0) & (numbers["lmc"] <= _MOST_LMC)),
        "port_count": _known(numbers["port_count"], numbers["port_count"] >= 0),
        "chassis_guid": guid_texts(np.array([device.chassis for device in devices], np.uint64)),
        "tier": _known(nodes.tiers, nodes.tiers != UNKNOWN),
        "place": guid_texts(nodes.places),
    }
    return rows(NODE, len(devices), columns)


def _is_lid(lids: Integers) -> Mask:
    return (lids > 0) & (lids <= _LAST_LID)


def _link_rows(links: Ends, moment: pa.Scalar) -> pa.Table:
    is_width = np.isin(links.lanes, _LANES)
    capacity = np.where(is_width, links.lanes, np.nan) * _RATES[links.speed]
    guids, ports = guid_texts(links.guid), links.port.astype(str)
    columns = {
        "sampled_at": pa.repeat(moment, len(links)),
        "link_id": pa.array(np.char.add(np.char.add(np.asarray(guids.to_pylist(), str), "/"), ports).tolist(), pa.string()),
        "guid": guids,
        "port": links.port,
        "peer_guid": guid_texts(links.peer_guid),
        "peer_port": links.peer_port,
        "lanes": _known(links.lanes, is_width),
        "speed": pa.DictionaryArray.from_arrays(
            pa.array(links.speed.astype(np.int32), mask=links.speed == UNKNOWN), pa.array(SPEEDS)
        ),
        "capacity_bytes_per_second": capacity,
        "is_up": pa.array(links.is_up),
        "lid": _known(links.lid, _is_lid(links.lid)),
        "peer_lid": _known(links.peer_lid, _is_lid(links.peer_lid)),
        "port_guid": guid_texts(links.port_guid),
        "peer_port_guid": guid_texts(links.peer_port_guid),
    }
    return rows(LINK, len(links), columns)
