"""Packs logs into a few tar files, unchanged, with an index; and unpacks them.

Writers need no coordinator. A writer takes its place at the end of a tar file under a short lock, as a gap, a member that readers
ignore. It writes its logs into the gap outside the lock, and at last replaces the gap's header with the first log's. So a
writer that is killed leaves a gap, and never part of a log.

The index, `index.parquet`, only saves time: it can be rebuilt from the tar files.
"""

import errno
import fcntl
import hashlib
import json
import os
import pwd
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple, Self

import pyarrow as pa
import pyarrow.parquet as pq

from iomine.errors import InputError, OutputError, UnreadableError, UsageError
from iomine.locks import lock_file
from iomine.pipeline import progress
from iomine.pipeline.ingest.find import check, find, shown
from iomine.sources.darshan.identity import night_of
from iomine.sources.darshan.packed import (
    BLOCK,
    COVERED,
    DIGEST,
    GAP,
    INDEX,
    INDEX_SCHEMA,
    SUFFIX,
    Member,
    is_archive,
    members,
    path_of,
    read_index,
    read_member,
    walk,
)
from iomine.sources.opening import opened
from iomine.units import MIB

MOST_FILES: Final = 1000
# Written at once: few locks, and little memory.
_BATCH_BYTES: Final = 4 * MIB
_PRIVATE_FILE: Final = 0o640
# Held while room at the end of a tar file is taken.
_ROOM_LOCK: Final = ".room.lock"
_OWNER_BYTES: Final = 31
_EMPTY_HEADER: Final = tarfile.TarInfo().tobuf(tarfile.USTAR_FORMAT)


@dataclass(slots=True)
class Packed:
    """What came of packing.

    Attributes:
        packed: logs that were packed.
        known: logs that were there already.
        removed: sources that were removed.
        packed_bytes: bytes of the logs that were packed.
        gaps: places that a killed writer left; nothing is in them.
        rejects: path and reason of what could not be packed, or not removed.
    """

    packed: int = 0
    known: int = 0
    removed: int = 0
    packed_bytes: int = 0
    gaps: int = 0
    rejects: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Source:
    """A log that is to be packed, or was."""

    path: str
    changed: tuple[int, int]
    sha256: str


_Row = Mapping[str, Any]
# Rows of the index by tar file and place.
_Rows = dict[tuple[str, int], _Row]
# What was written by this very run: for each tar file, the end of each stretch by its beginning.
_Written = defaultdict[str, dict[int, int]]


def packed_count(archive: Path) -> int | None:
    """How many logs the index of an archive names; None where it cannot be read."""
    try:
        return int(pq.read_metadata(archive / INDEX).num_rows)
    except (OSError, pa.ArrowException):
        return None


class ToPack(NamedTuple):
    """A log that is to be packed.

    Attributes:
        path: where it is.
        name: its name in the archive.
        sha256: in hex, of the bytes that alone are to be packed; empty where any are.
    """

    path: str
    name: str
    sha256: str = ""


def pack(paths: Sequence[Path], into: Path, files: int = 1, *, remove: bool = False) -> Packed:
    """Packs all logs under some paths into an archive, each once.

    Args:
        paths: folders and files.
        into: as for `pack_each`.
        files: as for `pack_each`.
        remove: as for `pack_each`.

    Raises:
        UsageError: a path does not exist, or there are to be too many files.
        InputError: a path cannot be opened.
        OutputError: the archive cannot be written; no source was removed that is not in it.
    """
    # Before anything is made or packed.
    check(paths)
    done = Packed()
    return pack_each(_candidates(paths, into, done), into, files, remove=remove, done=done)


def pack_each(logs: Iterable[ToPack], into: Path, files: int = 1, *, remove: bool = False, done: Packed | None = None) -> Packed:
    """Packs logs into an archive, each once.

    Args:
        logs: the logs.
        into: folder of the archive, made where there is none. Several may pack into it at the same time.
        files: over how many tar files logs are spread, by their digests.
        remove: removes a source once its bytes were read back from the archive and are the same.
        done: what came of packing so far.

    Raises:
        UsageError: there are to be too many files.
        OutputError: the archive cannot be written; no source was removed that is not in it.
    """
    if not 1 <= files <= MOST_FILES:
        raise UsageError(f"Logs can be spread over 1 to {MOST_FILES} files, not {files}.")
    done = done or Packed()
    sources: list[_Source] = []
    with _as_output_errors(into):
        into.mkdir(parents=True, exist_ok=True)
        written = _Written(dict)
        rows = _known_now(into, {}, written).rows
        known = {row["sha256"] for row in rows.values()}
        with _Batches(into, files, rows, written) as batches:
            for path, name, sha256 in logs:
                if (read := _read(path, done)) is None:
                    continue
                data, status = read
                digest = hashlib.sha256(data)
                if sha256 and sha256 != digest.hexdigest():
                    done.rejects.append((shown(path), "It stays: it changed since it was read, and the next sweep will read it."))
                    continue
                sources.append(_Source(path, (status.st_size, status.st_mtime_ns), digest.hexdigest()))
                if digest.digest() in known:
                    done.known += 1
                    continue
                known.add(digest.digest())
                batches.add(name, data, status, digest.digest())
                done.packed += 1
                done.packed_bytes += len(data)
        rows, _, done.gaps = _write_index(into, rows, written)
    if remove:
        _remove(sources, into, rows, done)
    return done


