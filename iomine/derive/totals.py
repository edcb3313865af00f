"""What a log moved, and how long it took.

Bytes and requests are summed over POSIX, STDIO and DFS, where they leave the process; MPI-IO and the libraries above pass through
these and are not added.

I/O time is summed over the layer that the program called: MPI-IO for files that were opened through it, POSIX for all other
files, STDIO and DFS. A rank that waits inside a collective MPI-IO call does I/O; its POSIX calls alone would say it computes.
Times are those of Darshan's counters `F_READ_TIME`, `F_WRITE_TIME` and `F_META_TIME`, which a shared record holds as a sum over
ranks (`darshan-posix.c`, `darshan-mpiio.c`, `darshan-stdio.c`: reduction of shared records). Darshan books the time of syncs as
writing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from iomine.derive.batch import logs_in, of_each_log, sums_of_logs
from iomine.derive.special import ids_of
from iomine.derive.trace import Flags, Floats, Integers, Tables, grouped

LOWEST_LAYERS: Final = ("posix_file", "stdio_file", "dfs_file")
_SECONDS: Final = ("read_seconds", "write_seconds", "meta_seconds")
_TOO_MANY: Final = 2.0**63
_SHARED: Final = -1
# Darshan's times of a shared record bound the time of the slowest rank from both sides; a tenth is near enough to name that rank.
_NEAR: Final = 0.9
_RECORDS: Final = ("posix_file", "mpiio_file", "stdio_file")


class Totals(NamedTuple):
    """Sums over each log; the names are those of the table `log`. None where one is not known, or 64 bits do not hold it."""

    read_bytes: list[int | None]
    write_bytes: list[int | None]
    read_count: list[int | None]
    write_count: list[int | None]


class Times(NamedTuple):
    """How long the I/O of each log took; the names are those of the table `log`. None where that is not known.

    Attributes:
        io_core_seconds: in the layers that were called, at most the run of each process whose own time is known, and of all.
        storage_core_seconds: in POSIX, STDIO and DFS, whether called or not.
        waiting_core_seconds: in MPI-IO, beyond the POSIX calls on the same file.
        special_core_seconds: in special files, which are no I/O.
        slowest_rank: the rank with most time in the layers that were called.
        slowest_rank_io_seconds: that time.
        is_overlapping: whether I/O time exceeded the run, as where threads of a process call at once, and was cut to it.
    """

    io_core_seconds: list[float | None]
    storage_core_seconds: list[float | None]
    waiting_core_seconds: list[float | None]
    special_core_seconds: list[float | None]
    slowest_rank: list[int | None]
    slowest_rank_io_seconds: list[float | None]
    is_overlapping: list[bool]


def totals(tables: Tables, log_count: int = 1) -> Totals:
    """Sums over the records of each log.

    Args:
        tables: columns by table, in one or more parts; layers that are not there add nothing.
        log_count: number of logs.
    """
    parts = [(part, logs_in(part)) for layer in LOWEST_LAYERS for part in tables.get(layer, ())]

    def count(*names: str) -> list[int | None]:
        whole, rough = np.zeros(log_count, np.int64), np.zeros(log_count)
        for part, logs in parts:
            for name in names:
                if name in part:
                    # Darshan writes a negative value for an unknown counter; it is never a measurement.
                    values = np.fmax(part[name].to_numpy(), 0)
                    rough += np.bincount(logs, values, log_count)
                    np.add.at(whole, logs, values)
        # NumPy's sums of integers wrap around without a word.
        return [value if is_known else None for value, is_known in zip(whole.tolist(), (rough < _TOO_MANY).tolist(), strict=True)]

    return Totals(
        count("read_bytes"),
        count("write_bytes"),
        # DFS counts indexed requests apart from plain ones.
        count("read_count", "readx_count"),
        count("write_count", "writex_count"),
    )


class _Called(NamedTuple):
    """Records of the layers that were called.

    Attributes:
        logs: log of each.
        ranks: rank of each, -1 for all ranks together.
        seconds: its I/O time.
        slowest_ranks: of records of all ranks, the slowest.
        slowest_seconds: and its time.
        fastest_seconds: and that of the fastest.
    """

    logs: Integers
    ranks: Integers
    seconds: Floats
    slowest_ranks: Integers
    slowest_seconds: Floats
    fastest_seconds: Floats

    def where(self, flags: Flags) -> "_Called":
        """Some of the records."""
        return _Called._make(column[flags] for column in self)


class _Own(NamedTuple):
    """Ranks with records of their own, log by log, and the seconds of each in these."""

    logs: Integers
    ranks: Integers
    seconds: Floats


def times(tables: Tables, special: Tables, nprocs: Integers | int, run_seconds: Floats | float | None) -> Times:
    """I/O time of each log.

    Args:
        tables: columns by table, in one or more parts, without special files.
        special: records of special files alone.
        nprocs: processes of each run.
        run_seconds: length of each run, NaN or None where it is not known; then no time is cut to it.
    """
    nprocs, run_seconds = of_each_log(nprocs), of_each_log(run_seconds)
    count, has_run = len(nprocs), ~np.isnan(run_seconds)
    called = _Called._make(np.concatenate(columns) for columns in zip(*_called(tables), strict=True))
    # NaN stays NaN, and sums that include it are not known.
    with np.errstate(invalid="ignore", over="ignore"):
        everything = sums_of_logs(called.seconds, called.logs, count)
        own = _own_seconds(called, everything, nprocs)
        slowest_ranks, slowest_seconds = _slowest(called, own, nprocs)
        over = own.seconds - run_seconds[own.logs]
        is_over = over > 0
        bounded = everything - sums_of_logs(over[is_over], own.logs[is_over], count)
        seconds = np.where(has_run, np.minimum(bounded, run_seconds * nprocs), everything)
        slowest_seconds = np.where(has_run & (slowest_seconds > run_seconds), run_seconds, slowest_seconds)
        waiting = _waiting(tables, count)
        return Times(
            _finite(seconds),
            _finite(_sum(tables, LOWEST_LAYERS, count)),
            _finite(np.where(seconds < waiting, seconds, waiting)),
            _finite(_sum(special, _RECORDS, count)),
            [None if rank < 0 else rank for rank in slowest_ranks.tolist()],
            _finite(slowest_seconds),
            (seconds < everything).tolist(),
        )


def _called(tables: Tables) -> Iterator[_Called]:
    """Records of the layers that were called; always some, if empty."""
    through_mpiio = ids_of(tables, "mpiio_file")
    nothing = np.empty(0, np.int64)
    yield _Called(nothing, nothing, np.empty(0), nothing, np.empty(0), np.empty(0))
    for table in ("mpiio_file", *LOWEST_LAYERS):
        for part in tables.get(table, ()):
            columns = _Called(
                logs_in(part),
                part["rank"].to_numpy(),
                _seconds(part),
                part["slowest_rank"].to_numpy(),
                _known(part["slowest_rank_seconds"]),
                _known(part["fastest_rank_seconds"]),
            )
            if table != "posix_file" or not len(through_mpiio):
                yield columns
            else:
                yield columns.where(~np.isin(part["file_id"].to_numpy(), through_mpiio))


def _seconds(part: Mapping[str, Any]) -> Floats:
    seconds: Floats = np.sum([_known(part[name]) for name in _SECONDS], axis=0)
    return seconds


def _known(column: Any) -> Floats:  # noqa: ANN401 - an Arrow array
    """Seconds, 0 for Darshan's negative values, which mean unknown; NaN stays NaN and makes the sum unknown."""
    seconds: Floats = np.maximum(column.to_numpy(), 0.0)
    return seconds


