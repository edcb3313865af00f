"""Logs of formats 1.21 to 2.06 as they are: one gzip or bzip2 stream of a header block and records of one width.

Layouts after `darshan-log-format.h` of Darshan 1.1 to 2.3. What records mean is in `iomine.schema.legacy`.
"""

import bz2
import re
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from zlib_ng import zlib_ng

from iomine.errors import UnreadableError
from iomine.schema.legacy import ABSENT, WORDS
from iomine.sources.darshan.container import MAGIC, MAX_REGION_BYTES, Inflated, Unpacker, inflate_streams
from iomine.sources.darshan.decoded import WORD_BYTES, Words
from iomine.sources.darshan.job import Job, implausible, job_id_from, metadata_of, moment_of, night_at

_GZIP: Final = b"\x1f\x8b"
_BZIP2: Final = b"BZh"
_GZIP_WINDOW: Final = 31
_VERSION: Final = re.compile(rb"[12]\.\d{1,3}\0")
# What is packed so that the header surely comes out; bzip2 gives nothing before it has the first of its blocks of 900 kB.
_GZIP_HEAD_BYTES: Final = 4096
_BZIP2_HEAD_BYTES: Final = 1 << 20
_HEAD_BYTES: Final = 56
_DEVICE: Final = re.compile(r"-?\d{1,20}")
_NAME_BYTES: Final = 16
# Hash and rank, before the counters.
_FIRST_COUNTER: Final = 2


class _Header(NamedTuple):
    """What the header block says, and where its parts begin and the block ends."""

    version: str
    order: str
    uid: int
    start_at: datetime
    end_at: datetime
    run_seconds: int
    nprocs: int
    job_id: str | None
    metadata_at: int
    exe_at: int
    end: int


@dataclass(frozen=True, slots=True)
class LegacyLog:
    """A log of these formats.

    Attributes:
        version: of the format.
        job: what it says of its run.
        mounts: mount point and file system type by the number of the device.
        words: hash, rank and the counters of `WORDS`, doubles as their bits and those that the format lacks as 0; a row for
            each record.
        suffixes: of each record the last characters of its path.
        damage: why there are not more records, empty where all is well.
    """

    version: str
    job: Job
    mounts: Mapping[int, tuple[str, str]]
    words: Words
    suffixes: npt.NDArray[np.bytes_]
    damage: str


def is_legacy(data: bytes) -> bool:
    """Whether a file is packed as a whole, and begins with a version before 3."""
    return _VERSION.match(_head(data)) is not None


def legacy_night(data: bytes) -> date | None:
    """The UTC date on which a log of these formats ended, None where that is not known.

    Raises:
        UnreadableError: its header is damaged, or its format older.
    """
    return night_at(_header(_head(data)).end_at)


def read_legacy(data: bytes, file_name: str) -> LegacyLog:
    """A log of these formats.

    Args:
        data: all bytes of the file.
        file_name: name of the file, from which comes the job id of a format that has none.

    Raises:
        UnreadableError: its header is damaged, or its format older.
    """
    # Nothing follows the last stream, so where that does not end, the file was cut.
    inflated = inflate_streams(memoryview(data), _inflater(data), MAX_REGION_BYTES, is_cut=True)
    if not inflated.data:
        raise UnreadableError(f"The log cannot be unpacked: {inflated.damage}.")
    header = _header(inflated.data)
    if len(inflated.data) < header.end:
        raise UnreadableError(f"The log ends inside its header, after {len(inflated.data):,} bytes.")
    exe, *lines = _text(inflated.data[header.exe_at : header.end]).split("\n")
    mounts = {
        int(parts[0]): (parts[2], parts[1])
        for parts in (line.split("\t") for line in lines)
        if len(parts) == 3 and _DEVICE.fullmatch(parts[0])  # noqa: PLR2004  device, type and mount point
    }
    sentences, doubts = implausible(header.start_at, header.end_at, header.nprocs)
    unknown = {doubt.column for doubt in doubts}
    job = Job(
        uid=header.uid,
        job_id=header.job_id or job_id_from(file_name),
        nprocs=header.nprocs,
        start_at=None if "start_at" in unknown else header.start_at,
        end_at=None if "end_at" in unknown else header.end_at,
        run_seconds=float(header.run_seconds),
        exe=exe,
        metadata=metadata_of(_text(inflated.data[header.metadata_at : header.exe_at])),
        mounts=tuple(mounts.values()),
        doubt="; ".join(sentences),
        doubts=doubts,
    )
    return LegacyLog(header.version, job, mounts, *_records(header, inflated))


