"""Catalogs over real Parquet files."""

import datetime as dt
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from iomine.errors import IomineError
from iomine.schema import FIELDS, TABLES, field
from iomine.sqltypes import duckdb_type
from iomine.units import MIB
from iomine.views.catalog import build_catalog
from iomine.views.model import SCHEMAS, find_views
from iomine.views.query import Limits, answer, answer_own, ask, open_catalog
from iomine.views.texts import ViewError

UTC = dt.UTC


Rows = list[dict[str, object]]


def rows(database: Path, sql: str, *parameters: object) -> Rows:
    return ask(database, sql, parameters or None).to_pylist()


@contextmanager
def many_rows(database: Path) -> Iterator[Callable[[str], Rows]]:
    """Answers question after question: to open the catalog takes longer than most of them."""
    with open_catalog(database) as con:
        yield lambda sql: answer(con, sql).to_pylist()


@pytest.fixture(scope="module")
def rows_of_empty(empty_catalog: Path) -> Iterator[Callable[[str], Rows]]:
    """Answers questions over no rows."""
    with many_rows(empty_catalog) as asked:
        yield asked


def test_rows_of_all_nights_and_clusters_are_found(tmp_path: Path, write_rows):
    """A table is all its files, and cluster and night come from the folders."""
    database = tmp_path / "iomine.duckdb"
    paths = [
        write_rows("log", [{"log_id": "a", "start_at": dt.datetime(2024, 4, 18, 23, tzinfo=UTC)}]),
        write_rows("log", [{"log_id": "b"}], night="2024-04-19"),
        write_rows("log", [{"log_id": "c"}], cluster="beta"),
    ]
    build_catalog(database, {"log": paths}, {}, {})
    expected = [
        {"cluster": "alpha", "night": dt.date(2024, 4, 18), "log_id": "a"},
        {"cluster": "alpha", "night": dt.date(2024, 4, 19), "log_id": "b"},
        {"cluster": "beta", "night": dt.date(2024, 4, 18), "log_id": "c"},
    ]
    assert expected == rows(database, "SELECT cluster, night, log_id FROM logs ORDER BY log_id")
    assert [{"start_at": dt.datetime(2024, 4, 18, 23, tzinfo=UTC)}] == rows(
        database, "SELECT start_at FROM logs WHERE night = ? AND cluster = ?", dt.date(2024, 4, 18), "alpha"
    )


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("moves", [False, True])
def test_cluster_and_night_are_those_of_the_folders_whichever_files_share_them(tmp_path: Path, write_rows, count, moves):
    """A key that all files have in common, and one that they do not, are worked out in different ways."""
    clusters = ("al%27%2Fpha", "al%27%2Fpha", "al%27%2Fphabet", "al")
    nights = ("2024-04-18", "2024-04-19", "2024-04-18", "2024-04-18")
    names = {"al%27%2Fpha": "al'/pha", "al%27%2Fphabet": "al'/phabet", "al": "al"}
    database = tmp_path / "iomine.duckdb"
    for order in ([*range(4)], [2, 3, 1, 0], [3, 0, 2, 1]):
        chosen = order[:count]
        paths = [write_rows("log", [{"log_id": str(n)}], cluster=clusters[n], night=nights[n]) for n in chosen]
        build_catalog(database, {"log": paths}, {}, {}, moves=moves)
        expected = [
            {"cluster": names[clusters[n]], "night": dt.date.fromisoformat(nights[n]), "log_id": str(n)} for n in sorted(chosen)
        ]
        assert expected == rows(database, "SELECT cluster, night, log_id FROM logs ORDER BY log_id")
        for row in expected:
            found = rows(database, "SELECT log_id FROM logs WHERE cluster = ? AND night = ? AND log_id = ?", *row.values())
            assert [{"log_id": row["log_id"]}] == found


def test_a_night_asked_for_opens_no_other_nights_files(tmp_path: Path, write_rows):
    """A query for nights does not touch files of others: here they are gone."""
    database = tmp_path / "iomine.duckdb"
    lost = write_rows("log", [{"log_id": "a"}])
    kept = write_rows("log", [{"log_id": "b"}], night="2024-04-19")
    build_catalog(database, {"log": [lost, kept]}, {}, {})
    Path(lost).write_bytes(b"no Parquet")
    for condition in ("night = '2024-04-19'", "(cluster, night) IN (('alpha', DATE '2024-04-19'), ('beta', DATE '2024-04-20'))"):
        assert [{"log_id": "b"}] == rows(database, f"SELECT log_id FROM logs WHERE {condition}")


