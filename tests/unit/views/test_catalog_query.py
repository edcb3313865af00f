"""What people may ask, and what answers they get."""

import os
import re
import time
from pathlib import Path

import duckdb
import pytest

from iomine.errors import LimitError, UsageError, WarehouseError
from iomine.schema import SCHEMA_VERSION
from iomine.units import MIB
from iomine.views.answers import rows_of
from iomine.views.catalog import build_catalog
from iomine.views.query import Limits, answer, answer_own, ask, open_catalog, rows_own


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


def test_rows_are_those_of_the_answer(warehouse: Path):
    """Rows that pass no Arrow have the values that pages get of Arrow's: what is no number is None, and times are in UTC."""
    sql = """
        SELECT
            1 AS whole, 3::HUGEINT AS large, v, 'NaN'::DOUBLE AS none, 'infinity'::FLOAT AS endless, 0.5 AS half, 'text' AS text,
            DATE '2024-04-18' AS night, TIMESTAMPTZ '2024-04-18 12:00:00.25+02' AS zoned, TIMESTAMP '2024-04-18 12:00' AS plain,
            true AS is_so, NULL AS nothing, ['a', NULL] AS texts, [1.5, 2] AS numbers, {'a': 1} AS parts
        FROM range($most) AS many(v)
    """
    with open_catalog(warehouse) as con:
        got, expected = rows_own(con, sql, {"most": 2}), rows_of(answer_own(con, sql, {"most": 2}))
        assert [] == rows_own(con, sql, {"most": 0})
    assert expected == got
    assert 2 == len(got)
    assert [None, None, None] == [got[1][name] for name in ("none", "endless", "nothing")]
    assert [row["zoned"].isoformat() for row in expected] == [row["zoned"].isoformat() for row in got]


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


def test_a_mistake_is_reported_in_one_line(warehouse: Path):
    """DuckDB's own words and suggestion, without the excerpt."""
    with pytest.raises(UsageError) as caught:
        ask(warehouse, "SELECT 1,\n nproc FROM logs")
    (message,) = caught.value.args
    assert "\n" not in message
    assert "LINE" not in message
    assert '"nprocs"' in message


def test_catalog_that_may_not_be_read_is_for_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It is not damaged, and no sweep builds it again for who may not read it."""
    (tmp_path / "iomine.duckdb").touch()
    # Root may read everything.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(WarehouseError, match=r"iomine.duckdb cannot be opened: ask its owner for permission\."):
        open_catalog(tmp_path / "iomine.duckdb")


def test_a_missing_warehouse_says_what_to_do(tmp_path: Path):
    """The first thing that a new user meets is a sentence, not a traceback."""
    with pytest.raises(WarehouseError, match=r"There is no warehouse at .*: run `iomine sweep` first, or name another"):
        ask(tmp_path / "iomine.duckdb", "SELECT 1")


@pytest.mark.parametrize("content", [b"", b"no database at all" * 500])
def test_a_broken_catalog_says_what_to_do(tmp_path: Path, content: bytes):
    """A file that DuckDB cannot open is reported differently from one that is missing."""
    (tmp_path / "iomine.duckdb").write_bytes(content)
    with pytest.raises(WarehouseError, match=r"cannot be opened; run `iomine sweep`"):
        ask(tmp_path / "iomine.duckdb", "SELECT 1")


def test_another_database_is_no_catalog(tmp_path: Path):
    """A DuckDB file of someone else is refused before anything is asked of it."""
    other = tmp_path / "iomine.duckdb"
    duckdb.connect(other).close()
    with pytest.raises(WarehouseError, match="is not a catalog of iomine"):
        open_catalog(other)


@pytest.mark.parametrize(
    ("version", "reported"),
    [
        (None, "has schema version 1, and this iomine reads version {}: run `iomine upgrade`."),
        (
            str(SCHEMA_VERSION - 1),
            f"has schema version {SCHEMA_VERSION - 1}, and this iomine reads version {{}}: run `iomine upgrade`.",
        ),
        (str(SCHEMA_VERSION + 1), "and this iomine reads version {}: use the iomine that wrote it, or a newer one."),
    ],
)
def test_a_catalog_of_another_version_is_refused(warehouse: Path, version: str | None, reported: str):
    """Columns of the same name mean something else there, so it is not queried; the message has both versions and what to do."""
    with duckdb.connect(warehouse) as con:
        con.execute("DELETE FROM _meta WHERE key = 'schema_version'")
        if version:
            con.execute("INSERT INTO _meta VALUES ('schema_version', $1)", [version])
    with pytest.raises(WarehouseError, match=re.escape(reported.format(SCHEMA_VERSION))):
        ask(warehouse, "SELECT nprocs FROM logs")


def test_a_lost_data_file_is_the_warehouses_fault(warehouse: Path):
    """That the lake was moved or emptied is not reported as a mistake in the query."""
    (file,) = (warehouse.parent / "lake").rglob("*.parquet")
    file.unlink()
    with pytest.raises(WarehouseError, match="files cannot be read"):
        ask(warehouse, "SELECT nprocs FROM logs")


def test_times_are_shown_in_utc(empty_catalog: Path, monkeypatch: pytest.MonkeyPatch):
    """The host's own time zone changes no answer."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert [{"t": "2024-04-18 00:00:00+00"}] == ask(empty_catalog, "SELECT TIMESTAMPTZ '2024-04-18'::VARCHAR AS t").to_pylist()


