"""What somebody may see of a catalog: filtered in its tables, so in whatever is asked of them."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iomine.errors import UsageError
from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.views.catalog import build_catalog
from iomine.views.query import answer
from iomine.views.restricted import _NO_PERSON, OWN_RULES, Whose, check_reads_views, open_restricted, restrict

NIGHT = dt.date(2024, 4, 1)
NOON = dt.datetime(2024, 4, 1, 12, tzinfo=dt.UTC)
USERS = ("alice", "bob", "carl", "dora")
# Of tables that show rows of machines and sweeps to all, the columns that are about people.
OF_PEOPLE = {"link_hour": {"user", "job_id"}, "server_slot": {"owner", "job_id", "user"}, "sweep": {"paths"}}


def value(kind: pa.DataType, column: str, user: str) -> object:
    """One that says whose it is, where it can."""
    if column == "user":
        return user
    if pa.types.is_list(kind):
        return [value(kind.value_type, column, user)]
    for is_kind, given in (
        (pa.types.is_integer, 7000 + USERS.index(user)),
        (pa.types.is_floating, 1.0),
        (pa.types.is_boolean, True),
        (pa.types.is_date, NIGHT),
        (pa.types.is_timestamp, NOON),
        (pa.types.is_binary, user.encode()),
    ):
        if is_kind(kind):
            return given
    return f"{column} of {user}"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every table has a row of each user, all of whose texts name them; lists of what is shared have none."""
    root = tmp_path_factory.mktemp("restricted")
    files = {}
    for name, table in TABLES.items():
        # Whose log it is, is known; what the others hold of doubts and machines is nobody's.
        if name in {"owner_doubt", *_NO_PERSON}:
            continue
        schema = arrow_schema(name)
        people = OF_PEOPLE.get(name, set(schema.names))
        rows = [
            {column: value(schema.field(column).type, column, user if column in people else "alice") for column in schema.names}
            for user in USERS
        ]
        folder = root / name / f"cluster=blue/night={NIGHT}" if table.partitioned else root / name
        folder.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / "part-0.parquet")
        files[name] = [str(folder / "part-0.parquet")]
    build_catalog(root / "iomine.duckdb", files, {}, {})
    restrict(root / "iomine.duckdb", root / "own.duckdb", "own")
    return root / "iomine.duckdb"


