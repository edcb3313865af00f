"""Pictures by time and rank: the bytes that each cell of them stands for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.views.answers import Row, rows_of

_ABOUT: Final = ("log_id", "layer", "source", "shown_seconds", "grid_rows", "grid_columns")


@dataclass(frozen=True)
class Grid:
    """Bytes by time and rank.

    Attributes:
        source: `heatmap` or `trace`.
        seconds: the time that the columns divide evenly, from the start of the run on.
        read: bytes read, a row for neighbouring ranks from 0 on.
        write: bytes written, as `read`.
    """

    source: str
    seconds: float
    read: npt.NDArray[np.float64]
    write: npt.NDArray[np.float64]

    @cached_property
    def tenths(self) -> list[dict[str, float]]:
        """Bytes in ten equal parts of the picture's time: what the picture shows, to be read."""
        columns = self.read.shape[1]
        edges = [columns * part // 10 for part in range(11)]
        return [
            {
                "start_seconds": self.seconds * first / columns,
                "end_seconds": self.seconds * end / columns,
                "read_bytes": float(self.read[:, first:end].sum()),
                "write_bytes": float(self.write[:, first:end].sum()),
            }
            for first, end in pairwise(edges)
            if end > first
        ]


def grids_of(pictures: pa.Table) -> Iterator[tuple[str, str, Grid]]:
    """Log, layer and grid; those of POSIX, STDIO and DFS of a log are of one shape.

    Args:
        pictures: the answer to `report/grid`.
    """
    # Joined batches would be copied, and these answers are the largest.
    for batch in pictures.to_batches():
        amounts = [(_lists(batch[f"{op}_cells"]), _lists(batch[f"{op}_bytes"])) for op in ("read", "write")]
        pairs = [zip(*lists, strict=True) for lists in amounts]
        for row, *of_ops in zip(rows_of(pa.table(batch).select(_ABOUT)), *pairs, strict=True):
            read, write = (_summed(cells, moved, row["grid_rows"], row["grid_columns"]) for cells, moved in of_ops)
            yield row["log_id"], row["layer"], Grid(row["source"], row["shown_seconds"], read, write)


def _lists(column: pa.ListArray) -> Iterator[npt.NDArray[Any]]:
    """Each list as an array; NULL is an empty one."""
    values = column.values.to_numpy()
    return (values[first:end] for first, end in pairwise(column.offsets.tolist()))


def _summed(cells: npt.NDArray[np.int64], amounts: npt.NDArray[np.float64], rows: int, columns: int) -> npt.NDArray[np.float64]:
    """Amounts by row and column, those of a cell added up in their order."""
    # NumPy's types have whole numbers here, whatever the weights are.
    return np.bincount(cells, amounts, rows * columns).astype(np.float64, copy=False).reshape(rows, columns)


def on_storage(layers: Mapping[str, Grid], log: Row) -> Grid | None:
    """What reached storage, without what went to standard streams and pipes alone; None where nothing is left."""
    # What MPI-IO moves passes through POSIX.
    lowest = [grid for layer, grid in layers.items() if layer != "mpiio"]
    if not lowest:
        return None
    first = lowest[0]

    def amounts(op: str) -> npt.NDArray[np.float64]:
        ones, *others = (getattr(grid, op) for grid in lowest)
        total = sum(others, start=ones)
        return np.zeros_like(total) if log[f"{op}_bytes"] == 0 and total.any() else total

    read, write = amounts("read"), amounts("write")
    if read is first.read and write is first.write:
        return first
    return replace(first, read=read, write=write) if read.any() or write.any() else None


def parts_by(answer: pa.Table, *names: str) -> Iterator[tuple[tuple[str, ...], slice]]:
    """Which rows of an answer have which values in some columns, where rows of the same values follow each other."""
    columns = [answer[name].combine_chunks().dictionary_encode() for name in names]
    codes = np.stack([column.indices.to_numpy() for column in columns])
    ends = (np.flatnonzero(np.diff(codes, append=-1).any(axis=0)) + 1).tolist()
    values = [column.dictionary.to_pylist() for column in columns]
    for start, end in pairwise([0, *ends]):
        yield tuple(known[code] for known, code in zip(values, codes[:, start].tolist(), strict=True)), slice(start, end)
