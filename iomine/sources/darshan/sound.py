"""Counters that no run can have: a log is written by its user, and what is in it need not be true.

Such a value becomes -1, Darshan's own value for an unknown counter, so everything that reads records treats it as
unknown. The log row says which they were (`doubt`), and what they would have entered is NULL there; the table `data_quality` has
a row for each. Times below zero are an exception: a clock set back within a call gives one, in sound logs too, and is no reason
to forget what all other calls took. Ranks that the run does not have, and more requests traced than counted, are marked only.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.schema.column import as_arrow
from iomine.sources.darshan.counters import LAYOUTS
from iomine.sources.darshan.decoded import TOO_MANY, Columns, Records, are_floats, row_count
from iomine.sources.darshan.doubts import NEGATIVE, Doubted, Fault, Findings, Run

_UNKNOWN: Final = -1
_ANY_NUMBER: Final = np.iinfo(np.int64).max
_MEASURES: Final = ("_count", "_bytes", "_seconds")
# Darshan writes 0 or 1 there.
_FLAGS: Final = ("use_", "is_")
# An offset says where in a file something lay, and a sparse file may be as long as 64 bits can say.
_PLACES: Final = "_offset_bytes"
# A time below zero by less than a clock's resolution is read as it is; views decide about it.
_ROUNDING_SECONDS: Final = 1e-6
# No clock is as fine: these are a whole number's bits, and a rate over them is beyond all numbers.
_LEAST_SECONDS: Final = float(np.finfo(np.float64).tiny)

# Darshan counts time in which calls of threads overlap once, for each record; libraries of these need not (DAOS has queues).
_OF_RANKS: Final = frozenset(
    ("posix_file", "mpiio_file", "stdio_file", "h5f_file", "h5d_dataset", "pnetcdf_file", "pnetcdf_variable")
)
# When something happened, and how long one call took, whichever rank it was.
_MOMENTS: Final = ("_start_seconds", "_end_seconds")
_CALLS: Final = ("max_read_seconds", "max_write_seconds")
_ONE_RANK: Final = ("fastest_rank_seconds", "slowest_rank_seconds")
# Reads, writes and other calls of one rank may overlap.
_KINDS_OF_TIME: Final = 3
_RANKS: Final = ("rank", "fastest_rank", "slowest_rank")
# Sizes of requests are counted in the macros that count requests and bytes, so they agree (darshan-posix.c, darshan-mpiio.c).
_CALL_COUNTS: Final[Mapping[str, tuple[str, ...]]] = {
    "posix_file": ("{}_count",),
    "mpiio_file": ("indep_{}_count", "coll_{}_count", "split_{}_count", "nb_{}_count"),
}
# The least and the most that requests of a bin moved; the edges are those of Darshan's DARSHAN_BUCKET_INC. No request has a TiB.
_SIZES: Final[Mapping[str, tuple[float, float]]] = {
    "0_100": (0, 100),
    "100_1k": (101, 1024),
    "1k_10k": (1025, 10240),
    "10k_100k": (10241, 102400),
    "100k_1m": (102401, 2**20),
    "1m_4m": (2**20 + 1, 2**22),
    "4m_10m": (2**22 + 1, 10 * 2**20),
    "10m_100m": (10 * 2**20 + 1, 100 * 2**20),
    "100m_1g": (100 * 2**20 + 1, 2**30),
    "1g_plus": (2**30 + 1, 2**40),
}
_BOUNDS: Final = np.array([(1.0, least, most) for least, most in _SIZES.values()])
# Doubles add up without errors as far as this.
_ROUNDING_RATIO: Final = 1e-9
_MODULE_OF: Final = {layout.table: module for module, layout in LAYOUTS.items()}
# Tables whose records hold more than counters.
_WORDS_OF_MORE: Final = {layout.table: layout.words for layout in LAYOUTS.values() if layout.trailing_words}
# Of tables of files that have traces.
_LAYERS: Final = {"posix_file": "posix", "mpiio_file": "mpiio"}


def suspects(logs: Sequence[Mapping[str, Sequence[Columns]]], runs: Sequence[Run]) -> set[int]:
    """Which of several logs `sound` may find anything in: all of its checks, of all records at once.

    Args:
        logs: the tables of each.
        runs: what each header says, as far as that is to be trusted.
    """
    found: set[int] = set()
    records: dict[str, list[tuple[int, Records]]] = {}
    for number, tables in enumerate(logs):
        for table, parts in tables.items():
            counted = [(number, part) for part in parts if isinstance(part, Records)]
            # What is not looked at here is for `sound`.
            if table in _WORDS_OF_MORE or (table in _CALL_COUNTS and len(counted) < len(parts)):
                found.add(number)
            records.setdefault(table, []).extend(counted)
    limits = _Limits.of(runs)
    for table, of_table in records.items():
        if of_table:
            part = Records.stacked([part for _, part in of_table])
            log_of = np.repeat([number for number, _ in of_table], [part.row_count for _, part in of_table])
            own = limits.taken(log_of)
            is_sound = _agree(part) & ~_odd_ranks(part, own).any(axis=1)
            for _, are_sound in _sound_measures(part, own):
                is_sound &= are_sound.all(axis=1)
            found.update(log_of[~is_sound].tolist())
            for _, own_logs, traced, most in _traced_and_counted(table, [(log_of, part)], logs):
                found.update(own_logs[traced > most].tolist())
    return found


class _Limits(NamedTuple):
    """The most that records of runs may hold, each a column with a row for each run, or for each record.

    Attributes:
        core_seconds: as `Run` has it.
        rank_seconds: likewise.
        nprocs: number of processes, more than any where it is not known.
    """

    core_seconds: npt.NDArray[np.float64]
    rank_seconds: npt.NDArray[np.float64]
    nprocs: npt.NDArray[np.int64]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Self:
        """Those of runs."""
        return cls(
            np.array([[run.core_seconds] for run in runs]),
            np.array([[run.rank_seconds] for run in runs]),
            np.array([[_ANY_NUMBER if run.nprocs is None else run.nprocs] for run in runs]),
        )

    def taken(self, rows: npt.NDArray[np.int64]) -> Self:
        """Those of records, by the number of the run of each."""
        return type(self)(self.core_seconds[rows], self.rank_seconds[rows], self.nprocs[rows])


def sound(
    tables: Mapping[str, Sequence[Columns]], run: Run, whole: Collection[str] = (), unsized: Collection[str] = ()
) -> tuple[dict[str, list[Columns]], Doubted]:
    """The tables with impossible values made unknown, and what these values were.

    Args:
        tables: columns by table, in one or more parts.
        run: what the header says, as far as that is to be trusted.
        whole: tables of which no record is missing; traces are compared with these.
        unsized: tables whose sizes are not those of their calls alone.
    """
    findings = Findings()
    mended = {
        table: [_checked(table, part, run, findings, is_sized=table not in unsized) for part in parts]
        for table, parts in tables.items()
    }
    for table in _LAYERS:
        if table in whole:
            _hold_traces(table, mended, findings)
    return mended, Doubted(frozenset(findings.columns), findings.reasons, findings.marked, tuple(findings.doubts))


def _checked(table: str, part: Columns, run: Run, findings: Findings, *, is_sized: bool) -> Columns:
    if not isinstance(part, Records):
        if table not in _WORDS_OF_MORE:
            return part
        records = _as_records(table, part)
        checked = _checked(table, records, run, findings, is_sized=is_sized)
        return part if checked is records else {**part, **checked}
    if not part.row_count:
        return part
    limits = _Limits.of([run])
    _check_ranks(part, limits, findings)
    odd = [*_odd_columns(part, limits), *(_odd_calls(part) if is_sized else ())]
    if not odd:
        return part
    columns = dict(part)
    for name, calls in odd:
        values = columns[name].to_numpy()
        for fault, flags in calls or _faults(values, _limits(part, name, limits)):
            if flags.any():
                findings.add(_MODULE_OF.get(table), table, name, fault, values[flags])
                values = np.where(flags, _UNKNOWN, values)
        columns[name] = pa.array(values)
    return columns


def _as_records(table: str, part: Columns) -> Records:
    """The counters among columns that hold texts as well."""
    words = _WORDS_OF_MORE[table]
    return Records(table, words, np.column_stack([as_arrow(part[name]).to_numpy().view(np.int64) for name in words]))


_Faults = list[tuple[Fault, npt.NDArray[np.bool_]]]
_Sized = tuple[str, list[int], list[int], int]


def _odd_columns(part: Records, limits: _Limits) -> list[tuple[str, _Faults]]:
    """Counters of records with a value that is neither unknown nor what a run can have."""
    return [
        (part.names[indices[at]], [])
        for indices, is_sound in _sound_measures(part, limits)
        for at in np.flatnonzero(~is_sound.all(axis=0))
    ]


def _sound_measures(part: Records, limits: _Limits) -> Iterator[tuple[list[int], npt.NDArray[np.bool_]]]:
    """Indices of counters, and in which records each is unknown or what a run can have."""
    # In one look at all columns of a kind, since hardly a log has such a counter.
    for is_float, least in ((False, _UNKNOWN), (True, -_ROUNDING_SECONDS)):
        indices = _measures(part.table, part.names, is_float)
        values = np.ascontiguousarray(part.matrix[:, indices]).view(np.float64 if is_float else np.int64)
        most: Any = _time_limits(part, indices, limits) if is_float else TOO_MANY
        is_sound = (values > least) & (values <= most) | (values == _UNKNOWN)
        if is_float:
            is_sound &= (values <= 0) | (values >= _LEAST_SECONDS)
        yield indices, is_sound


def _time_limits(part: Records, indices: list[int], limits: _Limits) -> npt.NDArray[np.float64]:
    """The most that each of these columns may hold in each record; a row for all records of a run where ranks do not matter."""
    kinds = _kinds(part.table, part.names)[indices]
    core, rank = limits.core_seconds, limits.rank_seconds
    of_all = np.hstack((core, core, rank, _KINDS_OF_TIME * rank))[:, kinds]
    if part.table not in _OF_RANKS:
        return of_all
    of_rank = np.hstack((core, rank, rank, _KINDS_OF_TIME * rank))[:, kinds]
    is_shared = part.matrix[:, part.names.index("rank")] == _UNKNOWN
    return np.where(is_shared[:, None], of_all, of_rank)


@cache
def _kinds(table: str, names: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """Which bound a time has: of the run's core-seconds, of one rank in its own records, of one rank, of all that one does."""

    def kind(name: str) -> int:
        if table not in _OF_RANKS:
            return 0
        return 2 if name.endswith(_MOMENTS) or name in _CALLS else 3 if name in _ONE_RANK else 1

    return np.array([kind(name) for name in names])


