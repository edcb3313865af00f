"""Builds the catalog: one small DuckDB file of views over explicit lists of Parquet files.

Any DuckDB client from 1.4 on can open it, with no extension and from any working directory, unless it is made to be
moved with its files, which it then names from its own folder. It is written beside its target and then put in its place,
so a reader sees the old catalog or the new one, and keeps the one that it opened.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import duckdb
import pyarrow as pa

from iomine.cache import cached
from iomine.schema import FIELDS, SCHEMA_VERSION, TABLES, Table, field
from iomine.sqltext import literal, name_of, quoted
from iomine.sqltypes import duckdb_type
from iomine.units import MIB
from iomine.views.model import REFERENCE_TABLES, SCHEMAS, View, find_views
from iomine.views.query import LAKE_DIRECTORY, NO_LIMITS, VERSION_KEY, Limits, engine
from iomine.views.site import SITE, SiteView
from iomine.views.texts import ViewError
from iomine.whole import written_whole

# The oldest DuckDB that must be able to open the file.
_STORAGE_VERSION: Final = "v1.4.0"
_ALIAS: Final = "catalog_being_built"
# Views whose answers can be kept in the catalog, each with the view that works them out.
_KEPT: Final = {"main.regressions": "core.regression"}
KEPT_SCHEMA: Final = "kept"
_KEEPING: Final = Limits(seconds=20, memory_bytes=384 * MIB)
# What the program itself asks of a catalog: how it was made, and the files of the site's rules.
_OWN_TABLES: Final = {"_meta": ("key", "value"), "_rule": ("kind", "name", "path", "text", "package")}
_SCHEMA_TYPE: Final = "MAP(VARCHAR, STRUCT(name VARCHAR, type VARCHAR, default_value VARCHAR))"
_NIGHT_LENGTH: Final = len("2024-04-18")
# pathlib leaves it out of all paths.
_BETWEEN_PATHS: Final = "/./"


def build_catalog(
    target: Path,
    lake: Mapping[str, Sequence[str]],
    reference: Mapping[str, pa.Table],
    meta: Mapping[str, str],
    *,
    settings: Mapping[str, float] | None = None,
    site: Sequence[SiteView] = (),
    moves: bool = False,
    keeps: bool = False,
) -> None:
    """Writes the catalog and swaps it in.

    Args:
        target: the database file, which need not exist.
        lake: absolute paths of the Parquet files by name of the lake's table; a table that is left out is empty.
        reference: tables that are copied into the catalog, such as `triggers`.
        meta: what goes into the table `_meta`, to which the catalog adds the directory that all files lie in, and the schema
            version.
        settings: the values that views use if the client sets no variable of that name.
        site: views of the site that can be used, in order.
        moves: the files lie below the catalog's folder and move with it, so it names them from there. DuckDB looks for
            them in the working directory and in the folders of its setting `file_search_path`.
        keeps: the answers of views that go through all logs of all nights are worked out now, with the settings, and kept.
            Those that take more than 20 s or 384 MiB are not: they are worked out for each who asks.

    Raises:
        ValueError: `lake` names a table that the schema does not know, or a path is not absolute.
        ViewError: a view cannot be made.
    """
    check(lake)
    if moves:
        lake = {table: [os.path.relpath(path, target.parent) for path in paths] for table, paths in lake.items()}
    with written_whole(target) as beside:
        beside.write_bytes(template(find_views(), tuple(sorted((settings or {}).items()))))
        with _attached(beside) as con:
            con.begin()
            show(con, lake)
            add_site(con, site)
            for name, rows in reference.items():
                _copy(con, name, rows)
            meta = dict(meta) | {VERSION_KEY: str(SCHEMA_VERSION)} | _lake_directory(lake)
            _copy(con, "_meta", pa.table({"key": list(meta.keys()), "value": list(meta.values())}, schema=_texts("key", "value")))
            con.commit()
        for view in kept_views() if keeps else ():
            _keep(beside, view)
        _to_disk(beside)


def show(con: duckdb.DuckDBPyConnection, lake: Mapping[str, Sequence[str]], *, parted: bool = False) -> None:
    """Adds files to a catalog that does not have them yet.

    Args:
        con: to the catalog, which can be written.
        lake: paths of the Parquet files by name of the lake's table, which `check` has passed.
        parted: for tables with log ids, show only rows from the variable `first_log_id` to before `end_log_id`, which the
            client must set.
    """
    for table, paths in lake.items():
        con.execute(f"CREATE OR REPLACE VIEW {name_of('lake', table)} AS {lake_sql(TABLES[table], paths, parted=parted)}")


@cache
def template(views: tuple[View, ...], settings: tuple[tuple[str, float], ...] = ()) -> bytes:
    """The catalog of an empty lake.

    DuckDB works out the columns of a view whenever one is made, and those of all that it reads with it, which takes by far the
    most of the time that a catalog takes; and they are the same whatever files there are. So it is made once for each version
    of the views, and of their settings, and kept in the user's cache folder.

    Args:
        views: the views.
        settings: the values that they use if the client sets no variable of that name.

    Returns:
        What the database file holds.

    Raises:
        ViewError: a view cannot be made.
    """
    key = f"{_digest(views)}-{sha256(repr(settings).encode()).hexdigest()}" if settings else _digest(views)
    return cached(f"catalog-{key}", partial(_empty_catalog, views, settings))


@cache
def _digest(views: tuple[View, ...]) -> str:
    """Digest of everything that a catalog of an empty lake is made from, except the settings."""
    fields = sorted((name, str(each.type), each.unit, each.about) for name, each in FIELDS.items())
    made_from = (views, TABLES, fields, REFERENCE_TABLES, _STORAGE_VERSION, duckdb.__version__, Path(__file__).read_bytes())
    return sha256(repr(made_from).encode()).hexdigest()


def _empty_catalog(views: tuple[View, ...], settings: tuple[tuple[str, float], ...]) -> bytes:
    with TemporaryDirectory(prefix="iomine-") as folder:
        file = Path(folder) / "template.duckdb"
        if settings:
            file.write_bytes(template(views))
        with _attached(file) as con:
            con.begin()
            if settings:
                _set(con, views, dict(settings))
            else:
                _fill(con, views)
            con.commit()
        return file.read_bytes()


def kept_views() -> Iterator[View]:
    """The views whose answers can be kept, as they are where these are worked out for each who asks."""
    return (view for view in find_views() if view.qualified in _KEPT)


def _keep(catalog: Path, view: View) -> None:
    """Works out what a view answers, and has it read that from then on."""
    source = _KEPT[view.qualified]
    kept = name_of(KEPT_SCHEMA, view.name)
    with _attached(catalog, _KEEPING) as con:
        con.begin()
        try:
            con.execute(f"CREATE SCHEMA IF NOT EXISTS {KEPT_SCHEMA}")
            con.execute(f"CREATE TABLE {kept} AS FROM {source}")
            _create(con, view, view.sql.replace(source, kept))
            _comment(con, [view])
            con.commit()
        except duckdb.Error:
            # Beyond the limits, or a file is missing: the client that asks for it will get the error.
            con.rollback()


@contextmanager
def _attached(file: Path, limits: Limits = NO_LIMITS) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a catalog that is being built, which needs not exist."""
    with engine(limits) as con:
        con.execute(f"SET file_search_path = {quoted(str(file.parent))}")
        con.execute(f"ATTACH {quoted(str(file))} AS {_ALIAS} (STORAGE_VERSION {quoted(_STORAGE_VERSION)})")
        con.execute(f"USE {_ALIAS}")
        yield con
        con.execute("USE memory")
        con.execute(f"DETACH {_ALIAS}")


