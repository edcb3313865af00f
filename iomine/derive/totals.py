"""What a log moved and how long it took, over the lowest layers.

POSIX, STDIO and DFS are where bytes leave the process; MPI-IO and the libraries above pass through them and are not
added. Times are those of Darshan's counters `F_READ_TIME`, `F_WRITE_TIME` and `F_META_TIME`, which a shared record
holds as a sum over ranks (`darshan-posix.c`, `darshan-stdio.c`: reduction of shared records).
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

LOWEST_LAYERS: Final = ("posix_file", "stdio_file", "dfs_file")


class Totals(NamedTuple):
    """Sums over a log's lowest layers; the names are those of the table `log`."""

    read_bytes: int
    write_bytes: int
    read_count: int
    write_count: int
    io_core_seconds: float


def totals(batches: Mapping[str, Sequence[pa.RecordBatch]]) -> Totals:
    """Sums over the records of one log.

    Args:
        batches: records by table; layers that are not there add nothing.
    """
    records = [batch for layer in LOWEST_LAYERS for batch in batches.get(layer, ())]

    def total(*columns: str) -> float:
        found = (batch.column(at) for batch in records for name in columns if (at := batch.schema.get_field_index(name)) >= 0)
        # A negative is Darshan's word for a counter that it does not know, never a measurement.
        summed: float = sum(np.fmax(column.to_numpy(), 0).sum().item() for column in found)
        return summed

    return Totals(
        int(total("read_bytes")),
        int(total("write_bytes")),
        # DFS counts indexed requests apart from plain ones.
        int(total("read_count", "readx_count")),
        int(total("write_count", "writex_count")),
        float(total("read_seconds", "write_seconds", "meta_seconds")),
    )