def _limits(part: Records, name: str, limits: _Limits) -> npt.NDArray[np.float64]:
    """The most that a column may hold, in each record."""
    if not are_floats(part.table, (name,))[0]:
        return np.zeros(0)
    return np.broadcast_to(_time_limits(part, [part.names.index(name)], limits)[:, 0], part.row_count)


@cache
def _measures(table: str, names: tuple[str, ...], is_float: bool) -> list[int]:
    """Indices of the counters that are floats, or of those that are whole numbers."""
    kinds = are_floats(table, names)
    return [
        index
        for index, name in enumerate(names)
        if kinds[index] == is_float and (name.endswith(_MEASURES) or name.startswith(_FLAGS)) and not name.endswith(_PLACES)
    ]


def _faults(values: npt.NDArray[Any], limits: npt.NDArray[np.float64]) -> _Faults:
    """Which values are impossible, by reason."""
    if values.dtype.kind != "f":
        return [
            (Fault(NEGATIVE, NEGATIVE, 0.0, is_low=True), values < _UNKNOWN),
            (Fault("too many", "more than 2^60", float(TOO_MANY)), values > TOO_MANY),
        ]
    is_finite = np.isfinite(values)
    beyond = [
        (
            Fault("run", f"more than the {most:,.0f} core-seconds of the run", float(most)),
            is_finite & (values > most) & (limits == most),
        )
        for most in np.unique(limits)
    ]
    return [
        (Fault("not finite", "not finite"), ~is_finite),
        (Fault("too fine", "less than any clock can say", _LEAST_SECONDS, is_low=True), (values > 0) & (values < _LEAST_SECONDS)),
        (Fault(NEGATIVE, NEGATIVE, 0.0, is_low=True), is_finite & (values <= -_ROUNDING_SECONDS) & (values != _UNKNOWN)),
        *beyond,
    ]


