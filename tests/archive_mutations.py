"""Damages archives of logs and says what becomes of them: `python tests/archive_mutations.py 20000`, which `make fuzz` calls.

Of an archive that was damaged, in its tar file, the names in that, or its index, each member is a log or refused with a reason;
unpacking writes below its folder only; and packing into it takes the new log, or says in a sentence why not and removes nothing.
Never a crash, never a wait.
"""

import hashlib
import io
import json
import os
import signal
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from mutations import cut, other_bytes, spliced
from shared import SHARED_DATA

from iomine.errors import InputError, OutputError, UnreadableError
from iomine.pipeline.ingest.find import find_logs
from iomine.pipeline.packing import Packed, pack, unpack
from iomine.sources.darshan import Identity, identify
from iomine.sources.darshan.packed import BLOCK, COVERED, INDEX, INDEX_SCHEMA

_TAR: Final = "logs-000.tar"
# Longer ones say no more.
_LARGEST_BYTES: Final = 6000
_SLOWEST_SECONDS: Final = 5.0
# One that waits for something takes no processor; the system ends the program then.
_LONGEST_WAIT_SECONDS: Final = 60
_NO_LIMIT: Final = 1 << 40
_CHECKSUM: Final = slice(148, 156)
_NEW: Final = b"a log that is not in the archive"
# Where a header has what, and how wide it is.
_FIELDS: Final = (
    (0, 100),
    (100, 8),
    (108, 8),
    (116, 8),
    (124, 12),
    (136, 12),
    (156, 1),
    (157, 100),
    (257, 8),
    (265, 32),
    (345, 155),
)
_NUMBERS: Final = (
    b"0",
    b"777",
    b"77777777777",
    b"00000000001",
    b"-1",
    b" 12 ",
    b"9",
    b"\x80" + b"\xff" * 11,
    b"\xff" * 12,
    b"\x80" + bytes(10) + b"\x09",
)
_KINDS: Final = b"01234567gxLKSDMVN\0Z"
_NAMES: Final = (
    "../../../escaped.darshan", "/escaped.darshan", "a/../../escaped.darshan", "..", ".", "", "/", "x" * 5000, ".gap", "logs",
    "a//b/./c.darshan", "new\nline.darshan", "esc\x1b[2J.darshan", "quote'\".darshan", "a.tar#b.darshan", "é" * 60 + ".darshan",
    "same.darshan", "\udcff.darshan", "back\\xff.darshan", "-rf.darshan", "nul\0.darshan", "at@512", "\u202eflip.darshan",
)  # fmt: skip
_INTEGERS: Final = (0, 1, -1, 511, 512, 513, 1 << 31, 1 << 62, -(1 << 62), (1 << 63) - 1)


class Archive(NamedTuple):
    """What an archive's folder holds."""

    tar: bytes
    index: bytes


def logs() -> list[bytes]:
    """Small logs, real ones where they are here, and bytes that are none."""
    folder = SHARED_DATA / "darshan"
    real = sorted(path for path in folder.rglob("*.darshan") if path.stat().st_size <= _LARGEST_BYTES) if folder.exists() else []
    return [*(path.read_bytes() for path in real[:6]), b"no log", b""]