def _candidates(paths: Sequence[Path], into: Path, done: Packed) -> Iterator[ToPack]:
    """Each log under some paths."""
    seen: set[str] = set()
    inside = f"{into.absolute()}{os.sep}"
    for top in paths:
        found = [each for each in find([top], 1 << 63) if not each.path.startswith(inside) and not is_archive(each.path)]
        for number, candidate in enumerate(found, start=1):
            progress.report("pack", number, len(found))
            if candidate.path in seen:
                continue
            seen.add(candidate.path)
            if candidate.reason:
                done.rejects.append((shown(candidate.path), candidate.reason))
            else:
                yield ToPack(candidate.path, name_below(top, candidate.path))


def name_below(top: Path, path: str) -> str:
    """The name in an archive of a log that was found under a path: from the last part of that on."""
    return path.removeprefix(str(top.absolute().parent).rstrip(os.sep) + os.sep)


def _read(path: str, done: Packed) -> tuple[bytes, os.stat_result] | None:
    try:
        with opened(path) as file:
            return file.read(), os.fstat(file.fileno())
    except OSError as error:
        done.rejects.append((shown(path), f"The file cannot be read: {error.strerror}."))
        return None


class _Batches:
    """Gathers logs by tar file, and writes a batch when it is full."""

    def __init__(self, into: Path, files: int, rows: _Rows, written: _Written) -> None:
        self._into, self._files, self._rows, self._written = into, files, rows, written
        # Header, bytes and what fills the last block of each log, and its row.
        self._batches: dict[str, list[tuple[tuple[bytes, bytes, bytes], _Row]]] = {}
        self._sizes: dict[str, int] = {}
        self._names = {(row["file"], row["name"]) for row in rows.values()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            for file in [*self._batches]:
                self._flush(file)

    def add(self, name: str, data: bytes, status: os.stat_result, digest: bytes) -> None:
        """Adds a log."""
        file = f"logs-{int.from_bytes(digest[:8], 'big') % self._files:03d}{SUFFIX}"
        if (file, name) in self._names:
            # Another log of that name; its own is kept within the folder's.
            name = f"{digest.hex()[:16]}/{name}"
        self._names.add((file, name))
        owner = _owner(status.st_uid)
        changed = int(status.st_mtime)
        link = f"{DIGEST}{digest.hex()}"
        header = _header(name, len(data), modified_at=changed, uid=status.st_uid, owner=owner, link=link)
        row = {
            "sha256": digest,
            "file": file,
            "length_bytes": len(data),
            "name": shown(name),
            "owner": owner,
            "modified_at": changed,
            "night": night_of(data),
        }
        self._batches.setdefault(file, []).append(((header, data, bytes(-len(data) % BLOCK)), row))
        self._sizes[file] = self._sizes.get(file, 0) + len(data)
        if self._sizes[file] >= _BATCH_BYTES:
            self._flush(file)

    def _flush(self, file: str) -> None:
        batch = self._batches.pop(file)
        self._sizes[file] = 0
        data = b"".join(chain.from_iterable(pieces for pieces, _ in batch))
        begin = _append(self._into / file, data)
        self._written[file][begin] = begin + len(data)
        for pieces, row in batch:
            offset = begin + len(pieces[0])
            self._rows[file, offset] = {**row, "offset_bytes": offset}
            begin += sum(map(len, pieces))


def _append(path: Path, data: bytes) -> int:
    """Appends members to a tar file, all or none of them, and gives the place of the first."""
    with _opened(path) as file:
        with _locked(path.parent / _ROOM_LOCK):
            end = os.fstat(file).st_size
            begin = end + -end % BLOCK
            try:
                # Room first, so that a full disk is known before anything is promised.
                os.posix_fallocate(file, begin, len(data))
            except OSError:
                os.ftruncate(file, end)
                raise
            _write(file, _header(GAP, len(data) - BLOCK), begin)
        _write(file, data[BLOCK:], begin + BLOCK)
        os.fsync(file)
        _write(file, data[:BLOCK], begin)
        os.fsync(file)
    return begin


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE_FILE)
    try:
        yield file
    finally:
        os.close(file)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Waits for the lock of that name. None is on a tar file: those who may read it could hold it."""
    lock = lock_file(path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _write(file: int, data: bytes, at: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, at)
        view, at = view[written:], at + written


def _header(name: str, size: int, *, modified_at: int = 0, uid: int = 0, owner: str = "", link: str = "") -> bytes:
    """The header of a member; a plain one is filled into an empty one, in a fifth of the time that tarfile takes."""
    texts = [
        (at, text.encode("utf-8", "surrogateescape"), room)
        for at, text, room in ((0, name, 100), (157, link, 100), (265, owner, 32))
    ]
    numbers = ((108, uid, 7), (124, size, 11), (136, max(modified_at, 0), 11))
    if all(len(text) <= room for _, text, room in texts) and all(number < 8**digits for _, number, digits in numbers):
        block = bytearray(_EMPTY_HEADER)
        for at, text, _ in (*texts, *((at, b"%0*o" % (digits, number), digits) for at, number, digits in numbers)):
            block[at : at + len(text)] = text
        block[148:156] = b" " * 8
        block[148:155] = b"%06o\0" % sum(block)
        return bytes(block)
    header = tarfile.TarInfo(name)
    header.size, header.mtime, header.uid, header.uname, header.linkname = size, max(modified_at, 0), uid, owner, link
    try:
        return header.tobuf(tarfile.USTAR_FORMAT, "utf-8", "surrogateescape")
    except ValueError:
        # A long name, or a number that is too large for the plain format.
        return header.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


@cache
def _owner(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name[:_OWNER_BYTES]
    except KeyError:
        return str(uid)


class _Known(NamedTuple):
    """What is in an archive.

    Attributes:
        rows: of the index.
        covered: up to which byte each tar file is known, which is where its first gap begins: another may be at work there.
        gaps: places that hold nothing.
    """

    rows: _Rows
    covered: dict[str, int]
    gaps: int


def _known_now(into: Path, own: _Rows, written: _Written) -> _Known:
    """What the index says, what is known beside it, and what tar files have beyond that.

    Raises:
        OutputError: a tar file ends within something, or has no header where one should be.
    """
    paths = sorted(into.glob(f"*{SUFFIX}"))
    table, covered = read_index(into)
    # If a file is gone, or shorter than in the index, nothing is known about it.
    covered = {path.name: covered[path.name] for path in paths if covered.get(path.name, 1 << 63) <= path.stat().st_size}
    rows = dict(own)
    # The last that the index knows is looked at again: what is added behind it is found only where it ends as it should.
    lasts: dict[str, int] = {}
    if table is not None:
        for row in table.set_column(6, "modified_at", table["modified_at"].cast(pa.int64())).to_pylist():
            file, offset = row["file"], row["offset_bytes"]
            if file in covered:
                # What this run wrote itself is sure; an index of bytes that were lost may say otherwise.
                rows.setdefault((file, offset), row)
                lasts[file] = max(lasts.get(file, 0), offset - BLOCK if offset < covered[file] else 0)
    gaps = 0
    now: dict[str, int] = {}
    for path in paths:
        at = lasts.get(path.name, 0)
        with _opened(path) as file:
            with _locked(into / _ROOM_LOCK):
                first_gap = _fill_holes(file, at, written[path.name])
            for member in walk(file, at, written[path.name]):
                if member.is_end:
                    raise OutputError(
                        f"{path} is damaged at byte {member.offset}: move it away, or logs packed into it later may be lost."
                    )
                if member.name == GAP:
                    gaps += 1
                    first_gap = min(first_gap, member.offset - BLOCK)
                elif not member.reason and (path.name, member.offset) not in rows:
                    rows[path.name, member.offset] = _row_of(path.name, member, os.pread(file, member.size_bytes, member.offset))
            now[path.name] = first_gap
    return _Known(rows, now, gaps)


def _row_of(file: str, member: Member, data: bytes) -> _Row:
    return {
        "sha256": hashlib.sha256(data).digest(),
        "file": file,
        "offset_bytes": member.offset,
        "length_bytes": member.size_bytes,
        "name": shown(member.name),
        "owner": shown(member.user),
        "modified_at": int(member.modified_at),
        "night": night_of(data),
    }


def _fill_holes(file: int, at: int, passed: Mapping[int, int]) -> int:
    """Makes gaps of what is all zeros, where a writer was killed between taking room and saying so; gives the file's end."""
    holes = [member for member in walk(file, at, passed) if member.name == GAP]
    for hole in holes:
        begin = hole.offset - BLOCK
        if os.pread(file, BLOCK, begin) == bytes(BLOCK):
            _write(file, _header(GAP, hole.size_bytes), begin)
    # No writer is between taking room and writing a header now, so everything up to here has one.
    return os.fstat(file).st_size


