"""Databases in which views stand over rows that a test gives."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import duckdb

from iomine.schema import TABLES, field
from iomine.sqltext import name_of
from iomine.sqltypes import duckdb_type
from iomine.views.model import REFERENCE_TABLES, SCHEMAS, View, find_views
from iomine.views.questions import Question

BY_NAME: Final = {view.qualified: view for view in find_views()}


def declared(name: str) -> dict[str, str]:
    """Columns and types of what a view may read, as the schema declares them."""
    schema, _, short = name.partition(".")
    if schema == "lake":
        columns = TABLES[short].partition_keys + TABLES[short].columns
    elif short in REFERENCE_TABLES:
        columns = REFERENCE_TABLES[short]
    else:
        columns = columns_of(BY_NAME[name])
    return {column: duckdb_type(field(column).type) for column in columns}


@cache
def columns_of(view: View) -> tuple[str, ...]:
    with stage(view, {}) as con:
        return tuple(column for column, *_ in con.sql(view.sql).description)


# Empty databases. To open one takes longer than most tests that ask it.
_idle: Final[list[duckdb.DuckDBPyConnection]] = []


@contextmanager
def stage(view: View | Question, given: dict[str, list[dict[str, Any]]]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with all that the view reads: tables of the given rows, a key left out being NULL, and views over these.

    What has no rows and reads nothing that has is an empty table. All of it is one transaction, which is rolled back.
    """
    assert set(given) <= _read_by(view)
    con = _idle.pop() if _idle else _database()
    con.begin()
    there: set[str] = set()
    for name in view.reads:
        _put(con, name, given, there)
    yield con
    # Not after an error, which may leave a database that takes no further question.
    con.rollback()
    _idle.append(con)


def _database() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    for schema in ("lake", *SCHEMAS.values()):
        con.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    return con


@cache
def _read_by(view: View | Question) -> frozenset[str]:
    """All that a view reads, and that these read."""
    return frozenset(view.reads).union(*(_read_by(BY_NAME[name]) for name in view.reads if name in BY_NAME))


def _put(con: duckdb.DuckDBPyConnection, name: str, given: dict[str, list[dict[str, Any]]], there: set[str]) -> None:
    if name in there:
        return
    there.add(name)
    if name not in given and name in BY_NAME and given.keys() & _read_by(BY_NAME[name]):
        for read in BY_NAME[name].reads:
            _put(con, read, given, there)
        con.execute(f"CREATE VIEW {name} AS {BY_NAME[name].sql}")
        return
    columns = ", ".join(f"{name_of(column)} {kind}" for column, kind in declared(name).items())
    con.execute(f"CREATE TABLE {name} ({columns})")
    for row in given.get(name, ()):
        keys = ", ".join(name_of(key) for key in row)
        con.execute(f"INSERT INTO {name} ({keys}) VALUES ({', '.join('?' for _ in row)})", list(row.values()))


Given = dict[str, list[dict[str, Any]]]


def beside_a_doubtful_owner(view: View | Question, given: Given) -> Iterator[tuple[Given, Given]]:
    """For each log of some rows, these without it, and with it as one that its owner may not have written."""
    for log_id in sorted({row["log_id"] for rows in given.values() for row in rows if row.get("log_id")}):
        without = {name: [row for row in rows if row.get("log_id") != log_id] for name, rows in given.items()}
        doubted = {name: [row | _doubted(name, row, log_id) for row in rows] for name, rows in given.items()}
        if "core.owner_doubt" in view.reads:
            keys = ({key: row.get(key) for key in ("cluster", "night", "log_id")} for rows in given.values() for row in rows)
            doubted["core.owner_doubt"] = [
                *given.get("core.owner_doubt", ()),
                *({**of_log, "reason": "its file is of uid 6666"} for of_log in keys if of_log["log_id"] == log_id),
            ]
        yield without, doubted


def _doubted(name: str, row: dict[str, Any], log_id: str) -> dict[str, Any]:
    return {"is_owner_confirmed": False} if name == "main.logs" and row.get("log_id") == log_id else {}
