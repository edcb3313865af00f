"""Tries views of a site: whether they read what they declare, bind, keep to words and types, and pass their cases."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import NamedTemporaryFile
from typing import Annotated, Any, ClassVar, Final

import duckdb
import pyarrow as pa
from pydantic import ConfigDict, Field

from iomine.errors import IomineError, UsageError, did_you_mean
from iomine.schema import field, is_word
from iomine.settings import SiteSettings, setting
from iomine.sqltext import name_of, quoted
from iomine.sqltypes import duckdb_type
from iomine.units import GIB
from iomine.views.catalog import template
from iomine.views.model import find_views
from iomine.views.query import Limits, answer_own, engine, failures_named
from iomine.views.restricted import relations_read
from iomine.views.site import SITE, SiteView, unfit_word

# What a view of a site may take of a night.
SITE_LIMITS: Final = Limits(seconds=120.0, memory_bytes=4 * GIB)
_TRIAL_LIMITS: Final = Limits(seconds=20.0, memory_bytes=2 * GIB, threads=1)
Rows = Annotated[tuple[dict[str, Any], ...], Field(strict=False)]


class _Case(SiteSettings):
    # Rows are whatever TOML can say.
    model_config = ConfigDict(arbitrary_types_allowed=True)
    whose: ClassVar[str] = "case"
    why: str = setting("", "The circumstance.")
    given: Mapping[str, Rows] = setting({}, "Rows by view.")
    expect: Rows = setting((), "Rows of the answer.")


class _Cases(SiteSettings):
    whose: ClassVar[str] = "cases"
    cases: Annotated[tuple[_Case, ...], Field(strict=False)] = setting((), "Rows in, exact rows out.")


@dataclass(frozen=True, slots=True)
class Tried:
    """What a trial showed.

    Attributes:
        columns: of the site's views that can be used and of those that were asked for, by name with schema.
        faults: why others cannot, by view.
    """

    columns: Mapping[str, tuple[str, ...]]
    faults: Mapping[str, str]


def answer_over(tables: Mapping[str, pa.Table], sql: str) -> pa.Table:
    """The answer to one query of the program's own over tables that are held in memory.

    Args:
        tables: by name with schema; `temp.main` are the connection's own.
        sql: one query.
    """
    with engine(_TRIAL_LIMITS) as con:
        for name, rows in tables.items():
            schema, _, short = name.rpartition(".")
            if schema == "temp.main":
                con.register(short, rows)
                continue
            con.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            con.register("rows_given", rows)
            con.execute(f"CREATE TABLE {name} AS FROM rows_given")
        return answer_own(con, sql)


def try_views(views: Sequence[SiteView], cases: Mapping[str, str | None], others: Collection[str] = ()) -> Tried:
    """Tries views of a site over an empty lake.

    Args:
        views: in order.
        cases: the text of the file of cases, by view.
        others: views of ours whose columns are asked for, with their schemas.
    """
    columns: dict[str, tuple[str, ...]] = {}
    faults: dict[str, str] = {}
    with _empty_lake() as con:
        for name in others:
            columns[name] = tuple(_types(con, name))
        for view in views:
            try:
                if bad := next((read for read in view.reads if read.removeprefix(f"{SITE}.") in faults), None):
                    raise UsageError(f"{view.path} reads {bad}, which is left out.")
                _check_reads(con, view)
                with _named(view.path):
                    con.execute(f"CREATE VIEW {name_of(SITE, view.name)} AS {view.sql}")
                    types = _types(con, view.qualified)
                _check_columns(view, types)
                _check_cases(con, view, types, cases.get(view.name))
                columns[view.qualified] = tuple(types)
            except IomineError as error:
                con.execute(f"DROP VIEW IF EXISTS {name_of(SITE, view.name)}")
                faults[view.name] = error.args[0]
    return Tried(columns, faults)


@contextmanager
def _empty_lake() -> Iterator[duckdb.DuckDBPyConnection]:
    with NamedTemporaryFile(prefix="iomine-", suffix=".duckdb") as file, engine(_TRIAL_LIMITS) as con:
        file.write(template(find_views()))
        file.flush()
        con.execute(f"ATTACH {quoted(file.name)} AS iomine")
        con.execute("USE iomine")
        con.execute("SET enable_external_access = false")
        con.execute("SET lock_configuration = true")
        yield con
        con.execute("USE memory")


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Names the file in DuckDB's errors about it."""
    try:
        with failures_named(_TRIAL_LIMITS):
            yield
    except IomineError as error:
        raise UsageError(f"{path}: {error.args[0]}") from error


