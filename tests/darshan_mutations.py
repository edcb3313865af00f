"""Damages Darshan logs: as files, and inside their regions, where every length and checksum stays right."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Final

from mutations import cut, other_bytes, spliced
from zlib_ng import zlib_ng

from iomine.errors import UnreadableError
from iomine.sources.darshan.container import MAGIC, Container, open_container
from iomine.sources.darshan.counters import LAYOUTS

_WORD: Final = 8
_METADATA_BYTES: Final = 1024
_INTEGERS: Final = (
    *(0, 1, -1, -2, 7, 1000, 1 << 20, 1 << 31, (1 << 31) - 1, -(1 << 31), 1 << 40, 1 << 59, 1 << 60, (1 << 60) + 1),
    *(1 << 62, (1 << 63) - 1, -(1 << 63), -(10**15)),
)
_FLOATS: Final = (
    *(0.0, -0.0, -1.0, -2.0, -1e-7, -1e-3, 1e-320, 0.5, 13.0, 1e3, 1e7, 1e12, 1e300, 1.7e308, -1e300),
    *(float("nan"), float("inf"), float("-inf")),
)
_TEXTS: Final = (
    *(b"", b"/", b"../../../escaped", b"/scratch/" + b"x" * 5000, b"a/" * 2000, b"<script>alert(1)</script>", b"=cmd|' /C c'!A0"),
    *(b"';DROP TABLE log;--", b'"', b"new\nline", b"\r\nBcc: all@site.test", b"\x1b[2J", b"\xff\xfe", b"{{7*7}}", b"%s%n"),
    *("\u202eflip".encode(), "é".encode() * 600, b"<STDIN>", b"<STDERR>", b"/dev/null", b"/proc/self/mem", b"anon\0ymous"),
)
# Seconds by which a clock may be wrong: of one run, of a night, of an age.
_SHIFTS: Final = (-1, 1, -15, 3600, 86400, -86400, 10**8, 10**9, -(10**9), 3 * 10**10, 1 << 62)


@dataclass(frozen=True, slots=True)
class Parts:
    """A log, taken apart.

    Attributes:
        container: its header.
        job: job record, command line and mounts.
        names: name records.
        modules: version and records, by module id.
        flags: which modules are partial.
    """

    container: Container
    job: bytes
    names: bytes
    modules: dict[int, tuple[int, bytes]]
    flags: int = 0

    def together(self) -> bytes:
        """The log's bytes, compressed by zlib."""
        container = self.container
        era = container.era
        header = era.header(container.order)
        packed = [zlib_ng.compress(region, 1) if region else b"" for region in (self.job, self.names)]
        at = 16 + header.size + len(packed[0])
        names_at = (at, len(packed[1]))
        at += len(packed[1])
        maps, versions = [0] * (2 * era.slots), [0] * era.slots
        for id_, (version, records) in sorted(self.modules.items()):
            packed.append(zlib_ng.compress(records, 1))
            maps[2 * id_ : 2 * id_ + 2], versions[id_] = (at, len(packed[-1])), version
            at += len(packed[-1])
        beginning = container.data[:8] + struct.pack(f"{container.order}q", MAGIC)
        return beginning + header.pack(0, self.flags, *names_at, *maps, *versions) + b"".join(packed)

    def module_of(self, id_: int) -> str:
        """Name of a module."""
        names = self.container.era.modules
        return names[id_] if id_ < len(names) else ""

    def record_bytes(self, id_: int) -> int:
        """Size of a module's records where all are alike, of a word where they are not."""
        layout = LAYOUTS.get(self.module_of(id_))
        is_current = layout is not None and layout.version == self.modules[id_][0]
        return layout.width * _WORD if layout is not None and is_current else _WORD


@cache
def apart(data: bytes) -> Parts | None:
    """A log taken apart, None where it cannot be."""
    try:
        container = open_container(data)
    except UnreadableError:
        return None
    flags = sum(region.is_partial << region.id for region in container.regions)
    modules = {region.id: (region.version, container.inflate(region).data) for region in container.regions}
    return Parts(container, container.inflate_job().data, container.inflate_names().data, modules, flags)


