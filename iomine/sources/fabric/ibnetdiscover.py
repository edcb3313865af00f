"""`ibnetdiscover`, and ibdiagnet's dialect of it: a block for each device, with a line for each of its links.

    sysimgguid=0xb8cffff002346
    switchguid=0xb8cffff002347(b8cffff002347)
    Switch  36 "S-000b8cffff002347"   # "MF0;name:MSB7800/U1" enhanced port 0 lid 1 lmc 0
    [17]    "H-0002c90300001c5c"[1](2c90300001c5d)   # "node018 HCA-1" lid 67 4xEDR

    Ca      1 "H-0002c90300001c5c"    # "node018 HCA-1"
    [1](2c90300001c5d)  "S-000b8cffff002347"[17]     # lid 67 lmc 0 "switch" lid 1 4xEDR

ibdiagnet writes the label of a cage into parentheses after the number of a port, where an adapter has its port's guid.
"""

import re
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from iomine.errors import UnreadableError
from iomine.sources.fabric.columns import guids, integers, speeds
from iomine.sources.fabric.graph import HOST, ROUTER, SWITCH, UNKNOWN, Device, Ends, tables_of
from iomine.sources.fabric.guids import Guids
from iomine.sources.fabric.moments import moment_of
from iomine.sources.fabric.text import readable, strange_count
from iomine.sources.lustre.doubts import doubt
from iomine.sources.lustre.lines import Found, last_before
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import joined

_HEAD_BYTES: Final = 1 << 16
_SHAPE: Final = re.compile(
    rb'^(?:\xef\xbb\xbf)?(?:# Topology file: generated on |(?:Switch|Ca|Rt)[ \t]+\d{1,3}[ \t]+"[SHR]-[0-9a-fA-F])', re.MULTILINE
)
_DEVICE: Final = (
    r'^(?:Switch|Ca|Rt)\s+(?P<ports>\d+)\s+"(?P<kind>[SHR])-(?P<guid>[0-9a-fA-F]{1,16})"\s*#\s*"(?P<description>.*)"'
    r"(?:\s+(?:base|enhanced) port 0 lid (?P<lid>\d+) lmc (?P<lmc>\d+))?[^\"]*$"
)
_CHASSIS: Final = r"^sysimgguid=0x(?P<guid>[0-9a-fA-F]{1,16})\s*$"
_LABELS: Final = r"(?:\[ext \d+\])?(?:\([^()]{0,64}\)){0,2}"
_LINK: Final = (
    rf"^\[(?P<port>\d+)\](?P<own>{_LABELS})\s*"
    rf'"(?P<kind>[SHR])-(?P<peer>[0-9a-fA-F]{{1,16}})"\[(?P<peer_port>\d+)\](?P<other>{_LABELS})\s*#\s*'
    r'(?:lid (?P<lid>\d+) lmc (?P<lmc>\d+) )?"(?P<description>.*)" lid (?P<peer_lid>\d+)'
    r"(?:\s+(?:(?P<lanes>\d+)x)?(?P<speed>[A-Z0-9?][A-Z0-9?.]*))?[^\"]*$"
)
_PORT_GUID: Final = r"\((?P<guid>[0-9a-fA-F]{1,16})\)$"
# Lines that say nothing that is kept.
_BETWEEN: Final = r"^\s*$|^#|^(vendid|devid|switchguid|caguid|rtguid|sysimgguid)=|^Non-Chassis Nodes|^Chassis \d|^DR path"
_KINDS: Final = {b"S": SWITCH, b"H": HOST, b"R": ROUTER}


def _knows(source: Input) -> bool:
    return bool(_SHAPE.search(source.data[:_HEAD_BYTES]))


