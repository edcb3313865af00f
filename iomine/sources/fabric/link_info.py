"""`iblinkinfo`: a line for each port below a heading for each device, or with `-l` the device before every line.

    Switch: 0x0008f105001086a2 Voltaire 4036 # 4036-86A2:
          11    1[  ] ==( 4X          10.0 Gbps Active/  LinkUp)==>       8    6[  ] "leaf4" (Could be 12X )
    CA: node1 HCA-1:
      0x78e7d1030022cae5     48    1[  ] ==( 4X          10.0 Gbps Active/  LinkUp)==>      18   36[  ] "leaf2" (Could be 12X )

    0x0008f105001086a2 "leaf1"     11    1[  ] ==( ... )==>  0x0008f10500108530      8    6[  ] "leaf4" (Could be 12X )

Without `-l` the other end is named by its LID alone, and an adapter by the guid of its port.
"""

import re
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import UnreadableError
from iomine.sources.fabric.columns import adapters_only, guids, integers, is_given, listed, port_counts, speeds
from iomine.sources.fabric.graph import HOST, ROUTER, SWITCH, UNKNOWN, Ends, Integers, Mask, tables_of
from iomine.sources.fabric.guids import Guids
from iomine.sources.fabric.moments import moment_of
from iomine.sources.fabric.text import readable, strange_count
from iomine.sources.lustre.doubts import doubt
from iomine.sources.lustre.lines import last_before
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import joined

_HEAD_BYTES: Final = 1 << 16
# Where ibqueryerrors lists links beside counters, it says so before each.
_SHAPE: Final = re.compile(rb"^(?!\s*Link info:)[^\n]*?\d+ +\d+\[[^\]\n]*\] ==\([^\n]*\)==>", re.MULTILINE)
_HEADING: Final = r"^(?P<kind>Switch|CA|Router|RT)(?:: 0x(?P<guid>[0-9a-fA-F]{1,16}) |: )(?P<description>.*):\s*$"
_LINE: Final = (
    r'^\s*(?:0x(?P<guid>[0-9a-fA-F]{1,16})\s+)?(?:"(?P<description>.*)"\s+)?(?P<lid>\d+)\s+(?P<port>\d+)\[[^\]]*\]'
    r"\s+==\((?:\s*(?P<lanes>\d+)X)?(?:\s+(?P<speed>[0-9.]+|[A-Z]+[0-9]*) Gbps)?(?:\s*\(?(?P<other>FDR10)\)?)?"
    r"\s*(?P<state>\w+)\s*/[^()]*\)==>\s+(?:0x(?P<peer_guid>[0-9a-fA-F]{1,16})\s+)?(?:(?P<peer_lid>\d+)\s+(?P<peer_port>\d+))?"
    r'\s*\[[^\]]*\]\s+"(?P<peer_description>.*)"\s*\([^"]*\)\s*$'
)
_KINDS: Final = {b"Switch": SWITCH, b"CA": HOST, b"Router": ROUTER, b"RT": ROUTER}
# With -l nothing says what a device is; no adapter has as many ports, and no switch as few.
_LEAST_SWITCH_PORTS: Final = 3


def _knows(source: Input) -> bool:
    return bool(_SHAPE.search(source.data[:_HEAD_BYTES]))


