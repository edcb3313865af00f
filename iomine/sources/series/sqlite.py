"""SQLite files that nobody vouches for: only plain tables are read, and no more of them than the file can hold."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

from iomine.errors import UnreadableError

SIGNATURE: Final = b"SQLite format 3\0"
_LONGEST_VALUE_BYTES: Final = 1_000_000
_BATCH: Final = 65_536
# A row of a table takes this much at least; a file that gives more goes over its own pages again and again.
_LEAST_ROW_BYTES: Final = 4
# Nothing that writes, or opens another file.
_ALLOWED: Final = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_PRAGMA))


class Database:
    """An open database."""

    def __init__(self, connection: sqlite3.Connection, size_bytes: int) -> None:
        self._connection = connection
        self._most_rows = size_bytes // _LEAST_ROW_BYTES
        # Views and virtual tables have no root page.
        found = connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'").fetchall()
        self.tables = {name for name, root in found if root}

    def batches(self, table: str, *columns: str) -> Iterator[list[tuple[Any, ...]]]:
        """Rows of a table, many at a time; none where there is no such table.

        Raises:
            UnreadableError: it has more than the file can hold, or columns that are not held in it.
        """
        if table not in self.tables:
            return
        if any(hidden for *_, hidden in self._connection.execute(f"PRAGMA table_xinfo({table})")):
            raise UnreadableError(f"{table} has generated columns, which may take for ever.")
        cursor = self._connection.execute(f"SELECT {', '.join(columns)} FROM {table}")  # noqa: S608  both are the caller's own
        count = 0
        while batch := cursor.fetchmany(_BATCH):
            count += len(batch)
            if count > self._most_rows:
                raise UnreadableError(f"{table} claims more rows than the file can hold.")
            yield batch

    def dictionary(self, table: str, key: str, value: str) -> dict[Any, Any]:
        """One column of a table by another."""
        return {each_key: each for batch in self.batches(table, key, value) for each_key, each in batch}


@contextmanager
def opened(data: bytes) -> Iterator[Database]:
    """A database from its file's bytes.

    Raises:
        UnreadableError: SQLite cannot read it.
    """
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(data)
            for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
                connection.execute(f"PRAGMA {pragma}")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE_BYTES)
            connection.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
            connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY)
            yield Database(connection, len(data))
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # Python decodes SQLite's messages strictly, and they hold names out of the file.
        raise UnreadableError(f"SQLite cannot read the file: {error}.") from error
