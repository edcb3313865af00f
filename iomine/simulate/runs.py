"""What ranks do to files, in a compact form: runs of equal requests, and calls that move no data.

A run is a number of requests of one rank on one file, equally long, equally far apart in the file and in time. A
contiguous write of a GiB is one run, a random read one run for each request. All that a log holds follows from runs and
calls (`records`, `timeline`), and is the same whether requests are given as one run or one by one.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
# A number for all rows, or one for each.
Each = Integers | int
Column = Integers | Floats | float
# Places of columns in runs and in calls: files, offsets after layers and files, and how many columns of times come last.
_FILES: Final = 1
_OFFSETS: Final = 2
_TIMES: Final = 3

LAYERS: Final = ("POSIX", "MPI-IO", "STDIO", "H5F", "H5D")


class Call(IntEnum):
    """Kinds of calls that move no data."""

    OPEN = 0
    CLOSE = 1
    STAT = 2


class Runs(NamedTuple):
    """Runs of requests, in the order in which each rank makes them.

    Attributes:
        layers: index of the layer that is asked, into `LAYERS`.
        files: index of the file.
        ranks: the rank.
        ops: `READ` or `WRITE`.
        offsets: where the first request begins, in bytes.
        lengths: bytes of each request, at least 2.
        steps: from the beginning of a request to that of the next, in bytes.
        counts: how many requests.
        are_collective: 1 for collective calls of MPI-IO.
        starts: when the first request begins, in seconds since the start of the program.
        pitches: from the beginning of a request to that of the next, in seconds.
        seconds: how long each request takes, no more than the pitch.
    """

    layers: Integers
    files: Integers
    ranks: Integers
    ops: Integers
    offsets: Integers
    lengths: Integers
    steps: Integers
    counts: Integers
    are_collective: Integers
    starts: Floats
    pitches: Floats
    seconds: Floats

    @property
    def ends(self) -> Floats:
        """When the last request ends."""
        return self.starts + self.pitches * (self.counts - 1) + self.seconds

    @property
    def moved_bytes(self) -> Integers:
        """Bytes of all requests."""
        return self.counts * self.lengths

    def where(self, chosen: Flags | Integers) -> "Runs":
        """Some of the runs."""
        columns: list[Any] = [column[chosen] for column in self]
        return Runs(*columns)

    def one_by_one(self) -> "Runs":
        """The same requests, each as a run of its own."""
        which = np.repeat(np.arange(len(self.counts)), self.counts)
        nth = np.arange(len(which)) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        each = self.where(which)
        return each._replace(
            offsets=each.offsets + nth * each.steps, counts=np.ones_like(which), starts=each.starts + nth * each.pitches
        )


class Calls(NamedTuple):
    """Calls that move no data, those of one kind on one file together.

    Attributes:
        layers: index of the layer that is called, into `LAYERS`.
        files: index of the file.
        ranks: the rank.
        kinds: a `Call`.
        counts: how many calls.
        are_collective: 1 for collective opens of MPI-IO.
        starts: when the first begins, in seconds since the start of the program.
        ends: when the last ends.
        seconds: how long all of them take.
    """

    layers: Integers
    files: Integers
    ranks: Integers
    kinds: Integers
    counts: Integers
    are_collective: Integers
    starts: Floats
    ends: Floats
    seconds: Floats

    def where(self, chosen: Flags | Integers) -> "Calls":
        """Some of the calls."""
        columns: list[Any] = [column[chosen] for column in self]
        return Calls(*columns)


class Tape:
    """Records runs and calls as they come: how many, then their columns, which are numbers where all are alike."""

    def __init__(self) -> None:
        self.runs: list[tuple[Column, ...]] = []
        self.calls: list[tuple[Column, ...]] = []

    def repeat_last(self, layer: str, file: int, origin: int) -> None:
        """Adds the last runs again, as runs of another layer on a file that begins at `origin` in theirs."""
        length, _, _, *columns = self.runs[-1]
        columns[_OFFSETS] = columns[_OFFSETS] - origin
        self.runs.append((length, LAYERS.index(layer), file, *columns))


def joined(tapes: Sequence[Tape], first_files: Sequence[int]) -> tuple[Runs, Calls]:
    """Runs and calls of several programs.

    Args:
        tapes: of each program.
        first_files: what is added to its file indices.
    """
    return (
        Runs(*_columns([tape.runs for tape in tapes], first_files, len(Runs._fields))),
        Calls(*_columns([tape.calls for tape in tapes], first_files, len(Calls._fields))),
    )


def _columns(tapes: Sequence[list[tuple[Column, ...]]], first_files: Sequence[int], width: int) -> list[Any]:
    """Columns of all rows; those of times come last."""
    rows = [row for tape in tapes for row in tape]
    if not rows:
        return [*np.empty((width - _TIMES, 0), np.int64), *np.empty((_TIMES, 0))]
    lengths, *parts = zip(*rows, strict=True)
    columns = [
        _column(each, np.array(lengths), np.int64 if place < width - _TIMES else np.float64) for place, each in enumerate(parts)
    ]
    columns[_FILES] += np.repeat(np.repeat(first_files, [len(tape) for tape in tapes]), lengths)
    return columns


def _column(parts: Sequence[Column], lengths: Integers, dtype: type) -> npt.NDArray[Any]:
    """One column, laid out as its numbers repeated, into which its arrays are then put."""
    sizes = [part.size if type(part) is np.ndarray else 0 for part in parts]
    # An array of one is a number too.
    numbers = [0 if size > 1 else part.item() if size else part for part, size in zip(parts, sizes, strict=True)]  # type: ignore[union-attr]
    column: npt.NDArray[Any] = np.repeat(np.fromiter(numbers, dtype, len(numbers)), lengths)
    are_arrays = np.array(sizes) > 1
    if are_arrays.any():
        column[np.repeat(are_arrays, lengths)] = np.concatenate([parts[place] for place in np.flatnonzero(are_arrays).tolist()])
    return column
