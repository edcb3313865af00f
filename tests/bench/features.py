"""A history of made-up logs: for each view that triggers ask, one row per log with all metrics that they need."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Final

import duckdb

from iomine.schema import Kind, field
from iomine.triggers import Trigger
from iomine.views.catalog import LAKE_DIRECTORY

CLUSTER: Final = "default"
_FIRST_NIGHT: Final = date(2026, 1, 1)
_LOGS_PER_NIGHT: Final = 10_000

# What a metric of a kind is, where {u} is a number between 0 and 1, the log's own: most ratios are small, counts and
# bytes span all orders of magnitude. Together with what is missing, this gives about as many fired and unknown verdicts
# as real logs get.
_VALUES: Final = {
    Kind.RATIO: "pow({u}, 6)",
    Kind.COUNT: "pow(10, 7 * {u})::BIGINT",
    Kind.BYTES: "pow(10, 13 * {u})::BIGINT",
    Kind.INTEGER: "(3 * {u})::BIGINT - 1",
    Kind.NUMBER: "pow(10, 6 * {u} - 3)",
    Kind.SECONDS: "pow(10, 6 * {u} - 3)",
    Kind.CORE_SECONDS: "pow(10, 6 * {u} - 3)",
    Kind.TEXT: "'/scratch/project/user/run/output-' || (1000 * {u})::INTEGER",
}
_PERCENT_NULL: Final = 25
_PERCENT_INCOMPLETE: Final = 10


def nights(log_count: int) -> list[tuple[str, date]]:
    """Clusters and nights of a history of so many logs."""
    return [(CLUSTER, _FIRST_NIGHT + timedelta(days=number)) for number in range(-(-log_count // _LOGS_PER_NIGHT))]


def make_history(log_count: int, triggers: Sequence[Trigger], folder: Path) -> Path:
    """Writes the features, a file for each view and night as the lake has them, and a database with the views.

    Args:
        log_count: how many logs.
        triggers: whose views to make.
        folder: where everything goes.

    Returns:
        The database.
    """
    metrics: dict[str, dict[str, None]] = {}
    for trigger in triggers:
        metrics.setdefault(trigger.view, {}).update(dict.fromkeys(trigger.metrics))
    database = folder / "history.duckdb"
    with duckdb.connect(str(database)) as con:
        con.execute(f"CREATE TABLE _meta AS SELECT '{LAKE_DIRECTORY}' AS key, '{folder}' AS value")
        con.execute("CREATE SCHEMA core")
        keys = (
            f"SELECT number, '{CLUSTER}' AS cluster, left(md5(number::VARCHAR), 16) AS log_id, "
            f"DATE '{_FIRST_NIGHT}' + (number // {_LOGS_PER_NIGHT})::INTEGER AS night FROM range({log_count}) AS logs(number)"
        )
        _make_view(con, "core.log", f"SELECT * EXCLUDE (number) FROM ({keys})", folder / "log")
        for view, names in metrics.items():
            columns = ", ".join(["cluster", "night", "log_id", _is_complete_sql(view), *map(_metric_sql, names)])
            _make_view(con, f"main.{view}", f"SELECT {columns} FROM ({keys})", folder / view)
    return database


def _make_view(con: duckdb.DuckDBPyConnection, name: str, sql: str, folder: Path) -> None:
    con.execute(f"COPY ({sql}) TO '{folder}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (cluster, night))")
    con.execute(f"CREATE VIEW {name} AS FROM read_parquet('{folder}/**/*.parquet', hive_partitioning = true)")


def _is_complete_sql(view: str) -> str:
    return f"hash(number, '{view}') % 100 >= {_PERCENT_INCOMPLETE} AS is_complete"


def _metric_sql(metric: str) -> str:
    # Hashes of number and name, not random(): the same history whatever the number of threads.
    value = _VALUES[field(metric).kind].format(u=f"(hash(number, '{metric}')::DOUBLE / 18446744073709551616)")
    return f"CASE WHEN hash(number, '{metric}', 'NULL') % 100 >= {_PERCENT_NULL} THEN {value} END AS {metric}"
