"""Logs in plain tar files, each read at its place, as if it were a file: its path is `ARCHIVE.tar#NAME`.

`iomine pack` writes such archives, and says the SHA-256 of each member in the field for a link's target, which readers of
tar ignore for files. An archive of anybody's making is read as well, if it is not compressed. It is as hostile as a log:
nothing is written, links and devices are passed over, and a member's name is a text and never a place.

Format: POSIX.1-1988 ustar, and for long names the extended headers of POSIX.1-2001 (pax) or of GNU tar.
"""

import hashlib
import json
import os
import tarfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine.errors import UnreadableError
from iomine.sources.darshan.file_state import FileState
from iomine.sources.opening import opened
from iomine.units import KIB

BLOCK: Final = tarfile.BLOCKSIZE
SUFFIX: Final = ".tar"
DIGEST: Final = "sha256:"
# What fills a gap that a killed writer left, so that other readers of tar find what follows.
GAP: Final = ".gap"

INDEX: Final = "index.parquet"
# Where the index says, for each tar file, up to which byte it knows it.
COVERED: Final = b"covered_bytes"
INDEX_SCHEMA: Final = pa.schema(
    [
        ("sha256", pa.binary(32)),
        ("file", pa.dictionary(pa.int32(), pa.string())),
        ("offset_bytes", pa.int64()),
        ("length_bytes", pa.int64()),
        ("name", pa.string()),
        ("owner", pa.dictionary(pa.int32(), pa.string())),
        ("modified_at", pa.timestamp("s", tz="UTC")),
        ("night", pa.date32()),
    ]
)

_MARK: Final = f"{SUFFIX}#"
_LONG: Final = frozenset((tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME))
_FILES: Final = frozenset((tarfile.REGTYPE, tarfile.AREGTYPE))
# Kinds that have no bytes behind their header, whatever size that gives.
_EMPTY: Final = frozenset((*tarfile.SUPPORTED_TYPES,)) - {*tarfile.REGULAR_TYPES, *tarfile.GNU_TYPES}
# Extended headers that say nothing of a name.
_SILENT: Final = frozenset((tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK))
_MOST_NAME_BYTES: Final = 4 * KIB
_MOST_EXTENDED_BYTES: Final = 16 * KIB
# Gaps are looked through in pieces: small ones at first, since an archive may have many, and then larger ones.
_FIRST_PIECE_BYTES: Final = 4 * KIB
_LAST_PIECE_BYTES: Final = 1024 * KIB
# What the plain format can say of a time; an archive of anybody's making may claim more than any calendar has.
_LATEST_SECONDS: Final = 8**11 - 1
# A number that any sum of two has room for.
_LARGEST_BYTES: Final = 1 << 60
_ARCHIVES_AT_HAND: Final = 64
_LARGEST_UID: Final = (1 << 32) - 1

_NOT_WHOLE: Final = "Its bytes are not those that were packed, as where packing was cut short: pack it again."
_CUT: Final = "The archive ends within it."


class Member(NamedTuple):
    """A file in an archive.

    Attributes:
        name: its name there, as text.
        offset: where in the archive its bytes begin.
        size_bytes: how many they are.
        modified_at: when it was last changed, in seconds since the epoch.
        sha256: of its bytes in hex, empty where the archive does not say it.
        uid: its owner.
        user: its owner's login name.
        reason: why it cannot be read, empty where it can.
        is_end: whether nothing after it can be found.
    """

    name: str
    offset: int
    size_bytes: int
    modified_at: float
    sha256: str
    uid: int
    user: str
    reason: str = ""
    is_end: bool = False


def is_archive(name: str) -> bool:
    """Whether a file is taken for an archive of logs, by its name."""
    return name.endswith(SUFFIX)


def path_of(archive: str, name: str) -> str:
    """The path by which a member is known."""
    return f"{archive}#{name}"