@pytest.fixture(scope="module")
def alice(catalog: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that sees what alice may."""
    with open_restricted(catalog.with_name("own.duckdb"), catalog, Whose(frozenset({"alice"}))) as con:
        yield con


def test_every_table_is_filtered_by_its_logs_or_has_a_rule():
    """A new table with people in it shows nothing until somebody has thought of it."""
    assert {name for name, table in TABLES.items() if "log_id" not in table.columns} - OWN_RULES.keys() == set()
    assert OWN_RULES.keys() - TABLES.keys() == set()


@pytest.mark.parametrize("table", sorted(TABLES.keys() - {"owner_doubt", *_NO_PERSON}))
def test_no_table_names_others(alice, table):
    """Whatever a row of another user says, it is not there, or is in a sum; what has logs shows those of alice."""
    (words,) = (str(row) for row in [answer(alice, f"FROM lake.{table}").to_pylist()])
    assert not [user for user in USERS[1:] if user in words]
    assert not [number for number in (7001, 7002, 7003) if f": {number}," in words]
    if "log_id" in TABLES[table].columns:
        assert "log_id of alice" in words


def test_sums_of_others_are_of_three_at_least(catalog, alice):
    """Alice sees the sum of bob, carl and dora; of the two others, one who sees bob's account too sees none."""
    sums = 'SELECT log_count, read_bytes FROM core.app_night WHERE "user" IS NULL'
    assert [{"log_count": 7001 + 7002 + 7003, "read_bytes": 7001 + 7002 + 7003}] == answer(alice, sums).to_pylist()
    whose = Whose(frozenset({"alice"}), frozenset({"account of bob"}))
    with open_restricted(catalog.with_name("own.duckdb"), catalog, whose) as lead:
        assert [] == answer(lead, sums).to_pylist()
        assert ["alice", "bob"] == answer(lead, 'SELECT "user" FROM core.app_night ORDER BY ALL')["user"].to_pylist()


def test_job_that_a_log_only_claims_is_not_its_users(tmp_path):
    """Anybody writes any job's name into a log: what it did on servers stays that of whom accounting names."""
    at = {"cluster": "blue", "night": NIGHT}
    rows = {
        "log": [{**at, "log_id": "a", "user": "alice", "job_id": "7"}],
        "job": [{**at, "job_id": "7", "user": "bob", "account": "phys", "start_at": NOON}],
        "server_slot": [{**at, "begin_at": NOON, "target": "t", "owner": "7", "job_id": "7", "user": "bob", "rpc_count": 1}],
        "job_step": [{**at, "job_id": "7", "step": "0"}],
    }
    files = {}
    for name, given in rows.items():
        folder = tmp_path / name / f"cluster=blue/night={NIGHT}"
        folder.mkdir(parents=True)
        columns = [{column: row.get(column) for column in TABLES[name].columns} for row in given]
        pq.write_table(pa.Table.from_pylist(columns, schema=arrow_schema(name)), folder / "part-0.parquet")
        files[name] = [str(folder / "part-0.parquet")]
    build_catalog(tmp_path / "iomine.duckdb", files, {}, {})
    restrict(tmp_path / "iomine.duckdb", tmp_path / "own.duckdb", "own")
    seen = {}
    for user, accounts in (("alice", ()), ("bob", ()), ("carla", ("phys",))):
        whose = Whose(frozenset({user}), frozenset(accounts))
        with open_restricted(tmp_path / "own.duckdb", tmp_path / "iomine.duckdb", whose) as con:
            slots = answer(con, "SELECT job_id FROM lake.server_slot")["job_id"].to_pylist()
            steps = answer(con, "SELECT job_id FROM lake.job_step")["job_id"].to_pylist()
            logs = answer(con, "SELECT log_id FROM logs")["log_id"].to_pylist()
        seen[user] = (slots, steps, logs)
    assert {"alice": ([None], [], ["a"]), "bob": (["7"], ["7"], []), "carla": (["7"], ["7"], [])} == seen


def test_kept_answers_are_of_own_logs(tmp_path, write_slower_runs):
    """A user's are worked out from what they see, and those of all are not in the copy; an operator's copy keeps them."""
    database = tmp_path / "iomine.duckdb"
    build_catalog(database, {"log": write_slower_runs("alice", "bob")}, {}, {}, keeps=True)
    restrict(database, tmp_path / "own.duckdb", "own")
    restrict(database, tmp_path / "operator.duckdb", "operator")
    seen = {}
    for copy, whose in (("own", Whose(frozenset({"alice"}))), ("operator", Whose())):
        with open_restricted(tmp_path / f"{copy}.duckdb", database, whose) as con:
            kept = answer(con, "FROM duckdb_tables() WHERE schema_name = 'kept'").num_rows
            seen[copy] = (answer(con, "FROM regressions")["user"].to_pylist(), kept)
            with pytest.raises(UsageError, match="There is no view"):
                check_reads_views(con, "FROM kept.regressions")
    assert {"own": (["alice"], 0), "operator": (["alice", "bob"], 1)} == seen


def test_copy_without_its_reader_answers_nothing(catalog):
    """A connection on which nobody said whose logs it shows fails; it does not show all."""
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{catalog.with_name('own.duckdb')}' AS iomine (READ_ONLY)")
        with pytest.raises(duckdb.CatalogException, match="own_log"):
            con.execute("FROM iomine.main.logs")


@pytest.mark.parametrize(
    "sql",
    [
        "FROM read_parquet('{lake}/log/**/*.parquet')",
        "FROM '{lake}/log/cluster=blue/night=2024-04-01/part-0.parquet'",
        'FROM "{lake}/log/cluster=blue/night=2024-04-01/part-0.parquet"',
        "FROM glob('{lake}/**')",
        "FROM read_text('{lake}/log/cluster=blue/night=2024-04-01/part-0.parquet')",
        "FROM query('FROM read_parquet(''{lake}/log/**/*.parquet'')')",
        "FROM parquet_metadata('{lake}/log/cluster=blue/night=2024-04-01/part-0.parquet')",
        "SELECT (SELECT count(*) FROM read_parquet('{lake}/log/**/*.parquet'))",
        "SELECT 1 WHERE EXISTS (WITH x AS (FROM READ_PARQUET('{lake}/log/**/*.parquet')) FROM x)",
        "FROM logs UNION ALL FROM logs, (FROM scan_parquet('{lake}/log/**/*.parquet'))",
        "FROM duckdb_views()",
        "FROM information_schema.tables",
        "COPY logs TO '{lake}/x.csv'",
        "WITH x AS (COPY logs TO '{lake}/x.csv') FROM logs",
        "FROM logs; FROM logs",
        """FROM '{lake}/log/a.parquet', (WITH "{lake}/log/a.parquet" AS (FROM logs) FROM logs)""",
    ],
)
def test_query_of_files_is_refused(catalog, alice, sql):
    """Views read files of the lake, so the connection can; a query of its reader's own cannot."""
    with pytest.raises(UsageError):
        check_reads_views(alice, sql.replace("{lake}", str(catalog.parent)))


@pytest.mark.parametrize(
    "sql",
    ["FROM logs", "FROM core.log", "WITH a AS (FROM logs) FROM a, range(3)", "SELECT unnest([1])", "FROM logs WHERE uid = $1"],
)
def test_query_of_views_is_not(alice, sql):
    """What pages ask is asked as before."""
    check_reads_views(alice, sql)


def test_views_of_own_logs_stay_filtered_by_any_name(alice):
    """The catalog's name, its schemas and subqueries lead to the same tables."""
    for sql in ("FROM iomine.main.logs", "FROM main.logs", "FROM lake.log", "SELECT * FROM (FROM iomine.lake.log)"):
        assert ["log_id of alice"] == answer(alice, sql)["log_id"].to_pylist()