def _inflater(data: bytes) -> Unpacker:
    return bz2.BZ2Decompressor if data.startswith(_BZIP2) else lambda: zlib_ng.decompressobj(_GZIP_WINDOW)


def _head(data: bytes) -> bytes:
    """The first bytes of a packed file, none where it is not packed or damaged."""
    if not data.startswith((_GZIP, _BZIP2)):
        return b""
    packed = memoryview(data)[: _GZIP_HEAD_BYTES if data.startswith(_GZIP) else _BZIP2_HEAD_BYTES]
    with suppress(zlib_ng.error, OSError, ValueError, EOFError):  # type: ignore[arg-type]  # its stub calls error a function
        return _inflater(data)().decompress(packed, _HEAD_BYTES)
    return b""


def _text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("utf-8", "backslashreplace")


def _header(data: bytes) -> _Header:
    version = _text(data[:8])
    if version not in ABSENT:
        raise UnreadableError(f"The log has format {version}; of formats before 3.00, 1.21 to 1.24 and 2.00 to 2.06 are read.")
    if len(data) < _HEAD_BYTES:
        raise UnreadableError(f"The log ends inside its header, after {len(data):,} bytes.")
    if version.startswith("1."):
        order, job_id = ">", None
        uid, start, end, nprocs = struct.unpack_from(">4i", data, 12)
        places = (28, 28, 1024)
    else:
        order = next((order for order in "<>" if data[8:16] == struct.pack(f"{order}q", MAGIC)), "")
        if not order:
            raise UnreadableError("The header's magic number is wrong: the file is damaged.")
        uid, start, end, nprocs, job_id = struct.unpack_from(f"{order}5q", data, 16)
        metadata_bytes = 0 if version == "2.00" else 64 if version < "2.04" else 1024
        places = (56, 56 + metadata_bytes, 1024 if version < "2.04" else 4096)
    start_at, end_at = moment_of(start), moment_of(end)
    if start_at is None or end_at is None:
        raise UnreadableError("The header holds no valid start and end of the run: the file is damaged.")
    said = None if job_id is None else str(job_id)
    return _Header(version, order, uid, start_at, end_at, end - start + 1, nprocs, said, *places)


def _records(header: _Header, inflated: Inflated) -> tuple[Words, npt.NDArray[np.bytes_], str]:
    """Words and suffixes of all whole records, and why there are not more."""
    is_old = header.version.startswith("1.")
    absent = ABSENT[header.version]
    held = [index for index, word in enumerate(WORDS) if word not in absent]
    width = 2 * WORD_BYTES + _NAME_BYTES + len(held) * WORD_BYTES
    size = len(inflated.data) - header.end
    count = size // width
    counters_at = header.end + 2 * WORD_BYTES + (0 if is_old else _NAME_BYTES)
    names_at = header.end + (width - _NAME_BYTES if is_old else 2 * WORD_BYTES)

    def block(kind: str, at: int, columns: int) -> npt.NDArray[np.int64]:
        return np.ndarray((count, columns), f"{header.order}{kind}", inflated.data, at, (width, np.dtype(kind).itemsize))

    words = np.zeros((count, _FIRST_COUNTER + len(WORDS)), np.int64)
    suffixes: npt.NDArray[np.bytes_] = np.empty(0, f"S{_NAME_BYTES}")
    if count:
        words[:, 0] = block("i8", header.end, 1)[:, 0]
        words[:, 1] = block("i4" if is_old else "i8", header.end + WORD_BYTES, 1)[:, 0]
        counters = block("i8", counters_at, len(held))
        if absent:
            words[:, np.array(held) + _FIRST_COUNTER] = counters
        else:
            words[:, _FIRST_COUNTER:] = counters
        suffixes = np.ndarray(count, f"S{_NAME_BYTES}", inflated.data, names_at, (width,)).copy()
    rest = size - count * width
    return words, suffixes, inflated.damage or (f"its last {rest:,} bytes are no whole record" if rest else "")