def parts_of(path: str | os.PathLike[str]) -> tuple[str, str] | None:
    """Archive and name of a member by its path, None where that is the path of a file."""
    before, mark, name = os.fspath(path).partition(_MARK)
    return (before + SUFFIX, name) if mark else None


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a member, and not of a file that is called so."""
    return parts_of(path) is not None and not Path(path).exists()


def file_name(path: str | os.PathLike[str]) -> str:
    """The last part of a path, of a member that of its name."""
    text = os.fspath(path)
    return (parts[1] if (parts := parts_of(text)) else text).rpartition("/")[2]


def members(archive: str) -> Iterator[Member]:
    """The files in an archive, in their order; names that occur again get the place of their bytes behind an `@`.

    What stands where a header should be, and is none, ends the archive as a member with its reason; zeros do not. What the
    index knows beyond that is found all the same.

    Raises:
        OSError: the archive cannot be read.
    """
    seen: set[str] = set()
    places: set[int] = set()
    with opened(archive) as file:
        for member in walk(file.fileno()):
            places.add(member.offset)
            if member.name != GAP:
                yield _apart(member, seen)
        size = os.fstat(file.fileno()).st_size
    for row in _rows_of(archive, size).to_pylist():
        if row["offset_bytes"] not in places and row["offset_bytes"] + row["length_bytes"] <= size:
            yield _apart(_member_of(row), seen)


def _apart(member: Member, seen: set[str]) -> Member:
    """The member under a name that no other has, as it is in a path."""
    name = _as_in_paths(member.name)
    name = name if name not in seen else f"{name}@{member.offset}"
    seen.add(name)
    return member._replace(name=name)


def _rows_of(archive: str, size: int) -> pa.Table:
    """What the index says of an archive, nothing where it is not that of this one or older than what is in it."""
    table, covered = read_index(Path(archive).parent)
    file = Path(archive).name
    if table is None or not covered.get(file, size + 1) <= size:
        return INDEX_SCHEMA.empty_table()
    return table.filter(pc.equal(table["file"].cast(pa.string()), file))


def _as_in_paths(name: str) -> str:
    """A name without what a path loses when it is taken for one: `//` and `/./`."""
    while "//" in name or "/./" in name:
        name = name.replace("/./", "/").replace("//", "/")
    return name


def walk(file: int, at: int = 0, passed: Mapping[int, int] | None = None) -> Iterator[Member]:
    """What is in an archive from some place on, gaps among it, each with its place.

    Args:
        file: descriptor of the archive.
        at: where a header begins.
        passed: stretches that are known already, and are not looked at: the end of each by its beginning.

    Raises:
        OSError: the archive cannot be read.
    """
    end, long_name = os.fstat(file).st_size, ""
    while at < end:
        if passed and at in passed:
            at = passed[at]
            continue
        block = os.pread(file, BLOCK, at)
        if not block.strip(b"\0"):
            after = _after_zeros(file, at, end)
            if after < end:
                yield Member(GAP, at + BLOCK, after - at - BLOCK, 0.0, "", 0, "")
            at = after
            continue
        header = _header_in(block)
        if isinstance(header, str):
            yield _unreadable(f"at byte {at}", at, f"{header}, and what follows cannot be found.")
            return
        size, at = header.size, at + BLOCK
        if header.type in _LONG and size <= _MOST_EXTENDED_BYTES and at + size <= end:
            long_name = _long_name(header.type, os.pread(file, size, at)) or long_name
        else:
            name, long_name = (long_name, long_name) if header.type in _SILENT else (long_name or header.name, "")
            yield from _named_by(header, name, at, end)
        if header.type not in _EMPTY:
            at += -(-size // BLOCK) * BLOCK
    if long_name:
        yield _unreadable(f"at byte {at}", at, "The archive ends with the name of a member, and without the member.")


def _header_in(block: bytes) -> tarfile.TarInfo | str:
    """The header of a member, or why it is none."""
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError, OverflowError) as error:
        return f"This is no header of a tar file ({error})"
    return header if header.size >= 0 else "Its header gives a negative size"


def _after_zeros(file: int, at: int, end: int) -> int:
    """The next block that is not all zeros."""
    piece_bytes = _FIRST_PIECE_BYTES
    while at < end:
        piece = os.pread(file, min(piece_bytes, end - at), at)
        zeros = len(piece) - len(piece.lstrip(b"\0"))
        if zeros < len(piece):
            return at + zeros // BLOCK * BLOCK
        at += max(len(piece), BLOCK)
        piece_bytes = min(2 * piece_bytes, _LAST_PIECE_BYTES)
    return end


def _long_name(kind: bytes, data: bytes) -> str:
    """The name in an extended header, empty where there is none."""
    if kind == tarfile.GNUTYPE_LONGNAME:
        return _text(data.rstrip(b"\0"))
    at = 0
    while at < len(data):
        # A record is its own length in digits, a space, a key, an equals sign, a value, and a line feed.
        space = data.find(b" ", at, at + len(str(_MOST_EXTENDED_BYTES)) + 1)
        digits = data[at : max(space, at)]
        length = int(digits) if digits.isdigit() else 0
        if not len(digits) < length <= len(data) - at:
            return ""
        key, _, value = data[space + 1 : at + length - 1].partition(b"=")
        if key == b"path":
            return _text(value)
        at += length
    return ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _named_by(header: tarfile.TarInfo, name: str, at: int, end: int) -> Iterator[Member]:
    """The file that a header names, or that the archive ends within something else."""
    if header.type in _FILES:
        yield _member(header, name, at, end)
    elif header.type not in _EMPTY and at + header.size > end:
        yield _unreadable(f"at byte {at - BLOCK}", at, _CUT)


def _member(header: tarfile.TarInfo, name: str, at: int, end: int) -> Member:
    digest = header.linkname.removeprefix(DIGEST) if header.linkname.startswith(DIGEST) else ""
    reason = ""
    if len(os.fsencode(name)) > _MOST_NAME_BYTES or "\0" in name:
        name, reason = f"at byte {at - BLOCK}", "Its name is longer than 4 KiB, or no name."
    if at + header.size > end:
        reason = _CUT
    modified_at = float(min(max(header.mtime, 0), _LATEST_SECONDS))
    return Member(name, at, header.size, modified_at, digest, header.uid, header.uname, reason, reason == _CUT)


def _unreadable(name: str, at: int, reason: str) -> Member:
    return Member(name, at, 0, 0.0, "", 0, "", reason, is_end=True)


def member_at(path: str | os.PathLike[str]) -> Member:
    """A member by its path.

    Raises:
        UnreadableError: the archive cannot be read, or has no such member.
    """
    parts = parts_of(path)
    if parts is None:
        raise ValueError(f"{path} is not in an archive")
    archive, name = parts
    try:
        status = Path(archive).stat()
        version = (archive, status.st_size, status.st_mtime_ns)
        # Where a header was damaged, a name there is none that the index knows.
        found = _by_index(*version).get(name) or _by_walking(*version).get(name)
    except OSError as error:
        raise UnreadableError(f"The archive cannot be read: {error.strerror}.", False) from error
    if found is None:
        raise UnreadableError("The archive has no such member.", False)
    return found


# Size and time of change are part of the key: an archive grows.
@lru_cache(_ARCHIVES_AT_HAND)
def _by_walking(archive: str, _size: int, _changed: int) -> Mapping[str, Member]:
    return {member.name: member for member in members(archive)}


@lru_cache(_ARCHIVES_AT_HAND)
def _by_index(archive: str, size: int, _changed: int) -> Mapping[str, Member]:
    """Members by name as the index says, none where it does not say it of all of them."""
    _, covered = read_index(Path(archive).parent)
    rows = _rows_of(archive, size)
    found = _Indexed(rows)
    # Members of one name, as two writers may pack at once, and names that are no UTF-8: only the archive keeps those apart.
    is_plain = len(found) == rows.num_rows and not pc.any(pc.match_substring(rows["name"], "\\")).as_py()
    return found if is_plain and covered.get(Path(archive).name) == size else {}


class _Indexed(Mapping[str, Member]):
    """Members of an archive by name, as its index says; made when they are asked for."""

    def __init__(self, table: pa.Table) -> None:
        # One piece of each column, in which a row is found at once.
        self._columns = {name: table[name].combine_chunks() for name in table.column_names}
        self._rows = {name: row for row, name in enumerate(table["name"].to_pylist())}

    def __getitem__(self, name: str) -> Member:
        place = self._rows[name]
        return _member_of({name: column[place].as_py() for name, column in self._columns.items()})

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _member_of(row: Mapping[str, Any]) -> Member:
    changed = row["modified_at"].timestamp()
    return Member(row["name"], row["offset_bytes"], row["length_bytes"], changed, row["sha256"].hex(), -1, row["owner"])


def read_index(folder: Path) -> tuple[pa.Table | None, dict[str, int]]:
    """The index of an archive, and up to which byte it knows each tar file.

    None and nothing where there is none, it cannot be read, or it says what an index of `iomine pack` cannot say.
    """
    try:
        table = pq.read_table(folder / INDEX, schema=INDEX_SCHEMA)
        table.validate(full=True)
        covered = json.loads(pq.read_schema(folder / INDEX).metadata[COVERED])
        is_sound = _is_index(table, covered)
    except (OSError, KeyError, TypeError, ValueError, RecursionError, pa.ArrowException):
        is_sound = False
    return (table, covered) if is_sound else (None, {})


def _is_index(table: pa.Table, covered: object) -> bool:
    """Whether rows and covered bytes can be those of an index; that they are true shows when a log is read."""
    if not isinstance(covered, dict) or not all(type(size) is int and 0 <= size <= _LARGEST_BYTES for size in covered.values()):
        return False
    if any(table[name].null_count for name in table.column_names if name != "night"):
        return False
    if not all(is_archive(file) and "/" not in file for file in table["file"].unique().to_pylist()):
        return False
    least = {"offset_bytes": BLOCK, "length_bytes": 0, "modified_at": 0}
    most = {"offset_bytes": _LARGEST_BYTES, "length_bytes": _LARGEST_BYTES, "modified_at": _LATEST_SECONDS}
    for name in least if len(table) else ():
        span = pc.min_max(table[name].cast(pa.int64()))
        if not least[name] <= span["min"].as_py() <= span["max"].as_py() <= most[name]:
            return False
    return True


class Owned(NamedTuple):
    """The bytes of a log, and whose they are.

    Attributes:
        data: the bytes.
        owner_uid: owner of the file, of a member as its header says; None where that is no uid.
        state: of the file that was read, of a member that of its archive.
        archive_uid: owner of the archive, who can have written any header; None where the log is a file of its own.
    """

    data: bytes
    owner_uid: int | None
    state: FileState
    archive_uid: int | None = None


def read_member(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a member, at its place; raises as `owned_member`."""
    return owned_member(path).data