def test_limits_are_set(empty_catalog: Path):
    """Memory and threads are what the caller allows."""
    with open_catalog(empty_catalog, Limits(memory_bytes=256 * MIB, threads=1)) as con:
        got = answer(con, "SELECT current_setting('memory_limit') AS memory, current_setting('threads') AS threads").to_pylist()
    assert [{"memory": "256.0 MiB", "threads": 1}] == got


def test_a_limit_that_is_none_is_refused(empty_catalog: Path):
    """A setting that DuckDB does not take is the caller's mistake."""
    with pytest.raises(UsageError):
        open_catalog(empty_catalog, Limits(threads=0))


_SORTED = "SELECT count(*) FROM (SELECT DISTINCT md5(i::VARCHAR) FROM range(50000000) AS t(i))"
_LONG = "SELECT md5(i::VARCHAR) FROM range(50000000) AS t(i)"


@pytest.mark.parametrize("sql", [_SORTED, _LONG])
def test_a_query_is_stopped_in_time(empty_catalog: Path, sql: str):
    """A query that takes too long ends, whether it is still worked out or its rows come already; others work afterwards."""
    limits = Limits(seconds=0.5)
    began_at = time.monotonic()
    with open_catalog(empty_catalog, limits) as con:
        with pytest.raises(LimitError, match=r"stopped after 0\.5 s: .* --timeout\.$"):
            answer(con, sql, limits=limits)
        assert time.monotonic() - began_at < 10
        assert [{"one": 1}] == answer(con, "SELECT 1 AS one", limits=limits).to_pylist()


@pytest.mark.parametrize(
    ("sql", "what"), [(_SORTED, "The query needs more memory than 64.0 MiB"), (_LONG, "The answer is larger than 64.0 MiB")]
)
def test_a_query_keeps_to_its_memory(empty_catalog: Path, sql: str, what: str):
    """What exceeds the memory limit is reported, for intermediate results and for the answer."""
    limits = Limits(memory_bytes=64 * MIB, threads=1)
    with open_catalog(empty_catalog, limits) as con, pytest.raises(LimitError, match=f"{what}: .* --memory\\.$"):
        answer(con, sql, limits=limits)


def test_a_limit_too_low_to_open_the_views_is_reported(empty_catalog: Path):
    """A limit that leaves no room to begin is no fault of the catalog."""
    with pytest.raises(LimitError, match=r"more memory than 1\.0 KiB"):
        open_catalog(empty_catalog, Limits(memory_bytes=1024))


@pytest.mark.parametrize("sql", ["SELECT i, hash(i) AS h FROM range(300000) AS t(i) ORDER BY h", "SELECT 1 AS i WHERE false"])
def test_limits_change_no_answer(empty_catalog: Path, sql: str):
    """Rows, their order and their types are the same with a limit as without."""
    assert ask(empty_catalog, sql).equals(_limited(empty_catalog, sql))


@pytest.mark.parametrize(
    ("sql", "failure"),
    [
        ("SELECT if(i = 250000, error('boom'), i) FROM range(300000) AS t(i)", UsageError),
        ("SELECT nprocs FROM logs", WarehouseError),
    ],
)
def test_what_fails_late_is_reported_as_what_fails_early(warehouse: Path, sql: str, failure: type[Exception]):
    """An answer that breaks off after its first rows gives the error that it would give without a limit."""
    (file,) = (warehouse.parent / "lake").rglob("*.parquet")
    file.unlink()
    with pytest.raises(failure) as early:
        ask(warehouse, sql)
    with pytest.raises(failure) as late:
        _limited(warehouse, sql)
    assert early.value.args == late.value.args


def _limited(database: Path, sql: str):
    limits = Limits(60, 256 * MIB, 2)
    with open_catalog(database, limits) as con:
        return answer(con, sql, limits=limits)


def test_nothing_is_left_behind(empty_catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What does not fit into memory goes to the temporary directory and from there, not beside the warehouse."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(empty_catalog.parent.iterdir())
    with open_catalog(empty_catalog, Limits(memory_bytes=64 * MIB, threads=1)) as con:
        answer(con, "SELECT count(*) FROM (SELECT DISTINCT md5(i::VARCHAR) FROM range(1000000) AS t(i))")
        assert len(list(tmp_path.iterdir())) == 1
    assert [] == list(tmp_path.iterdir())
    assert before == set(empty_catalog.parent.iterdir())