def _read(source: Input) -> Readings:
    text, cut = readable(source.data)
    headings = text.find(b"SCR", _HEADING)
    lines = text.find(b' \t"0123456789', _LINE)
    text.skip(b" \t\r\n#", r"^\s*$|^#")
    if not len(lines.at):
        raise UnreadableError("it has no port")
    words = lines.words
    block = last_before(lines.at, headings.at, np.zeros(len(text), np.int32))
    guid = guids(words["guid"])
    own = words["description"]
    kinds = np.where(port_counts(guid, integers(words["port"])) >= _LEAST_SWITCH_PORTS, SWITCH, HOST)
    if len(headings.at):
        named = np.append(guids(headings.words["guid"]), np.uint64(0))
        guid = np.where((guid == 0) & (block >= 0), named[block], guid)
        of_block = pa.array(np.where(block >= 0, block, 0), mask=block < 0)
        own = pc.if_else(is_given(own), own, headings.words["description"].take(of_block))
        of_kind = np.array([*(_KINDS[kind] for kind in headings.words["kind"].to_pylist()), HOST], np.int64)
        kinds = np.where(block >= 0, of_kind[block], kinds)
    speed, strange = speeds(pc.if_else(is_given(words["other"]), words["other"], words["speed"]))
    lid, port = integers(words["lid"]), integers(words["port"])
    peer_lid, peer_port = integers(words["peer_lid"]), integers(words["peer_port"])
    is_linked = peer_port != UNKNOWN
    peer_guid = guids(words["peer_guid"])
    is_bare = is_linked & (peer_guid == 0)
    peer_guid[is_bare] = _resolved(guid, (lid, port, peer_lid, peer_port), is_bare)
    kind_of = dict(zip(guid.tolist(), kinds.tolist(), strict=True))
    peer_kinds = np.array([kind_of.get(each, HOST) for each in peer_guid.tolist()], np.int64)
    ends = Ends(
        guid=guid,
        port=port,
        peer_guid=peer_guid,
        peer_port=peer_port,
        lanes=integers(words["lanes"]),
        speed=speed,
        is_up=np.asarray(pc.equal(words["state"], pa.scalar(b"Active", words["state"].type))),
        port_guid=adapters_only(guid, kinds),
        peer_port_guid=adapters_only(peer_guid, peer_kinds),
        lid=lid,
        peer_lid=peer_lid,
    )
    ports = np.where(kinds == SWITCH, port_counts(guid, port), UNKNOWN)
    devices = listed(guid, kinds, _stripped(own), lid, np.full(len(guid), UNKNOWN), ports)
    is_peer = is_linked & (peer_guid != 0)
    devices += listed(
        peer_guid[is_peer], peer_kinds[is_peer], _stripped(words["peer_description"].filter(is_peer)), peer_lid[is_peer]
    )
    moment = moment_of(source)
    tables, contradictions = tables_of(devices, ends.take(is_peer & (guid != 0)), moment.at)
    doubts = {
        "lines left out, which are not as iblinkinfo writes them": strange_count(text),
        "lines left out, of links of which an end is not known by its LID": int(
            np.count_nonzero(is_linked & ((peer_guid == 0) | (guid == 0)))
        ),
        "ports of a speed that is not known": strange,
    }
    return Readings(tables, joined(doubt(doubts), contradictions, cut, moment.doubt), has_moment=moment.is_said)


def _resolved(guid: Guids, ends: tuple[Integers, ...], is_bare: Mask) -> Guids:
    """Guids of the other ends of some lines: of the device whose line names this end in turn; 0 where none or several do."""
    lid, port, peer_lid, peer_port = (each.tolist() for each in ends)
    by_ends: dict[tuple[int, ...], set[int]] = {}
    for number, device in enumerate(guid.tolist()):
        by_ends.setdefault((lid[number], port[number], peer_lid[number], peer_port[number]), set()).add(device)
    found = []
    for number in np.flatnonzero(is_bare).tolist():
        there = by_ends.get((peer_lid[number], peer_port[number], lid[number], port[number]), set())
        found.append(next(iter(there)) if len(there) == 1 else 0)
    return np.array(found, np.uint64)


def _stripped(descriptions: Any) -> Any:  # noqa: ANN401
    """Descriptions without the blanks that fill their column, so that those of one device are equal."""
    encoded = descriptions.dictionary_encode()
    texts = pa.array([text and text.strip() for text in encoded.dictionary.to_pylist()], encoded.dictionary.type)
    return texts.take(encoded.indices)


LINK_INFO: Final = Source("iblinkinfo", _knows, _read)