def two_nights(folder: Path, write_rows) -> dict[str, list[str]]:
    """A file of every table in each of two nights, with a log of its own."""
    partitioned = [table.name for table in TABLES.values() if table.partitioned]
    return {
        name: [write_rows(name, [{"log_id": "a"}]), write_rows(name, [{"log_id": "b"}], night="2024-04-19")]
        for name in partitioned
    }


def of_nights(database: Path) -> list[str]:
    """Published views whose rows are of nights."""
    with many_rows(database) as asked:
        views = [view.name for view in find_views() if view.schema == "main"]
        return [view for view in views if "night" in [row["column_name"] for row in asked(f"DESCRIBE {view}")]]


# Views that compare nights, or look for a job's logs of other nights. `workload_mix` merges the classes of all nights, and
# `link_faults` what lasts over midnight. `shared_links` opens slots of other nights where they have next to no rows; of more it
# opens its own night only.
COMPARING = {"coverage", "jobs", "regressions", "run_pairs", "workload_mix", "link_faults", "shared_links"}
# Predictions ask for IOR's runs of all nights, and views of links for the topology that was read last.
OF_ALL_NIGHTS = {"ior_run", "fabric_link", "fabric_node", "fabric_name"}


@pytest.mark.proof
def test_views_of_a_night_open_no_other_nights_files(tmp_path: Path, write_rows):
    """As with logs, so with every view of nights, except for those that compare them."""
    database = tmp_path / "iomine.duckdb"
    files = two_nights(tmp_path, write_rows)
    build_catalog(database, files, {}, {})
    for name, (lost, _) in files.items():
        if name not in OF_ALL_NIGHTS:
            Path(lost).write_bytes(b"no Parquet")
    opened = set()
    with many_rows(database) as asked:
        for view in of_nights(database):
            try:
                asked(f"SELECT * FROM {view} WHERE night = '2024-04-19'")
            except IomineError:
                opened.add(view)
    assert opened == COMPARING


@pytest.mark.proof
def test_views_of_a_night_plan_to_read_no_other_nights_files(tmp_path: Path, write_rows):
    """As above, but by the plan: of nights of one row DuckDB may leave a file unread that it would read of longer ones."""
    database = tmp_path / "iomine.duckdb"
    files = two_nights(tmp_path, write_rows)
    build_catalog(database, {name: of_table for name, of_table in files.items() if name not in OF_ALL_NIGHTS}, {}, {})
    planned = set()
    with open_catalog(database) as con:
        for view in of_nights(database):
            plan = answer_own(con, f"EXPLAIN (FORMAT json) SELECT * FROM {view} WHERE night = '2024-04-19'")
            if any(scan.get("Scanning Files") != "1/2" for scan in scans(json.loads(plan[1][0].as_py()))):
                planned.add(view)
    assert planned == COMPARING


