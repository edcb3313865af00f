"""Groups runs into lineages, by what logs repeat and neither chance nor advice changes.

A lineage is a user's application at one scale that moves data the same ways. Sizes of requests, files for all or for each,
collective calls and layers are what advice changes, and the number of bytes follows the input. So none of them divides lineages,
nor does a number of processes that is only a little higher.
"""

import hashlib
import json
from itertools import compress
from typing import Final

import numpy as np

from iomine.derive.batch import logs_in
from iomine.derive.special import ids_of
from iomine.derive.trace import Flags, Tables
from iomine.units import MIB

# Logs and settings are not what a program is about.
_MUCH_BYTES: Final = MIB
_ID_DIGITS: Final = 16
_DIRECT: Final = ("stdio_file", "dfs_file")


def io_signature(tables: Tables, log_count: int = 1) -> list[str]:
    """Which ways programs asked to move at least a MiB: `reads`, `writes`, `reads and writes` or `little`, for each log.

    A file that goes through MPI-IO counts by what was asked of that: beneath it MPI-IO may read in order to write.

    Args:
        tables: columns by table, in one or more parts.
        log_count: number of logs.
    """
    through_mpiio = ids_of(tables, "mpiio_file")

    def asked(name: str) -> Flags:
        asked_bytes = np.zeros(log_count)
        for table in ("posix_file", "mpiio_file", *_DIRECT):
            for part in tables.get(table, ()):
                # Darshan writes a negative value for an unknown counter.
                counted = np.fmax(part[name].to_numpy(), 0)
                if table == "posix_file":
                    counted = np.where(np.isin(part["file_id"].to_numpy(), through_mpiio), 0, counted)
                asked_bytes += np.bincount(logs_in(part), counted, log_count)
        return asked_bytes >= _MUCH_BYTES

    ways = zip(*(asked(f"{way}_bytes").tolist() for way in ("read", "write")), strict=True)
    return [" and ".join(compress(("reads", "writes"), of_log)) or "little" for of_log in ways]


def lineage_id(uid: int, application: str, nprocs: int, signature: str) -> str:
    """Id of the lineage that a run belongs to, within its cluster; the same whenever it is worked out.

    Args:
        uid: whose run it is.
        application: what was run.
        nprocs: its processes; 4 to 15 are one scale, 16 to 63 the next, and so on.
        signature: what `io_signature` says.

    Returns:
        The first 16 hex digits of a SHA-256.
    """
    scale = (max(nprocs, 1).bit_length() - 1) // 2
    # As JSON, parts cannot run into each other, whatever they hold.
    return hashlib.sha256(json.dumps([uid, application, scale, signature]).encode()).hexdigest()[:_ID_DIGITS]
