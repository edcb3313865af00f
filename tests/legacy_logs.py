"""Makes logs of Darshan's formats before 3.00, and says where real ones lie."""

import bz2
import gzip
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from shared import SHARED_DATA

from iomine.schema.legacy import ABSENT, FLOATS, INTEGERS

FOLDER: Final = SHARED_DATA / "darshan" / "darshan" / "2.x"
_MAGIC: Final = 6567223
MOUNTS: Final = ((10, "nfs", "/home"), (15, "pvfs2", "/scratch"))


def real_logs() -> list[Path]:
    """Logs of formats 1.4 to 2.06, in the order of their paths, none where they are not here."""
    return sorted(FOLDER.rglob("*.darshan.gz"))


def legacy_log(
    records: Sequence[Mapping[str, Any]] = (),
    *,
    version: str = "2.06",
    order: str = "<",
    nprocs: int = 4,
    start: int = 1_300_000_000,
    end: int = 1_300_000_099,
    exe: str = "/bin/ior -a POSIX",
    metadata: bytes = b"lib_ver=2.3.1\n",
    pack: str = "gzip",
) -> bytes:
    """A log of uid 7 and job 42.

    Args:
        records: counters without `CP_`, `hash`, `rank` and `name` of each; what is left out is 0, or `f`.
        version: of the format.
        order: byte order of 2.x; 1.x is big-endian.
        nprocs: processes.
        start: of the run, in seconds since the epoch.
        end: of the run.
        exe: its command line.
        metadata: where the format has it.
        pack: `gzip`, `bzip2` or `no`.
    """
    is_old = version.startswith("1.")
    lines = "".join(f"\n{device}\t{type_}\t{mount}" for device, type_, mount in MOUNTS) if version >= "1.23" else ""
    line = f"{exe}{lines}".encode()
    if is_old:
        order = ">"
        header = struct.pack(">12s4i", version.encode(), 7, start, end, nprocs)
        size = 1024
    else:
        room = 0 if version == "2.00" else 64 if version < "2.04" else 1024
        header = struct.pack(f"{order}8s6q", version.encode(), _MAGIC, 7, start, end, nprocs, 42) + metadata[:room].ljust(
            room, b"\0"
        )
        size = 1024 if version < "2.04" else 4096
    data = (header + line).ljust(size, b"\0") + b"".join(_record(record, version, order) for record in records)
    return gzip.compress(data, mtime=0) if pack == "gzip" else bz2.compress(data) if pack == "bzip2" else data


def _record(record: Mapping[str, Any], version: str, order: str) -> bytes:
    absent = ABSENT[version]
    integers = [record.get(word, 0) for word in INTEGERS if word not in absent]
    floats = [record.get(word, 0.0) for word in FLOATS if word not in absent]
    counters = struct.pack(f"{order}{len(integers)}q{len(floats)}d", *integers, *floats)
    name = record.get("name", "f").encode()
    hash_, rank = record.get("hash", 1), record.get("rank", 0)
    if version.startswith("1."):
        return struct.pack(">Qi4x", hash_, rank) + counters + name.ljust(16, b"\0")
    return struct.pack(f"{order}Qq16s", hash_, rank, name) + counters
