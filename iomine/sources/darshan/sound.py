"""Counters that no run can have: a log is written by its user, and what is in it need not be true.

Such a value becomes -1, Darshan's own word for a counter that it does not know, so everything that reads records holds it for
unknown. The log row says which they were (`doubt`), and what they would have entered is NULL there. But for a time below zero: a
clock that is set back within a call gives one, in sound logs too, and is no reason to forget what all other calls took.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.sources.darshan.decoded import Columns, Records, are_floats

_UNKNOWN: Final = -1
# An exbibyte, and as many calls: no run has moved or made so many.
_TOO_MANY: Final = 2**60
_MEASURES: Final = ("_count", "_bytes", "_seconds")
# An offset says where in a file something lay, and a sparse file may be as long as 64 bits can say.
_PLACES: Final = "_offset_bytes"
# The end of a run is noted before Darshan has closed the last files, by a clock that may be set meanwhile.
_SLACK_RATIO: Final = 1.01
_SLACK_SECONDS: Final = 1.0
# A million processes for eleven days: more than any run, whatever its header says.
_MOST_CORE_SECONDS: Final = 1e12
# A time below zero by less than a clock's resolution is read as it is; views decide about it.
_ROUNDING_SECONDS: Final = 1e-6

_OF_LOG: Final = ("posix_file", "mpiio_file", "stdio_file", "dfs_file")
_NEGATIVE: Final = "negative"
_TIMES: Final = frozenset(("read_seconds", "write_seconds", "meta_seconds"))
_PARTS: Final = {
    "read_bytes": frozenset(("read_bytes",)),
    "write_bytes": frozenset(("write_bytes",)),
    "read_count": frozenset(("read_count", "readx_count")),
    "write_count": frozenset(("write_count", "writex_count")),
}


@dataclass(frozen=True, slots=True)
class Doubted:
    """Counters that cannot be.

    Attributes:
        columns: table and column of each without which sums are not known.
        reasons: how they cannot be, with the names of the columns.
    """

    columns: Collection[tuple[str, str]] = frozenset()
    reasons: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        """A sentence for people, empty where there are none."""
        parts = (f"{', '.join(names)} ({reason})" for reason, names in self.reasons.items())
        return f"counted as unknown: {', '.join(parts)}" if self.reasons else ""

    def withheld(self, sums: Mapping[str, object]) -> dict[str, object]:
        """Sums over a log's records, None where a counter in doubt is part of them."""
        doubted = {column for table, column in self.columns if table in _OF_LOG}
        # What counts neither bytes nor calls is a time.
        return {name: None if _PARTS.get(name, _TIMES) & doubted else value for name, value in sums.items()}


def sound(tables: Mapping[str, Sequence[Columns]], run_core_seconds: float | None) -> tuple[dict[str, list[Columns]], Doubted]:
    """The tables with what cannot be as unknown, and what that was.

    Args:
        tables: columns by table, in one or more parts.
        run_core_seconds: length of the run times its processes, None where that is in doubt itself.
    """
    most = _MOST_CORE_SECONDS
    if run_core_seconds is not None:
        most = min(most, run_core_seconds * _SLACK_RATIO + _SLACK_SECONDS)
    columns: set[tuple[str, str]] = set()
    reasons: dict[str, list[str]] = defaultdict(list)

    def checked(table: str, part: Columns) -> Columns:
        if not isinstance(part, Records) or not (odd := _odd_columns(part, most)):
            return part
        mended = dict(part)
        for name in odd:
            values = mended[name].to_numpy()
            for reason, flags in _faults(values, most).items():
                if flags.any():
                    if reason != _NEGATIVE or name not in _TIMES:
                        columns.add((table, name))
                    reasons[reason].append(f"{table}.{name}")
                    values = np.where(flags, _UNKNOWN, values)
            mended[name] = pa.array(values)
        return mended

    mended = {table: [checked(table, part) for part in parts] for table, parts in tables.items()}
    return mended, Doubted(frozenset(columns), reasons)


def _odd_columns(part: Records, most: float) -> list[str]:
    """Counters of records with a value that is neither unknown nor what a run can have."""
    found: list[str] = []
    # In one look at all columns of a kind, since hardly a log has such a counter.
    for is_float, least, limit in ((False, _UNKNOWN, _TOO_MANY), (True, -_ROUNDING_SECONDS, most)):
        indices = _measures(part.table, part.names, is_float)
        values = np.ascontiguousarray(part.matrix[:, indices]).view(np.float64 if is_float else np.int64)
        is_sound = (values > least) & (values <= limit) | (values == _UNKNOWN)
        found += [part.names[indices[at]] for at in np.flatnonzero(~is_sound.all(axis=0))]
    return found


@cache
def _measures(table: str, names: tuple[str, ...], is_float: bool) -> list[int]:
    """Indices of the counters that are floats, or of those that are whole numbers."""
    kinds = are_floats(table, names)
    return [
        index
        for index, name in enumerate(names)
        if kinds[index] == is_float and name.endswith(_MEASURES) and not name.endswith(_PLACES)
    ]


def _faults(values: npt.NDArray[Any], most: float) -> dict[str, npt.NDArray[np.bool_]]:
    """Which values cannot be, by reason."""
    if values.dtype.kind != "f":
        return {_NEGATIVE: values < _UNKNOWN, "more than 2^60": values > _TOO_MANY}
    is_finite = np.isfinite(values)
    return {
        "not finite": ~is_finite,
        _NEGATIVE: is_finite & (values <= -_ROUNDING_SECONDS) & (values != _UNKNOWN),
        f"more than the {most:,.0f} core-seconds of the run": is_finite & (values > most),
    }
