"""Makes copies of a catalog whose tables show only what somebody may see.

All views stand on the tables of the lake, so these are the one place for a filter: in the copy each of them shows the rows of its
reader's own logs, sums of others without names, or nothing. Whose logs those are is said by tables of the reader's connection;
where these are missing, nothing can be asked.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import duckdb

from iomine.errors import UsageError
from iomine.schema import TABLES, field
from iomine.sqltext import name_of, quoted
from iomine.sqltypes import duckdb_type
from iomine.views.catalog import KEPT_SCHEMA, kept_views
from iomine.views.query import NO_LIMITS, Limits, answer_own, failures_named, open_catalog

Kind = Literal["own", "operator"]
# Sums of fewer users would say what one of them did.
FEWEST_SUMMED: Final = 3
# No login has a blank.
OTHERS: Final = "other users"
ANOTHER: Final = "another user"
_SLOT: Final = "{table}"
_OWN_TABLES: Final[Mapping[str, str]] = {
    "own_user": '"user" VARCHAR',
    "own_account": "account VARCHAR",
    "own_log": "log_id VARCHAR",
    "own_job": "cluster VARCHAR, job_id VARCHAR, night DATE",
}
_OWN_LOG: Final = "log_id IN (SELECT log_id FROM temp.main.own_log)"
_OWN_USER: Final = '"user" IN (SELECT "user" FROM temp.main.own_user)'
_OWN_ACCOUNT: Final = "account IN (SELECT account FROM temp.main.own_account)"
_OWN_NEIGHBOUR: Final = 'neighbour IN (SELECT "user" FROM temp.main.own_user)'


def _own_job(column: str = "job_id") -> str:
    return f"(cluster, {column}, night) IN (SELECT (cluster, job_id, night) FROM temp.main.own_job)"  # noqa: S608


def _where(condition: str) -> str:
    return f"SELECT * FROM {_SLOT} WHERE {condition}"  # noqa: S608 - texts of this file


def _summed(table: str, own: str, keys: tuple[str, ...], fixed: Mapping[str, str], having: str) -> str:
    """Own rows, and the sums of all others by some columns; other columns that are not numbers say nothing.

    Args:
        table: the table.
        own: what holds of own rows.
        keys: columns that sums are by, beside cluster and night.
        fixed: what stands in columns that are neither, as SQL.
        having: which sums are shown.
    """

    def shown(column: str) -> str:
        name = name_of(column)
        value = name if column in keys else fixed.get(column, f"sum({name})")
        return f"TRY_CAST({value} AS {duckdb_type(field(column).type)}) AS {name}"

    by = ("cluster", "night", *keys)
    columns = ", ".join((*by[:2], *map(shown, TABLES[table].columns)))
    # A sum of floats depends on which thread comes first.
    return (
        f"SELECT * FROM {_SLOT} WHERE {own} UNION ALL BY NAME SELECT {columns} FROM {_SLOT} "  # noqa: S608
        f"WHERE ({own}) IS NOT TRUE GROUP BY {', '.join(map(name_of, by))}{having}"
    )


_NAMELESS: Final = dict.fromkeys(("user", "uid", "app", "account"), "NULL")
_SUMMED: Final = partial(_summed, fixed=_NAMELESS, having=f" HAVING count(DISTINCT uid) >= {FEWEST_SUMMED}")
_ALL: Final = f"SELECT * FROM {_SLOT}"  # noqa: S608
_NONE: Final = _where("false")
_NEIGHBOUR: Final = (
    f"SELECT * REPLACE (CASE WHEN {_OWN_NEIGHBOUR} THEN neighbour "  # noqa: S608
    f"WHEN neighbour IS NOT NULL THEN {quoted(ANOTHER)} END AS neighbour, "
    f"CASE WHEN {_OWN_NEIGHBOUR} THEN neighbour_job_id END AS neighbour_job_id) FROM {_SLOT} WHERE {_OWN_LOG}"
)
_NO_PERSON: Final = (
    *("fabric_node", "fabric_link", "fabric_route", "fabric_name", "fabric_layout", "port_reading", "link_interval", "link_slot"),
    *("link_night", "link_usual", "link_trouble", "lustre_rate", "target_fullness", "darshan_build", "ior_run"),
)
# What a user sees of each table. A table that is not here shows the rows of own logs, or none where it has no logs.
OWN_RULES: Final[Mapping[str, str]] = {
    **dict.fromkeys(_NO_PERSON, _ALL),
    **dict.fromkeys(("weather", "log_weather_profile"), _NEIGHBOUR),
    **dict.fromkeys(("reject", "source_file"), _NONE),
    "sweep": f"SELECT * REPLACE ([]::VARCHAR[] AS paths) FROM {_SLOT}",  # noqa: S608
    "job": _where(f"{_OWN_USER} OR {_OWN_ACCOUNT}"),
    "job_step": _where(_own_job()),
    # Rows of a whole target have no owner.
    **dict.fromkeys(
        ("lustre_counter", "lustre_histogram", "server_interval"), _where(f"owner = '' OR owner IS NULL OR {_own_job('owner')}")
    ),
    "server_slot": _summed(
        "server_slot",
        f"{_OWN_USER} OR {_own_job()}",
        ("begin_at", "target", "target_kind"),
        {"owner": quoted(OTHERS), "job_id": "NULL", "user": quoted(OTHERS)},
        # The usual time is not known for all rows.
        ", usual_service_seconds IS NULL",
    ),
    "traffic_slot": _where(_OWN_USER),
    "link_hour": (
        f'SELECT * REPLACE (CASE WHEN {_OWN_USER} THEN "user" WHEN "user" IS NOT NULL THEN {quoted(OTHERS)} END AS "user", '  # noqa: S608
        f"CASE WHEN {_OWN_USER} THEN job_id END AS job_id) FROM {_SLOT}"
    ),
    "mail": _where(f"mail_kind = 'user' AND recipient = \"user\" AND {_OWN_USER}"),
    "app_night": _SUMMED("app_night", f"{_OWN_USER} OR {_OWN_ACCOUNT}", ()),
    "finding_night": _SUMMED("finding_night", _OWN_USER, ("code", "level")),
    "mount_night": _SUMMED("mount_night", _OWN_USER, ("mount", "fs_type")),
    "layer_night": _SUMMED("layer_night", _OWN_USER, ("layer",)),
}
_OPERATOR_RULES: Final[Mapping[str, str]] = {"mail": _NONE}

_LOGS: Final = """
SELECT log_id
FROM core.log
WHERE
    (
        "user" IN (SELECT unnest($users))
        OR (cluster, job_id, "user") IN (
            SELECT (cluster, job_id, "user") FROM core.job WHERE account IN (SELECT unnest($accounts))
        )
    )
    -- It may be of somebody else than it says.
    AND log_id NOT IN (SELECT log_id FROM core.owner_doubt WHERE log_id IS NOT NULL)
