"""Which runs belong together: by what a log repeats, and neither chance nor advice changes.

A lineage is a user's application at one scale that moves data the same ways. Sizes of requests, files for all or for each,
collective calls and layers are what advice changes, and the number of bytes follows the input. So none of them divides lineages,
nor does a number of processes that is only a little higher.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from iomine.units import MIB

# Logs and settings are not what a program is about.
_MUCH_BYTES: Final = MIB
_ID_DIGITS: Final = 16
_DIRECT: Final = ("stdio_file", "dfs_file")


def io_signature(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Which ways a program asked to move at least a MiB: `reads`, `writes`, `reads and writes` or `little`.

    A file that goes through MPI-IO counts by what was asked of that: beneath it MPI-IO may read in order to write.

    Args:
        tables: columns of one log by table, in one or more parts.
    """
    through_mpiio = np.concatenate(
        [np.empty(0, np.int64), *(part["file_id"].to_numpy() for part in tables.get("mpiio_file", ()))]
    )

    def asked(name: str) -> float:
        own = sum(
            _total(part, name, ~np.isin(part["file_id"].to_numpy(), through_mpiio)) for part in tables.get("posix_file", ())
        )
        return own + sum(_total(part, name) for table in ("mpiio_file", *_DIRECT) for part in tables.get(table, ()))

    ways = [way for way in ("read", "write") if asked(f"{way}_bytes") >= _MUCH_BYTES]
    return " and ".join(f"{way}s" for way in ways) or "little"


def _total(part: Mapping[str, Any], name: str, rows: npt.NDArray[np.bool_] | slice = slice(None)) -> float:
    # A negative is Darshan's word for a counter that it does not know.
    return float(np.fmax(part[name].to_numpy()[rows], 0).sum(dtype=np.float64))


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