def check(lake: Mapping[str, Sequence[str]]) -> None:
    """Whether files can be shown.

    Args:
        lake: paths of Parquet files by name of the lake's table.

    Raises:
        ValueError: `lake` names a table that the schema does not know, or a path is not absolute, or not as long as others.
    """
    if unknown := sorted(lake.keys() - TABLES.keys()):
        raise ValueError(f"The schema has no table {', '.join(unknown)}.")
    for path in (path for paths in lake.values() for path in paths):
        if not os.path.isabs(path):  # noqa: PTH117 - thousands of them
            raise ValueError(f"The catalog is opened from anywhere, so it needs absolute paths, not {path!r}.")
    for table, paths in lake.items():
        if len({len(path) - path.rindex("/") for path in paths}) > 1:
            raise ValueError(f"The file names of a table must have one length, and those of {table} do not.")


def _lake_directory(lake: Mapping[str, Sequence[str]]) -> dict[str, str]:
    folders = [path[: path.rindex("/") + 1] for paths in lake.values() for path in paths]
    # A text that sorts between two others begins with their common prefix.
    return {LAKE_DIRECTORY: os.path.commonpath([min(folders), max(folders)])} if folders else {}


def _fill(con: duckdb.DuckDBPyConnection, views: Sequence[View]) -> None:
    for schema in ("lake", *SCHEMAS.values(), SITE):
        con.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    for table in TABLES.values():
        con.execute(f"CREATE VIEW {name_of('lake', table.name)} AS {lake_sql(table, ())}")
    for name, columns in (REFERENCE_TABLES | _OWN_TABLES).items():
        _copy(con, name, _texts(*columns).empty_table())
    for view in views:
        _create(con, view, view.sql)
    _describe(con, views)


