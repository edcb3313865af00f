"""Rows of an older lake that cannot be read again: readings of servers, sums of nights whose logs have left, history."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine.lake import LakeFile, ParquetSink, Partition, Snapshot
from iomine.lake.files import ROW_GROUP_ROWS, new_file_path
from iomine.pipeline.judging.links import PORT_READINGS
from iomine.pipeline.judging.rollups import KNOWN, ROLL_UPS
from iomine.pipeline.judging.system_state import READINGS
from iomine.schema.registry import arrow_schema

# What readers of statistics and accounting give.
READ_TABLES: Final = tuple(
    sorted(
        {
            *READINGS,
            *PORT_READINGS,
            *("lustre_histogram", "target_fullness", "job", "job_step", "ior_run"),
            *("fabric_node", "fabric_link", "fabric_route", "fabric_name"),
        }
    )
)
# Tables that stay when the readings that they are made of leave.
_INTERVALS: Final = {"server_interval": READINGS, "link_interval": PORT_READINGS}
# What a column was called before.
_FORMER: Final[Mapping[str, Mapping[str, str]]] = {"target_fullness": {"capacity_bytes": "total_bytes"}}
# Columns in which an empty text stood for none, up to version 1.
_EMPTY: Final[Mapping[str, str]] = {"module": "reason", "lustre_component": "pool_name", "job": "doubt"}
# Columns that meant something else up to a version, and whose values in today's meaning are not known.
_BLANK: Final[Mapping[int, Mapping[str, Collection[str]]]] = {
    1: {
        "app_night": ("cost_core_seconds", "io_core_seconds", "timed_core_seconds"),
        "finding_night": ("cost_core_seconds",),
        "mount_night": ("io_core_seconds", "meta_core_seconds", "small_written_core_seconds"),
    }
}


def closed_nights(old: Snapshot, cluster: str) -> set[Partition]:
    """Nights of a cluster of which only sums are left."""
    logged = {file.partition for file in old.of("log")}
    return {file.partition for file in old.of(KNOWN) if file.partition and file.cluster == cluster} - logged


def to_carry(old: Snapshot, cluster: str, *, with_readings: bool) -> Iterator[LakeFile]:
    """Files of a cluster whose rows are taken as they are.

    Args:
        old: the older lake.
        cluster: whose.
        with_readings: also readings and accounting, which are not read again.
    """
    closed = closed_nights(old, cluster)
    for file in old.of(KNOWN, *ROLL_UPS):
        if file.cluster == cluster and (file.table == KNOWN or file.partition in closed):
            yield file
    for table, made_from in _INTERVALS.items():
        read = {file.partition for file in old.of(*made_from)}
        yield from (file for file in old.of(table) if file.cluster == cluster and file.partition not in read)
    if with_readings:
        yield from (file for file in old.of(*READ_TABLES) if file.cluster == cluster)


def carried(staging: Path, files: Sequence[LakeFile], version: int) -> list[LakeFile]:
    """The files in today's columns.

    Args:
        staging: the folder to write to.
        files: of the older lake.
        version: of its schema.
    """
    return [_carried(staging, file, version) for file in files]


def _carried(staging: Path, file: LakeFile, version: int) -> LakeFile:
    former = _FORMER.get(file.table, {})
    blank = {name for last, tables in _BLANK.items() if version <= last for name in tables.get(file.table, ())}
    schema = arrow_schema(file.table)
    with ParquetSink(file.table, new_file_path(staging, file.table, file.cluster, file.night)) as sink:
        for batch in pq.ParquetFile(file.path).iter_batches(batch_size=ROW_GROUP_ROWS):
            held = pa.Table.from_batches([batch])
            names = {name: name if name in held.column_names else former.get(name) for name in schema.names}
            columns = [
                held[there].cast(field.type)
                if (there := names[field.name]) in held.column_names and field.name not in blank
                else pa.nulls(held.num_rows, field.type)
                for field in schema
            ]
            sink.write(without_empty(file.table, pa.Table.from_arrays(columns, schema=schema)))
    return sink.lake_file(file.cluster, file.night)


def without_empty(table: str, rows: pa.Table) -> pa.Table:
    """Rows with NULL for texts that are empty because there was none.

    Args:
        table: the table's name.
        rows: in its columns.
    """
    if (name := _EMPTY.get(table)) is None:
        return rows
    texts = rows[name].cast(pa.string())
    known = pc.if_else(pc.equal(texts, ""), None, texts)
    return rows.set_column(rows.column_names.index(name), rows.schema.field(name), known.cast(rows.schema.field(name).type))