def _check_ranks(part: Records, limits: _Limits, findings: Findings) -> None:
    """Notes ranks that the run does not have."""
    is_odd = _odd_ranks(part, limits)
    nprocs = int(limits.nprocs[0, 0])
    fault = Fault("ranks", f"no rank of the {nprocs:,} processes", nprocs - 1.0)
    for at in np.flatnonzero(is_odd.any(axis=0)):
        name = _rank_names(part.names)[at]
        values = part.matrix[is_odd[:, at], part.names.index(name)]
        findings.add(_MODULE_OF.get(part.table), part.table, name, fault, values, is_kept=True)


def _odd_ranks(part: Records, limits: _Limits) -> npt.NDArray[np.bool_]:
    """Which ranks of each record the run does not have."""
    if part.table not in _OF_RANKS:
        return np.zeros((part.row_count, 0), bool)
    ranks = part.matrix[:, [part.names.index(name) for name in _rank_names(part.names)]]
    is_odd: npt.NDArray[np.bool_] = (ranks >= limits.nprocs) | (ranks < _UNKNOWN)
    return is_odd & (limits.nprocs < _ANY_NUMBER)


def _rank_names(names: tuple[str, ...]) -> list[str]:
    return [name for name in _RANKS if name in names]


def _odd_calls(part: Records) -> list[tuple[str, _Faults]]:
    """Counts of calls, and bytes, that the sizes of requests contradict."""
    found: list[tuple[str, _Faults]] = []
    if _agree(part).all():
        return found
    for op, calls, bins, moved in _sized(part.table, part.names):
        made = part.matrix[:, bins]
        counts, amounts = part.matrix[:, calls], part.matrix[:, moved]
        total, least, most = (made.astype(np.float64) @ _BOUNDS).T
        is_known = ((made >= 0) & (made <= TOO_MANY)).all(axis=1)
        is_counted = is_known & ((counts >= 0) & (counts <= TOO_MANY)).all(axis=1)
        if (is_off := is_counted & (np.abs(counts.astype(np.float64).sum(axis=1) - total) > total * _ROUNDING_RATIO)).any():
            fault = Fault("sizes", f"not as many as there are sizes of {op}s", float(total[is_off].max()))
            found += [(part.names[call], [(fault, is_off)]) for call in calls]
        is_moved = is_known & (amounts >= 0) & (amounts <= TOO_MANY)
        for is_low, limits in ((True, least), (False, most)):
            beyond = amounts < limits * (1 - _ROUNDING_RATIO) if is_low else amounts > limits * (1 + _ROUNDING_RATIO)
            if (is_off := is_moved & beyond).any():
                fault = Fault("sizes", f"not what the sizes of {op}s add up to", float(limits[is_off].max()), is_low)
                found.append((part.names[moved], [(fault, is_off)]))
    return found


