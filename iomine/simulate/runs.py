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
# A number for all rows, or one for each.
Each = Integers | int
Column = Integers | Floats | float

LAYERS: Final = ("POSIX", "MPI-IO", "STDIO", "H5F", "H5D")
READ: Final = 0
WRITE: Final = 1
OPS: Final = ("read", "write")


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
    """Records runs and calls as they come, as columns of one block of floats, which hold all integers up to 2**53."""

    FILES: Final = 1
    FLOATS: Final = 3

    def __init__(self) -> None:
        self.runs: list[Floats] = []
        self.calls: list[Floats] = []

    def add_runs(self, length: int, *columns: Column) -> None:
        """Adds runs; columns that are the same for all may be numbers."""
        self.runs.append(_block(length, columns))

    def add_calls(self, length: int, *columns: Column) -> None:
        """Adds calls; columns that are the same for all may be numbers."""
        self.calls.append(_block(length, columns))

    def repeat_last(self, layer: str, file: int, origin: int) -> None:
        """Adds the last runs again, as runs of another layer on a file that begins at `origin` in theirs."""
        block = self.runs[-1].copy()
        block[0], block[self.FILES] = LAYERS.index(layer), file
        block[Runs._fields.index("offsets")] -= origin
        self.runs.append(block)


def joined(tapes: Sequence[Tape], first_files: Sequence[int]) -> tuple[Runs, Calls]:
    """Runs and calls of several programs.

    Args:
        tapes: of each program.
        first_files: what is added to its file indices.
    """
    return (
        Runs(*_columns([(tape.runs, first) for tape, first in zip(tapes, first_files, strict=True)], len(Runs._fields))),
        Calls(*_columns([(tape.calls, first) for tape, first in zip(tapes, first_files, strict=True)], len(Calls._fields))),
    )


def _block(length: int, columns: Sequence[Column]) -> Floats:
    block = np.empty((len(columns), length))
    for place, column in enumerate(columns):
        block[place] = column
    return block


def _columns(parts: Sequence[tuple[list[Floats], int]], width: int) -> list[Any]:
    blocks = [block for of_tape, _ in parts for block in of_tape]
    if not blocks:
        return [*np.empty((width - Tape.FLOATS, 0), np.int64), *np.empty((Tape.FLOATS, 0))]
    block = np.concatenate(blocks, axis=1)
    lengths = [sum(each.shape[1] for each in of_tape) for of_tape, _ in parts]
    block[Tape.FILES] += np.repeat([first for _, first in parts], lengths)
    return [*block[: width - Tape.FLOATS].astype(np.int64), *block[width - Tape.FLOATS :]]