def _sum(tables: Tables, layers: Sequence[str], log_count: int) -> Floats:
    seconds = np.zeros(log_count)
    for layer in layers:
        for part in tables.get(layer, ()):
            seconds += sums_of_logs(_seconds(part), logs_in(part), log_count)
    return seconds


def _waiting(tables: Tables, log_count: int) -> Floats:
    """Time in MPI-IO that POSIX calls on the same file do not explain, summed over files."""
    parts = [(part, sign) for table, sign in (("mpiio_file", 1), ("posix_file", -1)) for part in tables.get(table, ())]
    if not tables.get("mpiio_file"):
        return np.zeros(log_count)
    logs = np.concatenate([logs_in(part) for part, _ in parts])
    file_ids = np.concatenate([part["file_id"].to_numpy() for part, _ in parts])
    seconds = np.concatenate([sign * _seconds(part) for part, sign in parts])
    is_mpiio = np.repeat([sign > 0 for _, sign in parts], [len(part["file_id"]) for part, _ in parts])
    has_mpiio = np.isin(logs, logs[is_mpiio])
    logs, file_ids, seconds = logs[has_mpiio], file_ids[has_mpiio], seconds[has_mpiio]
    if not len(logs):
        return np.zeros(log_count)
    firsts, file_of = grouped(file_ids)
    return sums_of_logs(np.maximum(np.bincount(file_of, seconds), 0.0), logs[firsts], log_count)


