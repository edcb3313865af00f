"""A log's trace in the order in which it is kept: file by file, and by time, so that one file's can be read alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from iomine.derive.trace import Integers, Tables

# Rows that are put in order at once; an order of all columns of a long trace would take its memory once more.
_ROWS: Final = 122_880


def segments(tables: Tables) -> Iterator[dict[str, pa.Array]]:
    """Columns of the table `segment` in order of file and start, some rows at a time.

    The order is found at once, so what is wrong with a trace shows before any row of it is written.

    Args:
        tables: columns by table, in one or more parts.
    """
    parts = [part for part in tables.get("segment", ()) if len(part["layer"])]
    return _in_order(parts, _order(parts)) if parts else iter(())


def _in_order(parts: Sequence[Mapping[str, Any]], order: Integers) -> Iterator[dict[str, pa.Array]]:
    ends = np.cumsum([len(part["layer"]) for part in parts])
    for at in range(0, len(order), _ROWS):
        rows = order[at : at + _ROWS]
        part_of = np.searchsorted(ends, rows, side="right")
        for number in np.unique(part_of).tolist():
            yield _taken(parts[number], rows[part_of == number] - (ends[number] - len(parts[number]["layer"])))


def _order(parts: Sequence[Mapping[str, Any]]) -> Integers:
    file_ids = np.concatenate([part["file_id"].values.to_numpy() for part in parts])
    counts = np.concatenate([np.diff(part["file_id"].run_ends.to_numpy(), prepend=0) for part in parts])
    _, files = np.unique(file_ids, return_inverse=True)
    by_start = np.argsort(np.concatenate([part["start_seconds"].to_numpy() for part in parts]), kind="stable")
    if len(files) == 1 or not files.any():
        return by_start
    of_file = np.repeat(files.astype(np.min_scalar_type(files.max())), counts)[by_start]
    order: Integers = by_start[np.argsort(of_file, kind="stable")]
    return order


def _taken(part: Mapping[str, Any], rows: Integers) -> dict[str, pa.Array]:
    """Some rows of all columns."""
    runs = pa.array(np.searchsorted(part["layer"].run_ends.to_numpy(), rows, side="right"))
    at = pa.array(rows)
    return {
        name: column.values.take(runs) if isinstance(column, pa.RunEndEncodedArray) else column.take(at)
        for name, column in part.items()
    }
