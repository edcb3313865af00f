"""`.lst` of OpenSM and ibdiagnet: a line for each link, with both ends; numbers in hexadecimal except the speed.

{ CA Ports:01 SystemGUID:.. NodeGUID:.. PortGUID:.. ... {node1} LID:00b5 PN:01 } { SW ... } PHY=4x LOG=ACT SPD=5
"""

import re
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import UnreadableError
from iomine.sources.fabric.columns import adapters_only, guids, integers, listed, speeds
from iomine.sources.fabric.graph import HOST, ROUTER, SWITCH, UNKNOWN, Ends, Integers, tables_of
from iomine.sources.fabric.moments import moment_of
from iomine.sources.fabric.text import readable, strange_count
from iomine.sources.lustre.doubts import doubt
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import joined

_HEAD_BYTES: Final = 1 << 16
_SHAPE: Final = re.compile(rb"^\{ (?:CA|SW|RT)[\w-]{0,8} Ports:[0-9a-fA-F]{1,2} SystemGUID:", re.MULTILINE)
_HEX: Final = "[0-9a-fA-F]"
_END: Final = (
    rf"\{{ (?P<@kind>CA|SW|RT)[\w-]* Ports:(?P<@ports>{_HEX}+) SystemGUID:(?P<@chassis>{_HEX}{{1,16}})"
    rf" NodeGUID:(?P<@guid>{_HEX}{{1,16}}) PortGUID:(?P<@port_guid>{_HEX}{{1,16}})"
    rf" VenID:\S* DevID:\S* Rev:\S* \{{(?P<@description>.*)\}} LID:(?P<@lid>{_HEX}+) PN:(?P<@port>{_HEX}+) \}}"
)
_LINE: Final = (
    f"^{_END.replace('@', '')} {_END.replace('@', 'peer_')} "
    r"PHY=(?:(?P<lanes>\d+)x|\S*) LOG=(?P<state>\w+) SPD=(?P<speed>\S*)\s*$"
)
_KINDS: Final = {b"SW": SWITCH, b"CA": HOST, b"RT": ROUTER}


def _knows(source: Input) -> bool:
    return bool(_SHAPE.search(source.data[:_HEAD_BYTES]))


def _read(source: Input) -> Readings:
    text, cut = readable(source.data)
    lines = text.find(b"{", _LINE)
    text.skip(b" \t\r\n#", r"^\s*$|^#")
    if not len(lines.at):
        raise UnreadableError("it has no link")
    words = lines.words
    speed, strange = speeds(words["speed"])
    kinds, peer_kinds = _kinds(words["kind"]), _kinds(words["peer_kind"])
    ends = Ends(
        guid=guids(words["guid"]),
        port=integers(words["port"], 16),
        peer_guid=guids(words["peer_guid"]),
        peer_port=integers(words["peer_port"], 16),
        lanes=integers(words["lanes"]),
        speed=speed,
        is_up=np.asarray(pc.equal(words["state"], pa.scalar(b"ACT", words["state"].type))),
        port_guid=adapters_only(guids(words["port_guid"]), kinds),
        peer_port_guid=adapters_only(guids(words["peer_port_guid"]), peer_kinds),
        lid=integers(words["lid"], 16),
        peer_lid=integers(words["peer_lid"], 16),
    )
    devices = [
        device
        for prefix, guid, of_end, lid, port in (
            ("", ends.guid, kinds, ends.lid, ends.port),
            ("peer_", ends.peer_guid, peer_kinds, ends.peer_lid, ends.peer_port),
        )
        # A port other than the first has another LID.
        for device in listed(
            *(guid, of_end, words[f"{prefix}description"], np.where((of_end == SWITCH) | (port <= 1), lid, UNKNOWN)),
            *(np.full(len(guid), UNKNOWN), integers(words[f"{prefix}ports"], 16), guids(words[f"{prefix}chassis"])),
        )
    ]
    moment = moment_of(source)
    tables, contradictions = tables_of(devices, ends, moment.at, is_twice=False)
    doubts = {
        "lines left out, which are not as OpenSM and ibdiagnet write them": strange_count(text),
        "links of a speed that is not known": strange,
    }
    return Readings(tables, joined(doubt(doubts), contradictions, cut, moment.doubt), has_moment=moment.is_said)


def _kinds(words: Any) -> Integers:  # noqa: ANN401
    return np.array([_KINDS[kind] for kind in words.to_pylist()], np.int64)


SUBNET_LIST: Final = Source("subnet_lst", _knows, _read)
