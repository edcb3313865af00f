"""Writes Darshan logs byte by byte, in either byte order, so that tests can say exactly what is in them."""

import bz2
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MAGIC = 6567223
START = 1_700_000_000
RUN_SECONDS = 100
METADATA = "lib_ver=3.4.4\nh=romio_no_indep_rw=true;cb_nodes=4\n"
EXE = "/opt/app/bin/sim --steps 10"
MOUNTS = (("/scratch", "lustre"), ("/", "ext4"))

# Slots of the header, its partial flags with the padding before them, and the ids of the modules that tests write.
_ERAS = {
    "3.41": (
        64,
        "7xQ",
        {"POSIX": 1, "H5F": 3, "BG/Q": 7, "LUSTRE": 8, "STDIO": 9, "DXT_POSIX": 10, "DXT_MPIIO": 11, "MDHIM": 12}
        | {"APXC": 13, "APMPI": 14, "HEATMAP": 15, "DFS": 16, "DAOS": 17, "module 40": 40},
    ),
    "3.10": (16, "3xI", {"POSIX": 1, "LUSTRE": 6, "STDIO": 7, "DXT_POSIX": 8, "DXT_MPIIO": 9, "MDHIM": 10}),
    "3.00": (16, "3xI", {"POSIX": 1}),
}
_COMPRESSIONS = {"zlib": (0, zlib.compress), "bzip2": (1, bz2.compress), "none": (2, bytes)}


@dataclass(frozen=True)
class Module:
    """A module as it is written: version and bytes, one stream for each part."""

    version: int
    parts: Sequence[bytes]
    is_partial: bool = False


@dataclass(frozen=True)
class Blueprint:
    """All that a log holds."""

    modules: Mapping[str, Module] = field(default_factory=dict)
    version: str = "3.41"
    order: str = "<"
    compression: str = "zlib"
    job: bytes | None = None
    names: bytes = b""


def words(order: str, *values: float) -> bytes:
    """Integers as int64, floats as float64."""
    return struct.pack(order + "".join("d" if isinstance(value, float) else "q" for value in values), *values)


def job(
    order: str = "<",
    version: str = "3.41",
    *,
    uid: int = 1000,
    start: int = START,
    end: int = START + RUN_SECONDS,
    nanoseconds: tuple[int, int] = (0, 0),
    nprocs: int = 4,
    job_id: int = 77,
    metadata: bytes = METADATA.encode(),
    exe: bytes = EXE.encode(),
    mounts: Sequence[tuple[str, str]] = MOUNTS,
) -> bytes:
    """The job region; times have nanoseconds from format 3.41 on."""
    times = (start, nanoseconds[0], end, nanoseconds[1]) if version == "3.41" else (start, end)
    lines = b"\n".join([exe, *(f"{fs_type}\t{path}".encode() for path, fs_type in mounts)])
    return words(order, uid, *times, nprocs, job_id) + metadata.ljust(1024, b"\0") + lines + b"\0"


def name(order: str, id_: int, text: bytes) -> bytes:
    """A name record as formats from 3.10 on have it."""
    return words(order, id_) + text + b"\0"


def write(blueprint: Blueprint) -> bytes:
    """The log's bytes."""
    slots, flag_code, ids = _ERAS[blueprint.version]
    code, compress = _COMPRESSIONS[blueprint.compression]
    header = struct.Struct(f"{blueprint.order}B{flag_code}{2 * (slots + 1)}Q{slots}I")
    maps, versions, flags = [0] * (2 * slots), [0] * slots, 0
    job_region = job(blueprint.order, blueprint.version) if blueprint.job is None else blueprint.job
    body = compress(job_region)
    names_at = (16 + header.size + len(body), len(names_region := compress(blueprint.names)))
    body += names_region
    for module_name, module in blueprint.modules.items():
        id_ = ids[module_name]
        region = b"".join(compress(part) for part in module.parts)
        maps[2 * id_ : 2 * id_ + 2] = 16 + header.size + len(body), len(region)
        versions[id_] = module.version
        flags |= module.is_partial << id_
        body += region
    beginning = blueprint.version.encode().ljust(8, b"\0") + struct.pack(f"{blueprint.order}q", MAGIC)
    return beginning + header.pack(code, flags, *names_at, *maps, *versions) + body


# Records of the modules, as tests want them; numbers are theirs unless a test is about one.
POSIX_COUNTERS = tuple(range(1, 70))
POSIX_FLOATS = tuple(n / 8 for n in range(1, 18))


def posix_record(order: str, id_: int = 5, rank: int = 0) -> bytes:
    """A POSIX record of version 4 whose counters are 1, 2, 3 and so on."""
    return words(order, id_, rank, *POSIX_COUNTERS, *POSIX_FLOATS)


@dataclass(frozen=True)
class Segment:
    """One traced request."""

    offset: int
    length: int
    start: float
    end: float
    thread: int = 0


def dxt_record(
    order: str,
    writes: Sequence[Segment] = (),
    reads: Sequence[Segment] = (),
    *,
    id_: int = 5,
    rank: int = 0,
    host: bytes = b"node1",
    segment_bytes: int = 32,
) -> bytes:
    """A trace record; what a segment has beyond 32 bytes is its thread, as a number or as text, then zeros."""
    record = words(order, id_, rank, 0) + host.ljust(64, b"\0") + words(order, len(writes), len(reads))
    for segment in (*writes, *reads):
        thread = words(order, segment.thread) if segment_bytes == 40 else f"pthread_id={segment.thread}".encode()
        extra = thread.ljust(segment_bytes - 32, b"\0") if segment_bytes in (40, 96) else bytes(segment_bytes - 32)
        record += words(order, segment.offset, segment.length, segment.start, segment.end) + extra
    return record


def heatmap_record(
    order: str, writes: Sequence[int], reads: Sequence[int], *, id_: int = 5, rank: int = 0, width: float = 0.5
) -> bytes:
    """A heat map; the two pointers before its bins mean nothing on disk."""
    return words(order, id_, rank, width, len(writes), 12345, -1, *writes, *reads)


def lustre_v1_record(order: str, osts: Sequence[int], *, id_: int = 5, rank: int = 0) -> bytes:
    """A Lustre record of version 1: a stripe size of 1 MiB on the given OSTs of 96, and 5 MDTs."""
    return words(order, id_, rank, 96, 5, 0, 1 << 20, len(osts), *osts)


def lustre_v2_record(
    order: str, components: Sequence[Sequence[int]], *, id_: int = 5, rank: int = 0, pool: bytes = b"flash"
) -> bytes:
    """A Lustre record of version 2 whose components are striped over the given OSTs."""
    record = words(order, id_, rank, len(components), sum(map(len, components)))
    for number, osts in enumerate(components):
        record += words(order, 1 << 20, len(osts), 1, 16, number << 20, -1, 3) + pool.ljust(16, b"\0")
    return record + b"".join(words(order, *osts) for osts in components)


def mdhim_record(order: str, histogram: Sequence[int], *, id_: int = 5, rank: int = 0, servers: int | None = None) -> bytes:
    """An MDHIM record, as wide as it has servers."""
    count = len(histogram) if servers is None else servers
    return words(order, id_, rank, 10, 20, 300, 400, count, 0.25, 0.5, 0.125, 0.0625, *histogram)