_Damage = Callable[[Parts, Random, tuple[bytes, ...]], Parts]


def _word(order: str, random: Random) -> bytes:
    if random.random() < 0.5:
        return struct.pack(f"{order}q", random.choice(_INTEGERS))
    return struct.pack(f"{order}d", random.choice(_FLOATS))


def _put(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def _records_of(parts: Parts, random: Random, change: Callable[[bytes, int], bytes]) -> Parts:
    """The log with the records of one module changed; `change` is given the records, and their id."""
    held = [id_ for id_, (_, records) in parts.modules.items() if len(records) >= _WORD]
    if not held:
        return parts
    id_ = random.choice(held)
    version, records = parts.modules[id_]
    return replace(parts, modules={**parts.modules, id_: (version, change(records, id_))})


def _words(parts: Parts, random: Random, _sound: tuple[bytes, ...]) -> Parts:
    """Some counters hold what no run can have."""

    def change(records: bytes, _id: int) -> bytes:
        for _ in range(random.choice((1, 1, 1, 2, 5, 40))):
            at = random.randrange(len(records) // _WORD) * _WORD
            records = _put(records, at, _word(parts.container.order, random))
        return records

    return _records_of(parts, random, change)


def _column(parts: Parts, random: Random, _sound: tuple[bytes, ...]) -> Parts:
    """A counter of all records holds the same."""

    def change(records: bytes, id_: int) -> bytes:
        width = parts.record_bytes(id_)
        place, new = random.randrange(width // _WORD) * _WORD, _word(parts.container.order, random)
        for at in range(place, len(records) - _WORD + 1, max(width, len(records) // 200 // _WORD * _WORD)):
            records = _put(records, at, new)
        return records

    return _records_of(parts, random, change)


def _scaled(parts: Parts, random: Random, _sound: tuple[bytes, ...]) -> Parts:
    """A counter is a multiple of what it was, or that of its neighbour."""
    order = parts.container.order

    def change(records: bytes, _id: int) -> bytes:
        at, other = (random.randrange(len(records) // _WORD) * _WORD for _ in range(2))
        if random.random() < 0.3:
            return _put(records, at, records[other : other + _WORD])
        (value,) = struct.unpack_from(f"{order}q", records, at)
        new = min(max(value * random.choice((2, 10, 1000, -1, 10**6)) + random.choice((0, 1, -1)), -(1 << 63)), (1 << 63) - 1)
        return _put(records, at, struct.pack(f"{order}q", new))

    return _records_of(parts, random, change)


def _rows(parts: Parts, random: Random, _sound: tuple[bytes, ...]) -> Parts:
    """Records are lost, doubled or swapped, or do not end with a whole one."""

    def change(records: bytes, id_: int) -> bytes:
        width = parts.record_bytes(id_)
        rows = [records[at : at + width] for at in range(0, len(records), width)]
        one, other = sorted(random.randrange(len(rows)) for _ in range(2))
        ways = (
            [*rows[:one], *rows[one + 1 :]],
            [*rows[:one], *rows[other:]],
            [*rows, *rows[one : other + 1]],
            [*rows[:one], rows[other], *rows[one + 1 :]],
            [*rows[:-1], rows[-1][: random.randrange(len(rows[-1]))]],
            [records + bytes(random.choice((1, 8, width, 5000)))],
            [],
        )
        return b"".join(random.choice(ways))

    return _records_of(parts, random, change)


def _modules(parts: Parts, random: Random, sound: tuple[bytes, ...]) -> Parts:
    """A module is gone, another's, of another version, partial, or comes from another log."""
    modules = dict(parts.modules)
    slots = parts.container.era.slots
    other = apart(random.choice(sound)) or parts
    if not modules or not other.modules:
        return parts
    id_, new = random.choice([*modules]), random.choice([*other.modules])
    way = random.randrange(5)
    if way == 0:
        del modules[id_]
    elif way == 1:
        modules[random.randrange(slots)] = modules[id_]
    elif way == 2:
        modules[id_] = (random.choice((0, 1, 2, 3, 4, 5, 99, (1 << 32) - 1)), modules[id_][1])
    elif new < slots:
        modules[new] = other.modules[new]
    flags = parts.flags if random.random() < 0.7 else random.getrandbits(slots)
    return replace(parts, modules=modules, flags=flags)


def _times(parts: Parts, random: Random, _sound: tuple[bytes, ...]) -> Parts:
    """The run starts or ends at another time."""
    return _header_word(parts, random, (1, 2, 3, 4) if parts.container.era.slots > 16 else (1, 2), is_shift=True)


def _run(parts: Parts, random: Random, _sound: tuple[bytes, ...]) -> Parts:
    """User, job or number of processes are others."""
    return _header_word(parts, random, (0, 5, 6) if parts.container.era.slots > 16 else (0, 3, 4), is_shift=False)


def _header_word(parts: Parts, random: Random, places: tuple[int, ...], *, is_shift: bool) -> Parts:
    at, order = random.choice(places) * _WORD, parts.container.order
    if len(parts.job) < at + _WORD:
        return parts
    (value,) = struct.unpack_from(f"{order}q", parts.job, at)
    new = value + random.choice(_SHIFTS) if is_shift else random.choice(_INTEGERS)
    return replace(parts, job=_put(parts.job, at, struct.pack(f"{order}q", min(new, (1 << 63) - 1))))


def _texts(parts: Parts, random: Random, _sound: tuple[bytes, ...]) -> Parts:
    """Command line, mounts, metadata or names say something else."""
    if random.random() < 0.5:
        names = parts.names
        if len(names) <= _WORD:
            return parts
        text, place = random.choice(_TEXTS), random.randrange(_WORD, len(names))
        end = names.find(b"\0", place)
        ways = (
            names[:place] + text + names[place:],
            names[:place] + text + names[end if end >= 0 else len(names) :],
            names + names[:_WORD] + text + b"\0",
            names[: random.randrange(len(names))],
            _put(names, 0, _word(parts.container.order, random)),
        )
        return replace(parts, names=random.choice(ways))
    text, place = random.choice(_TEXTS), random.randrange(len(parts.job) + 1)
    new = b"lib_ver=" + text + b"\nh=" + text if random.random() < 0.3 else text
    metadata = _put(parts.job, 7 * _WORD, new[:_METADATA_BYTES])
    lines = parts.job.rstrip(b"\0") + b"\nlustre\t" + text + b"\0"
    return replace(parts, job=random.choice((metadata, lines, parts.job[:place] + text + parts.job[place:], parts.job[:place])))


def _inside(damage: _Damage) -> Callable[[bytes, Random, tuple[bytes, ...]], bytes]:
    def damaged(data: bytes, random: Random, sound: tuple[bytes, ...]) -> bytes:
        parts = apart(data)
        return data if parts is None else damage(parts, random, sound).together()

    return damaged


def _header(data: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    """The map of regions says something else."""
    parts = apart(data)
    if parts is None:
        return data
    size = parts.container.era.header(parts.container.order).size
    at = random.randrange(0, 16 + size - _WORD)
    near = struct.pack(f"{parts.container.order}q", random.choice((0, 1, 7, 400, len(data), len(data) - 1, 1 << 31, 1 << 62, -1)))
    return _put(data, at // _WORD * _WORD if random.random() < 0.7 else at, near)


_INSIDE: Final = tuple(map(_inside, (_words, _words, _words, _column, _column, _scaled, _scaled, _rows, _modules, _texts, _run)))
_SELDOM: Final = _inside(_times)
_OUTSIDE: Final = (other_bytes, cut, spliced, _header)


def damaged(data: bytes, random: Random, sound: tuple[bytes, ...]) -> bytes:
    """A log after one to three damages, most of them inside it, where they are found last.

    Args:
        data: a sound log.
        random: chance.
        sound: logs to splice with.
    """
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        # Other times are other nights, each of which costs a sweep as much as hundreds of logs.
        ways = _OUTSIDE if random.random() < 0.15 else (_SELDOM,) if random.random() < 0.04 else _INSIDE
        data = random.choice(ways)(data, random, sound) or b"\0"
    return data
