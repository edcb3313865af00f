"""A long history of features: those of real logs again and again, under other ids and on other nights."""

from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Final

import duckdb

from iomine.lake import LakeFile
from iomine.schema import TABLES
from iomine.views.catalog import build_catalog

CLUSTER: Final = "default"
_FIRST_NIGHT: Final = date(2026, 1, 1)
_LOGS_PER_NIGHT: Final = 10_000


def nights(log_count: int) -> list[tuple[str, date]]:
    """Clusters and nights of a history of so many logs."""
    return [(CLUSTER, _FIRST_NIGHT + timedelta(days=number)) for number in range(-(-log_count // _LOGS_PER_NIGHT))]


def make_history(log_count: int, files: Iterable[LakeFile], folder: Path) -> Path:
    """Writes the features of a history, a file for each table and night as the lake has them, and the views over them.

    Args:
        log_count: how many logs.
        files: a file of the table `log` and of each table of features, all of the same logs.
        folder: where everything goes.

    Returns:
        The database of views.
    """
    paths = {file.table: file.path for file in files}
    with duckdb.connect() as con:
        real = f"read_parquet('{paths['log']}')"
        con.execute(
            f"CREATE TABLE logs AS SELECT log_id AS real_id, left(md5(log_id || number), 16) AS log_id, "
            f"DATE '{_FIRST_NIGHT}' + ((row_number() OVER () - 1) // {_LOGS_PER_NIGHT})::INTEGER AS night "
            f"FROM {real}, range(1 + {log_count} // (SELECT count(*) FROM {real})) AS copies(number) LIMIT {log_count}"
        )
        for table, path in paths.items():
            columns = ", ".join(f'told."{column}"' for column in TABLES[table].columns if column != "log_id")
            con.execute(
                f"COPY (SELECT logs.log_id, {columns}, '{CLUSTER}' AS cluster, logs.night FROM logs "
                f"JOIN read_parquet('{path}') AS told ON told.log_id = real_id) "
                f"TO '{folder / table}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (cluster, night))"
            )
    found = {table: [str(path) for path in sorted((folder / table).rglob("*.parquet"))] for table in paths}
    database = folder / "history.duckdb"
    build_catalog(database, found, {}, {}, {f"core.{table}" for table in paths})
    return database
