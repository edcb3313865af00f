"""What ranks do to files, in a compact form: runs of equal requests, and calls that move no data.

A run is a number of requests of one rank on one file, equally long, equally far apart in the file and in time. A
contiguous write of a GiB is one run, a random read one run for each request. All that a log holds follows from runs and
calls (`records`, `timeline`), and is the same whether requests are told as one run or one by one.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

READ: Final = 0
WRITE: Final = 1
OPS: Final = ("read", "write")


class Call(IntEnum):
    """Kinds of calls that move no data."""

    OPEN = 0
    CLOSE = 1
    STAT = 2
    SEEK = 3


class Runs(NamedTuple):
    """Runs of requests, in the order in which each rank makes them.

    Attributes:
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
        return Runs(*(column[chosen] for column in self))

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
        files: index of the file.
        ranks: the rank.
        kinds: a `Call`.
        counts: how many calls.
        are_collective: 1 for collective opens of MPI-IO.
        starts: when the first begins, in seconds since the start of the program.
        ends: when the last ends.
        seconds: how long all of them take.
    """

    files: Integers
    ranks: Integers
    kinds: Integers
    counts: Integers
    are_collective: Integers
    starts: Floats
    ends: Floats
    seconds: Floats


class Tape:
    """Records runs and calls of one layer as they come."""

    _RUN_FLOATS: Final = 3
    _CALL_FLOATS: Final = 3

    def __init__(self) -> None:
        self._runs: list[Floats] = []
        self._calls: list[Floats] = []

    def add_runs(self, length: int, columns: Sequence[Any]) -> None:
        """Adds runs; columns that are the same for all may be numbers."""
        self._runs.append(_block(length, columns))

    def add_calls(self, length: int, columns: Sequence[Any]) -> None:
        """Adds calls; columns that are the same for all may be numbers."""
        self._calls.append(_block(length, columns))

    def add_last_of(self, other: "Tape", file: int, origin: int) -> None:
        """Adds the runs that another tape got last, as runs on a file that begins at `origin` in theirs."""
        block = other._runs[-1].copy()
        block[Runs._fields.index("files")] = file
        block[Runs._fields.index("offsets")] -= origin
        self._runs.append(block)

    def runs(self) -> Runs:
        """All runs so far."""
        return Runs(*_columns(self._runs, len(Runs._fields), self._RUN_FLOATS))

    def calls(self) -> Calls:
        """All calls so far."""
        return Calls(*_columns(self._calls, len(Calls._fields), self._CALL_FLOATS))


def _block(length: int, columns: Sequence[Any]) -> Floats:
    # Floats hold all integers up to 2**53, more than any offset, and one block is joined faster than many columns.
    block = np.empty((len(columns), length))
    for row, column in zip(block, columns, strict=True):
        row[:] = column
    return block


def _columns(blocks: list[Floats], width: int, float_count: int) -> list[Any]:
    block = np.concatenate(blocks, axis=1) if blocks else np.empty((width, 0))
    return [*block[: width - float_count].astype(np.int64), *block[width - float_count :]]
