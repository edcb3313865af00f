"""Members of a tar archive, packed or not, each handed on with its own path and time of change.

An archive is as hostile as what is in it: nothing is written to disk, links and devices are not followed, a member's name is
a text and never a place, and sizes, numbers of members and lengths of their headers are bounded before memory is taken.
"""

import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from io import BufferedIOBase
from pathlib import Path
from typing import IO, Final, NamedTuple, cast

from iomine.errors import UnreadableError
from iomine.sources.model import LARGEST_BYTES
from iomine.sources.opening import opened
from iomine.sources.unpacking import BROKEN, opener_of
from iomine.units import GIB, KIB, human_bytes

# Readings of weeks. Who has more, has them in more than one archive.
_LARGEST_UNPACKED_BYTES: Final = 16 * GIB
_MOST_MEMBERS: Final = 200_000
# Long names and attributes stand before a member, in as many bytes as the archive likes; no path has more than 4 KiB.
_LARGEST_HEADER_BYTES: Final = 16 * KIB
# Where a size is made up, tarfile goes on to ask for what lies beyond the end, a few kilobytes at a time.
_MOST_READS_AT_END: Final = 16
_HEADERS: Final = frozenset(
    (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
)
# What Python's reader raises for hostile archives.
_FAULTS: Final = (tarfile.TarError, *BROKEN, ValueError, OverflowError, IndexError, KeyError)


class Member(NamedTuple):
    """A member of an archive.

    Attributes:
        number: which of its files it is, from 0.
        path: that of the archive, and its own below it.
        modified_at: when it was last changed, in UTC.
        data: its bytes as they are in the archive.
    """

    number: int
    path: str
    modified_at: datetime
    data: bytes


class Unread(NamedTuple):
    """A member that cannot be read, or the archive from some place on.

    Attributes:
        path: that of the member, or of the archive.
        error: why.
    """

    path: str
    error: UnreadableError


def is_archive(path: Path) -> bool:
    """Whether a file is a tar archive, by its first header.

    Raises:
        OSError: the file cannot be read.
    """
    with ExitStack() as stack:
        file = _opened(path, stack)
        try:
            head = file.read(tarfile.BLOCKSIZE)
            _Header.frombuf(head, tarfile.ENCODING, "surrogateescape")
        except _FAULTS:
            return False
        return True


def members(path: Path) -> Iterator[Member | Unread]:
    """The files in an archive that no dot hides, in order.

    Raises:
        OSError: the archive cannot be opened.
    """
    with ExitStack() as stack:
        # tarfile asks nothing else of a stream than to be read.
        file = cast("IO[bytes]", _Bounded(_opened(path, stack)))
        try:
            with tarfile.open(fileobj=file, mode="r|", tarinfo=_Header) as archive:
                yield from _files(path, archive)
        except UnreadableError as error:
            yield Unread(str(path), error)
        except _FAULTS as error:
            yield Unread(str(path), UnreadableError(f"Its members from some place on cannot be unpacked ({error})."))


def _files(path: Path, archive: tarfile.TarFile) -> Iterator[Member | Unread]:
    number = 0
    for header in archive:
        # Otherwise all headers stay in memory.
        archive.members.clear()  # type: ignore[attr-defined]
        if header.isdir() or header.name.rpartition("/")[2].startswith("."):
            continue
        if number == _MOST_MEMBERS:
            raise UnreadableError(
                f"It has more than {_MOST_MEMBERS:,} members, the limit for one archive; the others are left out."
            )
        yield _member(number, f"{path}/{header.name}", header, archive)
        number += 1


def _member(number: int, path: str, header: tarfile.TarInfo, archive: tarfile.TarFile) -> Member | Unread:
    if not header.isfile() or header.issparse():
        return Unread(path, UnreadableError("This is not a regular file."))
    if header.size > LARGEST_BYTES:
        size, limit = human_bytes(header.size), human_bytes(LARGEST_BYTES)
        return Unread(path, UnreadableError(f"The file has {size}, more than {limit}, the limit for one file."))
    try:
        modified_at = datetime.fromtimestamp(header.mtime, UTC)
    except (ValueError, OverflowError, OSError):
        return Unread(path, UnreadableError("Its modification time is not valid."))
    file = archive.extractfile(header)
    data = file.read() if file else b""
    if len(data) < header.size:
        raise UnreadableError(f"It ends within {header.name}.")
    return Member(number, path, modified_at, data)


def _opened(path: Path, stack: ExitStack) -> BufferedIOBase:
    file = stack.enter_context(opened(path))
    opener = opener_of(file.read(tarfile.BLOCKSIZE))
    file.seek(0)
    return stack.enter_context(opener(file)) if opener else file


class _Header(tarfile.TarInfo):
    """A header that is no larger than it may be; one that is damaged ends the archive in an error, not in silence."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str | None, errors: str) -> "_Header":
        try:
            header = super().frombuf(buf, encoding, errors)  # type: ignore[arg-type]
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError(str(error)) from error
        if header.size < 0 or (header.type in _HEADERS and header.size > _LARGEST_HEADER_BYTES):
            raise tarfile.ReadError(f"a header has a size of {header.size:,} bytes")
        return header


class _Bounded:
    """A file of which no more can be read than an archive may have, and not for ever beyond its end."""

    def __init__(self, file: BufferedIOBase) -> None:
        self._file = file
        self._left = _LARGEST_UNPACKED_BYTES
        self._reads_at_end = 0

    def read(self, size: int) -> bytes:
        """Some of what is left."""
        data = self._file.read(size)
        self._left -= len(data)
        self._reads_at_end += not data
        if self._reads_at_end > _MOST_READS_AT_END:
            raise tarfile.ReadError("it ends within a member")
        if self._left < 0:
            limit = human_bytes(_LARGEST_UNPACKED_BYTES)
            raise UnreadableError(f"Unpacked it has more than {limit}, the limit for one archive; the rest is left out.")
        return data
