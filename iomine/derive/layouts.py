"""Where on Lustre the bytes of files lie, from the layouts that a log has.

A component of a layout is striped over its OSTs in turn, and stripes are counted from the beginning of the file, not of
the component: in Lustre's `lustre/lov/lov_offset.c`, `lov_stripe_number` divides the offset in the file, and
`lov_stripe_intersects` does no more than cut at the component's extent.

Of a mirrored file any mirror in sync answers reads, and a write goes to one that Lustre picks, while the others become
stale until they are resynced (File Level Redundancy in Lustre's manual). So the place of bytes that several mirrors hold is
unknown, and stale mirrors, which serve nothing, do not count.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.batch import as_integers, logs_in
from iomine.derive.trace import Flags, Integers, Tables, Trace, turns
from iomine.schema.column import as_arrow

# MPI-IO passes through POSIX, which knows the offsets that reach the file system.
LAYER: Final = "posix"

# No file is as long; what lies beyond, or before the beginning, has an offset or a length that cannot be trusted.
MOST_BYTES: Final = 1 << 60
_BEYOND: Final = 1 << 62
_BEFORE: Final = -(1 << 63)
_TO_THE_END: Final = -1

# Patterns as liblustreapi gives them and as they are on disk.
_MDT, _RAW_MDT = 0x2, 0x100
_STALE, _PARITY = 0x1, 0x80

NO_OFFSET: Final = "It is not known where in the file the bytes lie."
NO_LAYOUT: Final = "The log has no Lustre layout of the file."
NO_OST: Final = "This part of the file had no OST yet when the file was opened."
ON_MDT: Final = "The bytes lie on a metadata target."
MIRRORED: Final = "Several mirrors hold the bytes, and the log does not say which one was used."
NO_SENSE: Final = "The log's Lustre layout of the file makes no sense."
REASONS: Final = frozenset((NO_OFFSET, NO_LAYOUT, NO_OST, ON_MDT, MIRRORED, NO_SENSE))

_NUMBERS: Final = ("stripe_bytes", "stripe_count", "stripe_pattern", "component_flags", "extent_start_bytes", "extent_end_bytes")
_NOT_KNOWN: Final = -1
_WORD_BYTES: Final = 8

_NONE: Final = np.empty(0, np.int64)

# An OST, or why it is not known.
Place = int | str


def serves(flags: Integers) -> Flags:
    """Which components reads and writes may go to, by their flags, which are negative where they are not known."""
    found: Flags = (flags < 0) | (flags & (_STALE | _PARITY) == 0)
    return found


class _Component(NamedTuple):
    stripe_bytes: int
    stripe_count: int
    pattern: int
    flags: int
    start: int
    end: int
    ost_ids: tuple[int, ...]

    @property
    def serves(self) -> bool:
        """Reads and writes may go to it."""
        return bool(serves(np.array(self.flags)))

    @property
    def has_extent(self) -> bool:
        """It begins and ends where that makes sense."""
        return self.start >= 0 and (self.end == _TO_THE_END or self.end >= self.start)

    @property
    def stripes(self) -> tuple[int, Sequence[Place]]:
        """Bytes of a stripe, and where stripes lie in turn."""
        if self.pattern == _MDT or (self.pattern > 0 and self.pattern & _RAW_MDT):
            return _BEYOND, (ON_MDT,)
        if not self.ost_ids:
            return _BEYOND, (NO_OST,)
        if not 0 < self.stripe_bytes <= MOST_BYTES or self.stripe_count != len(self.ost_ids) or min(self.ost_ids) < 0:
            return _BEYOND, (NO_SENSE,)
        return self.stripe_bytes, self.ost_ids


# The components of a file, by their numbers among those that differ.
_Composition = tuple[int, ...]


class Parts(NamedTuple):
    """Ranges of bytes taken apart, each by the slots that it touches, range by range.

    Attributes:
        ranges: range that each part belongs to.
        slots: slot on which it lies.
        sizes: its bytes.
        is_first: nothing of the range came before on the same place.
    """

    ranges: Integers
    slots: Integers
    sizes: Integers
    is_first: Flags


class Layouts(NamedTuple):
    """Layouts of files: a file is cut into strips, and a strip is striped over its slots in turn.

    Attributes:
        places: OSTs, and reasons why one is not known.
        files: file of each slot.
        slot_places: place of each slot, an index into `places`.
        first_strips: first strip of each file.
        strip_counts: strips of each file.
        slot_counts: slots of each file.
        least_stripes: bytes of the smallest stripe of each file.
        begins: where in its file each strip begins.
        ends: where it ends.
        stripe_bytes: bytes of a stripe of each strip.
        first_slots: first slot of each strip.
        widths: slots of each strip.
        repeats: whether a strip has a place on more than one slot.
    """

    places: Sequence[Place]
    files: Integers
    slot_places: Integers
    first_strips: Integers
    strip_counts: Integers
    slot_counts: Integers
    least_stripes: Integers
    begins: Integers
    ends: Integers
    stripe_bytes: Integers
    first_slots: Integers
    widths: Integers
    repeats: Flags

    def most_parts(self, files: Integers, lengths: Integers) -> Integers:
        """How many parts ranges of such lengths have at most, each in one of the files."""
        cut: Integers = lengths // self.least_stripes[files] + 2 * self.strip_counts[files]
        return np.minimum(self.slot_counts[files], cut)

    def parts(self, files: Integers, begins: Integers, ends: Integers) -> Parts:
        """Takes ranges apart.

        Args:
            files: file of each range.
            begins: where in the file it begins; before 0 where that is not known.
            ends: where it ends, after where it begins and before twice `MOST_BYTES`.
        """
        strips = self._strips(files, begins)
        ranges = np.arange(len(strips))
        is_cut = ends > self.ends[strips]
        if is_cut.any():
            pieces = self._strips(files, ends - 1) - strips + 1
            ranges, is_cut = np.repeat(ranges, pieces), np.repeat(is_cut, pieces)
            strips = np.repeat(strips, pieces) + turns(pieces)
            begins, ends = np.maximum(begins[ranges], self.begins[strips]), np.minimum(ends[ranges], self.ends[strips])
        first, last = self._stripes(strips, begins), self._stripes(strips, ends - 1)
        slots = self._slots(strips, first)
        sizes = ends - begins
        if np.any(first < last):
            touched = np.minimum(last - first + 1, self.widths[strips])
            may_repeat = is_cut | (self.repeats[strips] & (touched > 1))
            sizes, slots = self._striped(strips, begins, ends, slots, touched)
            ranges, is_cut = np.repeat(ranges, touched), np.repeat(may_repeat, touched)
        return Parts(ranges, slots, sizes, self._is_first(ranges, slots, is_cut))

    def slots(self, files: Integers, offsets: Integers) -> Integers:
        """The slots of bytes.

        Args:
            files: file of each.
            offsets: where in the file it lies; before 0 where that is not known.
        """
        strips = self._strips(files, offsets)
        return self._slots(strips, self._stripes(strips, offsets))

    def _stripes(self, strips: Integers, offsets: Integers) -> Integers:
        """Stripes of bytes, counted from the beginning of the file."""
        bits = np.frexp(self.stripe_bytes.astype(np.float64))[1] - 1
        # As stripes are on Lustre; to divide takes much longer.
        is_power_of_two = (1 << bits == self.stripe_bytes).all()
        stripes: Integers = offsets >> bits[strips] if is_power_of_two else offsets // self.stripe_bytes[strips]
        return stripes

    def _slots(self, strips: Integers, stripes: Integers) -> Integers:
        slots: Integers = self.first_slots[strips] + stripes % self.widths[strips]
        return slots

    def _striped(
        self, strips: Integers, begins: Integers, ends: Integers, slots: Integers, touched: Integers
    ) -> tuple[Integers, Integers]:
        """Bytes and slot of each part of pieces that lie in one strip each, from the slot where each piece begins."""
        stripe_bytes, widths = self.stripe_bytes[strips], self.widths[strips]
        first, last = begins // stripe_bytes, (ends - 1) // stripe_bytes
        rounds, rest = np.divmod(last - first + 1, widths)
        nth = turns(touched)
        # All stripes are taken for whole ones, of which the outer two may be less.
        sizes = np.repeat(rounds * stripe_bytes, touched)
        sizes += np.where(nth < np.repeat(rest, touched), np.repeat(stripe_bytes, touched), 0)
        at = np.cumsum(touched) - touched
        sizes[at] -= begins - first * stripe_bytes
        sizes[at + (last - first) % widths] -= (last + 1) * stripe_bytes - ends
        nth += np.repeat(slots, touched)
        return sizes, nth - np.where(nth < np.repeat(self.first_slots[strips] + widths, touched), 0, np.repeat(widths, touched))

    def _strips(self, files: Integers, offsets: Integers) -> Integers:
        """The strips that hold the offsets."""
        # Each file has a strip before its beginning and one from there on.
        low = self.first_strips[files] + (offsets >= 0)
        if len(self.begins) == 2 * len(self.first_strips):
            return low
        high = (self.first_strips + self.strip_counts)[files]
        while np.any(high - low > 1):
            middle = (low + high) // 2
            is_there = self.begins[middle] <= offsets
            low, high = np.where(is_there, middle, low), np.where(is_there, high, middle)
        return low

    def _is_first(self, ranges: Integers, slots: Integers, may_repeat: Flags) -> Flags:
        is_first = ~may_repeat
        if len(rows := np.flatnonzero(may_repeat)):
            keys = ranges[rows] * len(self.places) + self.slot_places[slots[rows]]
            is_first[rows[np.unique(keys, return_index=True)[1]]] = True
        return is_first


class Lustre:
    """Where the bytes of POSIX files lie, found out once, when it is asked for.

    Args:
        tables: columns by table, in one or more parts.
        traces: the traces in these.
    """

    def __init__(self, tables: Tables, traces: Sequence[Trace]) -> None:
        self._tables = tables
        self._traces = traces

    @property
    def is_known(self) -> bool:
        """Some log has layouts."""
        return bool(self._tables.get("lustre_component"))

    @cached_property
    def are_known(self) -> Flags:
        """Which of the files are of a log that has layouts."""
        known = np.unique(np.concatenate([logs_in(part) for part in self._tables.get("lustre_component", ())] or [_NONE]))
        return np.isin(self.logs, known)

    @cached_property
    def logs(self) -> Integers:
        """The log of each of the files."""
        parts = self._tables.get("posix_file", ())
        logs = np.empty(len(self.file_ids), np.int64)
        for part in parts:
            logs[np.searchsorted(self.file_ids, part["file_id"].to_numpy())] = logs_in(part)
        for trace in self._traces:
            if trace.layer == LAYER:
                logs[np.searchsorted(self.file_ids, trace.file_ids)] = trace.logs
        return logs

    @cached_property
    def file_ids(self) -> Integers:
        """Files with records or requests, in order."""
        recorded = [part["file_id"].to_numpy() for part in self._tables.get("posix_file", ())]
        traced = [trace.file_ids for trace in self._traces if trace.layer == LAYER]
        return np.unique(np.concatenate([*traced, *recorded, np.empty(0, np.int64)]))

    @cached_property
    def layouts(self) -> Layouts:
        """Layouts of these, in the same order."""
        return _layouts_of(self.file_ids, self._tables)


def _layouts_of(file_ids: Integers, tables: Tables) -> Layouts:
    """Layouts of files, numbered in the order in which they are given; of a file's records one rank's will do.

    Each file's first strip, before its beginning, takes requests at unknown offsets.
    """
    compositions, components = _compositions(tables)
    # Thousands of files have few layouts, so that these are looked at one by one, and files are not.
    number_of: dict[_Composition | None, int] = {}
    numbers = np.array([number_of.setdefault(compositions.get(file_id), len(number_of)) for file_id in file_ids.tolist()])
    shapes = _shapes(number_of, components)
    strip_counts, slot_counts = shapes.strip_counts[numbers], shapes.slot_counts[numbers]
    strips, slots = _repeated(shapes.strip_counts, numbers), _repeated(shapes.slot_counts, numbers)
    first_strips = np.cumsum(strip_counts) - strip_counts
    first_slots = np.cumsum(slot_counts) - slot_counts
    begins, stripe_bytes, own_slots, widths, repeats = (column[strips] for column in shapes.strips)
    ends = np.append(begins[1:], _BEYOND)
    ends[first_strips[1:] - 1] = _BEYOND
    return Layouts(
        shapes.places,
        np.repeat(np.arange(len(numbers)), slot_counts),
        shapes.slot_places[slots],
        first_strips,
        strip_counts,
        slot_counts,
        np.minimum.reduceat(stripe_bytes, first_strips),
        begins,
        ends,
        stripe_bytes,
        own_slots + np.repeat(first_slots, strip_counts),
        widths,
        repeats.astype(bool),
    )


def _repeated(counts: Integers, numbers: Integers) -> Integers:
    """Indices of all items of some groups, one group after the other, in which items lie end to end."""
    firsts = np.cumsum(counts) - counts
    return np.repeat(firsts[numbers], counts[numbers]) + turns(counts[numbers])


class _Shapes(NamedTuple):
    """Layouts that differ.

    Attributes:
        places: OSTs, and reasons why one is not known.
        strips: for each strip, layout by layout, where it begins, bytes of a stripe, its first slot in the layout, how many
            slots it has, and whether a place is on several of them.
        strip_counts: strips of each layout.
        slot_places: place of each slot, layout by layout, an index into `places`.
        slot_counts: slots of each layout.
    """

    places: Sequence[Place]
    strips: Integers
    strip_counts: Integers
    slot_places: Integers
    slot_counts: Integers


def _shapes(compositions: Iterable[_Composition | None], components: Sequence[_Component]) -> _Shapes:
    code_of: dict[Place, int] = {}
    strips: list[tuple[int, ...]] = []
    slot_places: list[int] = []
    counts: list[tuple[int, int]] = []
    for numbers in compositions:
        first_strip, first_slot = len(strips), len(slot_places)
        for begin, (stripe, places) in _strips(None if numbers is None else [components[number] for number in numbers]):
            strips.append((begin, stripe, len(slot_places) - first_slot, len(places), len(set(places)) < len(places)))
            slot_places += [code_of.setdefault(place, len(code_of)) for place in places]
        counts.append((len(strips) - first_strip, len(slot_places) - first_slot))
    strip_counts, slot_counts = np.array(counts, np.int64).T
    return _Shapes(tuple(code_of), np.array(strips, np.int64).T.copy(), strip_counts, np.array(slot_places), slot_counts)


def _compositions(tables: Tables) -> tuple[dict[int, _Composition], list[_Component]]:
    """Components of each file that has a record, those that hold nothing left out; and the components that differ."""
    found: dict[int, _Composition] = {}
    rank_of: dict[int, int] = {}
    number_of: dict[bytes, int] = {}
    for part in tables.get("lustre_component", ()):
        says = np.column_stack([as_arrow(part[name]).fill_null(_NOT_KNOWN).to_numpy() for name in _NUMBERS])
        osts = part["ost_ids"]
        data, of_osts = says.tobytes(), osts.values.to_numpy().tobytes()
        firsts = range(0, len(data), len(_NUMBERS) * _WORD_BYTES)
        offsets = (osts.offsets.to_numpy() * _WORD_BYTES).tolist()
        numbers = [
            number_of.setdefault(data[first : first + firsts.step] + of_osts[begin:end], len(number_of))
            for first, (begin, end) in zip(firsts, pairwise(offsets), strict=True)
        ]
        is_none = part["component"].is_null().to_pylist()
        ranks = as_integers(part["rank"]).tolist()
        for file_id, rank, has_none, number in zip(as_integers(part["file_id"]).tolist(), ranks, is_none, numbers, strict=True):
            if rank_of.setdefault(file_id, rank) == rank:
                found[file_id] = found.get(file_id, ()) + (() if has_none else (number,))
    return found, [_component(np.frombuffer(says, np.int64).tolist()) for says in number_of]


def _component(says: list[int]) -> _Component:
    size, count, pattern, flags, start, end, *ost_ids = says
    return _Component(size, count, pattern, flags, start, end, tuple(ost_ids))


def _strips(components: Iterable[_Component] | None) -> Iterator[tuple[int, tuple[int, Sequence[Place]]]]:
    """Where each strip of a file begins, in order, and its stripes."""
    yield _BEFORE, (_BEYOND, (NO_OFFSET,))
    if components is None:
        yield 0, (_BEYOND, (NO_LAYOUT,))
        return
    serving = [component for component in components if component.serves]
    if not all(component.has_extent for component in serving):
        yield 0, (_BEYOND, (NO_SENSE,))
        return
    edges: defaultdict[int, set[int]] = defaultdict(set, {0: set()})
    for index, component in enumerate(serving):
        edges[component.start] ^= {index}
        edges[component.end if component.end != _TO_THE_END else _BEYOND] ^= {index}
    there: set[int] = set()
    for edge in sorted(edges):
        if edge < _BEYOND:
            there ^= edges[edge]
            yield edge, _stripes([serving[index] for index in there])


def _stripes(components: Sequence[_Component]) -> tuple[int, Sequence[Place]]:
    """Stripes of a strip, from all components that hold it."""
    if not components:
        return _BEYOND, (NO_OST,)
    return components[0].stripes if len(components) == 1 else (_BEYOND, (MIRRORED,))
