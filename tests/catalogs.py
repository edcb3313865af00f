"""Views over files of the lake that no sweep has committed, and warehouses of rows that a test gives."""

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from iomine.lake import LakeFile, LakeWriter, Warehouse, write_file
from iomine.pipeline.judging.judge import judging_views, work_out
from iomine.pipeline.judging.spans import JUDGED_AT_ONCE, spans
from iomine.pipeline.publish import publish
from iomine.schema.registry import arrow_schema
from iomine.triggers import TRIGGERS, Trigger, reference_table
from iomine.views.catalog import build_catalog


def catalog_of(folder: Path, files: Iterable[LakeFile]) -> Path:
    """The database of all views over these files, in the folder."""
    paths: dict[str, list[str]] = defaultdict(list)
    for file in files:
        paths[file.table].append(str(file.path))
    build_catalog(folder / "iomine.duckdb", paths, {"triggers": reference_table()}, {})
    return folder / "iomine.duckdb"


def system_state_profiles(folder: Path, files: Sequence[LakeFile]) -> list[LakeFile]:
    """What `job_weather` reads of logs, worked out as a sweep does; no other trigger's features are."""
    return worked_out(folder, files, [trigger for trigger in TRIGGERS.values() if trigger.view == "log_weather_profile"])


def worked_out(folder: Path, files: Sequence[LakeFile], judges: Sequence[Trigger] = ()) -> list[LakeFile]:
    """What a sweep works out of logs for reports, and for these triggers."""
    made: list[LakeFile] = []
    for span in spans(files, JUDGED_AT_ONCE):
        with judging_views((each for each in files if each.partition in span.partitions), judges) as views:
            made += work_out(folder, span, views, judges)
    return made


def staged(
    warehouse: Warehouse, table: str, rows: list[dict[str, object]], cluster: str | None = None, night: dt.date | None = None
) -> LakeFile:
    """Rows of a table in a file that is not committed; a key that is left out is NULL."""
    return write_file(warehouse.staging, table, pa.Table.from_pylist(rows, schema=arrow_schema(table)), cluster, night)


def committed(warehouse: Warehouse, files: Iterable[LakeFile], sweep_id: str = "first", **reported: int) -> None:
    """Commits files and the row of their sweep, and publishes it."""
    lake = LakeWriter(warehouse.lake, warehouse.staging)
    of_table: dict[str, list[LakeFile]] = defaultdict(list)
    for file in files:
        of_table[file.table].append(file)
    for table, of_one in of_table.items():
        lake.commit(table, of_one, sweep_id)
    versions = {table: version for table, version in lake.snapshot.versions.items() if table != "sweep"}
    sweep = [{"sweep_id": sweep_id, "table_versions": json.dumps(versions), **reported}]
    lake.commit("sweep", [staged(warehouse, "sweep", sweep)], sweep_id)
    publish(warehouse)
