"""`iomine.open`: the published views in the hands of a program."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import iomine
from iomine.errors import IomineError, LimitError, UsageError, WarehouseError
from iomine.views.catalog import build_catalog

REPO = Path(iomine.__file__).parents[1]
HEAVY = {"duckdb", "pyarrow", "pandas", "polars", "numpy", "typer", "iomine.views"}


@pytest.fixture
def warehouse(tmp_path: Path, write_rows) -> Path:
    """A warehouse of two logs."""
    logs = [{"log_id": log_id, "user": "ann", "read_bytes": 2**40} for log_id in "ab"]
    build_catalog(tmp_path / "iomine.duckdb", {"log": [write_rows("log", logs)]}, {}, {})
    return tmp_path


def test_import_is_cheap() -> None:
    """Nothing heavy is loaded before a warehouse is opened."""
    program = "import sys, iomine; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=REPO, capture_output=True, text=True, check=True).stdout.split()
    assert "iomine" in loaded
    assert set() == HEAVY & set(loaded)


def test_answers_come_as_asked(warehouse: Path) -> None:
    """A relation, a table of Arrow and a frame of pandas have the same rows; values go in as parameters."""
    asked = "SELECT log_id, read_bytes FROM logs WHERE log_id >= $1 ORDER BY log_id", ["b"]
    with iomine.open(warehouse) as views:
        assert [("b", 2**40)] == views.relation(*asked).fetchall()
        assert [{"log_id": "b", "read_bytes": 2**40}] == views.arrow(*asked).to_pylist()
        frame = views.pandas(*asked)
        assert ("int64", {"log_id": "b", "read_bytes": 2**40}) == (str(frame["read_bytes"].dtype), frame.iloc[0].to_dict())
        assert {"logs", "findings"} <= set(views.names)
        assert not [name for name in views.names if "." in name]
    with pytest.raises(UsageError, match="closed"):
        views.arrow("FROM logs")


def test_polars_answers(warehouse: Path) -> None:
    """A frame of Polars has the rows."""
    pytest.importorskip("polars", reason="polars is not installed")
    with iomine.open(warehouse) as views:
        assert {"log_id": ["a", "b"]} == views.polars("SELECT log_id FROM logs ORDER BY ALL").to_dict(as_series=False)


def test_a_missing_package_is_named(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for a frame of what is not installed gets the name of it."""
    monkeypatch.setitem(sys.modules, "polars", None)
    with (
        iomine.open(warehouse) as views,
        pytest.raises(UsageError, match=r"^The package polars is missing: pip install polars\.$"),
    ):
        views.polars("FROM logs")


def test_environment_says_where(warehouse: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory) -> None:
    """Without a folder it is that of IOMINE_WAREHOUSE, then `warehouse`, as on the command line."""
    monkeypatch.setenv("IOMINE_WAREHOUSE", str(warehouse))
    with iomine.open() as views:
        assert f"<views of {warehouse}>" == repr(views)
    monkeypatch.delenv("IOMINE_WAREHOUSE")
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    with pytest.raises(WarehouseError, match="There is no warehouse at warehouse: "):
        iomine.open()


@pytest.mark.parametrize(
    "query",
    [
        "COPY logs TO '{folder}/out.csv'",
        "WITH x AS (COPY logs TO '{folder}/out.csv') SELECT 1",
        "SELECT 1; DROP VIEW logs",
        "DROP VIEW logs",
        "SET threads = 64",
        "ATTACH '{folder}/out.duckdb'",
        "INSTALL httpfs",
        "FROM read_text('/etc/passwd')",
        "FROM frame",
        "SELEC 1",
        "",
    ],
)
@pytest.mark.parametrize("way", ["relation", "arrow"])
def test_hostile_queries_are_refused(warehouse: Path, query: str, way: str) -> None:
    """What `iomine sql` refuses is refused, and the folder is as it was; variables of the program are no tables."""
    frame = {"secret": [1]}
    before = sorted(warehouse.rglob("*"))
    with iomine.open(warehouse) as views, pytest.raises(IomineError):
        assert frame is None or getattr(views, way)(query.format(folder=warehouse)) is None
    assert before == sorted(warehouse.rglob("*"))


def test_relations_cannot_write(warehouse: Path, tmp_path_factory) -> None:
    """A relation writes no file outside the lake, and makes no table."""
    out = tmp_path_factory.mktemp("out") / "out.parquet"
    with iomine.open(warehouse) as views:
        with pytest.raises(duckdb.PermissionException):
            views.relation("FROM logs").write_parquet(str(out))
        with pytest.raises(duckdb.InvalidInputException):
            views.relation("FROM logs").create("mine")
    assert not out.exists()


@pytest.mark.parametrize(
    ("limit", "query", "reported"),
    [
        ({"timeout": 0.3}, "SELECT count(*) FROM range(100000000000)", r"stopped after 0\.3 s"),
        ({"memory": "64MiB"}, "SELECT md5(i::VARCHAR) FROM range(100000000) AS t(i)", r"larger than 64\.0 MiB"),
        ({"memory": "64MiB"}, "SELECT md5(i::VARCHAR) AS name FROM range(100000000) AS t(i) ORDER BY 1", "needs more memory"),
    ],
)
def test_queries_keep_to_their_limits(warehouse: Path, limit: dict, query: str, reported: str) -> None:
    """A query that takes too long, or too much memory, ends with one sentence; the next is answered, whoever holds the error."""
    with iomine.open(warehouse, **limit) as views:
        with pytest.raises(LimitError, match=reported) as held:
            views.arrow(query)
        assert held.value
        assert [{"one": 1}] == views.arrow("SELECT 1 AS one").to_pylist()


def test_memory_that_is_none_is_a_wrong_value(warehouse: Path) -> None:
    """Memory is given as a number of bytes."""
    with pytest.raises(ValueError, match="much"):
        iomine.open(warehouse, memory="much")
