"""What an archetype is: a way to draw an application, what one run of it does, and what is true of that run."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from iomine.simulate.program import Program

Parameters = Mapping[str, int]

# Patterns by name, and the trigger of ruleset `iomine` that asks for each.
PATTERNS: Final = {
    "small_reads": "POSIX-101",
    "small_writes": "POSIX-102",
    "random_reads": "POSIX-111",
    "random_writes": "POSIX-112",
    "misaligned": "POSIX-121",
    "rereads": "POSIX-131",
    "rewrites": "POSIX-132",
    "metadata_calls": "POSIX-302",
    "metadata_storm": "POSIX-303",
    "file_per_process": "FILE-101",
    "small_files": "FILE-102",
    "create_storm": "FILE-103",
    "single_ost": "LUSTRE-101",
    "overstriped": "LUSTRE-102",
    "few_osts": "LUSTRE-103",
    "independent_reads": "MPIIO-101",
    "independent_writes": "MPIIO-102",
    "misaligned_beneath_mpiio": "MPIIO-121",
    "stragglers": "RANK-101",
    "unbalanced_ranks": "RANK-201",
    "rank0_reads": "RANK-301",
    "rank0_writes": "RANK-302",
    "data_through_stdio": "STDIO-101",
}


class Truth(NamedTuple):
    """What is true of a run.

    Attributes:
        patterns: names of the patterns that it shows.
        open_questions: patterns of which nothing is claimed, because they lie near a threshold.
    """

    patterns: frozenset[str]
    open_questions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Archetype:
    """A kind of application.

    Attributes:
        weight: how common it is; 0 for kinds that only incidents bring, or that are asked for by name.
        exe: names of programs of this kind.
        draw: parameters of an application, which all its runs share; `nprocs` is one of them.
        act: one run.
        truth: what is true of such a run.
        ill: what the parameters become when the application goes bad, empty where that is not simulated.
        mpi_bytes_per_second: about what each rank sends to ranks on other nodes while it runs, which is nothing on one node.
    """

    weight: float
    exe: tuple[str, ...]
    draw: Callable[[np.random.Generator], Parameters]
    act: Callable[[Program, Parameters], None]
    truth: Callable[[Parameters], Truth]
    ill: Parameters = field(default_factory=dict)
    mpi_bytes_per_second: int = 0


def long_tailed(rng: np.random.Generator, median: float, spread: float, low: int, high: int) -> int:
    """A lognormal number within bounds."""
    return int(np.clip(median * np.exp(spread * rng.standard_normal()), low, high))


def ranks(rng: np.random.Generator, median: float, low: int = 2, high: int = 4096) -> int:
    """Processes of an application: mostly powers of two, now and then other multiples of four."""
    count = long_tailed(rng, median, 1.1, low, high)
    if rng.random() < 0.8 or count < 8:  # noqa: PLR2004  how people choose
        return min(high, max(low, 1 << round(math.log2(count))))
    return max(low, count // 4 * 4)


def varied(rng: np.random.Generator, amount: int, spread: float = 0.08) -> int:
    """An amount that differs from run to run, at least 1."""
    return max(1, round(amount * rng.lognormal(0, spread)))
