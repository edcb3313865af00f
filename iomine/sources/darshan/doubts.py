"""Doubts about a log: what is not to be trusted, and the words for it."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

# The end of a run is noted before Darshan has closed the last files, by a clock that may be set meanwhile.
_SLACK_RATIO: Final = 1.01
_SLACK_SECONDS: Final = 1.0
# A million processes for eleven days: more than any run, whatever its header says.
_MOST_CORE_SECONDS: Final = 1e12
_OF_LOG: Final = ("posix_file", "mpiio_file", "stdio_file", "dfs_file")
NEGATIVE: Final = "negative"
# Why a time is negative: it is not known, and says nothing of what other calls took.
SET_BACK: Final = "set back"
_TIMES: Final = frozenset(("read_seconds", "write_seconds", "meta_seconds"))
_PARTS: Final = {
    "read_bytes": frozenset(("read_bytes",)),
    "write_bytes": frozenset(("write_bytes",)),
    "read_count": frozenset(("read_count", "readx_count")),
    "write_count": frozenset(("write_count", "writex_count")),
}


@dataclass(frozen=True, slots=True)
class Run:
    """What records are compared with, as far as the header is to be trusted.

    Attributes:
        seconds: length of the run, None where that is in doubt.
        nprocs: number of processes, None likewise.
    """

    seconds: float | None = None
    nprocs: int | None = None

    @property
    def rank_seconds(self) -> float:
        """The most that one rank may have spent in one kind of call."""
        return _MOST_CORE_SECONDS if self.seconds is None else min(_MOST_CORE_SECONDS, _with_slack(self.seconds))

    @property
    def core_seconds(self) -> float:
        """The most that all ranks may have spent together."""
        if self.seconds is None or self.nprocs is None:
            return _MOST_CORE_SECONDS
        return min(_MOST_CORE_SECONDS, _with_slack(self.seconds * self.nprocs))


def _with_slack(seconds: float) -> float:
    return seconds * _SLACK_RATIO + _SLACK_SECONDS


@dataclass(frozen=True, slots=True)
class Doubt:
    """What of a log is not to be trusted: a row of the table `data_quality`.

    Attributes:
        module: name of the Darshan module, None for the header.
        table: where the number would be, `log` for the header.
        column: likewise.
        check: what it was compared with, in a word.
        value: the one furthest from what is possible, None where it is not a number.
        limit: what it was compared with, None where that is not one number.
        count: records with such a value.
    """

    module: str | None
    table: str
    column: str
    check: str
    value: float | None
    limit: float | None
    count: int = 1


class Fault(NamedTuple):
    """Why values are impossible: in a word, in words for people, the limit that they break, and whether they are below it."""

    check: str
    reason: str
    limit: float | None = None
    is_low: bool = False


@dataclass(frozen=True, slots=True)
class Doubted:
    """Counters with impossible values.

    Attributes:
        columns: table and column of each counter without which sums are not known.
        reasons: why they are impossible, with the names of the columns.
        marked: why values that are left as they are are impossible, likewise.
        doubts: rows of the table `data_quality`.
    """

    columns: Collection[tuple[str, str]] = frozenset()
    reasons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    marked: Mapping[str, Sequence[str]] = field(default_factory=dict)
    doubts: Sequence[Doubt] = ()

    def __str__(self) -> str:
        """A sentence for people, empty where there are none."""
        unknown, left = (
            ", ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
            for reasons in (self.reasons, self.marked)
        )
        return "; ".join(
            f"{what}: {names}" for what, names in (("counted as unknown", unknown), ("not to be trusted", left)) if names
        )

    def withheld(self, sums: Mapping[str, object]) -> dict[str, object]:
        """Sums over a log's records, None where a counter in doubt is part of them."""
        doubted = {column for table, column in self.columns if table in _OF_LOG}
        # What counts neither bytes nor calls is a time.
        return {name: None if _PARTS.get(name, _TIMES) & doubted else value for name, value in sums.items()}


class Findings:
    """Doubts as they are found."""

    def __init__(self) -> None:
        self.columns: set[tuple[str, str]] = set()
        self.reasons: dict[str, list[str]] = defaultdict(list)
        self.marked: dict[str, list[str]] = defaultdict(list)
        self.doubts: list[Doubt] = []

    def add(
        self, module: str | None, table: str, column: str, fault: Fault, values: npt.NDArray[Any], *, is_kept: bool = False
    ) -> None:
        """Notes impossible values of one column; they become unknown, or are kept."""
        check = SET_BACK if fault.check == NEGATIVE and column in _TIMES else fault.check
        if check != SET_BACK:
            self.columns.add((table, column))
        (self.marked if is_kept else self.reasons)[fault.reason].append(f"{table}.{column}")
        worst = float(values.min() if fault.is_low else values.max())
        value = worst if np.isfinite(worst) else None
        self.doubts.append(Doubt(module, table, column, check, value, fault.limit, len(values)))