def owned_member(path: str | os.PathLike[str]) -> Owned:
    """The bytes of a member, at its place, and whose they are.

    Raises:
        UnreadableError: they cannot be had, or are not those that were packed.
    """
    member, archive = member_at(path), os.fspath(path).partition("#")[0]
    if member.reason:
        raise UnreadableError(member.reason)
    try:
        with opened(archive) as file:
            status = os.fstat(file.fileno())
            is_within = member.offset + member.size_bytes <= status.st_size
            data = os.pread(file.fileno(), member.size_bytes, member.offset) if is_within else b""
            # Of a member that was found by the index, the header alone says the uid.
            owner_uid = _uid_in(os.pread(file.fileno(), BLOCK, max(0, member.offset - BLOCK)))
    except OSError as error:
        raise UnreadableError(f"The archive cannot be read: {error.strerror}.", False) from error
    if len(data) < member.size_bytes:
        raise UnreadableError(_CUT, False)
    if member.sha256 and hashlib.sha256(data).hexdigest() != member.sha256:
        raise UnreadableError(_NOT_WHOLE, False)
    return Owned(data, owner_uid, FileState.of(status), status.st_uid)


def _uid_in(header: bytes) -> int | None:
    try:
        uid = tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape").uid
    except (tarfile.HeaderError, ValueError, OverflowError):
        return None
    return uid if 0 <= uid <= _LARGEST_UID else None
