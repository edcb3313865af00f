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


def totals(batches: Mapping[str, Sequence[pa.RecordBatch]]) -> Totals:
    """Sums over the records of one log.

    Args:
        batches: records by table; layers that are not there add nothing.
    """
    records = [batch for layer in LOWEST_LAYERS for batch in batches.get(layer, ())]

    def columns(*names: str) -> list[npt.NDArray[Any]]:
        found = (batch.column(at) for batch in records for name in names if (at := batch.schema.get_field_index(name)) >= 0)
        # A negative is Darshan's word for a counter that it does not know, never a measurement.
        return [np.fmax(column.to_numpy(), 0) for column in found]

    def count(*names: str) -> int | None:
        parts = columns(*names)
        # NumPy's sums of integers wrap around without a word.
        if sum(part.sum(dtype=np.float64) for part in parts) >= _TOO_MANY:
            return None
        return sum(int(part.sum()) for part in parts)

    return Totals(
        count("read_bytes"),
        count("write_bytes"),
        # DFS counts indexed requests apart from plain ones.
        count("read_count", "readx_count"),
        count("write_count", "writex_count"),
        sum(float(part.sum()) for part in columns("read_seconds", "write_seconds", "meta_seconds")),
    )
