"""Logs as the files that a sweep makes of one night."""

import math
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from iomine.lake import LakeFile, write_file
from iomine.pipeline.ingest.reader import TOGETHER
from iomine.pipeline.ingest.reading import TOGETHER_BYTES
from iomine.pipeline.ingest.rows import RowSinks, rows_of
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import Log, size_bytes

CLUSTER: Final = "default"
NIGHT: Final = date(2026, 1, 1)


def files_of_logs(logs: Iterable[tuple[Log, str]], folder: Path) -> list[LakeFile]:
    """Writes logs as the reader of a sweep does, as many at once as that takes, all of them as logs of one night.

    Args:
        logs: each with its path.
        folder: where the files go.
    """
    with ExitStack() as stack:
        sinks = RowSinks(folder, CLUSTER, NIGHT, stack)
        held: list[tuple[Log, str]] = []
        held_bytes = 0
        for log, path in logs:
            held.append((log, path))
            held_bytes += sum(size_bytes(part) for parts in log.tables.values() for part in parts)
            if len(held) >= TOGETHER or held_bytes >= TOGETHER_BYTES:
                sinks.write([log.log_id for log, _ in held], rows_of(held))
                held, held_bytes = [], 0
        sinks.write([log.log_id for log, _ in held], rows_of(held))
        sinks.finish()
    return [LakeFile(table, CLUSTER, NIGHT, Path(path), size, rows) for table, path, size, rows in sinks.files()]


def files_in(folder: Path) -> list[LakeFile]:
    """The files of a night in a folder."""
    paths = folder.glob(f"*/cluster={CLUSTER}/night={NIGHT}/*.parquet")
    return [
        LakeFile(path.parts[-4], CLUSTER, NIGHT, path, path.stat().st_size, pq.read_metadata(path).num_rows) for path in paths
    ]


def copy_logs(files: Iterable[LakeFile], count: int, folder: Path) -> None:
    """Makes a larger night of a small one: its logs again and again, under other ids.

    Args:
        files: the small night, one file a table.
        count: logs that are wanted.
        folder: where the new files go.
    """
    paths = {file.table: file for file in files}
    with duckdb.connect() as con:
        times = math.ceil(count / paths["log"].row_count)
        con.execute(
            f"CREATE TABLE copy AS SELECT log_id, left(md5(log_id || number), 16) AS copy_id "
            f"FROM read_parquet('{paths['log'].path}'), range({times}) AS copies(number) ORDER BY number, log_id LIMIT {count}"
        )
        for file in paths.values():
            _copy(con, file, folder)


def _copy(con: duckdb.DuckDBPyConnection, file: LakeFile, folder: Path) -> None:
    schema = arrow_schema(file.table)
    # The lake keeps the rows of a night by log id.
    rows = con.sql(
        f"SELECT copy_id AS log_id, copied.* EXCLUDE (log_id) FROM read_parquet('{file.path}') AS copied "
        f"JOIN copy USING (log_id) ORDER BY copy_id"
    ).to_arrow_table()
    write_file(folder, file.table, _typed(rows.select(schema.names), schema), CLUSTER, NIGHT)


def _typed(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        rows[field.name].dictionary_encode() if pa.types.is_dictionary(field.type) else rows[field.name] for field in schema
    ]
    return pa.table(columns, names=schema.names).cast(schema)
