"""The container: header, region map, and regions inflated within bounds.

Layout after `darshan-log-format.h`: an uncompressed header (version string, magic number in the writer's byte order,
compression, partial flags, a map of regions, module versions), then the regions: job, names, one per module. A region
is one or more compressed streams laid end to end, since each rank may have compressed its own part.
"""

import bz2
import struct
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from typing import Final, Protocol

from zlib_ng import zlib_ng

from iomine.errors import UnreadableError
from iomine.sources.unpacking import unpack_first
from iomine.units import GIB, KIB, human_bytes

MAGIC: Final = 6567223
_ORDERS: Final = {struct.pack(f"{order}q", MAGIC): order for order in "<>"}
_GZIP_MAGIC: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31
_TAR_MAGIC: Final = b"ustar"
_TAR_MAGIC_AT: Final = 257
_ZLIB, _BZIP2, _PLAIN = 0, 1, 2

# No run has filled this much with records of one module; a region that inflates beyond it was made to do so.
MAX_REGION_BYTES: Final = 1 * GIB
# Darshan keeps 4 KiB for the record, the command line and the mounts together. Sweeps look at it outside the reader process.
_MOST_JOB_BYTES: Final = 64 * KIB
# Streams are often a few hundred bytes, sometimes megabytes: what is fed to one grows as it goes on.
_FIRST_CHUNK: Final = 4 * KIB
_LAST_CHUNK: Final = 64 * KIB

# Module names by id. HDF5 datasets came with format 3.20, PnetCDF variables and 64 module slots with 3.41.
_MODULES_3_00: Final = "NULL POSIX MPI-IO H5F PNETCDF_FILE BG/Q LUSTRE STDIO DXT_POSIX DXT_MPIIO MDHIM".split()
_MODULES_3_20: Final = (
    "NULL POSIX MPI-IO H5F H5D PNETCDF_FILE BG/Q LUSTRE STDIO DXT_POSIX DXT_MPIIO MDHIM APXC APMPI HEATMAP".split()
)
MODULES: Final = (
    "NULL POSIX MPI-IO H5F H5D PNETCDF_FILE PNETCDF_VAR BG/Q LUSTRE STDIO DXT_POSIX DXT_MPIIO MDHIM APXC APMPI HEATMAP "
    "DFS DAOS".split()
)


@dataclass(frozen=True, slots=True)
class Era:
    """How headers of a range of format versions are laid out.

    Attributes:
        slots: module slots in the header.
        flags: struct code of the partial flags, padding before them included.
        modules: module names by id.
    """

    slots: int
    flags: str
    modules: list[str]

    def header(self, order: str) -> struct.Struct:
        """The header after version string and magic number: compression, flags, offsets and lengths, versions."""
        return _compiled(f"{order}B{self.flags}{2 * (self.slots + 1)}Q{self.slots}I")


@cache
def _compiled(layout: str) -> struct.Struct:
    return struct.Struct(layout)


LATEST: Final = Era(64, "7xQ", MODULES)
_ERAS: Final = (
    ((3, 41), LATEST),
    ((3, 20), Era(16, "3xI", _MODULES_3_20)),
    ((3, 0), Era(16, "3xI", _MODULES_3_00)),
)


@dataclass(frozen=True, slots=True)
class Region:
    """A module's part of the file.

    Attributes:
        module: its name.
        id: its id in this log's format version.
        version: version of its record layout.
        offset: where it starts in the file, in bytes.
        length: its compressed length in bytes.
        is_partial: Darshan ran out of memory for its records.
    """

    module: str
    id: int
    version: int
    offset: int
    length: int
    is_partial: bool


@dataclass(frozen=True, slots=True)
class Inflated:
    """Bytes of a region.

    Attributes:
        data: the bytes that are sure.
        damage: why there are not more of them, empty where all is well.
    """

    data: bytes
    damage: str = ""


class _Inflater(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: memoryview, max_length: int, /) -> bytes: ...


# Makes what unpacks one stream.
Unpacker = Callable[[], _Inflater]


@dataclass(frozen=True, slots=True)
class Container:
    """A log file, taken apart but not decoded.

    Attributes:
        data: the file's bytes.
        version: format version, as text.
        order: struct code of the byte order, `<` or `>`.
        era: layout of the header.
        compression: code of the compression.
        job_at: where the job region starts; it ends where the names start.
        names_at: offset and length of the names region.
        regions: the modules, by id.
    """

    data: bytes
    version: str
    order: str
    era: Era
    compression: int
    job_at: int
    names_at: tuple[int, int]
    regions: tuple[Region, ...]

    @property
    def regions_of_development(self) -> tuple[Region, ...]:
        """The modules, as versions between releases numbered them, before PnetCDF variables had a number in format 3.41."""
        first = MODULES.index("PNETCDF_VAR")
        return tuple(
            replace(region, module=MODULES[region.id + 1], id=region.id + 1) if first <= region.id < len(MODULES) - 1 else region
            for region in self.regions
        )

    def inflate_job(self) -> Inflated:
        """Bytes of the job region: job record, command line and mounts."""
        return self._inflate(self.job_at, self.names_at[0] - self.job_at, _MOST_JOB_BYTES)

    def inflate_names(self) -> Inflated:
        """Bytes of the name records."""
        return self._inflate(*self.names_at)

    def inflate(self, region: Region) -> Inflated:
        """Bytes of a module's region."""
        return self._inflate(region.offset, region.length)

    def _inflate(self, offset: int, length: int, most_bytes: int | None = None) -> Inflated:
        most_bytes = most_bytes or MAX_REGION_BYTES
        # A map that points outside the file says that the file was cut off, or lies; either way what is there is bounded.
        missing = offset + length - len(self.data)
        view = memoryview(self.data)[offset : offset + length]
        if self.compression == _PLAIN:
            inflated = _beyond(most_bytes) if len(view) > most_bytes else Inflated(bytes(view))
        else:
            new = zlib_ng.decompressobj if self.compression == _ZLIB else bz2.BZ2Decompressor
            inflated = inflate_streams(view, new, most_bytes, is_cut=missing > 0)
        if missing > 0:
            return Inflated(inflated.data, f"the file ends {missing:,} bytes before the region does")
        return inflated


