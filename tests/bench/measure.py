"""Timing of several ways to do one thing, taken in turns so that a drift of the machine hits all of them alike."""

import gc
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from iomine.units import KIB

Way = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Times:
    """How long one way took for one thing, run by run, in seconds."""

    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        """The run in the middle."""
        return statistics.median(self.runs)

    @property
    def spread(self) -> float:
        """Slowest run minus fastest run, as a share of the median."""
        return (max(self.runs) - min(self.runs)) / self.median


class Contest:
    """Ways that take turns, each in a process of its own, so that none inherits the other's caches, heap or garbage."""

    def __init__(self, ways: Mapping[str, Way]) -> None:
        self._ways = ways
        context = multiprocessing.get_context("spawn")
        self._pools = {name: context.Pool(1, _settle, (way,)) for name, way in ways.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pool in self._pools.values():
            pool.terminate()

    def times(self, thing: str, rounds: int) -> dict[str, Times]:
        """Times of each way for one thing: A B C, A B C, and so on, after one round that does not count."""
        runs: dict[str, list[float]] = {name: [] for name in self._ways}
        for _ in range(rounds + 1):
            for name, way in self._ways.items():
                runs[name].append(self._pools[name].apply(_seconds, (way, thing)))
        return {name: Times(tuple(seconds[1:])) for name, seconds in runs.items()}

    def times_of_all(self, name: str, seconds: Callable[[Sequence[str]], float], things: Sequence[str], rounds: int) -> Times:
        """Times that a function takes of its own work on all things, in the process of one way, the first left out."""
        return Times(tuple([self._pools[name].apply(seconds, (things,)) for _ in range(rounds + 1)][1:]))

    def peak_memory_bytes(self) -> dict[str, int]:
        """Most memory that each way's process has held so far, imports included."""
        return {name: pool.apply(peak_memory_bytes) for name, pool in self._pools.items()}


def _settle(_way: Way) -> None:
    """Leaves what the imports made out of garbage collections; getting the way has imported all that it needs."""
    gc.freeze()


def _seconds(way: Way, thing: str) -> float:
    start = time.perf_counter()
    way(thing)
    return time.perf_counter() - start


def peak_memory_bytes() -> int:
    """Most memory that this process has held so far."""
    # Not getrusage: after a fork it counts the parent's memory too.
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * KIB for line in status.splitlines() if line.startswith("VmHWM"))


def lines(rows: Iterable[Sequence[object]]) -> list[str]:
    """Rows of a table, the first column to the left and the others to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
        for row in cells
    ]
