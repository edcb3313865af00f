"""Temporary views over files that are not part of a warehouse yet, for queries of the sweep itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import NamedTemporaryFile
from typing import Final

import duckdb

from iomine.schema import TABLES
from iomine.sqltext import name_of, quoted
from iomine.views.catalog import check, lake_sql, show, template
from iomine.views.model import View, find_views
from iomine.views.query import Limits, Variable, engine, failures_named, set_variables
from iomine.views.site import SiteView

# Callers can name the type without importing DuckDB.
Connection = duckdb.DuckDBPyConnection

# Opening a catalog takes longer than most queries over it, so catalogs of an empty lake are kept for the next caller, with
# how often they were used. Each use makes all later ones slower; after this many uses it costs less to open another.
_idle: Final[list[tuple[duckdb.DuckDBPyConnection, int]]] = []
_MOST_USES: Final = 16


@contextmanager
def passing_views(
    lake: Mapping[str, Sequence[str]],
    variables: Mapping[str, Variable] | None = None,
    *,
    site: Sequence[SiteView] = (),
    seconds: float | None = None,
    memory_bytes: int | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to views over these files and no others, of which nothing stays afterwards.

    Of tables with log ids it shows only rows from the variable `first_log_id` to before `end_log_id`, which the caller must
    set. It guards nothing: people's queries go to `open_catalog`.

    Args:
        lake: absolute paths of the Parquet files by name of the lake's table; a table that is left out is empty.
        variables: values for the variables that views ask for.
        site: views of the site that can be used, in order.
        seconds: that a query may take, None for as long as it takes.
        memory_bytes: that all queries may take together; what is above goes to disk. None for DuckDB's own (80% of the machine).

    Raises:
        ValueError: `lake` names a table that the schema does not know, or a path is not absolute.
    """
    check(lake)
    try:
        con, uses = _idle.pop()
    except IndexError:
        con, uses = _of_empty_lake(), 0
    try:
        con.execute("RESET max_execution_time" if seconds is None else f"SET max_execution_time = {seconds * 1000:.0f}")
        con.execute("RESET memory_limit" if memory_bytes is None else f"SET memory_limit = '{memory_bytes:d} B'")
        con.begin()
        show(con, lake, parted=True)
        for view in site:
            con.execute(f"CREATE VIEW {name_of(view.schema, view.name)} AS {view.sql}")
        set_variables(con, variables or {})
        yield con
        for (name,) in con.execute("SELECT name FROM duckdb_variables()").fetchall():
            con.execute(f"RESET VARIABLE {name}")
        con.rollback()
    except BaseException:
        con.close()
        raise
    if uses + 1 < _MOST_USES:
        _idle.append((con, uses + 1))
    else:
        con.close()


def hold(con: duckdb.DuckDBPyConnection, views: Iterable[View]) -> None:
    """Works views out once for all queries of the connection that follow; DuckDB would plan and compute them again for each.

    Args:
        con: from `passing_views`, with all variables set that the views ask for.
        views: each after those that it reads.

    Raises:
        UsageError, LimitError, WarehouseError: as for `answer`.
    """
    with failures_named():
        for view in views:
            _hold(con, view.schema, view.name, view.sql)


def hold_files(con: duckdb.DuckDBPyConnection, lake: Mapping[str, Sequence[str]]) -> None:
    """Reads files once for all queries that follow; DuckDB would bind all of their columns wherever a query names their table.

    Args:
        con: from `passing_views`, with the variables set that say which rows it shows.
        lake: absolute paths of the Parquet files by name of the lake's table, all of which have none yet.

    Raises:
        LimitError, WarehouseError: as for `answer`.
    """
    check(lake)
    with failures_named():
        for table, paths in lake.items():
            _hold(con, "lake", table, lake_sql(TABLES[table], paths, parted=True))


def hold_made(con: duckdb.DuckDBPyConnection, table: str, sql: str) -> None:
    """Works out a table of the lake that has no files yet, for all queries that follow.

    Args:
        con: from `passing_views`, with all variables set that the query asks for.
        table: its name.
        sql: gives its columns, in their order and types.

    Raises:
        UsageError, LimitError, WarehouseError: as for `answer`.
    """
    with failures_named():
        _hold(con, "lake", table, sql)


def _hold(con: duckdb.DuckDBPyConnection, schema: str, name: str, sql: str) -> None:
    # Long tables of a database file are compressed and written to it at once, which takes as long as to read them from Parquet.
    held = f"{schema}.{name}"
    con.execute(f"CREATE TEMP TABLE {name_of(held)} AS {sql}")
    con.execute(f"CREATE OR REPLACE VIEW {name_of(schema, name)} AS FROM {name_of('temp', 'main', held)}")


def _of_empty_lake() -> duckdb.DuckDBPyConnection:
    # Several threads would add up floats in whatever order they end: the same night would have other last digits each time.
    con = engine(Limits(threads=1))
    # Files of a sweep are read once or twice.
    con.execute("SET enable_external_file_cache = false")
    with NamedTemporaryFile(prefix="iomine-", suffix=".duckdb") as file:
        file.write(template(find_views()))
        file.flush()
        con.execute(f"ATTACH {quoted(file.name)} AS iomine")
    con.execute("USE iomine")
    return con
