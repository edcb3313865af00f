import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.views.catalog import build_catalog

WriteLake = Callable[..., str]


@pytest.fixture(scope="session")
def empty_catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog over a lake without any file."""
    target = tmp_path_factory.mktemp("empty") / "iomine.duckdb"
    build_catalog(target, {}, {}, {})
    return target


@pytest.fixture
def write_slower_runs(write_rows: WriteLake) -> WriteLake:
    """Writes a lineage of each user, whose runs all take four times as long from the seventh on, and gives the paths of logs."""

    def write(*users: str) -> list[str]:
        start = dt.datetime(2024, 4, 18, tzinfo=dt.UTC)
        runs = [
            {
                "log_id": f"{user}{number:02}",
                "user": user,
                "uid": 7000,
                "lineage_id": f"lineage of {user}",
                "io_signature": "writes",
                "start_at": start + number * dt.timedelta(hours=1),
                "io_core_seconds": 10.0 if number < 6 else 40.0,
                "read_bytes": 0,
                "write_bytes": 128,
            }
            for user in users
            for number in range(12)
        ]
        return [write_rows("log", runs)]

    return write


@pytest.fixture
def write_rows(tmp_path: Path) -> WriteLake:
    """Writes rows of a table as one Parquet file of the lake, in the folders of its partition, and gives its path."""

    def write(
        table: str,
        rows: list[dict[str, object]],
        cluster: str = "alpha",
        night: str = "2024-04-18",
        without: tuple[str, ...] = (),
    ) -> str:
        folder = tmp_path / "lake" / table
        if TABLES[table].partitioned:
            folder = folder / f"cluster={cluster}" / f"night={night}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"part-{len(list(folder.iterdir()))}.parquet"
        full = [{column: row.get(column) for column in TABLES[table].columns} for row in rows]
        pq.write_table(pa.Table.from_pylist(full, arrow_schema(table)).drop_columns(list(without)), path)
        return str(path)

    return write
