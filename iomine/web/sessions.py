"""Where questions are answered: a few at a time, from the catalog as it is published now.

A sweep swaps the catalog, so each question first looks whether the file is still the one that was opened.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from iomine.errors import IomineError, UsageError, WarehouseError, did_you_mean
from iomine.units import GIB
from iomine.views.query import Limits, answer, open_catalog
from iomine.views.questions import Parameters
from iomine.web.question import Question, Statement, UnknownNameError

LIMITS: Final = Limits(seconds=30, memory_bytes=GIB, threads=2)
SEATS: Final = 4
# Views for people, and records as the logs have them; the inputs of verdicts are internal.
_VIEWS: Final = Statement("SELECT table_name, about FROM view_dictionary WHERE NOT starts_with(table_name, 'feature.')")
_COLUMNS: Final = Statement("SELECT table_name, column_name, type, unit, about FROM data_dictionary")


class BusyError(IomineError):
    """All seats are taken, and were for as long as a question may take."""


class Session:
    """A connection to one published catalog.

    Args:
        database: the catalog.
        limits: for each question.

    Attributes:
        state: identifies the catalog's file; it changes when a sweep replaces the file.
    """

    def __init__(self, database: Path, limits: Limits) -> None:
        # Looked at first: if a sweep swaps meanwhile, the next query opens it again, and no old file counts as new.
        self.state = state_of(database)
        self._limits = limits
        self._con = open_catalog(database, limits)

    def answer(self, statement: Statement) -> pa.Table:
        """The answer to a statement; its errors are those of `views.query.answer`."""
        return answer(self._con, statement.sql, statement.values, self._limits)

    def ask(self, sql: str, parameters: Parameters | None = None) -> pa.Table:
        """The answer to a query of this program."""
        return answer(self._con, sql, parameters, self._limits)

    def count(self, question: Question) -> int:
        """How many rows there are in all."""
        return int(self.answer(question.count())["row_count"][0].as_py())

    @cached_property
    def views(self) -> Mapping[str, str]:
        """What each view holds, in a sentence."""
        rows = self.answer(_VIEWS)
        return dict(zip(rows["table_name"].to_pylist(), rows["about"].to_pylist(), strict=True))

    @cached_property
    def _dictionary(self) -> Mapping[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {view: [] for view in self.views}
        for row in self.answer(_COLUMNS).to_pylist():
            if row["table_name"] in found:
                found[row["table_name"]].append(row)
        return found

    def dictionary(self, view: str) -> list[dict[str, Any]]:
        """Name, type, unit and meaning of the columns of a view.

        Raises:
            UnknownNameError: there is no such view.
        """
        if view not in self._dictionary:
            hint = did_you_mean(view[:100], self.views) or "the page of all views lists them."
            raise UnknownNameError(f"There is no view {view[:100]!r}: {hint}")
        return self._dictionary[view]

    def types(self, view: str) -> dict[str, str]:
        """DuckDB's types by column; its errors are those of `dictionary`."""
        return {row["column_name"]: row["type"] for row in self.dictionary(view)}

    def close(self) -> None:
        """Ends the connection."""
        self._con.close()


class SessionPool:
    """Sessions for a server's threads.

    Args:
        database: the catalog, which sweeps may swap.
        limits: for each question.
        seats: how many are answered at a time.
    """

    def __init__(self, database: Path, limits: Limits = LIMITS, seats: int = SEATS) -> None:
        self._database = database
        self._limits = limits
        self._seats = threading.BoundedSemaphore(seats)
        self._idle: list[Session] = []

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session for one request.

        Raises:
            BusyError: none came free.
            WarehouseError: the catalog cannot be opened.
        """
        if not self._seats.acquire(timeout=self._limits.seconds):
            raise BusyError("Too many queries are running: try again in a minute.")
        try:
            session = self._opened()
            try:
                yield session
            except UsageError:
                self._idle.append(session)
                raise
            except BaseException:
                # What has run into a limit may still hold what it worked with.
                session.close()
                raise
            self._idle.append(session)
        finally:
            self._seats.release()

    def close(self) -> None:
        """Ends the idle sessions."""
        while self._idle:
            self._idle.pop().close()

    def _opened(self) -> Session:
        now = state_of(self._database)
        while True:
            try:
                session = self._idle.pop()
            except IndexError:
                return Session(self._database, self._limits)
            if session.state == now:
                return session
            session.close()


def state_of(database: Path) -> str:
    """Identifies a catalog's file, and changes when a sweep replaces it; empty where there is none."""
    try:
        found = database.stat()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise WarehouseError(f"{database} cannot be read: {error.strerror}.") from error
    return f"{found.st_ino:x}-{found.st_mtime_ns:x}"