def lake_sql(table: Table, paths: Sequence[str], *, parted: bool = False) -> str:
    """The query behind a table of the lake: every column named and in its type, NULL where an old file lacks it.

    Args:
        table: the table.
        paths: absolute paths of its Parquet files; none give an empty table.
        parted: whether it is to show logs of some ids only, as `show` says.
    """
    columns = {column: duckdb_type(field(column).type) for column in table.columns}
    names = ", ".join(name_of(column) for column in columns)
    if not paths:
        keys = {key: duckdb_type(field(key).type) for key in table.partition_keys}
        nulls = ", ".join(f"NULL::{kind} AS {name_of(column)}" for column, kind in (keys | columns).items())
        return f"SELECT {nulls} WHERE false"
    # Given the schema, DuckDB opens no file before it needs its rows; union_by_name would open all of them first.
    # As one text it is bound in two thirds of the time that a struct for each column takes, wherever a query names the table;
    # so are paths, which take less than two thirds of the time of a list of texts.
    schema = ", ".join(
        f"{column}={{'name': {column}, 'type': \"{kind}\", 'default_value': NULL}}" for column, kind in columns.items()
    )
    listed = f"string_split({quoted(_BETWEEN_PATHS.join(paths))}, {quoted(_BETWEEN_PATHS)})"
    # Without filename=true, files of other nights are opened where the night is given as IN (...).
    source = f"read_parquet({listed}, schema={quoted(f'{{{schema}}}')}::{_SCHEMA_TYPE}, filename=true)"
    shown = f"SELECT {''.join(_keys_from_path(table, paths))}{names} FROM {source}"  # noqa: S608 - all of it quoted above
    if not parted or "log_id" not in columns:
        return shown
    return f"{shown} WHERE log_id >= getvariable('first_log_id') AND log_id < getvariable('end_log_id')"


def shown_paths(sql: str) -> list[str]:
    """The paths that `lake_sql` has put into a query; none if one of them has a quote.

    Args:
        sql: the query, as DuckDB prints that of a view.
    """
    listed = re.search(rf"string_split\('([^']+)', '{re.escape(_BETWEEN_PATHS)}'\)", sql)
    return listed[1].split(_BETWEEN_PATHS) if listed else []


def _keys_from_path(table: Table, paths: Sequence[str]) -> Iterator[str]:
    """The partition keys out of `cluster=x/night=2024-04-18/part.parquet`; a given schema rules out hive_partitioning.

    A key that is the same of all files is a constant. Others DuckDB works out for every file before it opens the first, and then
    for every row unless it sees that they are the same in all rows of a file: it does so with pieces at places that are given
    and with regular expressions, of which the former take a third of the time.
    """
    parts = paths[0].split("/")
    tail = len(parts[-1]) + 1
    # A text that sorts between two others begins with their common prefix.
    shared = len(os.path.commonpath([min(paths), max(paths)]).split("/"))
    for place, key in enumerate(table.partition_keys, len(parts) - len(table.partition_keys) - 1):
        if place < shared:
            value = quoted(parts[place].removeprefix(f"{key}="))
        elif key == "night":
            value = f"filename[{-tail - _NIGHT_LENGTH}:{-tail - 1}]"
        else:
            pattern = f"/{key}=([^/]*)" + "/[^/]*" * (len(parts) - place - 1) + "$"
            value = f"regexp_extract(filename, {quoted(pattern)}, 1)"
        decoded = value if key == "night" else f"url_decode({value})"
        yield f"{decoded}::{duckdb_type(field(key).type)} AS {name_of(key)}, "


