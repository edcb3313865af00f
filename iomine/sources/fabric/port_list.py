"""`ibnetdiscover -p`: a line for each port, the right half only where it is linked; adapters by the guid of their port.

CA    48  1 0x78e7d1030022cae5 4x QDR - SW    18 36 0x0002c90200417670 ( 'node1 HCA-1' - 'leaf1' )
SW  2052 37 0x506b4b03005c2740 4x ???                                    'leaf2'
"""

import re
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from iomine.errors import UnreadableError
from iomine.sources.fabric.columns import adapters_only, guids, integers, is_given, listed, port_counts, speeds
from iomine.sources.fabric.graph import HOST, ROUTER, SWITCH, UNKNOWN, Ends, Integers, tables_of
from iomine.sources.fabric.moments import moment_of
from iomine.sources.fabric.text import readable, strange_count
from iomine.sources.lustre.doubts import doubt
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import joined

_HEAD_BYTES: Final = 1 << 16
_SHAPE: Final = re.compile(rb"^(?:CA|SW|RT) +\d+ +\d+ 0x[0-9a-f]{16} +(?:\d+x|\?\?\?)[ \t]", re.MULTILINE)
_END: Final = r"(?P<{0}kind>CA|SW|RT) +(?P<{0}lid>\d+) +(?P<{0}port>\d+) 0x(?P<{0}guid>[0-9a-fA-F]{{16}})"
_LINE: Final = (
    rf"^{_END.format('')} +(?:(?P<lanes>\d+)x|\?\?\?) +(?P<speed>\S+)(?: +- +{_END.format('peer_')} +"
    # A port that is down has the description alone, on newer versions in quotes.
    r"\( '(?P<description>.*)' - '(?P<peer_description>.*)' \)| +'?(?P<alone>.*?)'?)\s*$"
)
_KINDS: Final = {b"SW": SWITCH, b"CA": HOST, b"RT": ROUTER}


def _knows(source: Input) -> bool:
    return bool(_SHAPE.search(source.data[:_HEAD_BYTES]))


def _read(source: Input) -> Readings:
    text, cut = readable(source.data)
    lines = text.find(b"CSR", _LINE)
    text.skip(b" \t\r\n#", r"^\s*$|^#")
    if not len(lines.at):
        raise UnreadableError("it has no port")
    words = lines.words
    is_linked = is_given(words["peer_guid"])
    speed, strange = speeds(words["speed"])
    guid, peer_guid = guids(words["guid"]), guids(words["peer_guid"])
    kinds, peer_kinds = _kinds(words["kind"]), _kinds(words["peer_kind"])
    ends = Ends(
        guid=guid,
        port=integers(words["port"]),
        peer_guid=peer_guid,
        peer_port=integers(words["peer_port"]),
        lanes=integers(words["lanes"]),
        speed=speed,
        is_up=np.ones(len(guid), np.bool_),
        port_guid=adapters_only(guid, kinds),
        peer_port_guid=adapters_only(peer_guid, peer_kinds),
        lid=integers(words["lid"]),
        peer_lid=integers(words["peer_lid"]),
    )
    # How many ports an adapter has is not said by its ports that have other guids.
    ports = np.where(kinds == SWITCH, port_counts(guid, ends.port), UNKNOWN)
    own = pc.if_else(is_linked, words["description"], words["alone"])
    devices = listed(guid, kinds, own, ends.lid, np.full(len(guid), UNKNOWN), ports)
    devices += listed(peer_guid, peer_kinds, words["peer_description"], ends.peer_lid)
    moment = moment_of(source)
    tables, contradictions = tables_of(devices, ends.take(is_linked), moment.at)
    doubts = {
        "lines left out, which are not as ibnetdiscover -p writes them": strange_count(text),
        "ports of a speed that is not known": strange,
    }
    return Readings(tables, joined(doubt(doubts), contradictions, cut, moment.doubt), has_moment=moment.is_said)


def _kinds(words: Any) -> Integers:  # noqa: ANN401
    return np.array([_KINDS.get(kind, HOST) for kind in words.to_pylist()], np.int64)


PORT_LIST: Final = Source("ibnetdiscover_p", _knows, _read)