def _write_index(into: Path, own: _Rows, written: _Written) -> _Known:
    """Writes the index of all that is in an archive, and gives that; another may have packed meanwhile."""
    with _locked(into / ".lock"):
        known = _known_now(into, own, written)
        rows = [known.rows[key] for key in sorted(known.rows)]
        table = pa.Table.from_pylist(rows, INDEX_SCHEMA)
        table = table.replace_schema_metadata({COVERED: json.dumps(known.covered).encode()})
        new = into / f".{INDEX}.new"
        pq.write_table(table, new, compression="zstd", use_dictionary=["file", "owner", "night"])
        with _opened(new) as file:
            os.fsync(file)
        new.replace(into / INDEX)
    return known


def _remove(sources: Iterable[_Source], into: Path, rows: _Rows, done: Packed) -> None:
    """Removes sources whose bytes are in the archive, as reading them back shows."""
    at = {row["sha256"].hex(): row for row in rows.values()}
    for source in sources:
        row = at.get(source.sha256)
        if row is None:
            done.rejects.append((shown(source.path), "It stays: the archive has lost it meanwhile."))
            continue
        try:
            with (into / row["file"]).open("rb", buffering=0) as file:
                data = os.pread(file.fileno(), row["length_bytes"], row["offset_bytes"])
            status = Path(source.path).stat()
            if hashlib.sha256(data).hexdigest() != source.sha256:
                done.rejects.append((shown(source.path), "It stays: what was read back from the archive is not the same."))
            elif (status.st_size, status.st_mtime_ns) != source.changed:
                done.rejects.append((shown(source.path), "It stays: it changed while it was being packed."))
            else:
                Path(source.path).unlink()
                done.removed += 1
        except OSError as error:
            done.rejects.append((shown(source.path), f"It stays: it cannot be removed ({error.strerror})."))