def _own_seconds(called: _Called, everything: Floats, nprocs: Integers) -> _Own:
    """Time in records of ranks; that of a run of one process is all its own."""
    alone = np.flatnonzero(nprocs == 1)
    is_own = (called.ranks >= 0) & (called.ranks < nprocs[called.logs]) & (nprocs[called.logs] != 1)
    logs, ranks, seconds = called.logs[is_own], called.ranks[is_own], called.seconds[is_own]
    if len(logs):
        firsts, rank_of = grouped(logs, ranks)
        logs, ranks, seconds = logs[firsts], ranks[firsts], np.bincount(rank_of, seconds)
    return _Own(np.append(logs, alone), np.append(ranks, np.zeros_like(alone)), np.append(seconds, everything[alone]))


def _slowest(called: _Called, own: _Own, nprocs: Integers) -> tuple[Integers, Floats]:
    """The rank of each log with most time, and that time; -1 and NaN where records of all ranks leave it open.

    In a file that all ranks share, Darshan keeps the time of the slowest rank and of the fastest: no other took less.
    """
    count = len(nprocs)
    slowest_ranks, slowest_seconds = np.full(count, _SHARED), np.full(count, np.nan)
    shared = called.where((called.ranks == _SHARED) & (called.seconds > 0) & (nprocs[called.logs] > 1))
    logs, ranks = np.append(own.logs, shared.logs), np.append(own.ranks, shared.slowest_ranks)
    if not len(logs):
        return slowest_ranks, slowest_seconds
    firsts, rank_of = grouped(logs, ranks)
    logs, ranks = logs[firsts], ranks[firsts]
    more = np.bincount(rank_of, np.append(own.seconds, shared.slowest_seconds - shared.fastest_seconds))
    at_least = sums_of_logs(shared.fastest_seconds, shared.logs, count)[logs] + more
    most_own = np.zeros(count)
    np.maximum.at(most_own, own.logs, own.seconds)
    at_most = most_own + sums_of_logs(shared.slowest_seconds, shared.logs, count)
    most = np.full(count, -np.inf)
    np.maximum.at(most, logs, at_least)
    is_sure = most >= _NEAR * at_most
    is_sure[logs[(ranks < 0) | (ranks >= nprocs[logs])]] = False
    best = np.flatnonzero((at_least == most[logs]) & is_sure[logs])
    # Of several the lowest.
    best = best[np.unique(logs[best], return_index=True)[1]]
    slowest_ranks[logs[best]], slowest_seconds[logs[best]] = ranks[best], at_least[best]
    return slowest_ranks, slowest_seconds


def _finite(values: Floats) -> list[float | None]:
    return [value if is_known else None for value, is_known in zip(values.tolist(), np.isfinite(values).tolist(), strict=True)]
