"""Counters of ports: `perfquery`, with `-x` or without, of one port or many, and ibdiagnet's `ibdiagnet2.pm`.

    # Port extended counters: Lid 2052 port 1 (CapMask: 0x5300 CapMask2: 0x0000002)
    PortXmitData:....................178791657177235

    Port=1 Lid=0x00b4 GUID=0xb0cf0e0300d33fc0 Device=54002 Port Name=leaf1/U1/P1
    port_xmit_data=0xffffffff
    port_xmit_data_extended=0x00000045a9712343

Data are counted in words of 4 bytes. Counters of 64 bits are taken where there are any; those of 8 to 32 bits stop at their
maximum, which says nothing but that they are full.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self

import numpy as np
import pyarrow as pa

from iomine.errors import UnreadableError
from iomine.sources.fabric.bulk import Bytes, Integers, Lines, Mask, Words, pieces
from iomine.sources.fabric.guids import guid_in_path, guid_texts
from iomine.sources.fabric.moments import moment_of
from iomine.sources.lustre.doubts import doubt
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import complete_lines, joined
from iomine.sources.series.rows import rows

TABLE: Final = "port_reading"
_HEAD_BYTES: Final = 1 << 16
_WORD_BYTES: Final = 4
_MOST_PORTS: Final = 1_000_000
_LAST_PORT: Final = 254
_LAST_LID: Final = 0xFFFF
_TIME: Final = pa.timestamp("us", tz="UTC")
# The longest name of a counter, with what ends it, in whole words of 8 bytes.
_NAME_BYTES: Final = 40
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
# What of the words of a name is the name, by its length.
_MASKS: Final = np.tril(np.full((_NAME_BYTES + 1, _NAME_BYTES), 255, np.uint8), -1).view(np.uint64)
_DECIMAL, _HEX = 10, 16
_MOST_DIGITS: Final = {_DECIMAL: 20, _HEX: 16}
_SIGNED: Final = 2**63 - 1
_8, _16, _32, _64 = (2**bits - 1 for bits in (8, 16, 32, 64))

# For each column its counters, the one to take first, with where each stops.
_DATA: Final = ("xmit_bytes", "rcv_bytes")
_PERFQUERY: Final = {
    "xmit_bytes": {"PortXmitData": _64, "XmtData": _32},
    "rcv_bytes": {"PortRcvData": _64, "RcvData": _32},
    "xmit_packet_count": {"PortXmitPkts": _64, "XmtPkts": _32},
    "rcv_packet_count": {"PortRcvPkts": _64, "RcvPkts": _32},
    "unicast_xmit_packet_count": {"PortUnicastXmitPkts": _64},
    "unicast_rcv_packet_count": {"PortUnicastRcvPkts": _64},
    "multicast_xmit_packet_count": {"PortMulticastXmitPkts": _64},
    "multicast_rcv_packet_count": {"PortMulticastRcvPkts": _64},
    "xmit_wait_ticks": {"PortXmitWait": _64, "XmtWait": _32},
    "symbol_error_count": {"SymbolErrorCounter": _64, "SymbolErrors": _16},
    "link_recovery_count": {"LinkErrorRecoveryCounter": _64, "LinkRecovers": _8},
    "link_downed_count": {"LinkDownedCounter": _64, "LinkDowned": _8},
    "rcv_error_count": {"PortRcvErrors": _64, "RcvErrors": _16},
    "xmit_discard_count": {"PortXmitDiscards": _64, "XmtDiscards": _16},
    "vl15_dropped_count": {"VL15Dropped": _64},
}
# Without -x the same names stand for short counters.
_SHORT: Final = dict(zip(_PERFQUERY, (_32, _32, _32, _32, _64, _64, _64, _64, _32, _16, _8, _8, _16, _16, _16), strict=True))
_IBDIAGNET: Final = {
    "xmit_bytes": {"port_xmit_data_extended": _64, "port_xmit_data": _32},
    "rcv_bytes": {"port_rcv_data_extended": _64, "port_rcv_data": _32},
    "xmit_packet_count": {"port_xmit_pkts_extended": _64, "port_xmit_pkts": _32},
    "rcv_packet_count": {"port_rcv_pkts_extended": _64, "port_rcv_pkts": _32},
    "unicast_xmit_packet_count": {"port_unicast_xmit_pkts": _64},
    "unicast_rcv_packet_count": {"port_unicast_rcv_pkts": _64},
    "multicast_xmit_packet_count": {"port_multicast_xmit_pkts": _64},
    "multicast_rcv_packet_count": {"port_multicast_rcv_pkts": _64},
    "xmit_wait_ticks": {"port_xmit_wait_extended": _64, "port_xmit_wait": _32},
    "symbol_error_count": {"symbol_error_counter_extended": _64, "symbol_error_counter": _16},
    "link_recovery_count": {"link_error_recovery_counter_extended": _64, "link_error_recovery_counter": _8},
    "link_downed_count": {"link_downed_counter_extended": _64, "link_down_counter": _8},
    "rcv_error_count": {"port_rcv_errors_extended": _64, "port_rcv_errors": _16},
    "xmit_discard_count": {"port_xmit_discards_extended": _64, "port_xmit_discard": _16},
    "vl15_dropped_count": {"vl15_dropped_extended": _64, "vl15_dropped": _16},
}
_COLUMNS: Final = (*_PERFQUERY,)
_UNKNOWN, _KNOWN, _FULL = range(3)


class _Heading(NamedTuple):
    """The first line of a port.

    Attributes:
        begins: with what it begins.
        shape: what it is; groups `port`, `lid`, and where there are such `guid`, `kind` and, without a LID, `route`.
        base: of its numbers, except the guid.
    """

    begins: bytes
    shape: re.Pattern[bytes]
    base: int


class _Dialect:
    """How a tool prints counters.

    Args:
        heading: the first line of a port.
        end: what ends a counter's name.
        base: of the counters' numbers.
        counters: names by column, each with where the counter stops.
    """

    def __init__(self, heading: _Heading, end: bytes, base: int, counters: dict[str, dict[str, int]]) -> None:
        self.heading = heading
        self.base = base
        self.digits = _MOST_DIGITS[base]
        self._end = end[0]
        named = [(name, column, place) for column, of_one in enumerate(counters.values()) for place, name in enumerate(of_one)]
        # Names as words of 8 bytes, ordered, so that a line's name is looked up as a number and then compared.
        words = np.stack([np.frombuffer(name.encode().ljust(_NAME_BYTES, b"\0"), np.uint64) for name, *_ in named])
        order = np.argsort(_hashed(words))
        self._names, self._hashes = words[order], _hashed(words)[order]
        self.columns = np.array([named[each][1] for each in order])
        self.places = np.array([named[each][2] for each in order])
        self.most = np.full((2, len(_COLUMNS)), _64, np.uint64)
        for name, column, place in named:
            self.most[place, column] = counters[_COLUMNS[column]][name]
        self.first_bytes = np.zeros(256, np.bool_)
        self.first_bytes[[ord(name[0]) for name, *_ in named]] = True

    def found(self, lines: Lines) -> tuple[Integers, Integers, Integers]:
        """Lines of counters: their numbers, the counter of each, and where its value begins at the earliest."""
        at = np.flatnonzero(self.first_bytes[lines.first()] & lines.longer(2))
        ends = np.append(np.flatnonzero(lines.raw == self._end), len(lines.raw))
        end = ends[np.searchsorted(ends, lines.begins[at])]
        length = end - lines.begins[at]
        is_short = (end < lines.ends[at]) & (length < _NAME_BYTES)
        at, end, length = at[is_short], end[is_short], length[is_short]
        names = lines.heads(at, _NAME_BYTES).view(np.uint64) & _MASKS[length]
        hashes = _hashed(names)
        counter = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        is_named = (self._names[counter] == names).all(axis=1)
        return at[is_named], counter[is_named], end[is_named] + 1


def _hashed(words: Words) -> Words:
    """One number for each name, seldom that of another."""
    total = words[:, 0].copy()
    for place in range(1, words.shape[1]):
        total = total * _FACTOR + words[:, place]
    return total


class _Values(NamedTuple):
    """Numbers of counters, by place in the order of preference, column and port; no digits where there is none.

    Attributes:
        number: the numbers.
        digits: how many digits each has.
    """

    number: Words
    digits: Bytes

    @classmethod
    def none(cls, ports: int) -> Self:
        """Nothing of so many ports."""
        shape = (2, len(_COLUMNS), ports)
        return cls(np.zeros(shape, np.uint64), np.zeros(shape, np.uint8))


@dataclass(slots=True)
class _Ports:
    """Ports as they are gathered, and their counters.

    Attributes:
        lid: LID of each port; a number below zero where only a route to its device is said.
        routes: that number by route.
        port: its number.
        guid: its guid, 0 where it is not said.
        is_short: whether its counters are the short ones.
        values: its counters, in pieces.
    """

    lid: list[int] = field(default_factory=list)
    routes: dict[bytes, int] = field(default_factory=dict)
    port: list[int] = field(default_factory=list)
    guid: list[int] = field(default_factory=list)
    is_short: list[bool] = field(default_factory=list)
    values: list[_Values] = field(default_factory=list)

    def take(self, lines: Lines, dialect: "_Dialect") -> None:
        """Adds a piece of the text.

        Raises:
            UnreadableError: there are more ports than memory is for.
        """
        before = len(self.lid)
        heads = self._take_headings(lines, dialect.heading)
        # The first port here is the last of the piece before, whose counters may go on.
        first = max(before - 1, 0)
        of_piece = _Values.none(len(self.lid) - first)
        at, counter, least = dialect.found(lines)
        owner = np.searchsorted(heads, at) - 1 + before - first
        is_owned = owner >= 0
        owner, counter = owner[is_owned], counter[is_owned]
        number, digits = lines.last(at[is_owned], least[is_owned], dialect.base, dialect.digits)
        place, column = dialect.places[counter], dialect.columns[counter]
        of_piece.number[place, column, owner], of_piece.digits[place, column, owner] = number, digits
        if before:
            last, more = self.values[-1], of_piece.digits[..., 0] > 0
            last.number[..., -1][more], last.digits[..., -1][more] = of_piece.number[..., 0][more], of_piece.digits[..., 0][more]
            of_piece = _Values(of_piece.number[..., 1:], of_piece.digits[..., 1:])
        if of_piece.number.shape[-1]:
            self.values.append(of_piece)

    def _take_headings(self, lines: Lines, heading: _Heading) -> Integers:
        text, found = lines.raw.tobytes(), []
        candidates = lines.beginning(heading.begins)
        if len(self.lid) + len(candidates) > _MOST_PORTS:
            raise UnreadableError(f"it has more than {_MOST_PORTS:,} ports, the limit for one file")
        for line, begin in zip(candidates.tolist(), lines.begins[candidates].tolist(), strict=True):
            if match := heading.shape.match(text, begin):
                found.append(line)
                lid, route = match["lid"], match["route"]
                self.lid.append(int(lid, heading.base) if lid else self.routes.setdefault(route, -1 - len(self.routes)))
                self.port.append(int(match["port"]))
                self.guid.append(int(match["guid"] or b"0", 16))
                self.is_short.append(not match["kind"])
        return np.array(found, np.int64)


_HEAD_PERFQUERY: Final = _Heading(
    b"# Port ",
    re.compile(
        rb"# Port (?P<kind>extended )?counters: "
        rb"(?:Lid (?P<lid>\d{1,9})(?: (?:Gid|DR)\b[^(\n]{1,1000}?)?|(?P<route>DR path [^(\n]{1,1000}?))"
        rb" port (?P<port>\d{1,9})\b(?P<guid>)"
    ),
    10,
)
_HEAD_IBDIAGNET: Final = _Heading(
    b"Port=",
    re.compile(
        rb"Port=(?P<port>\d{1,9}) Lid=0x(?P<lid>[0-9a-fA-F]{1,16}) GUID=0x(?P<guid>[0-9a-fA-F]{1,16})(?P<kind> )(?P<route>)"
    ),
    16,
)
_DIALECTS: Final = (
    _Dialect(_HEAD_PERFQUERY, b":", 10, _PERFQUERY),
    _Dialect(_HEAD_IBDIAGNET, b"=", 16, _IBDIAGNET),
)


def _knows(dialect: _Dialect, source: Input) -> bool:
    return bool(re.search(rb"^" + dialect.heading.shape.pattern, source.data[:_HEAD_BYTES], re.MULTILINE))


def _read(dialect: _Dialect, source: Input) -> Readings:
    data, cut = complete_lines(source.data)
    found = _Ports()
    for lines in pieces(data):
        found.take(lines, dialect)
    lid, port, guid = np.array(found.lid, np.int64), np.array(found.port, np.int64), np.array(found.guid, np.uint64)
    doubts: dict[str, int | bool] = {}
    is_short = np.array(found.is_short, np.bool_)
    named = guid_in_path(source.path)
    if named and len(np.unique(lid)) == 1:
        guid[guid == 0] = int(named, 16)
    kept, beside = _is_port((lid, port, guid), is_short, doubts)
    moment = moment_of(source)
    if not kept.any():
        raise UnreadableError(joined("it has the counters of no port; give perfquery -x of each (-l)", doubt(doubts), cut))
    values = _Values(*(np.concatenate(parts, axis=2) for parts in zip(*found.values, strict=True)))
    doubts["counters left out, which have more digits than any has"] = int(
        np.count_nonzero(values.digits[..., kept | (beside >= 0)] > dialect.digits)
    )
    counts = {name: _column(number, values, dialect, is_short) for number, name in enumerate(_COLUMNS)}
    for numbers, state in counts.values():
        short = np.flatnonzero((beside >= 0) & (state[beside] == _UNKNOWN))
        numbers[beside[short]], state[beside[short]] = numbers[short], state[short]
    lid = lid[kept]
    columns: dict[str, Any] = {
        "sampled_at": pa.repeat(pa.scalar(moment.at, _TIME), len(lid)),
        "guid": guid_texts(guid[kept]),
        "lid": pa.array(lid, mask=(lid < 1) | (lid > _LAST_LID)),
        "port": port[kept],
        **{name: pa.array(numbers[kept], mask=state[kept] != _KNOWN) for name, (numbers, state) in counts.items()},
        "is_saturated": pa.array(np.logical_or.reduce([state[kept] == _FULL for _, state in counts.values()])),
    }
    return Readings({TABLE: rows(TABLE, len(lid), columns)}, joined(doubt(doubts), cut, moment.doubt), has_moment=moment.is_said)


def _column(column: int, values: _Values, dialect: _Dialect, is_short: Mask) -> tuple[Integers, Integers]:
    """Values of a column by port, and what is known of each: nothing, the value, or that its counter is full."""
    scale = _WORD_BYTES if _COLUMNS[column] in _DATA else 1
    found, states = np.zeros(len(is_short), np.int64), np.full(len(is_short), _UNKNOWN)
    # The counter to take first comes last, over the other.
    for place in (1, 0):
        number, digits = values.number[place, column], values.digits[place, column]
        most = dialect.most[place, column]
        most = np.where(is_short, np.minimum(most, _SHORT[_COLUMNS[column]]), most) if dialect.base == _DECIMAL else most
        # Of decimal digits, 20 may be more than 64 bits hold.
        is_full = (number >= most) | (number > np.uint64(_SIGNED // scale)) | (digits == _MOST_DIGITS[_DECIMAL])
        is_there = (digits > 0) & (digits <= dialect.digits)
        found[is_there] = np.where(is_full, 0, number)[is_there].astype(np.int64) * scale
        states[is_there] = np.where(is_full, _FULL, _KNOWN)[is_there]
    return found, states


def _is_port(about: tuple[Integers, Integers, Words], is_short: Mask, doubts: dict[str, int | bool]) -> tuple[Mask, Integers]:
    """Which are ports that are there once, and for short counters beside the extended ones of a port the number of these.

    Port 255 sums all ports of a device up.

    Args:
        about: LIDs, ports and guids.
        is_short: whether counters are the short ones; these count only for what the extended ones lack.
        doubts: gets what is left out.
    """
    lid, port, guid = about
    is_one: Mask = port <= _LAST_PORT
    is_known: Mask = (guid != 0) | ((lid > 0) & (lid <= _LAST_LID))
    order = np.lexsort((is_short, port, lid, guid))
    is_same = np.logical_and.reduce([each[order[1:]] == each[order[:-1]] for each in (guid, lid, port)])
    is_again: Mask = np.zeros(len(port), np.bool_)
    is_again[order[1:]] = is_same
    first = order[np.maximum.accumulate(np.where(is_again[order], 0, np.arange(len(order))))]
    is_beside = is_same & is_short[order[1:]] & ~is_short[order[:-1]]
    beside = np.full(len(port), -1)
    beside[order[1:][is_beside]] = first[1:][is_beside]
    doubts["ports left out, which sum up others or are none"] = int(np.count_nonzero(~is_one))
    is_routed: Mask = (guid == 0) & (lid < 0)
    doubts["ports left out, of which only the route is said (DR path): name a LID, or a guid with -G"] = int(
        np.count_nonzero(is_routed)
    )
    doubts["ports left out, whose LID no device has"] = int(np.count_nonzero(~is_known & ~is_routed))
    doubts["ports left out, of which there are counters before"] = int(
        np.count_nonzero(is_again & (beside < 0) & is_one & is_known)
    )
    return is_one & is_known & ~is_again, beside


PERFQUERY: Final = Source("perfquery", lambda source: _knows(_DIALECTS[0], source), lambda source: _read(_DIALECTS[0], source))
IBDIAGNET_PM: Final = Source(
    "ibdiagnet_pm", lambda source: _knows(_DIALECTS[1], source), lambda source: _read(_DIALECTS[1], source)
)