@dataclass(slots=True)
class Unpacked:
    """What came of unpacking.

    Attributes:
        unpacked: logs that were written.
        known: logs that were there already.
        rejects: path and reason of what could not be unpacked.
    """

    unpacked: int = 0
    known: int = 0
    rejects: list[tuple[str, str]] = field(default_factory=list)


def unpack(archive: Path, into: Path) -> Unpacked:
    """Writes the logs of an archive as files below a folder, and nothing outside it.

    Args:
        archive: a folder with tar files, or one of these.
        into: the folder, made where there is none.

    Raises:
        InputError: the archive is not there, or cannot be opened.
        OutputError: the folder cannot be written.
    """
    done = Unpacked()
    found = sorted(archive.glob(f"*{SUFFIX}")) if archive.is_dir() else [archive]
    if not found or not found[0].exists():
        raise InputError(f"There is no archive in {archive}: name a folder that iomine pack has written, or a tar file.")
    with _as_output_errors(into):
        into.mkdir(parents=True, exist_ok=True)
        for number, path in enumerate(found, start=1):
            progress.report("unpack", number, len(found))
            for member in _members(path):
                _unpack_one(path_of(str(path.absolute()), member.name), member, into.resolve(), done)
    return done


def _members(path: Path) -> Iterator[Member]:
    try:
        yield from members(str(path.absolute()))
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}.") from error


def _unpack_one(path: str, member: Member, into: Path, done: Unpacked) -> None:
    parts = [part for part in PurePosixPath(member.name).parts if part not in {"/", "..", "."}]
    try:
        data = read_member(path)
    except UnreadableError as error:
        done.rejects.append((shown(path), error.reason))
        return
    target = into.joinpath(*parts)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not parts or not target.parent.resolve().is_relative_to(into):
            done.rejects.append((shown(path), "Its name leads out of the folder."))
            return
        file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _PRIVATE_FILE)
    except (FileExistsError, NotADirectoryError):
        if target.is_file() and not target.is_symlink() and target.read_bytes() == data:
            done.known += 1
        else:
            done.rejects.append((shown(path), "There is something else of its name."))
        return
    except OSError as error:
        if error.errno not in {errno.ENAMETOOLONG, errno.EINVAL}:
            raise
        done.rejects.append((shown(path), f"No file can have its name ({error.strerror})."))
        return
    try:
        _write(file, data, 0)
        os.utime(file, (member.modified_at, member.modified_at))
    except OSError:
        target.unlink()
        raise
    finally:
        os.close(file)
    done.unpacked += 1


@contextmanager
def _as_output_errors(into: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{into} cannot be written ({error.strerror}): name another place; no log was removed that is not packed."
        ) from error