def inflate_streams(view: memoryview, new: Unpacker, most_bytes: int, *, is_cut: bool = False) -> Inflated:
    """Inflates streams laid end to end, keeping what is sure when one of them is damaged.

    A stream that fails its checksum may have given wrong bytes long before, so none of it is kept. The same goes for one
    that does not end, unless it was cut off: then it never got as far as its checksum, and is right as far as it goes.
    """
    # It grows without copying what it holds, and gives it away without a copy.
    out = BytesIO()
    position = 0
    end = len(view)
    while position < end:
        inflater = new()
        sure = out.tell()
        chunk_bytes = _FIRST_CHUNK
        while True:
            chunk_end = position + chunk_bytes
            try:
                # Without a limit, 4 KiB of bzip2 can become 4 GiB before anyone looks.
                out.write(inflater.decompress(view[position:chunk_end], most_bytes - out.tell() + 1))
            except (zlib_ng.error, OSError, ValueError, EOFError) as error:  # type: ignore[misc]  # its stub calls error a function
                return _upto(out, sure, f"its compressed data is damaged ({error})")
            if out.tell() > most_bytes:
                return _beyond(most_bytes)
            position = chunk_end
            if inflater.eof:
                break
            if position >= end:
                return _upto(out, out.tell() if is_cut else sure, "its compressed data does not end where it should")
            chunk_bytes = min(2 * chunk_bytes, _LAST_CHUNK)
        position = min(position, end) - len(inflater.unused_data)
    return Inflated(out.getvalue())


def _beyond(most_bytes: int) -> Inflated:
    return Inflated(b"", f"it inflates to more than {human_bytes(most_bytes)}, the limit for one region")


def _upto(out: BytesIO, sure: int, damage: str) -> Inflated:
    out.truncate(sure)
    return Inflated(out.getvalue(), damage)


def _gzip_reason(data: bytes) -> str:
    """Why a gzip file is no log."""
    try:
        head = zlib_ng.decompressobj(_GZIP_WINDOW).decompress(data[:_FIRST_CHUNK], tarfile.BLOCKSIZE)
    except zlib_ng.error as error:  # type: ignore[misc]  # its stub calls error a function
        return f"This is a damaged gzip file ({error})."
    if head[8:16] in _ORDERS or head[_TAR_MAGIC_AT:].startswith(_TAR_MAGIC):
        return unpack_first(data)
    return "This is a gzip file, but not a Darshan log: statistics and accounting are named with --stats."


def open_container(data: bytes, *, is_for_job: bool = False) -> Container:
    """Takes a log's bytes apart.

    Args:
        data: all bytes of the file.
        is_for_job: leaves out the map of modules, which takes longest, where only the job record is asked for.

    Raises:
        UnreadableError: these are not the bytes of a Darshan log of format 3.x.
    """
    if not data:
        raise UnreadableError("The file is empty: the run ended before Darshan wrote its log.")
    if data.startswith(_GZIP_MAGIC):
        raise UnreadableError(_gzip_reason(data))
    if reason := unpack_first(data):
        raise UnreadableError(reason)
    version = data[:8].split(b"\0")[0].decode("ascii", "replace")
    try:
        major, minor = (int(part) for part in version.split("."))
    except ValueError:
        raise UnreadableError("The file does not begin with a Darshan version: it is not a finished Darshan log.") from None
    era = next((era for since, era in _ERAS if (major, minor) >= since), None)
    if era is None or major != 3:  # noqa: PLR2004  the format's major version
        raise UnreadableError(f"The log has format {version}; formats 3.00 to 3.41 are read.")
    order = _ORDERS.get(data[8:16])
    if order is None:
        raise UnreadableError("The header's magic number is wrong: the file is damaged.")
    header = era.header(order)
    if len(data) < 16 + header.size:
        raise UnreadableError(f"The file ends inside its header, after {len(data):,} bytes.")
    compression, flags, *names_at = struct.unpack_from(f"{order}B{era.flags}2Q", data, 16)
    if compression not in (_ZLIB, _BZIP2, _PLAIN):
        raise UnreadableError(f"The log is compressed in a way that Darshan does not know (code {compression}).")
    job_at = 16 + header.size
    if names_at[0] < job_at:
        raise UnreadableError("The header's map places the names inside the header: the file is damaged.")
    regions = () if is_for_job else tuple(_regions(era, flags, header.unpack_from(data, 16)[4:]))
    return Container(data, version, order, era, compression, job_at, (names_at[0], names_at[1]), regions)


def _regions(era: Era, flags: int, numbers: Sequence[int]) -> Iterator[Region]:
    """The modules of a log.

    Args:
        era: layout of its header.
        flags: which of them are partial.
        numbers: offset and length of each slot, and after them the version of each.
    """
    versions = numbers[-era.slots :]
    for id_, (offset, length) in enumerate(zip(numbers[: 2 * era.slots : 2], numbers[1 : 2 * era.slots : 2], strict=True)):
        if length:
            module = era.modules[id_] if id_ < len(era.modules) else f"module {id_}"
            yield Region(module, id_, versions[id_], offset, length, bool(flags >> id_ & 1))
