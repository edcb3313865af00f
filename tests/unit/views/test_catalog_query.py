"""What people may ask, and what they are told."""

from pathlib import Path

import duckdb
import pytest

from iomine.errors import UsageError, WarehouseError
from iomine.views.catalog import build_catalog
from iomine.views.query import answer, ask, open_catalog


@pytest.fixture
def warehouse(tmp_path: Path, write_rows) -> Path:
    """A catalog over one log, whose lake is a folder beside it."""
    build_catalog(tmp_path / "iomine.duckdb", {"log": [write_rows("log", [{"log_id": "a", "nprocs": 4}])]}, {}, {})
    return tmp_path / "iomine.duckdb"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nprocs FROM logs",
        "SELECT nprocs FROM logs;",
        "SELECT nprocs FROM logs ; \n",
        "-- How many?\nSELECT nprocs FROM logs -- that many",
        "FROM (SELECT 4 AS nprocs)",
        "WITH x AS (SELECT 4 AS nprocs) FROM x",
        "SELECT nprocs FROM logs WHERE path IS NULL AND ';' <> 'COPY'",
    ],
)
def test_a_query_is_answered(warehouse: Path, sql: str):
    """Whatever gives rows is a query, with comments and semicolons."""
    assert [{"nprocs": 4}] == ask(warehouse, sql).to_pylist()


@pytest.mark.parametrize(
    "sql", ["DESCRIBE logs", "SHOW TABLES", "SUMMARIZE logs", "PIVOT logs ON cluster IN ('alpha') USING count(*)"]
)
def test_what_duckdb_calls_a_table_is_a_query_too(warehouse: Path, sql: str):
    """Looking around works without knowing the dictionary."""
    assert ask(warehouse, sql).num_rows > 0


def test_rows_keep_the_order_that_was_asked_for(warehouse: Path):
    """An ORDER BY at the end of the query is the order of the answer."""
    got = ask(warehouse, "SELECT i FROM range(100000) AS t(i) ORDER BY hash(i)")["i"].to_pylist()
    assert ask(warehouse, "SELECT i, hash(i) AS h FROM range(100000) AS t(i)").sort_by("h")["i"].to_pylist() == got


def test_parameters_are_values_and_never_sql(warehouse: Path):
    """A value cannot end the text that it stands in."""
    hostile = "a' OR '1' = '1"
    assert [] == ask(warehouse, "SELECT log_id FROM logs WHERE log_id = ?", [hostile]).to_pylist()
    assert [{"x": hostile}] == ask(warehouse, "SELECT $1 AS x", [hostile]).to_pylist()


@pytest.mark.parametrize(
    "sql",
    [
        "COPY (SELECT 1) TO '{lake}/new.csv'",
        "COPY lake.log TO '{file}' (FORMAT parquet)",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{lake}/new.csv'",
        "WITH x AS (COPY (SELECT 1) TO '{lake}/new.csv') SELECT 1",
        "WITH x AS (COPY (SELECT 1) TO '{lake}/new.csv') PIVOT logs ON cluster USING count(*)",
        "WITH x AS (COPY (SELECT 1) TO '{lake}/new.csv') PIVOT logs ON cluster IN ('alpha') USING count(*)",
        "SELECT (SELECT 1 FROM (WITH x AS (COPY (SELECT 1) TO '{lake}/new.csv') PIVOT logs ON cluster USING count(*)))",
        "FROM query('WITH x AS (CO' || 'PY (SELECT 1) TO ''{lake}/new.csv'') FROM x')",
        "WITH x AS (INSERT INTO _meta VALUES ('a', 'b') RETURNING *) FROM x",
        "EXPORT DATABASE '{lake}/new'",
        "INSERT INTO _meta VALUES ('a', 'b')",
        "CREATE TABLE new AS SELECT 1",
        "ATTACH '{lake}/new.duckdb'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SELECT 1) ; COPY (SELECT 1) TO '{lake}/new.csv' ; SELECT * FROM (SELECT 2",
        "SELECT 1; SELECT 2",
        "",
        "-- nothing",
    ],
)
def test_nothing_can_be_written(warehouse: Path, sql: str):
    """No query changes the catalog or leaves a file, in the lake's own directory least of all."""
    (file,) = (warehouse.parent / "lake").rglob("*.parquet")
    before = contents(warehouse.parent)
    with pytest.raises(UsageError):
        ask(warehouse, sql.format(lake=file.parent, file=file))
    assert before == contents(warehouse.parent)