"""
# Logs name jobs, but anybody writes any name into a log. Ids of jobs come again, so they count in their nights only.
_JOBS: Final = """
SELECT DISTINCT
    cluster, job_id,
    unnest(generate_series(GREATEST(start_at::DATE, night - 31), night + 1, INTERVAL 1 DAY))::DATE AS night
FROM core.job
WHERE "user" IN (SELECT unnest($users)) OR account IN (SELECT unnest($accounts))
"""
_TABLE_FUNCTIONS: Final = frozenset({"unnest", "range", "generate_series"})
# They write, or say what the program's environment holds.
_OTHER_FUNCTIONS: Final = frozenset({"write_log", "getenv", "nextval"})
_QUERIES: Final = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_SCHEMAS: Final = frozenset({"", "main", "core", "feature", "lake", "site"})


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose logs somebody sees.

    Attributes:
        users: logins.
        accounts: of the scheduler's accounting; what ran under them is seen whoever's it is.
    """

    users: frozenset[str] = frozenset()
    accounts: frozenset[str] = frozenset()


def restrict(database: Path, target: Path, kind: Kind) -> None:
    """Writes a copy of a catalog that shows less.

    Args:
        database: the catalog, as published.
        target: the copy, which must not exist.
        kind: `own` for what `open_restricted` is then given somebody's logs for; `operator` for everything but mails.

    Raises:
        WarehouseError: the catalog cannot be read.
    """
    # Checks that it is a catalog of this version.
    open_catalog(database).close()
    target.write_bytes(database.read_bytes())
    with (
        failures_named(),
        duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}) as con,
    ):
        con.execute(f"SET file_search_path = {quoted(str(database.absolute().parent))}")
        con.execute(f"ATTACH {quoted(str(target))} AS iomine")
        con.execute("USE iomine")
        _make_own_tables(con)
        con.begin()
        for table, sql in _tables(con):
            rule = _rule(kind, table)
            if rule != _ALL:
                con.execute(f"CREATE OR REPLACE VIEW {name_of('lake', table)} AS {rule.replace(_SLOT, f'({sql})')}")
        if kind == "own":
            # Answers that are kept are of all logs.
            for view in kept_views():
                con.execute(f"CREATE OR REPLACE VIEW {name_of(view.schema, view.name)} AS {view.sql}")
                con.execute(f"DROP TABLE IF EXISTS {name_of(KEPT_SCHEMA, view.name)}")
        con.commit()
        con.execute("USE memory")
        con.execute("DETACH iomine")