def _read(source: Input) -> Readings:
    text, cut = readable(source.data)
    part = np.zeros(len(text), np.int32)
    chassis = text.find(b"s", _CHASSIS)
    devices = text.find(b"SCR", _DEVICE)
    links = text.find(b"[", _LINK)
    text.skip(b" \t\r\n#vdscrNCD", _BETWEEN)
    owner = last_before(links.at, devices.at, part)
    # A link before the first device is nobody's.
    text.is_known[links.at[owner < 0]] = False
    links, owner = links.where(owner >= 0), owner[owner >= 0]
    found = _devices(devices, chassis)
    if not found:
        raise UnreadableError("it has no switch and no adapter")
    kinds = np.array([device.kind for device in found], np.int64)
    speed, strange = speeds(links.words["speed"])
    is_switch = kinds[owner] == SWITCH
    is_peer_switch = np.array([kind == b"S" for kind in links.words["kind"].to_pylist()], np.bool_)
    lid = integers(links.words["lid"])
    of_owner = np.array([device.lid for device in found], np.int64)[owner]
    ends = Ends(
        guid=np.array([device.guid for device in found], np.uint64)[owner],
        port=integers(links.words["port"]),
        peer_guid=guids(links.words["peer"]),
        peer_port=integers(links.words["peer_port"]),
        lanes=integers(links.words["lanes"]),
        speed=speed,
        is_up=np.ones(len(owner), np.bool_),
        port_guid=_port_guids(links.words["own"], is_switch),
        peer_port_guid=_port_guids(links.words["other"], is_peer_switch),
        lid=np.where(lid == UNKNOWN, of_owner, lid),
        peer_lid=integers(links.words["peer_lid"]),
    )
    moment = moment_of(source)
    tables, contradictions = tables_of([*_addressed(found, links, owner, ends), *_peers(links, ends)], ends, moment.at)
    doubts = {
        "lines left out, which are not as ibnetdiscover writes them": strange_count(text),
        "links of a speed that is not known": strange,
    }
    return Readings(tables, joined(doubt(doubts), contradictions, cut, moment.doubt), has_moment=moment.is_said)


def _devices(lines: Found, chassis: Found) -> list[Device]:
    words = lines.words
    last = np.searchsorted(chassis.at, lines.at) - 1
    before = np.concatenate([[-1], lines.at[:-1]])
    # Of the block of the device before, or of nobody.
    is_own = (last >= 0) & (chassis.at[last] > before) if len(chassis.at) else np.zeros(len(lines.at), np.bool_)
    of_chassis = (
        np.where(is_own, guids(chassis.words["guid"])[last], 0) if len(chassis.at) else np.zeros(len(lines.at), np.uint64)
    )
    found = zip(
        guids(words["guid"]).tolist(),
        (_KINDS[kind] for kind in words["kind"].to_pylist()),
        words["description"].to_pylist(),
        *(integers(words[name]).tolist() for name in ("lid", "lmc", "ports")),
        of_chassis.tolist(),
        strict=True,
    )
    return [Device(*each) for each in found]


def _addressed(found: list[Device], links: Found, owner: Any, ends: Ends) -> list[Device]:  # noqa: ANN401
    """The devices, adapters with the LID of the first port that has one."""
    lmc = integers(links.words["lmc"])
    is_said = np.flatnonzero((lmc != UNKNOWN) & (ends.lid != UNKNOWN))
    order = is_said[np.lexsort((ends.port[is_said], owner[is_said]))]
    owners, first = np.unique(owner[order], return_index=True)
    address = dict(
        zip(owners.tolist(), zip(ends.lid[order][first].tolist(), lmc[order][first].tolist(), strict=True), strict=True)
    )
    return [
        device._replace(lid=address[number][0], lmc=address[number][1]) if device.lid == UNKNOWN and number in address else device
        for number, device in enumerate(found)
        if device.guid
    ]


def _peers(links: Found, ends: Ends) -> list[Device]:
    """What is said of devices by their neighbours, each once."""
    _, first = np.unique(ends.peer_guid, return_index=True)
    words, at = links.words, first.tolist()
    return [
        Device(
            int(ends.peer_guid[row]),
            _KINDS[words["kind"][row].as_py()],
            words["description"][row].as_py(),
            int(ends.peer_lid[row]),
        )
        for row in at
        if ends.peer_guid[row]
    ]


def _port_guids(labels: Any, is_switch: Any) -> Guids:  # noqa: ANN401
    """Guids of ports; what stands there for a switch is the label of a cage."""
    return np.where(is_switch, np.uint64(0), guids(pc.extract_regex(labels, _PORT_GUID).field("guid")))


IBNETDISCOVER: Final = Source("ibnetdiscover", _knows, _read)
