"""What a file is, found without decoding it: its SHA-256, and on which night its run ended."""

import errno
import hashlib
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from iomine.errors import UnreadableError
from iomine.sources.darshan.container import open_container
from iomine.sources.darshan.file_state import FileState
from iomine.sources.darshan.job import night_at, read_night
from iomine.sources.darshan.legacy import is_legacy, legacy_night
from iomine.sources.darshan.packed import Owned, is_packed, member_at, owned_member
from iomine.sources.dftracer import Extent, extent_of, is_trace
from iomine.sources.model import LARGEST_BYTES
from iomine.sources.opening import opened
from iomine.sources.recorder import GLOBAL, MAGIC, PARTS
from iomine.sources.traced import digest_of
from iomine.units import human_bytes

# Why a file that is not there is refused, or one that is there on another host.
GONE: Final = f"The file cannot be read: {os.strerror(errno.ENOENT)}."
_TOO_LARGE: Final = f"The file has more than {human_bytes(LARGEST_BYTES)}, the limit for one file."
_LOG_ID_DIGITS: Final = 16
_OTF2: Final = b"\x03BOTF2\0"
_IS_OTF2: Final = (
    "This is an OTF2 archive, which is not read: otf2-print shows what it holds; trace I/O with Darshan, DFTracer or Recorder."
)
# Recorder's own files begin with nothing that they could be known by.
_RAW: Final = "recorder.mt"
_IS_RAW: Final = "This is a trace in Recorder's own format: convert its folder with recorder2parquet."


@dataclass(frozen=True, slots=True)
class Identity:
    """One candidate.

    Attributes:
        sha256: of its bytes, in hex.
        size_bytes: how many they are.
        night: UTC date on which the log ended, or where its clock was wrong, on which the file was written; None where the
            log cannot be read.
        reason: why it cannot be read, empty where it can.
        extent: of one of DFTracer's files, which is a part of a run; None of a log.
        members: of a trace that is a folder, its files.
        state: of the file when it was read; None of a folder.
    """

    sha256: str
    size_bytes: int
    night: date | None
    reason: str = ""
    extent: Extent | None = None
    members: tuple[str, ...] = ()
    state: FileState | None = None

    @property
    def log_id(self) -> str:
        """The id under which the lake knows the log."""
        return log_id_of(self.sha256)


def log_id_of(sha256: str) -> str:
    """The id of a log with bytes of this digest, in hex."""
    return sha256[:_LOG_ID_DIGITS]


def read_owned(path: Path) -> Owned:
    """All bytes of a file, or of a log in an archive, and whose they are.

    Raises:
        UnreadableError: the system does not give them; another night it may.
    """
    if is_packed(path):
        return owned_member(path)
    try:
        with opened(path) as file:
            # Of the very file that is read, whatever takes its name meanwhile.
            status = os.fstat(file.fileno())
            if status.st_size > LARGEST_BYTES:
                raise UnreadableError(_TOO_LARGE, False)
            return Owned(file.read(), status.st_uid, FileState.of(status))
    except OSError as error:
        raise UnreadableError(f"The file cannot be read: {error.strerror}.", False) from error


def identify(path: Path) -> Identity:
    """Digest and night of a candidate.

    Raises:
        UnreadableError: its bytes cannot be read at all.
    """
    owned = read_owned(path)
    data, state = owned.data, owned.state
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        if data.startswith(MAGIC):
            return _recorder(path, sha256, len(data))
        if why := _IS_OTF2 if data.startswith(_OTF2) else _IS_RAW if path.name == _RAW else "":
            return Identity(sha256, len(data), None, why, state=state)
        if is_trace(data):
            extent = extent_of(data)
            night = night_at(extent.end_at) or _written_on(path)
            return Identity(sha256, len(data), night, extent=extent, state=state)
        return Identity(sha256, len(data), _night(data) or _written_on(path), state=state)
    except UnreadableError as error:
        # A folder may be whole another night, though its metadata stays as it is.
        return Identity(sha256, len(data), None, error.reason, state=None if data.startswith(MAGIC) else state)


def _recorder(path: Path, sha256: str, size_bytes: int) -> Identity:
    """A folder that recorder2parquet wrote, by its metadata.

    Raises:
        UnreadableError: it is none, or its files cannot be read.
    """
    if is_packed(path):
        raise UnreadableError("A folder of recorder2parquet in an archive is not read: unpack it.")
    parts = [*sorted(path.parent.glob(PARTS)), path.parent / GLOBAL]
    if len(parts) == 1 or not os.path.lexists(parts[-1]):
        raise UnreadableError("This is the metadata of a Parquet data set that recorder2parquet did not write.")
    # Parts are read one by one, since all of a run together may be more than there is memory.
    read = [_digest_and_size(part) for part in parts]
    digest = digest_of([sha256, *(digest for digest, _ in read)])
    size = size_bytes + sum(size for _, size in read)
    return Identity(digest, size, _written_on(path), members=tuple(map(str, (path, *parts))))


def _digest_and_size(part: Path) -> tuple[str, int]:
    data = read_owned(part).data
    return hashlib.sha256(data).hexdigest(), len(data)


def night_of(data: bytes) -> date | None:
    """UTC date on which a log's run ended, None where it is no log or does not say it."""
    try:
        return _night(data)
    except UnreadableError:
        return None


def _night(data: bytes) -> date | None:
    return legacy_night(data) if is_legacy(data) else read_night(open_container(data, is_for_job=True))


def _written_on(path: Path) -> date:
    """The UTC date of a file, from 1970 to today."""
    now = time.time()
    with suppress(OSError, UnreadableError):
        # A file that is gone by now is refused when it is read.
        modified_at = member_at(path).modified_at if is_packed(path) else path.stat().st_mtime
        return datetime.fromtimestamp(max(0.0, min(modified_at, now)), UTC).date()
    return datetime.fromtimestamp(now, UTC).date()