def _types(con: duckdb.DuckDBPyConnection, name: str) -> dict[str, str]:
    """Columns of a view, with DuckDB's types."""
    described = con.execute(f"DESCRIBE {name_of(*name.split('.'))}").fetchall()
    return {column: kind for column, kind, *_ in described}


def _check_reads(con: duckdb.DuckDBPyConnection, view: SiteView) -> None:
    try:
        found = relations_read(con, view.sql)
    except UsageError as error:
        raise UsageError(f"{view.path}: {error.args[0]}") from error
    read = set()
    for catalog, schema, name in found:
        whole = f"{schema or 'main'}.{name}"
        if catalog or not name.isidentifier() or whole not in view.reads:
            hint = did_you_mean(whole, view.reads) or "add it."
            raise UsageError(f"{view.path} reads {name!r}, which its header's reads do not list as {whole}: {hint}")
        read.add(whole)
    if unread := sorted(set(view.reads) - read):
        raise UsageError(f"{view.path}: its header says that it reads {', '.join(unread)}, and the query does not.")


def _check_columns(view: SiteView, types: Mapping[str, str]) -> None:
    for column, kind in types.items():
        if not is_word(column):
            raise UsageError(f"{view.path}: {unfit_word(column)}")
        expected = duckdb_type(field(column).type)
        if kind != expected:
            raise UsageError(f"{view.path}: {column} is {kind}, but must be {expected}: write ::{expected} after it.")
        if field(column).about == field("site__count").about and view.about_of(column) is None:
            raise UsageError(f"{view.path}: its header must say under [words] what {column} means.")
    named = (*view.grain, *(view.panel.named if view.panel else ()), *(word for word, _ in view.words))
    if missing := next((column for column in named if column not in types), None):
        raise UsageError(f"{view.path}: its header names {missing}, which is none of its columns: {did_you_mean(missing, types)}")


def _check_cases(con: duckdb.DuckDBPyConnection, view: SiteView, types: Mapping[str, str], text: str | None) -> None:
    path = f"{view.path.removesuffix('.sql')}.toml"
    if text is None:
        raise UsageError(f"{view.path} has no cases: write {path}, with [[cases]] of rows given and rows expected.")
    try:
        cases = _Cases.parse(text).cases
    except UsageError as error:
        raise UsageError(f"{path}: {error.args[0]}") from error
    if not cases:
        raise UsageError(f"{path} has no [[cases]] of rows given and rows expected.")
    for case in cases:
        con.begin()
        try:
            with _named(path):
                for name, rows in case.given.items():
                    _put(con, name, rows)
                found = con.execute(f"FROM {name_of(SITE, view.name)}").fetchall()
        finally:
            con.rollback()
        got = [dict(zip(types, row, strict=True)) for row in found]
        expected = [dict.fromkeys(types) | row for row in case.expect]
        if sorted(expected, key=repr) != sorted(got, key=repr):
            raise UsageError(f"{path}: of the case {case.why!r} the rows are {_shown(got)}, and not {_shown(expected)}.")


def _put(con: duckdb.DuckDBPyConnection, name: str, rows: Rows) -> None:
    """Puts rows in the place of a view; a key that is left out is NULL."""
    kinds = _types(con, name)
    columns = ", ".join(f"{name_of(column)} {kind}" for column, kind in kinds.items())
    con.execute(f"DROP VIEW {name_of(*name.split('.'))}")
    con.execute(f"CREATE TABLE {name_of(*name.split('.'))} ({columns})")
    for row in rows:
        if unknown := next((key for key in row if key not in kinds), None):
            raise UsageError(f"{name} has no column {unknown}: {did_you_mean(unknown, kinds)}")
        keys = ", ".join(map(name_of, row))
        con.execute(f"INSERT INTO {name_of(*name.split('.'))} ({keys}) VALUES ({', '.join('?' * len(row))})", list(row.values()))  # noqa: S608


def _shown(rows: Sequence[Mapping[str, Any]]) -> str:
    known = [", ".join(f"{key} = {value}" for key, value in row.items() if value is not None) for row in rows]
    return f"[{'; '.join(known)}]"