def _agree(part: Records) -> npt.NDArray[np.bool_]:
    """In which records nothing can be amiss, in one look at reads and writes together: so it is in nearly every log."""
    if not (sized := _sized(part.table, part.names)):
        return np.ones(part.row_count, bool)
    (_, calls, bins, moved), (_, more_calls, more_bins, more_moved) = sized
    made = part.matrix[:, [*bins, *more_bins]].astype(np.float64).reshape(-1, len(bins))
    total, least, most = (made @ _BOUNDS).T
    counts = part.matrix[:, [*calls, *more_calls]].astype(np.float64).reshape(-1, len(calls)).sum(axis=1)
    amounts = part.matrix[:, [moved, more_moved]].ravel()
    agree = (counts == total) & (amounts >= least) & (amounts <= most) & (made >= 0).all(axis=1)
    both: npt.NDArray[np.bool_] = agree.reshape(-1, len(sized)).all(axis=1)
    return both


@cache
def _sized(table: str, names: tuple[str, ...]) -> list[_Sized]:
    """Of reads and of writes: indices of the counts of calls, of the sizes, and of the bytes; nothing without sizes."""
    if table not in _CALL_COUNTS:
        return []
    index = {name: at for at, name in enumerate(names)}
    wanted = {
        op: ([call.format(op) for call in _CALL_COUNTS[table]], [f"{op}_size_{size}_count" for size in _SIZES], f"{op}_bytes")
        for op in ("read", "write")
    }
    return [
        (op, [index[call] for call in calls], [index[size] for size in sizes], index[moved])
        for op, (calls, sizes, moved) in wanted.items()
        if {*calls, *sizes, moved} <= index.keys()
    ]