def scans(operators: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """What a plan says of each table of several files."""
    for operator in operators:
        if operator["name"].startswith("READ_PARQUET"):
            yield operator["extra_info"]
        yield from scans(operator["children"])


def test_hostile_names_stay_names(tmp_path: Path, write_rows):
    """Quotes, escapes and wildcards in paths and partition values neither break the views nor change."""
    database = tmp_path / "it's" / "iomine.duckdb"
    database.parent.mkdir()
    path = write_rows("log", [{"log_id": "a"}], cluster='o\'%27 "x";%2F[1]*?')
    build_catalog(database, {"log": [path]}, {}, {"it's": "o'clock"})
    assert [{"cluster": "o'' \"x\";/[1]*?"}] == rows(database, "SELECT cluster FROM logs")
    assert [{"value": "o'clock"}] == rows(database, "SELECT value FROM _meta WHERE key = 'it''s'")


def test_a_column_that_an_old_file_lacks_is_null(tmp_path: Path, write_rows):
    """Files from before a column was known are read beside newer ones, whichever comes first."""
    database = tmp_path / "iomine.duckdb"
    old = write_rows("log", [{"log_id": "old", "nprocs": 4}], without=("doubt", "size_bytes"))
    new = write_rows("log", [{"log_id": "new", "nprocs": 4, "size_bytes": 7}])
    for paths in ([old, new], [new, old], [old]):
        build_catalog(database, {"log": paths}, {}, {})
        assert [{"size_bytes": None, "nprocs": 4}] == rows(database, "SELECT size_bytes, nprocs FROM logs WHERE log_id = 'old'")


def test_tables_of_sweeps_have_no_partition(tmp_path: Path, write_rows):
    """A table that is not partitioned is read from wherever its files lie."""
    database = tmp_path / "iomine.duckdb"
    path = write_rows("reject", [{"path": "/x", "reason": "It is empty.", "is_final": True}])
    build_catalog(database, {"reject": [path]}, {}, {})
    assert [{"path": "/x", "reason": "It is empty."}] == rows(database, "SELECT path, reason FROM rejects")


def test_lists_are_read(tmp_path: Path, write_rows):
    """Columns that hold lists keep them."""
    database = tmp_path / "iomine.duckdb"
    path = write_rows("lustre_component", [{"log_id": "a", "rank": -1, "ost_ids": [3, 1]}])
    build_catalog(database, {"lustre_component": [path]}, {}, {})
    assert [{"ost_ids": [3, 1], "is_shared": True}] == rows(database, "SELECT ost_ids, is_shared FROM core.lustre_component")


@pytest.mark.proof
def test_an_empty_lake_has_every_view(rows_of_empty):
    """Before the first sweep each view is there, without rows and with its columns."""
    for view in find_views():
        assert [{"n": 0}] == rows_of_empty(f"SELECT count(*) AS n FROM {view.qualified}")


@pytest.mark.parametrize("view", find_views(), ids=lambda view: view.qualified)
def test_columns_are_known_words_in_their_declared_types(rows_of_empty, view):
    """Every column of every view is a field, in the field's type."""
    described = rows_of_empty(f"DESCRIBE {view.qualified}")
    types = {str(row["column_name"]): row["column_type"] for row in described}
    assert set() == types.keys() - FIELDS.keys()
    assert {column: duckdb_type(field(column).type) for column in types} == types


def test_lake_views_have_the_schemas_types(rows_of_empty):
    """A table without files has the columns and types of the schema, partition keys first."""
    for table in TABLES.values():
        described = rows_of_empty(f"DESCRIBE lake.{table.name}")
        declared = [(column, duckdb_type(field(column).type)) for column in table.partition_keys + table.columns]
        assert declared == [(row["column_name"], row["column_type"]) for row in described]


@pytest.mark.proof
def test_types_with_files_are_those_without(tmp_path: Path, write_rows, rows_of_empty):
    """The first file of a table changes nothing but the rows."""
    database = tmp_path / "iomine.duckdb"
    build_catalog(database, {name: [write_rows(name, [{}])] for name in TABLES}, {}, {})
    with many_rows(database) as asked:
        for name in TABLES:
            assert rows_of_empty(f"DESCRIBE lake.{name}") == asked(f"DESCRIBE lake.{name}")
            assert (name, [{"n": 1}]) == (name, asked(f"SELECT count(*) AS n FROM core.{name}"))


def test_the_dictionary_describes_every_column_of_every_view(empty_catalog: Path):
    """A row for each column with its unit and sentence, and one sentence for each view."""
    got = rows(empty_catalog, "SELECT * FROM data_dictionary WHERE table_name = 'core.log' AND column_name = 'run_seconds'")
    about = field("run_seconds").about
    assert [{"table_name": "core.log", "column_name": "run_seconds", "type": "DOUBLE", "unit": "s", "about": about}] == got
    undescribed = """
        SELECT count(*) AS n FROM duckdb_columns() AS c JOIN duckdb_views() AS v ON v.view_oid = c.table_oid
        LEFT JOIN data_dictionary AS d
            ON d.table_name = replace(c.schema_name || '.', 'main.', '') || c.table_name AND d.column_name = c.column_name
        WHERE c.database_name = 'iomine' AND v.database_name = 'iomine' AND c.schema_name IN ('core', 'main') AND d.about IS NULL
    """
    assert [{"n": 0}] == rows(empty_catalog, undescribed)
    assert [{"n": len(find_views())}] == rows(empty_catalog, "SELECT count(*) AS n FROM view_dictionary WHERE about <> ''")


def test_clients_see_what_views_and_columns_mean(empty_catalog: Path):
    """Views carry their sentence as a comment, and columns of `main` theirs."""
    views = "SELECT count(*) AS n FROM duckdb_views() WHERE schema_name IN ('core', 'main', 'feature') AND comment <> ''"
    assert [{"n": len(find_views())}] == rows(empty_catalog, views)
    column = "SELECT comment FROM duckdb_columns() WHERE table_name = 'logs' AND column_name = 'nprocs'"
    assert [{"comment": field("nprocs").about}] == rows(empty_catalog, column)


def test_reference_tables_are_copied(tmp_path: Path):
    """What is given by reference stands in the catalog itself and joins with the lake."""
    database = tmp_path / "iomine.duckdb"
    trigger = {"ruleset": "iomine", "code": "POSIX-101", "level": "high", "title": "It's", "view_name": "v", "needs": "Records."}
    triggers = pa.Table.from_pylist([{**trigger, "trigger_version": "1"}])
    build_catalog(database, {}, {"triggers": triggers}, {"generation": "1"})
    assert triggers.to_pylist() == rows(database, "FROM triggers")
    assert [{"key": "generation", "value": "1"}] == rows(database, "FROM _meta WHERE key <> 'schema_version'")


def test_a_reader_keeps_the_catalog_that_it_opened(tmp_path: Path):
    """A swap is seen by those who come after it, in the same process too."""
    database = tmp_path / "iomine.duckdb"
    build_catalog(database, {}, {}, {"generation": "1"})
    with open_catalog(database) as early:
        build_catalog(database, {}, {}, {"generation": "2"})
        with open_catalog(database) as late:
            assert ["1", "2"] == [answer(con, "SELECT value FROM _meta")["value"][0].as_py() for con in (early, late)]
    assert ["iomine.duckdb"] == [entry.name for entry in tmp_path.iterdir()]


def test_any_client_can_open_it_from_anywhere(tmp_path: Path, write_rows):
    """A plain DuckDB in another working directory reads the views, also attached under another name."""
    database = tmp_path / "iomine.duckdb"
    build_catalog(database, {"app_night": [write_rows("app_night", [{"app": "a", "log_count": 1}])]}, {}, {})
    program = """if True:
        import duckdb, sys
        con = duckdb.connect()
        con.execute(f"ATTACH '{sys.argv[1]}' AS other (READ_ONLY)")
        print(con.sql("SELECT log_count, tags FROM other.worst_offenders, duckdb_databases() WHERE database_name = 'other'"))
    """
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run([sys.executable, "-c", program, database], cwd=elsewhere, capture_output=True, text=True, check=True)
    assert "v1.4.0" in done.stdout


def test_a_failed_build_leaves_the_old_catalog_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Readers keep what they had when a new catalog cannot be built."""
    database = tmp_path / "iomine.duckdb"
    build_catalog(database, {}, {}, {"generation": "1"})

    def fail(path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("iomine.views.catalog._to_disk", fail)
    with pytest.raises(OSError, match="No space"):
        build_catalog(database, {}, {}, {"generation": "2"})
    assert [{"value": "1"}] == rows(database, "SELECT value FROM _meta WHERE key = 'generation'")
    assert ["iomine.duckdb"] == [entry.name for entry in tmp_path.iterdir()]


def test_catalogs_have_the_settings_that_each_was_built_with(tmp_path: Path):
    """Views work with the settings given last, and none of an earlier catalog's; what is said of them stays."""
    database = tmp_path / "iomine.duckdb"
    asked = "SELECT sql, comment FROM duckdb_views() WHERE view_name = 'regression' AND schema_name = 'core'"
    found = []
    for settings in ({}, {"regression_times": 2.0}, {"regression_times": 3.0}, {}):
        build_catalog(database, {}, {}, {}, settings=settings)
        (view,) = rows(database, asked)
        number = re.search(r"'regression_times'\)\D*([0-9.]+)", view["sql"])
        found.append((float(number[1]), view["comment"]))
    about = next(view.about for view in find_views() if view.qualified == "core.regression")
    assert [(number, about) for number in (1.5, 2.0, 3.0, 1.5)] == found


def test_kept_answers_are_those_worked_out_when_asked(tmp_path: Path, write_slower_runs):
    """They have the same rows in the same order, by the settings that the catalog was built with, and say what they are."""
    logs = {"log": write_slower_runs("bob", "alice")}
    answers = []
    for settings in ({}, {"regression_run_count": 13}):
        for keeps in (False, True):
            name = f"kept-{keeps}.duckdb"
            build_catalog(tmp_path / name, logs, {}, {}, settings=settings, keeps=keeps)
            answers.append(rows(tmp_path / name, "FROM regressions"))
    assert answers[0] == answers[1]
    assert ["alice06", "bob06"] == [row["log_id"] for row in answers[1]]
    assert [] == answers[2] == answers[3]
    about = next(view.about for view in find_views() if view.qualified == "main.regressions")
    asked = "SELECT comment FROM duckdb_views() WHERE view_name = 'regressions' AND schema_name = 'main'"
    assert [{"comment": about}] == rows(tmp_path / "kept-True.duckdb", asked)


def test_kept_answers_open_no_file(tmp_path: Path, write_slower_runs):
    """They are in the catalog, whatever became of the logs."""
    (path,) = write_slower_runs("alice")
    build_catalog(tmp_path / "iomine.duckdb", {"log": [path]}, {}, {}, keeps=True)
    Path(path).write_bytes(b"no Parquet")
    assert ["alice06"] == [row["log_id"] for row in rows(tmp_path / "iomine.duckdb", "FROM regressions")]


@pytest.mark.parametrize("limits", [Limits(memory_bytes=MIB), Limits(seconds=0.001)])
def test_answers_that_take_too_much_are_not_kept(tmp_path: Path, write_slower_runs, monkeypatch, limits: Limits):
    """The catalog is there all the same, and works them out when it is asked."""
    database = tmp_path / "iomine.duckdb"
    monkeypatch.setattr("iomine.views.catalog._KEEPING", limits)
    build_catalog(database, {"log": write_slower_runs("alice")}, {}, {}, keeps=True)
    assert [] == rows(database, "FROM duckdb_tables() WHERE schema_name = 'kept'")
    assert ["alice06"] == [row["log_id"] for row in rows(database, "FROM regressions")]


@pytest.mark.parametrize(
    ("sql", "message"),
    [("SELECT 1 AS nosuch", r"log\.sql has a column nosuch"), ("SELECT nosuch FROM lake.log", r"log\.sql is not a view")],
)
def test_a_view_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str, message: str):
    """A broken query or an unknown word stops the build with the name of its file."""
    folder = tmp_path / "sql" / "core"
    folder.mkdir(parents=True)
    for other in SCHEMAS:
        (tmp_path / "sql" / other).mkdir(exist_ok=True)
    (folder / "log.sql").write_text(f'-- ---\n-- about = "x"\n-- grain = []\n-- reads = ["lake.log"]\n-- ---\n{sql}\n')
    views = find_views(tmp_path / "sql")
    monkeypatch.setattr("iomine.views.catalog.find_views", lambda: views)
    with pytest.raises(ViewError, match=message):
        build_catalog(tmp_path / "iomine.duckdb", {}, {}, {})
    assert ["sql"] == [entry.name for entry in tmp_path.iterdir()]


def test_unknown_tables_and_relative_paths_are_refused(tmp_path: Path):
    """A mistake of the program that builds a catalog is reported at once."""
    with pytest.raises(ValueError, match="no table nosuch"):
        build_catalog(tmp_path / "iomine.duckdb", {"nosuch": []}, {}, {})
    with pytest.raises(ValueError, match="absolute paths"):
        build_catalog(tmp_path / "iomine.duckdb", {"log": ["log/part.parquet"]}, {}, {})


def test_a_type_that_no_field_has_is_refused():
    """A new kind of column needs its DuckDB type written down first."""
    with pytest.raises(TypeError, match="int8"):
        duckdb_type(pa.int8())
    assert "BIGINT[]" == duckdb_type(pa.list_(pa.int64()))
    assert "VARCHAR" == duckdb_type(pa.dictionary(pa.int32(), pa.string()))