@pytest.mark.parametrize(
    "sql",
    [
        "FROM read_text('/etc/passwd')",
        "FROM '/etc/passwd'",
        "FROM read_csv('{lake}/../../../../../../../../etc/passwd')",
        "FROM read_text('{lake}/link')",
        "FROM glob('/etc/*')",
        "FROM read_text('{outside}')",
    ],
)
def test_nothing_outside_the_lake_can_be_read(warehouse: Path, sql: str):
    """Files of the host stay closed, by whatever path they are named."""
    (file,) = (warehouse.parent / "lake").rglob("*.parquet")
    (file.parent / "link").symlink_to("/etc/passwd")
    outside = warehouse.parent / "outside.txt"
    outside.write_text("secret")
    with pytest.raises(UsageError, match=r"Permission|does not exist"):
        ask(warehouse, sql.format(lake=file.parent, outside=outside))


def test_variables_of_the_program_are_no_tables(warehouse: Path):
    """A name in a query never means a Python object."""
    secret = ask(warehouse, "SELECT 1 AS x")
    with pytest.raises(UsageError, match="secret does not exist"):
        ask(warehouse, "FROM secret")
    assert secret.num_rows == 1


def test_a_mistake_is_told_in_one_line(warehouse: Path):
    """DuckDB's own words and suggestion, without the excerpt."""
    with pytest.raises(UsageError) as caught:
        ask(warehouse, "SELECT 1,\n nproc FROM logs")
    (message,) = caught.value.args
    assert "\n" not in message
    assert "LINE" not in message
    assert '"nprocs"' in message


def test_a_missing_warehouse_says_what_to_do(tmp_path: Path):
    """The first thing that a new user meets is a sentence, not a traceback."""
    with pytest.raises(WarehouseError, match=r"There is no warehouse at .*: run `iomine sweep` first, or name another"):
        ask(tmp_path / "iomine.duckdb", "SELECT 1")


@pytest.mark.parametrize("content", [b"", b"no database at all" * 500])
def test_a_broken_catalog_says_what_to_do(tmp_path: Path, content: bytes):
    """A file that DuckDB cannot open is told apart from one that is missing."""
    (tmp_path / "iomine.duckdb").write_bytes(content)
    with pytest.raises(WarehouseError, match=r"cannot be opened; run `iomine sweep`"):
        ask(tmp_path / "iomine.duckdb", "SELECT 1")


def test_another_database_is_no_catalog(tmp_path: Path):
    """A DuckDB file of someone else is refused before anything is asked of it."""
    other = tmp_path / "iomine.duckdb"
    duckdb.connect(other).close()
    with pytest.raises(WarehouseError, match="is not a catalog of iomine"):
        open_catalog(other)


def test_a_lost_data_file_is_the_warehouses_fault(warehouse: Path):
    """That the lake was moved or emptied is not told as a mistake in the query."""
    (file,) = (warehouse.parent / "lake").rglob("*.parquet")
    file.unlink()
    with pytest.raises(WarehouseError, match="files cannot be read"):
        ask(warehouse, "SELECT nprocs FROM logs")


def test_times_are_told_in_utc(empty_catalog: Path, monkeypatch: pytest.MonkeyPatch):
    """The host's own time zone changes no answer."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert [{"t": "2024-04-18 00:00:00+00"}] == ask(empty_catalog, "SELECT TIMESTAMPTZ '2024-04-18'::VARCHAR AS t").to_pylist()


def test_limits_are_set(empty_catalog: Path):
    """Memory and threads are what the caller allows."""
    with open_catalog(empty_catalog, memory_limit="256MiB", threads=1) as con:
        got = answer(con, "SELECT current_setting('memory_limit') AS memory, current_setting('threads') AS threads").to_pylist()
    assert [{"memory": "256.0 MiB", "threads": 1}] == got


@pytest.mark.parametrize("limit", [{"memory_limit": "potato"}, {"threads": 0}])
def test_a_limit_that_is_none_is_refused(empty_catalog: Path, limit: dict[str, object]):
    """A setting that DuckDB does not take is the caller's mistake."""
    with pytest.raises(UsageError):
        open_catalog(empty_catalog, **limit)


def test_nothing_is_left_behind(empty_catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What does not fit into memory goes to the temporary directory and from there, not beside the warehouse."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(empty_catalog.parent.iterdir())
    with open_catalog(empty_catalog, memory_limit="64MiB", threads=1) as con:
        answer(con, "SELECT count(*) FROM (SELECT DISTINCT md5(i::VARCHAR) FROM range(2000000) AS t(i))")
        assert len(list(tmp_path.iterdir())) == 1
    assert [] == list(tmp_path.iterdir())
    assert before == set(empty_catalog.parent.iterdir())
