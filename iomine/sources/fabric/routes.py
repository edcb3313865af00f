"""Forwarding tables: by which port a switch sends what is meant for a LID.

Three tools print the same table. infiniband-diags (`dump_fts`, `ibroute`, `dump_lfts`) and OpenSM's `opensm-lfts.dump`:

    Unicast lids [0x0-0x66] of switch DR path slid 0; dlid 0; 0,1,3 guid 0x0008f105001086a2 (Voltaire 4036):
    0x0001 001 : (Channel Adapter portguid 0x0002c90300080d59: 'node1 HCA-1')
    100 valid lids dumped

    Unicast lids [0-102] of switch Lid 6 guid 0x0008f1050010851e ('Voltaire 4036'):
    0x0001 036 # Channel Adapter portguid 0x0002c90300080d59: 'node1 HCA-1'
    102 lids dumped

and OpenSM's `.fdbs`, in upper case, with hops:

    dump_ucast_routes: Switch 0x0008f1050010851e
    0x0001 : 036  : 02   : yes

LIDs have four digits and ports three, so that numbers stand at fixed places.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.errors import UnreadableError
from iomine.sources.clock import read_at
from iomine.sources.fabric.bulk import Integers, Lines, fixed, pieces
from iomine.sources.fabric.guids import guid_text
from iomine.sources.lustre.doubts import doubt
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import complete_lines, joined
from iomine.sources.series.rows import rows
from iomine.units import MIB, human_bytes

_HEAD_BYTES: Final = 1 << 16
_SHAPE: Final = re.compile(rb"^(?:Unicast lids \[|dump_ucast_routes: Switch 0x)", re.MULTILINE)
_HEADING: Final = re.compile(
    rb"Unicast lids \[[0-9a-fA-Fx]{1,20}-[0-9a-fA-Fx]{1,20}\] of switch .*?\bguid 0x([0-9a-fA-F]{1,16})\b"
    rb"|dump_ucast_routes: Switch 0x([0-9a-fA-F]{1,16})\b"
)
_FOOTING: Final = re.compile(rb"(\d{1,9}) (valid )?lids dumped")
_HEADS: Final = (b"Unicast ", b"Multicast ", b"dump_ucast_routes: ")
# Of a footing, with a number of one digit.
_LEAST_FOOTING: Final = len("1 lids dumped")
# Of an entry: `0x0001 036`, `0x0001 : 036`, or `0x0001 : UNREACHABLE`.
_LEAST_ENTRY: Final = 10
_ENTRY_BYTES: Final = 12
_LID_END: Final = 6
_COLON: Final = ord(":")
_UNREACHABLE: Final = ord("U")
_NO_ROUTE: Final = 255
_LAST_LID: Final = 0xFFFF
# A table takes a byte for each LID up to its last, however few it lists.
_MOST_SWITCHES: Final = _LAST_LID
_MOST_MARKS: Final = 4 * _MOST_SWITCHES
_MOST_BYTES: Final = 512 * MIB

Ports = npt.NDArray[np.uint8]


class _Section(NamedTuple):
    """A part of a table: its entries in one piece of the text."""

    number: int
    lids: Integers
    ports: Integers


class _Tables:
    """Tables as they are gathered.

    Attributes:
        guids: of the switch of each section, 0 of those that are no unicast tables.
        said: how many entries each says it has at the end, 0 where it has another end, -1 where it has none.
        parts: entries, in order of sections.
        strange: lines that look like entries and are not.
    """

    def __init__(self) -> None:
        self.guids: list[int] = []
        self.said: list[int] = []
        self.parts: list[_Section] = []
        self.strange = 0
        self._marks = 0

    def take(self, lines: Lines) -> None:
        """Adds a piece of the text."""
        first = lines.first()
        entries = lines.beginning(b"0x")
        entries = entries[lines.longer(_LEAST_ENTRY)[entries]]
        lids, ports = _entries(lines, entries)
        is_mark = (first >= ord("0")) & (first <= ord("9")) & lines.longer(_LEAST_FOOTING)
        is_mark[entries] = False
        for head in _HEADS:
            is_mark[lines.beginning(head)] = True
        self._marks += int(np.count_nonzero(is_mark))
        if self._marks > _MOST_MARKS:
            raise UnreadableError(f"it has tables of more than {_MOST_SWITCHES:,} switches, which no fabric has")
        begin = 0
        for line in np.flatnonzero(is_mark).tolist():
            end = int(np.searchsorted(entries, line))
            self._add(lids[begin:end], ports[begin:end])
            begin = end
            self._mark(lines.text(line))
        self._add(lids[begin:], ports[begin:])

    def _mark(self, line: bytes) -> None:
        if heading := _HEADING.match(line):
            self.guids.append(int(heading[1] or heading[2], 16))
            self.said.append(-1)
        elif line.startswith((b"Unicast", b"Multicast", b"dump_ucast_routes")):
            self.guids.append(0)
            self.said.append(-1)
        elif (footing := _FOOTING.match(line)) and self.said:
            # OpenSM counts LIDs that it does not print, since there is no route to them.
            self.said[-1] = int(footing[1]) if footing[2] else 0

    def _add(self, lids: Integers, ports: Integers) -> None:
        if not len(lids):
            return
        if not self.guids:
            self.strange += len(lids)
            return
        is_sound = (lids >= 0) & (ports >= 0)
        self.strange += len(lids) - int(np.count_nonzero(is_sound))
        self.parts.append(_Section(len(self.guids) - 1, lids[is_sound], ports[is_sound]))


def _entries(lines: Lines, entries: Integers) -> tuple[Integers, Integers]:
    """LIDs and ports of entries, -1 where they are not as they should be."""
    columns = np.ascontiguousarray(lines.heads(entries, _ENTRY_BYTES).T)
    ports = np.full(len(entries), -1)
    is_other = columns[_LID_END + 1] == _COLON
    for is_one, between in ((~is_other, b" "), (is_other, b" : ")):
        # A text is of one dialect, so that mostly there is nothing to pick out.
        picked = columns if is_one.all() else columns[:, is_one]
        first = _LID_END + len(between)
        found = fixed(picked[first : first + 3], 10)
        found[picked[first] == _UNREACHABLE] = _NO_ROUTE
        for place, byte in enumerate(between, _LID_END):
            found[picked[place] != byte] = -1
        ports[is_one] = found
    ports[ports > _NO_ROUTE] = -1
    return fixed(columns[2:_LID_END], 16), ports


def _knows(source: Input) -> bool:
    return bool(_SHAPE.search(source.data[:_HEAD_BYTES]))


def _read(source: Input) -> Readings:
    data, cut = complete_lines(source.data)
    found = _Tables()
    for lines in pieces(data):
        found.take(lines)
    tables = list(_tables(found))
    lacking = sum(table is None for _, table in tables)
    by_guid: dict[int, list[Ports]] = {}
    contradictions = 0
    for guid, table in tables:
        if table is not None:
            out, twice = table
            contradictions += twice
            by_guid.setdefault(guid, []).append(out)
    double = {guid for guid, of_one in by_guid.items() if any(not np.array_equal(of_one[0], other) for other in of_one)}
    kept = {guid: of_one[0] for guid, of_one in by_guid.items() if guid not in double}
    doubts = {
        "tables left out, which lack entries: the file may be cut": lacking,
        "switches left out, of which there are different tables": len(double),
        "LIDs without a route, of which a table has different ones": contradictions,
        "lines left out, which are no entries of a table": found.strange,
        "tables left out, which are not of unicast LIDs": found.guids.count(0),
    }
    clock = read_at(source)
    text = joined(doubt(doubts), cut, clock.doubt)
    if not kept:
        raise UnreadableError(f"it has the whole forwarding table of no switch; {text}")
    guids = pa.array([guid_text(guid) for guid in kept], pa.string())
    columns = {
        "sampled_at": pa.array([clock.at] * len(kept), pa.timestamp("us", tz="UTC")),
        "guid": guids,
        "out_ports": pa.array([out.tobytes() for out in kept.values()], pa.binary()),
    }
    return Readings({"fabric_route": rows("fabric_route", len(kept), columns)}, text, has_moment=False)


def _tables(found: _Tables) -> Iterator[tuple[int, tuple[Ports, int] | None]]:
    """Each switch with its table and how often that contradicts itself, or None where it lacks entries."""
    parts: dict[int, list[_Section]] = {}
    for part in found.parts:
        parts.setdefault(part.number, []).append(part)
    last = {
        number: max((int(part.lids.max()) for part in of_one if len(part.lids)), default=-1) for number, of_one in parts.items()
    }
    if (needed := sum(lid + 1 for lid in last.values())) > _MOST_BYTES:
        raise UnreadableError(f"its tables would take {human_bytes(needed)}, more than those of any fabric; it may be damaged")
    highest = max(last.values(), default=-1)
    for number, (guid, said) in enumerate(zip(found.guids, found.said, strict=True)):
        if not guid:
            continue
        of_one = parts.get(number, [])
        count = sum(len(part.lids) for part in of_one)
        # Tables without a footing list every LID up to the highest, so that one that ends before is cut.
        is_whole = said in (0, count) if said >= 0 else bool(count) and last[number] == highest
        yield guid, _table(of_one, last[number]) if is_whole and count else None


def _table(parts: list[_Section], last: int) -> tuple[Ports, int]:
    out = np.full(last + 1, _NO_ROUTE, np.uint8)
    lids = np.concatenate([part.lids for part in parts])
    ports = np.concatenate([part.ports for part in parts])
    out[lids] = ports
    differs = np.unique(lids[out[lids] != ports])
    out[differs] = _NO_ROUTE
    return out, len(differs)


ROUTES: Final = Source("forwarding_tables", _knows, _read)
