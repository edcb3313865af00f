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

from iomine.derive.special import ids_of
from iomine.derive.trace import Flags, Floats, Integers, Tables

LOWEST_LAYERS: Final = ("posix_file", "stdio_file", "dfs_file")
_SECONDS: Final = ("read_seconds", "write_seconds", "meta_seconds")
_TOO_MANY: Final = 2.0**63
_SHARED: Final = -1
# Darshan's times of a shared record bound the time of the slowest rank from both sides; a tenth is near enough to name that rank.
_NEAR: Final = 0.9
_RECORDS: Final = ("posix_file", "mpiio_file", "stdio_file")


class Totals(NamedTuple):
    """Sums over a log; the names are those of the table `log`. None where that is not known, or 64 bits do not hold it."""

    read_bytes: int | None
    write_bytes: int | None
    read_count: int | None
    write_count: int | None


class Times(NamedTuple):
    """How long the I/O of a log took; the names are those of the table `log`. None where that is not known.

    Attributes:
        io_core_seconds: in the layers that were called, at most the run of each process whose own time is known, and of all.
        storage_core_seconds: in POSIX, STDIO and DFS, whether called or not.
        waiting_core_seconds: in MPI-IO, beyond the POSIX calls on the same file.
        special_core_seconds: in special files, which are no I/O.
        slowest_rank: the rank with most time in the layers that were called.
        slowest_rank_io_seconds: that time.
        is_overlapping: whether I/O time exceeded the run, as where threads of a process call at once, and was cut to it.
    """

    io_core_seconds: float | None
    storage_core_seconds: float | None
    waiting_core_seconds: float | None
    special_core_seconds: float | None
    slowest_rank: int | None
    slowest_rank_io_seconds: float | None
    is_overlapping: bool | None


def totals(tables: Tables) -> Totals:
    """Sums over the records of one log.

    Args:
        tables: columns by table, in one or more parts; layers that are not there add nothing.
    """
    parts = [part for layer in LOWEST_LAYERS for part in tables.get(layer, ())]

    def count(*names: str) -> int | None:
        # A negative is Darshan's word for a counter that it does not know, never a measurement.
        columns = [np.fmax(part[name].to_numpy(), 0) for part in parts for name in names if name in part]
        # NumPy's sums of integers wrap around without a word.
        if sum(column.sum(dtype=np.float64) for column in columns) >= _TOO_MANY:
            return None
        return sum(int(column.sum()) for column in columns)

    return Totals(
        count("read_bytes"),
        count("write_bytes"),
        # DFS counts indexed requests apart from plain ones.
        count("read_count", "readx_count"),
        count("write_count", "writex_count"),
    )


class _Called(NamedTuple):
    """Records of a layer that was called.

    Attributes:
        ranks: rank of each, -1 for all ranks together.
        seconds: its I/O time.
        slowest_ranks: of records of all ranks, the slowest.
        slowest_seconds: and its time.
        fastest_seconds: and that of the fastest.
    """

    ranks: Integers
    seconds: Floats
    slowest_ranks: Integers
    slowest_seconds: Floats
    fastest_seconds: Floats

    def where(self, flags: Flags) -> "_Called":
        """Some of the records."""
        return _Called(
            self.ranks[flags],
            self.seconds[flags],
            self.slowest_ranks[flags],
            self.slowest_seconds[flags],
            self.fastest_seconds[flags],
        )


def times(tables: Tables, special: Tables, nprocs: int, run_seconds: float | None) -> Times:
    """I/O time of one log.

    Args:
        tables: columns by table, in one or more parts, without special files.
        special: records of special files alone.
        nprocs: processes of the run.
        run_seconds: length of the run, None where it is not known; then no time is cut to it.
    """
    called = _Called(*(np.concatenate(columns) for columns in zip(*_called(tables), strict=True)))
    ranks, own = _own_seconds(called, nprocs)
    slowest_rank, slowest_seconds = _slowest(called, ranks, own, nprocs)
    seconds = everything = float(called.seconds.sum())
    if run_seconds is not None:
        over = own[own > run_seconds]
        seconds = min(everything - float((over - run_seconds).sum()), run_seconds * nprocs)
        slowest_seconds = slowest_seconds and min(slowest_seconds, run_seconds)
    return Times(
        _finite(seconds),
        _finite(_sum(tables, LOWEST_LAYERS)),
        _finite(min(_waiting(tables), seconds)),
        _finite(_sum(special, _RECORDS)),
        slowest_rank,
        _finite(slowest_seconds),
        bool(seconds < everything),
    )


def _called(tables: Tables) -> Iterator[_Called]:
    """Records of the layers that were called; always some, if empty."""
    through_mpiio = ids_of(tables, "mpiio_file")
    yield _Called(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64), np.empty(0), np.empty(0))
    for table in ("mpiio_file", *LOWEST_LAYERS):
        for part in tables.get(table, ()):
            columns = _Called(
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
    """Seconds, 0 for what Darshan does not know and says with a negative; what is no number stays one and spoils the sum."""
    seconds: Floats = np.maximum(column.to_numpy(), 0.0)
    return seconds


def _sum(tables: Tables, layers: Sequence[str]) -> float:
    return float(sum(_seconds(part).sum() for layer in layers for part in tables.get(layer, ())))


def _waiting(tables: Tables) -> float:
    """Time in MPI-IO that POSIX calls on the same file do not explain, summed over files."""
    if not tables.get("mpiio_file"):
        return 0.0
    file_ids = np.concatenate([ids_of(tables, "mpiio_file"), ids_of(tables, "posix_file")])
    seconds = [_seconds(part) for part in tables["mpiio_file"]]
    seconds += [-_seconds(part) for part in tables.get("posix_file", ())]
    _, places = np.unique(file_ids, return_inverse=True)
    return float(np.maximum(np.bincount(places, weights=np.concatenate(seconds)), 0.0).sum())


def _own_seconds(called: _Called, nprocs: int) -> tuple[Integers, Floats]:
    """Ranks with records of their own, and the seconds of each in these; those of a run of one process are all its own."""
    if nprocs == 1:
        return np.zeros(1, np.int64), np.array([called.seconds.sum()])
    is_own = (called.ranks >= 0) & (called.ranks < nprocs)
    ranks, places = np.unique(called.ranks[is_own], return_inverse=True)
    return ranks, np.bincount(places, weights=called.seconds[is_own], minlength=len(ranks)).astype(np.float64)


def _slowest(called: _Called, own_ranks: Integers, own: Floats, nprocs: int) -> tuple[int | None, float | None]:
    """The rank with most time, and that time; None where records of all ranks leave it open.

    In a file that all ranks share, Darshan keeps the time of the slowest rank and of the fastest: no other took less.
    """
    is_shared = (called.ranks == _SHARED) & (called.seconds > 0) if nprocs > 1 else np.zeros(len(called.ranks), dtype=bool)
    slow, slowest, fastest = (
        column[is_shared] for column in (called.slowest_ranks, called.slowest_seconds, called.fastest_seconds)
    )
    ranks, places = np.unique(np.concatenate([own_ranks, slow]), return_inverse=True)
    if not len(ranks) or ranks[0] < 0 or ranks[-1] >= nprocs:
        return None, None
    at_least = fastest.sum() + np.bincount(places, weights=np.concatenate([own, slowest - fastest]))
    at_most = own.max(initial=0.0) + slowest.sum()
    best = int(np.argmax(at_least))
    if not at_least[best] >= _NEAR * at_most:
        return None, None
    return int(ranks[best]), float(at_least[best])


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None