def open_restricted(copy: Path, database: Path, whose: Whose, limits: Limits = NO_LIMITS) -> duckdb.DuckDBPyConnection:
    """A connection that can only read what somebody may see.

    Args:
        copy: of the catalog, by `restrict`.
        database: the catalog.
        whose: whose logs it shows, where the copy is of kind `own`.
        limits: for all queries.

    Raises:
        WarehouseError, LimitError, UsageError: as for `open_catalog`.
    """
    given = {"users": sorted(whose.users), "accounts": sorted(whose.accounts)}
    with open_catalog(database, limits) as whole:
        found = {"own_log": answer_own(whole, _LOGS, given), "own_job": answer_own(whole, _JOBS, given)}
    con = open_catalog(copy, limits, database.absolute().parent)
    try:
        _make_own_tables(con)
        con.execute('INSERT INTO temp.main.own_user SELECT unnest($1::VARCHAR[]) AS "user"', [given["users"]])
        con.execute("INSERT INTO temp.main.own_account SELECT unnest($1::VARCHAR[])", [given["accounts"]])
        for table, rows in found.items():
            columns = rows.to_pydict()
            values = ", ".join(f"unnest(${number})" for number in range(1, len(columns) + 1))
            con.execute(f"INSERT INTO temp.main.{table} SELECT {values}", list(columns.values()))
    except BaseException:
        con.close()
        raise
    return con


def check_reads_views(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Whether a query reads views and nothing else: the files of the lake, which views read, would show all.

    Raises:
        UsageError: it reads something else, or is no query.
    """
    for catalog, schema, name in relations_read(con, sql):
        # DuckDB takes a name that no view has for that of a file.
        if catalog or schema not in _SCHEMAS or not name.isidentifier():
            raise UsageError(f"There is no view {name!r} here: view_dictionary lists all.")


def relations_read(con: duckdb.DuckDBPyConnection, sql: str) -> set[tuple[str, str, str]]:
    """Catalog, schema and name of all that a query reads, in lower case, empty where it does not say them.

    Raises:
        UsageError: it is not one query, or asks a function that reads or writes something else.
    """
    ((said,),) = con.execute("SELECT json_serialize_sql($1::VARCHAR)", [sql]).fetchall()
    tree = json.loads(said)
    nodes = list(_nodes(tree))
    kinds = {node["type"] for node in nodes if str(node.get("type")).endswith("_NODE")}
    if tree.get("error", True) or len(tree["statements"]) != 1 or not kinds <= _QUERIES:
        why = f" ({tree['error_message']})" if tree.get("error_type") == "parser" else ""
        raise UsageError(f"This is not one query that can be checked{why}: write one SELECT over views.")
    given = {key for node in nodes if "cte_map" in node for key in _keys(node["cte_map"])}
    found = set()
    for node in nodes:
        kind = node.get("type")
        if kind == "TABLE_FUNCTION" and node["function"]["function_name"].lower() not in _TABLE_FUNCTIONS:
            raise UsageError(f"The function {node['function']['function_name']} cannot be used here: query views only.")
        if kind == "FUNCTION" and node["function_name"].lower() in _OTHER_FUNCTIONS:
            raise UsageError(f"The function {node['function_name']} cannot be used here: query views only.")
        if kind == "BASE_TABLE":
            whole = tuple(node[part].lower() for part in ("catalog_name", "schema_name", "table_name"))
            # Where a query within the query has such a name, the same name elsewhere may be that of a file.
            if whole[:2] != ("", "") or whole[2] not in given or not whole[2].isidentifier():
                found.add(whole)
    return found


def _keys(ctes: Mapping[str, Any]) -> list[str]:
    return [each["key"].lower() for each in ctes["map"]]


def _nodes(tree: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401  JSON
    todo = [tree]
    while todo:
        each = todo.pop()
        if isinstance(each, dict):
            yield each
            todo.extend(each.values())
        elif isinstance(each, list):
            todo.extend(each)


def _rule(kind: Kind, table: str) -> str:
    if kind == "operator":
        return _OPERATOR_RULES.get(table, _ALL)
    has_logs = table in TABLES and "log_id" in TABLES[table].columns
    return OWN_RULES.get(table, _where(_OWN_LOG) if has_logs else _NONE)


def _make_own_tables(con: duckdb.DuckDBPyConnection) -> None:
    for name, columns in _OWN_TABLES.items():
        con.execute(f"CREATE TEMP TABLE {name} ({columns})")


def _tables(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Tables of the lake with their queries."""
    found = con.execute(
        "SELECT view_name, sql FROM duckdb_views() WHERE database_name = 'iomine' AND schema_name = 'lake' ORDER BY view_name"
    ).fetchall()
    return [(name, sql.partition(" AS ")[2].rstrip("; \n")) for name, sql in found]