def _texts(*columns: str) -> pa.Schema:
    return pa.schema([(column, pa.string()) for column in columns])


def _copy(con: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    con.register("rows_to_copy", rows)
    con.execute(f"CREATE OR REPLACE TABLE {name_of('main', name)} AS FROM rows_to_copy")
    con.unregister("rows_to_copy")


def _create(con: duckdb.DuckDBPyConnection, view: View, sql: str) -> None:
    try:
        con.execute(f"CREATE OR REPLACE VIEW {name_of(view.schema, view.name)} AS {sql}")
    except duckdb.Error as error:
        raise ViewError(f"{view.path} is not a view: {error}") from error


def _set(con: duckdb.DuckDBPyConnection, views: Sequence[View], settings: Mapping[str, float]) -> None:
    """Recreates the views that use a setting, with its value."""
    asked = {f"getvariable({quoted(name)})": value for name, value in settings.items()}
    changed = []
    for view in views:
        sql = view.sql
        for call, value in asked.items():
            sql = sql.replace(call, f"coalesce({call}, {literal(value)})")
        if sql != view.sql:
            _create(con, view, sql)
            changed.append(view)
    _comment(con, changed)


def add_site(con: duckdb.DuckDBPyConnection, views: Sequence[SiteView]) -> None:
    """Adds views of a site, with what the dictionaries say of them.

    Args:
        con: to the catalog, which can be written.
        views: in order.

    Raises:
        ViewError: a view cannot be made.
    """
    for view in views:
        _create(con, view, view.sql)
        for _, column, kind in list(_columns(con, [view])):
            about = view.about_of(column) or field(column).about
            entry = (view.qualified, column, kind, field(column).unit, about)
            con.execute("INSERT INTO main.data_dictionary VALUES (?, ?, ?, ?, ?)", entry)
            con.execute(f"COMMENT ON COLUMN {name_of(SITE, view.name, column)} IS {quoted(about)}")
        con.execute("INSERT INTO main.view_dictionary VALUES (?, ?)", [view.qualified, view.about])
        con.execute(f"COMMENT ON VIEW {name_of(SITE, view.name)} IS {quoted(view.about)}")


def _describe(con: duckdb.DuckDBPyConnection, views: Sequence[View]) -> None:
    """Makes the dictionaries, and the comments that DuckDB clients show."""
    entries = [_entry(view, column, kind) for view, column, kind in _columns(con, views)]
    names = ("table_name", "column_name", "type", "unit", "about")
    _copy(
        con, "data_dictionary", pa.Table.from_pylist([dict(zip(names, entry, strict=True)) for entry in entries], _texts(*names))
    )
    about = [{"table_name": shown_name(view), "about": view.about} for view in views]
    _copy(con, "view_dictionary", pa.Table.from_pylist(about, _texts("table_name", "about")))
    _comment(con, views)


def _columns(con: duckdb.DuckDBPyConnection, views: Iterable[View]) -> Iterator[tuple[View, str, str]]:
    """Columns of views, each with its type."""
    listed = {view.qualified: view for view in views}
    columns = con.execute(
        "SELECT schema_name || '.' || table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE database_name = current_database() ORDER BY schema_name, table_name, column_index"
    ).fetchall()
    return ((listed[owner], column, kind) for owner, column, kind in columns if owner in listed)


def _comment(con: duckdb.DuckDBPyConnection, views: Sequence[View]) -> None:
    for view in views:
        con.execute(f"COMMENT ON VIEW {name_of(view.schema, view.name)} IS {quoted(view.about)}")
    # The thousand columns of core are in the dictionary; as comments they would double the time to build.
    for view, column, _ in _columns(con, (view for view in views if view.schema == "main")):
        con.execute(f"COMMENT ON COLUMN {name_of('main', view.name, column)} IS {quoted(field(column).about)}")


def _entry(view: View, column: str, kind: str) -> tuple[str, str, str, str, str]:
    if column not in FIELDS:
        raise ViewError(f"{view.path} has a column {column}, which is not in iomine/schema/fields.")
    return shown_name(view), column, kind, field(column).unit, field(column).about


def shown_name(view: View) -> str:
    """The name that a query uses: views of `main` need no schema."""
    return view.name if view.schema == "main" else view.qualified


def _to_disk(path: Path) -> None:
    """A crash of the machine after the swap must not leave an empty catalog."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
