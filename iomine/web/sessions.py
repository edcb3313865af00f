"""Where questions are answered: a few at a time, from the catalog as it is published now.

A sweep swaps the catalog, so each question first looks whether the file is still the one that was opened. Readers who may not see
all query a copy of it, whose tables have only the rows that they may see.
"""

import datetime as dt
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import pyarrow as pa

from iomine.errors import IomineError, UsageError, WarehouseError, did_you_mean
from iomine.post.access import EVERYONE, Reader
from iomine.sqltext import name_of
from iomine.units import GIB
from iomine.views.query import Limits, answer, open_catalog
from iomine.views.questions import Parameters
from iomine.views.restricted import Kind, Whose, check_reads_views, open_restricted, restrict
from iomine.web.question import Question, Statement, UnknownNameError

LIMITS: Final = Limits(seconds=30, memory_bytes=GIB, threads=2)
SEATS: Final = 4
_MOST_IDLE: Final = 16
# Views for people, and records as the logs have them; the inputs of verdicts are internal.
_VIEWS: Final = Statement("SELECT table_name, about FROM view_dictionary WHERE NOT starts_with(table_name, 'feature.')")
_COLUMNS: Final = Statement("SELECT table_name, column_name, type, unit, about FROM data_dictionary")


# What somebody sees of a catalog.
SeenBy = tuple[Kind, Whose]


def seen_by(reader: Reader) -> SeenBy | None:
    """What somebody sees of a catalog, None for all."""
    if reader.role == "admin":
        return None
    if reader.role == "operator":
        return "operator", Whose()
    return "own", Whose(frozenset({reader.name}), reader.accounts)


class BusyError(IomineError):
    """All connections of the pool were busy for as long as a question may take."""


class Session:
    """A connection to one published catalog.

    Args:
        database: the catalog.
        limits: for each question.
        scope: what is seen of it.
        copies: makes copies that show less; None where all is seen.

    Attributes:
        state: identifies the catalog's file; it changes when a sweep replaces the file.
        scope: what is seen of it.
    """

    def __init__(self, database: Path, limits: Limits, scope: "SeenBy | None" = None, copies: "Copies | None" = None) -> None:
        # Looked at first: if a sweep swaps meanwhile, the next query opens it again, and no old file counts as new.
        self.state = state_of(database)
        self.scope = scope
        self._limits = limits
        if scope is None:
            self._con = open_catalog(database, limits)
        else:
            if copies is None:
                raise TypeError("Who sees less than all needs copies that show less.")
            self._con = open_restricted(copies.of(self.state, scope[0]), database, scope[1], limits)

    def answer(self, statement: Statement) -> pa.Table:
        """The answer to a statement; its errors are those of `views.query.answer`."""
        return self.ask(statement.sql, statement.values)

    def ask(self, sql: str, parameters: Parameters | None = None) -> pa.Table:
        """The answer to a query of this program."""
        if self.scope is not None:
            check_reads_views(self._con, sql)
        return answer(self._con, sql, parameters, self._limits)

    @contextmanager
    def held(self, views: Sequence[str], since: dt.date, until: dt.date) -> Iterator[None]:
        """Computes views once, for callers that ask many questions of them; the views then have rows of these nights only.

        Args:
            views: names in schema main; those without a night are held whole.
            since: the first night.
            until: the last night.
        """
        for view in views:
            nights = " WHERE night BETWEEN $since AND $until" if "night" in self.types(view) else ""
            given = {"since": since, "until": until} if nights else None
            self._con.execute(f"CREATE TEMP TABLE {name_of(f'held {view}')} AS FROM main.{name_of(view)}{nights}", given)
        # DuckDB looks for a name among temporary tables first, also where it stands in another view, so all are named at the end.
        for view in views:
            self._con.execute(f"ALTER TABLE {name_of(f'held {view}')} RENAME TO {name_of(view)}")
        try:
            yield
        finally:
            for view in views:
                self._con.execute(f"DROP TABLE temp.main.{name_of(view)}")

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


class Copies:
    """Copies of the published catalog that show less, made when they are first asked for and again after a sweep.

    Args:
        database: the catalog, which sweeps may swap.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._folder = Path(mkdtemp(prefix="iomine-access-"))
        self._lock = threading.Lock()

    def of(self, state: str, kind: Kind) -> Path:
        """A copy of the catalog in that state.

        Raises:
            WarehouseError: the catalog cannot be read.
        """
        copy = self._folder / f"{kind}-{state}.duckdb"
        with self._lock:
            if not copy.exists():
                # Readers who have an old copy open keep it.
                for old in self._folder.glob(f"{kind}-*"):
                    old.unlink()
                beside = self._folder / "new"
                beside.unlink(missing_ok=True)
                restrict(self._database, beside, kind)
                beside.rename(copy)
        return copy

    def close(self) -> None:
        """Removes them."""
        shutil.rmtree(self._folder, ignore_errors=True)


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
        self._lock = threading.Lock()
        self._copies = Copies(database)

    @contextmanager
    def session(self, reader: Reader = EVERYONE) -> Iterator[Session]:
        """A session for one request, which sees what its reader may.

        Raises:
            BusyError: none came free.
            WarehouseError: the catalog cannot be opened.
        """
        if not self._seats.acquire(timeout=self._limits.seconds):
            raise BusyError("Too many queries are running: try again in a minute.")
        try:
            session = self._opened(seen_by(reader))
            try:
                yield session
            except UsageError:
                self._keep(session)
                raise
            except BaseException:
                # A connection that ran into a limit may still hold its memory.
                session.close()
                raise
            self._keep(session)
        finally:
            self._seats.release()

    def close(self) -> None:
        """Ends the idle sessions."""
        while self._idle:
            self._idle.pop().close()
        self._copies.close()

    def _keep(self, session: Session) -> None:
        with self._lock:
            self._idle.append(session)
            oldest = self._idle.pop(0) if len(self._idle) > _MOST_IDLE else None
        if oldest is not None:
            oldest.close()

    def _opened(self, scope: SeenBy | None) -> Session:
        now = state_of(self._database)
        with self._lock:
            old = [each for each in self._idle if each.state != now]
            same = next((each for each in reversed(self._idle) if each.state == now and each.scope == scope), None)
            self._idle = [each for each in self._idle if each.state == now and each is not same]
        for each in old:
            each.close()
        return same or Session(self._database, self._limits, scope, self._copies)


def state_of(database: Path) -> str:
    """Identifies a catalog's file, and changes when a sweep replaces it; empty where there is none."""
    try:
        found = database.stat()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise WarehouseError(f"{database} cannot be read: {error.strerror}.") from error
    return f"{found.st_ino:x}-{found.st_mtime_ns:x}"
