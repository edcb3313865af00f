"""Standard streams: stdio that carries messages and no data."""

from typing import Final

import numpy as np

from iomine.derive.trace import Integers, Tables

_STREAMS: Final = frozenset(("<STDIN>", "<STDOUT>", "<STDERR>"))


def standard_streams(tables: Tables) -> Integers:
    """Record ids of the standard streams, in order.

    Args:
        tables: columns by table, in one or more parts.
    """
    names = (name for part in tables.get("file_name", ()) for name in zip(part["file_id"], part["path"], strict=True))
    return np.array(sorted(file_id for file_id, path in names if path in _STREAMS), dtype=np.int64)


def moves_data_through_stdio(tables: Tables) -> bool:
    """Whether any byte went through stdio other than by standard streams.

    Args:
        tables: columns by table, in one or more parts.
    """
    streams = standard_streams(tables)
    return any(
        (part[op].to_numpy()[~np.isin(part["file_id"].to_numpy(), streams)] > 0).any()
        for part in tables.get("stdio_file", ())
        for op in ("read_bytes", "write_bytes")
    )
