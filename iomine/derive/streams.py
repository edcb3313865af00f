"""Standard streams: stdio that carries messages and no data."""

from itertools import compress
from typing import Final

import numpy as np

from iomine.derive.trace import Integers, Tables

_STREAMS: Final = frozenset(("<STDIN>", "<STDOUT>", "<STDERR>"))


def standard_streams(tables: Tables) -> Integers:
    """Record ids of the standard streams, in order.

    Args:
        tables: columns by table, in one or more parts.
    """
    found: list[int] = []
    for part in tables.get("file_name", ()):
        # Of thousands of names hardly one is a stream's, and this is asked several times.
        found += compress(part["file_id"], map(_STREAMS.__contains__, part["path"]))
    return np.array(sorted(found), dtype=np.int64)


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