@cache
def sound() -> tuple[Archive, ...]:
    """Archives as `iomine pack` writes them, and as tar does."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, data in enumerate(logs()):
            path = folder / "logs" / ("deep" * 30 if number % 2 else "d") / f"ann_x_id{number}_1-2-3-4_1.darshan"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        pack([folder / "logs"], folder / "a")
        ours = Archive((folder / "a" / _TAR).read_bytes(), (folder / "a" / INDEX).read_bytes())
    return (ours, *(Archive(_other_tar(form), b"") for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)))


def _other_tar(form: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for number, data in enumerate(logs()):
            info = tarfile.TarInfo(("long/" * 40 if number % 2 else "") + f"é{number}.darshan")
            info.size, info.mtime = len(data), 1_700_000_000 + number
            tar.addfile(info, io.BytesIO(data))
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            info = tarfile.TarInfo(f"{kind.decode()}.darshan")
            info.type, info.linkname = kind, "../../escaped.darshan"
            tar.addfile(info)
    return out.getvalue()


def outcomes(count: int, seed: int, folder: Path) -> Counter[str]:
    """How often damage ended in what.

    Args:
        count: how many damaged archives to make.
        seed: of chance.
        folder: an empty one.

    Raises:
        AssertionError: something was written where it should not be, came from nowhere, or took long.
    """
    random = Random(seed)
    found: Counter[str] = Counter()
    whole = {hashlib.sha256(data).hexdigest() for data in logs()}
    for number in range(count):
        archive = random.choice(sound())
        for _ in range(random.randint(1, 3)):
            archive = random.choice(_DAMAGES)(archive, random)
        signal.alarm(_LONGEST_WAIT_SECONDS)
        begun = time.process_time()
        try:
            # Disks take most of the time otherwise.
            with patch.object(os, "fsync"):
                found.update(_outcomes(archive, folder / str(number), whole, is_packed_into=number % 4 == 0))
        except BaseException:
            (folder / "culprit").mkdir(exist_ok=True)
            _write(archive, folder / "culprit")
            raise
        assert time.process_time() - begun < _SLOWEST_SECONDS
    signal.alarm(0)
    return found


def _write(archive: Archive, folder: Path) -> None:
    (folder / _TAR).write_bytes(archive.tar)
    if archive.index:
        (folder / INDEX).write_bytes(archive.index)


def _outcomes(archive: Archive, top: Path, whole: set[str], *, is_packed_into: bool) -> Iterator[str]:
    # A name that leads three folders up leads to the top.
    folder, out, logs_here = (top / "x/y" / name for name in ("a", "out", "logs"))
    for each in (folder, logs_here):
        each.mkdir(parents=True)
    _write(archive, folder)
    yield from _read(folder, whole)
    unpacked = unpack(folder, out)
    yield from ("unpacked", "not unpacked")[: bool(unpacked.unpacked) + bool(unpacked.rejects)]
    (logs_here / "new.darshan").write_bytes(_NEW)
    if is_packed_into:
        yield _packed(folder, logs_here)
    written = {path.relative_to(top).parts[:3] for path in top.rglob("*") if not path.is_dir() or path.is_symlink()}
    assert {parts[2] for parts in written} <= {"a", "out", "logs"}
    assert not any(path.is_symlink() for path in top.rglob("*"))
    for path in sorted(top.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    top.rmdir()


def _read(folder: Path, whole: set[str]) -> Iterator[str]:
    for candidate in find_logs([folder], _NO_LIMIT):
        if candidate.reason:
            yield "refused when found"
            continue
        identity = _identity(candidate.path)
        if identity is None:
            yield "refused when read"
        else:
            yield "a log" if identity.night else "no log"
            # A night is that of a log as it was packed, or of one that was damaged and says so when it is read whole.
            assert identity.night is None or identity.sha256 in whole or not identity.reason


def _identity(path: str) -> Identity | None:
    try:
        return identify(Path(path))
    except UnreadableError:
        return None


def _packed(folder: Path, source: Path) -> str:
    done = Packed()
    with suppress(OutputError, InputError):
        done = pack([source], folder, remove=True)
    there = (source / "new.darshan").exists()
    assert there != bool(done.removed)
    if there:
        return "not packed into"
    # What is gone from the folder has to be found in the archive, whatever happened to that before.
    digest = hashlib.sha256(_NEW).hexdigest()
    found = (_identity(candidate.path) for candidate in find_logs([folder], _NO_LIMIT) if not candidate.reason)
    assert digest in {identity.sha256 for identity in found if identity}
    return "packed into"


def _in_tar(damage: Callable[[bytes, Random, tuple[bytes, ...]], bytes]) -> Callable[[Archive, Random], Archive]:
    def damaged(archive: Archive, random: Random) -> Archive:
        return archive._replace(tar=damage(archive.tar or b"\0", random, tuple(each.tar for each in sound())))

    return damaged


def _in_index(damage: Callable[[bytes, Random, tuple[bytes, ...]], bytes]) -> Callable[[Archive, Random], Archive]:
    def damaged(archive: Archive, random: Random) -> Archive:
        return archive._replace(index=damage(archive.index, random, (sound()[0].index,))) if archive.index else archive

    return damaged


def _blocks(tar: bytes) -> list[bytes]:
    return [tar[at : at + BLOCK] for at in range(0, len(tar), BLOCK)] or [bytes(BLOCK)]


def _headers(blocks: list[bytes]) -> list[int]:
    """Which blocks are headers."""
    return [number for number, block in enumerate(blocks) if block[257:262] == b"ustar"] or [0]


def _with_checksum(block: bytearray) -> bytes:
    block[_CHECKSUM] = b" " * 8
    block[_CHECKSUM] = b"%06o\0 " % sum(block)
    return bytes(block)


def _header_field(tar: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    """A field of a header says something else, and the checksum fits."""
    blocks = _blocks(tar)
    place = random.choice(_headers(blocks))
    block = bytearray(blocks[place].ljust(BLOCK, b"\0"))
    at, width = random.choice(_FIELDS)
    values: tuple[bytes, ...] = _NUMBERS
    if at == 0 or width > 12:
        values = (
            *(name.encode("utf-8", "surrogateescape") for name in _NAMES),
            b"sha256:" + b"0" * 64,
            b"sha256:zz",
            b"\xff" * 100,
        )
    elif at == 156:
        values = tuple(bytes([kind]) for kind in _KINDS)
    block[at : at + width] = random.choice(values)[:width].ljust(width, b"\0")
    blocks[place] = _with_checksum(block)
    return b"".join(blocks)


def _name(tar: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    """A member more, of a hostile name in one of the forms that tar has for it."""
    info = tarfile.TarInfo(random.choice(_NAMES))
    data = random.choice(logs())
    info.size, info.mtime = len(data), random.choice((0, 1_700_000_000, 8**11, -5, 2**80))
    try:
        header = info.tobuf(random.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)), "utf-8", "surrogateescape")
    except (ValueError, UnicodeError):
        return tar
    blocks = _blocks(tar)
    place = random.choice(_headers(blocks))
    return b"".join(blocks[:place]) + header + data + bytes(-len(data) % BLOCK) + b"".join(blocks[place:])


def _moved(tar: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    """Blocks are lost, doubled, moved or emptied."""
    blocks = _blocks(tar)
    places = _headers(blocks) if random.random() < 0.7 else range(len(blocks))
    one, other = sorted(random.choice(places) for _ in range(2))
    ways = (
        blocks[:one] + blocks[other:],
        blocks[:other] + blocks[one:],
        blocks[other:] + blocks[:other],
        [*blocks[:one], *[bytes(BLOCK)] * (other - one), *blocks[other:]],
        [*blocks[:one], bytes(BLOCK), *blocks[one:]],
    )
    return b"".join(random.choice(ways))


def _extended(tar: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    """An extended header more, that says anything."""
    text = random.choice(
        (
            b"20 path=../escaped\n",
            b"99999 path=x\n",
            b"0 path=x\n",
            b"5 \n",
            b"4 a\n" * 4000,
            b" " * 9000,
            b"1" * 9000,
            b"12 size=99\n\n",
            b"9 path=\n",
            b"13 path=a\0b\n",
            bytes(random.randbytes(300)),
        )
    )
    info = tarfile.TarInfo("x")
    info.type = random.choice(
        (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.GNUTYPE_SPARSE)
    )
    info.size = random.choice((len(text), len(text), 0, 1 << 30))
    blocks = _blocks(tar)
    place = random.choice(_headers(blocks))
    header = info.tobuf(tarfile.GNU_FORMAT)
    return b"".join(blocks[:place]) + header + text + bytes(-len(text) % BLOCK) + b"".join(blocks[place:])


def _rows(archive: Archive, random: Random) -> Archive:
    """Rows of the index say something else, or are lost, or come twice."""
    table = _table(archive.index)
    if table is None or not len(table):
        return archive
    rows = table.to_pylist()
    row, other = random.choice(rows), random.choice(rows)
    name = random.choice(list(row))
    values: dict[str, Any] = {
        "sha256": random.choice((bytes(32), hashlib.sha256(_NEW).digest(), other["sha256"], None)),
        "file": random.choice(("../../../escaped.tar", "/escaped.tar", "logs-001.tar", "", "x" * 5000, None)),
        "name": random.choice((*(name for name in _NAMES if name.isprintable()), other["name"], None)),
        "owner": random.choice(("root\n", "", None)),
        "modified_at": random.choice((0, -1, 1 << 31, 1 << 40, -(1 << 40), None)),
        "night": None,
    }
    row[name] = values.get(name, random.choice((*_INTEGERS, other.get(name), None)))
    if random.random() < 0.2:
        rows.remove(other)
    if random.random() < 0.2:
        rows.append(other)
    return archive._replace(index=_parquet(rows, table.schema))


def _covered(archive: Archive, random: Random) -> Archive:
    """The index says that it knows other bytes, or something else than bytes."""
    table = _table(archive.index)
    if table is None:
        return archive
    size = len(archive.tar)
    value = random.choice((*_INTEGERS, size, size - BLOCK, size + BLOCK, True, 1.5, "x", None, [], {"a": 1}))
    covered = random.choice(({_TAR: value}, {"../escaped.tar": 0}, value, {}))
    text = random.choice((json.dumps(covered).encode(), b"[" * 100_000, b"\xff", b"NaN"))
    return archive._replace(index=_parquet(table.to_pylist(), table.schema.with_metadata({COVERED: text})))


def _columns(archive: Archive, random: Random) -> Archive:
    """The index has other columns."""
    table = _table(archive.index)
    if table is None:
        return archive
    name = random.choice(table.column_names)
    ways: tuple[Callable[[], pa.Table], ...] = (
        lambda: table.drop_columns([name]),
        lambda: table.set_column(table.column_names.index(name), name, table[name].cast(pa.string())),
        lambda: table.append_column("more", pa.array([1.5] * len(table))),
        lambda: table.rename_columns([f"{each}_" if each == name else each for each in table.column_names]),
        lambda: table.slice(0, 0),
    )
    with suppress(pa.ArrowException):
        out = io.BytesIO()
        pq.write_table(random.choice(ways)(), out)
        return archive._replace(index=out.getvalue())
    return archive


def _table(index: bytes) -> pa.Table | None:
    try:
        table = pq.read_table(io.BytesIO(index), schema=INDEX_SCHEMA)
        # Times as numbers: some of those that damage gives are beyond every calendar.
        place = table.column_names.index("modified_at")
        return table.set_column(place, "modified_at", table["modified_at"].cast(pa.int64()))
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return None


def _parquet(rows: list[dict[str, Any]], schema: pa.Schema) -> bytes:
    out = io.BytesIO()
    table = pa.Table.from_pylist(rows, schema)
    place = schema.get_field_index("modified_at")
    pq.write_table(table.set_column(place, "modified_at", table["modified_at"].cast(pa.timestamp("s", tz="UTC"))), out)
    return out.getvalue()


_DAMAGES: Final[tuple[Callable[[Archive, Random], Archive], ...]] = (
    *map(_in_tar, (other_bytes, cut, spliced, _header_field, _header_field, _name, _moved, _extended)),
    *map(_in_index, (other_bytes, cut, spliced)),
    _rows,
    _covered,
    _columns,
)


def _lines_of(found: Counter[str]) -> Iterator[str]:
    return (f"{count:9,} {outcome}" for outcome, count in found.most_common())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print("\n".join(_lines_of(outcomes(int(sys.argv[1]), 1, Path(name)))))  # noqa: T201