def _hold_traces(table: str, tables: Mapping[str, Sequence[Columns]], findings: Findings) -> None:
    """Notes files of which more requests were traced than counted. Fewer is no doubt: a trace has its limits."""
    records = [(np.zeros(row_count(part), np.int64), part) for part in tables.get(table, ())]
    for op, _, traced, most in _traced_and_counted(table, records, [tables]):
        if (is_off := traced > most).any():
            fault = Fault("trace", "more traced than counted", float(most[is_off].max()))
            module = f"DXT_{_LAYERS[table].upper()}"
            findings.add(module, "dxt_file", f"{op}_count", fault, traced[is_off], is_kept=True)


def _traced_and_counted(
    table: str, records: Sequence[tuple[npt.NDArray[np.int64], Columns]], logs: Sequence[Mapping[str, Sequence[Columns]]]
) -> Iterator[tuple[str, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]]:
    """Requests that were traced of each file, and the most that there can have been.

    Args:
        table: the table of files.
        records: its parts, and the log of each of their rows.
        logs: the tables of each log.

    Yields:
        For each direction its name, the log of each file, what was traced, and the most.
    """
    layer = _LAYERS.get(table)
    traces = [
        (np.full(row_count(part), number), part)
        for number, tables in enumerate(logs)
        for part in (tables.get("dxt_file", ()) if layer else ())
        if as_arrow(part["layer"])[0].as_py() == layer
    ]
    if not records or not traces:
        return
    parts = [*records, *traces]
    ids, of_ids = np.unique(np.concatenate([np.asarray(part["file_id"]) for _, part in parts]), return_inverse=True)
    keys = np.concatenate([log_of for log_of, _ in parts]) * len(ids) + of_ids
    counted, own = np.split(keys, [sum(len(log_of) for log_of, _ in records)])
    files, codes = np.unique(counted, return_inverse=True)
    at = np.searchsorted(files, own).clip(max=len(files) - 1)
    is_there = files[at] == own
    for op in ("read", "write"):
        calls = [[np.asarray(part[call.format(op)], np.float64) for call in _CALL_COUNTS[table]] for _, part in records]
        # Where a count is not known, any number of requests may have been traced.
        most = np.bincount(
            codes, np.concatenate([np.where(np.array(of) < 0, np.inf, of).sum(axis=0) for of in calls]), len(files)
        )
        counts = np.concatenate([np.asarray(part[f"{op}_count"]) for _, part in traces])
        yield op, files // len(ids), np.bincount(at[is_there], counts[is_there], len(files)), most
