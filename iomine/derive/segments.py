"""A log's trace in the order in which it is kept: file by file, and by time, so that one file's can be read alone; and back."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from iomine.derive.sorting import order_by
from iomine.derive.trace import Integers, Tables, group_starts

# What says whose requests these are.
_OF_RUNS: Final = ("layer", "file_id", "rank", "op")
_OF_REQUESTS: Final = ("offset_bytes", "length_bytes", "start_seconds", "end_seconds")
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
    runs = [np.repeat(np.arange(len(counts)), counts) for counts in map(_run_counts, parts)]
    for at in range(0, len(order), _ROWS):
        rows = order[at : at + _ROWS]
        for part, run_of in zip(parts, runs, strict=True):
            own = rows[np.flatnonzero((rows >= 0) & (rows < len(run_of)))]
            if len(own):
                yield _taken(part, own, run_of[own])
            rows = rows - len(run_of)


def _order(parts: Sequence[Mapping[str, Any]]) -> Integers:
    file_ids = np.concatenate([part["file_id"].values.to_numpy() for part in parts])
    counts = np.concatenate([_run_counts(part) for part in parts])
    _, files = np.unique(file_ids, return_inverse=True)
    starts = np.concatenate([part["start_seconds"].to_numpy() for part in parts])
    return order_by(np.repeat(files, counts), starts)


def _run_counts(part: Mapping[str, Any]) -> Integers:
    counts: Integers = np.diff(part["file_id"].run_ends.to_numpy(), prepend=0)
    return counts


def _taken(part: Mapping[str, Any], rows: Integers, runs: Integers) -> dict[str, pa.Array]:
    """Some rows of all columns, and the run of each."""
    of_runs, at = pa.array(runs), pa.array(rows)
    return {
        name: column.values.take(of_runs) if isinstance(column, pa.RunEndEncodedArray) else column.take(at)
        for name, column in part.items()
    }


def as_traced(kept: pa.Table) -> list[dict[str, pa.Array]]:
    """Segments that were kept, as a reader gives them: a part for each layer, and in it rank by rank, each in order of start.

    Args:
        kept: columns of the table `segment`, in the order in which it has them; `host` and `thread_id` may be left out.
    """
    table = kept.combine_chunks()
    layers = table["layer"].to_numpy()
    keys = [np.unique(table[name].to_numpy(), return_inverse=True)[1] for name in ("op", "rank", "file_id", "layer")]
    order = np.lexsort(keys)
    edges = group_starts(layers[order]) if len(order) else np.empty(0, np.int64)
    return [_part(table, rows) for rows in np.split(order, edges[1:]) if len(rows)]


def _part(table: pa.Table, rows: Integers) -> dict[str, pa.Array]:
    part = table.take(pa.array(rows))
    firsts = group_starts(*(part[name].to_numpy() for name in ("file_id", "rank", "op")))
    ends = pa.array(np.append(firsts[1:], len(rows)))
    whose = {
        name: part[name].combine_chunks().take(pa.array(firsts)) for name in (*_OF_RUNS, "host") if name in part.column_names
    }
    whose |= {name: whose[name].cast(pa.string()).dictionary_encode() for name in ("layer", "op", "host") if name in whose}
    runs = {name: pa.RunEndEncodedArray.from_arrays(ends, values) for name, values in whose.items()}
    # What is not known is negative in a trace.
    columns = {name: part[name].combine_chunks() for name in (*_OF_REQUESTS, "thread_id") if name in part.column_names}
    return runs | columns | {"offset_bytes": columns["offset_bytes"].fill_null(-1)}
