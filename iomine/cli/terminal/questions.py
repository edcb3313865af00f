"""Questions that Ctrl-C can break off, and that keep to their limits.

DuckDB stops a query between pieces of its work, and counts only the memory of its own buffers. A function that is one long piece,
such as `sleep_ms`, or that makes one large value, such as `repeat`, would escape both limits: this process enforces them itself.
"""

import os
import resource
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Final, TypeVar

from iomine.arrow import leave_pandas_out
from iomine.cli.terminal.text import say
from iomine.units import MIB
from iomine.views.query import NO_LIMITS, Limits, answer, answer_own, open_catalog, out_of_time, rows_own, set_variables
from iomine.views.questions import Parameters

if TYPE_CHECKING:
    import pyarrow as pa

    from iomine.views.answers import Rows
    from iomine.views.passing import Connection

Answer = TypeVar("Answer")
_PATIENCE_SECONDS: Final = 0.1
# Beyond the limit, in which DuckDB can stop the query by itself.
_GRACE_SECONDS: Final = 2.0
# Memory for open files and threads, beside that of the query.
_BESIDE_BYTES: Final = 512 * MIB


def ask(database: Path, sql: str, parameters: Parameters | None = None, limits: Limits = NO_LIMITS) -> "pa.Table":
    """The answer to one query of people's, which can change nothing.

    A query that DuckDB cannot stop in time ends the process.

    Args:
        database: the catalog.
        sql: one query.
        parameters: values for the query's `$name`, or `?` or `$1`.
        limits: for the query.

    Raises:
        UsageError: it is not a query, or makes no sense.
        LimitError: it takes more than it may.
        WarehouseError: there is no warehouse to ask, or its files cannot be read.
        KeyboardInterrupt: Ctrl-C was pressed; the query has ended.
    """
    leave_pandas_out()
    con = _opened(database, limits, _version(database), ())
    with _kept_to(limits):
        return _interruptible(con, partial(answer, con, sql, parameters, limits))


def ask_own(
    database: Path, sql: str, parameters: Parameters | None = None, *, variables: Mapping[str, float | str] | None = None
) -> "pa.Table":
    """The answer to one query of the program's own, which is planned once.

    Args:
        database: the catalog.
        sql: of ours.
        parameters: as for `ask`.
        variables: by name, for views that ask for them with `getvariable`.

    Raises:
        UsageError, LimitError, WarehouseError, KeyboardInterrupt: as for `ask`.
    """
    leave_pandas_out()
    con = _opened(database, NO_LIMITS, _version(database), tuple(sorted((variables or {}).items())))
    return _interruptible(con, partial(answer_own, con, sql, parameters))


def ask_rows(database: Path, sql: str, parameters: Parameters | None = None) -> "Rows":
    """The rows that answer one query of the program's own: to load pyarrow takes as long as many of them.

    Args:
        database: the catalog.
        sql: as for `rows_own`.
        parameters: as for `ask`.

    Raises:
        UsageError, LimitError, WarehouseError, KeyboardInterrupt: as for `ask`.
    """
    con = _opened(database, NO_LIMITS, _version(database), ())
    return _interruptible(con, partial(rows_own, con, sql, parameters))


@contextmanager
def _kept_to(limits: Limits) -> Iterator[None]:
    """Limits the memory that this process may add to what it has, and ends the process after the time limit and a grace."""
    timer = Timer((limits.seconds or 0.0) + _GRACE_SECONDS, _end, [limits.seconds])
    timer.daemon = True
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if limits.seconds is not None:
        timer.start()
    if limits.memory_bytes is not None:
        # As much again for the answer. Memory that is reserved but not used is counted by RLIMIT_AS, and not by this limit.
        most = _data_bytes() + 2 * limits.memory_bytes + _BESIDE_BYTES
        resource.setrlimit(resource.RLIMIT_DATA, (min([most, *(each for each in (soft, hard) if each >= 0)]), hard))
    try:
        yield
    finally:
        timer.cancel()
        # A thread that lives on as the process ends holds the connection, and DuckDB 2.0.0 then lists on stderr what leaks.
        if timer.is_alive():
            timer.join()
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5]) * resource.getpagesize()


def _end(seconds: float) -> None:
    error = out_of_time(seconds)
    say(str(error), level="error")
    os._exit(error.exit_code)


def _interruptible(con: "Connection", ask_it: Callable[[], Answer]) -> Answer:
    # A thread in the middle of a query notices Ctrl-C only now and then. So another thread runs the query, and this one waits.
    answering = _worker().submit(ask_it)
    try:
        return answering.result()
    except KeyboardInterrupt:
        # The query may not have begun yet, and would miss a single call.
        while not answering.done():
            con.interrupt()
            wait([answering], _PATIENCE_SECONDS)
        raise


@cache
def _worker() -> ThreadPoolExecutor:
    """One for all questions: DuckDB and the allocator start anew with each thread, which takes a tenth of a page's time."""
    return ThreadPoolExecutor(1)


@lru_cache(maxsize=1)
def _opened(
    database: Path,
    limits: Limits,
    version: object,  # noqa: ARG001  a sweep puts another file in its place
    variables: tuple[tuple[str, float | str], ...],
) -> "Connection":
    """The connection that the last question was asked on: a command asks many, and to open one takes longer than most of them."""
    con = open_catalog(database, limits)
    set_variables(con, dict(variables))
    return con


def _version(database: Path) -> object:
    with suppress(OSError):
        stat = database.stat()
        return stat.st_dev, stat.st_ino, stat.st_mtime_ns
    return None
