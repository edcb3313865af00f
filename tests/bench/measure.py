"""Timing of several ways to do one thing, taken in turns so that a drift of the machine hits all of them alike."""

import gc
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from iomine.units import KIB

Way = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Times:
    """How long one way took for one thing, run by run, in seconds: on the clock, and of processors.

    What else runs on the machine makes the first longer, and hardly the second.
    """

    runs: tuple[float, ...]
    cpu_runs: tuple[float, ...]

    @property
    def median(self) -> float:
        """The run in the middle, on the clock."""
        return statistics.median(self.runs)

    @property
    def cpu(self) -> float:
        """The run in the middle, in CPU seconds."""
        return statistics.median(self.cpu_runs)

    @property
    def spread(self) -> float:
        """Slowest run minus fastest run in CPU seconds, as a share of the median."""
        return (max(self.cpu_runs) - min(self.cpu_runs)) / self.cpu

    @classmethod
    def of(cls, runs: Iterable[tuple[float, float]]) -> Self:
        """Of runs on the clock and in CPU seconds."""
        return cls(*zip(*runs, strict=True))

    @classmethod
    def of_cpu(cls, runs: Sequence[float]) -> Self:
        """Of runs of which only CPU seconds are known."""
        return cls(tuple(runs), tuple(runs))

    @classmethod
    def sum_of(cls, parts: Iterable["Times"]) -> Self:
        """Of things that were done one after another: first runs together, second runs together, and so on."""
        of_parts = list(parts)
        return cls(
            tuple(map(sum, zip(*(part.runs for part in of_parts), strict=True))),
            tuple(map(sum, zip(*(part.cpu_runs for part in of_parts), strict=True))),
        )


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
        runs: dict[str, list[tuple[float, float]]] = {name: [] for name in self._ways}
        for _ in range(rounds + 1):
            for name, way in self._ways.items():
                runs[name].append(self._pools[name].apply(_seconds, (way, thing)))
        return {name: Times.of(seconds[1:]) for name, seconds in runs.items()}

    def peak_memory_bytes(self) -> dict[str, int]:
        """Most memory that each way's process has held so far, imports included."""
        return {name: pool.apply(peak_memory_bytes) for name, pool in self._pools.items()}


def _settle(_way: Way) -> None:
    """Leaves what the imports made out of garbage collections; getting the way has imported all that it needs."""
    gc.freeze()


def _seconds(way: Way, thing: str) -> tuple[float, float]:
    start, cpu_start = time.perf_counter(), time.process_time()
    way(thing)
    return time.perf_counter() - start, time.process_time() - cpu_start


def peak_memory_bytes() -> int:
    """Most memory that this process has held so far."""
    # Not getrusage: after a fork it counts the parent's memory too.
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * KIB for line in status.splitlines() if line.startswith("VmHWM"))


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Power of the size that fits the values best, by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
