"""What a log moved and how long it took, over the lowest layers.

POSIX, STDIO and DFS are where bytes leave the process; MPI-IO and the libraries above pass through them and are not
added. Times are those of Darshan's counters `F_READ_TIME`, `F_WRITE_TIME` and `F_META_TIME`, which a shared record
holds as a sum over ranks (`darshan-posix.c`, `darshan-stdio.c`: reduction of shared records).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

LOWEST_LAYERS: Final = ("posix_file", "stdio_file", "dfs_file")
_TOO_MANY: Final = 2.0**63


class Totals(NamedTuple):
    """Sums over a log's lowest layers; the names are those of the table `log`. None where 64 bits do not hold a sum."""

    read_bytes: int | None
    write_bytes: int | None
    read_count: int | None
    write_count: int | None
    io_core_seconds: float


def totals(tables: Mapping[str, Sequence[Mapping[str, pa.Array]]]) -> Totals:
    """Sums over the records of one log.

    Args:
        tables: columns by table, in one or more parts; layers that are not there add nothing.
    """
    parts = [part for layer in LOWEST_LAYERS for part in tables.get(layer, ())]

    def columns(*names: str) -> list[npt.NDArray[Any]]:
        # A negative is Darshan's word for a counter that it does not know, never a measurement.
        return [np.fmax(part[name].to_numpy(), 0) for part in parts for name in names if name in part]

    def count(*names: str) -> int | None:
        found = columns(*names)
        # NumPy's sums of integers wrap around without a word.
        if sum(column.sum(dtype=np.float64) for column in found) >= _TOO_MANY:
            return None
        return sum(int(column.sum()) for column in found)

    return Totals(
        count("read_bytes"),
        count("write_bytes"),
        # DFS counts indexed requests apart from plain ones.
        count("read_count", "readx_count"),
        count("write_count", "writex_count"),
        sum(float(column.sum()) for column in columns("read_seconds", "write_seconds", "meta_seconds")),
    )
