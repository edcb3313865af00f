"""Judges the logs of the nights that a sweep touched, before anything is committed."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from iomine.lake import LakeFile, Warehouse, write_file
from iomine.schema.registry import arrow_schema
from iomine.triggers.judge import judge_sql
from iomine.triggers.registry import TRIGGERS, reference_table
from iomine.views.catalog import build_catalog
from iomine.views.query import ask


def judge(warehouse: Warehouse, staging: Path, merged: Sequence[LakeFile]) -> tuple[list[LakeFile], int]:
    """Verdicts of all triggers over all logs of the touched nights.

    Args:
        warehouse: where the logs lie.
        staging: where the views over uncommitted files may stand meanwhile, and the verdicts be written.
        merged: the new files of the touched partitions.

    Returns:
        Files of the table `verdict`, and how many verdicts of the default ruleset are findings.
    """
    # A log is judged by its own night's rows, so views over the touched partitions say the same as views over all.
    partitions = sorted({(file.cluster, file.night) for file in merged if file.cluster and file.night})
    replaced = {(file.table, file.cluster, file.night) for file in merged}
    kept = [
        file
        for file in warehouse.lake.files(warehouse.lake.pins())
        if (file.cluster, file.night) in partitions and (file.table, file.cluster, file.night) not in replaced
    ]
    files: dict[str, list[str]] = {}
    for file in [*kept, *merged]:
        files.setdefault(file.table, []).append(str(file.path))
    staging.mkdir(parents=True, exist_ok=True)
    database = staging / "judge.duckdb"
    build_catalog(database, files, {"triggers": reference_table()}, {})
    verdicts = ask(database, judge_sql(list(TRIGGERS.values()), partitions))
    found = [write_file(staging, "verdict", _rows_of(verdicts, cluster, night), cluster, night) for cluster, night in partitions]
    told = pc.and_(pc.equal(verdicts["state"], "fired"), pc.is_in(verdicts["level"], pa.array(["high", "warn"])))
    return found, pc.sum(pc.and_(told, pc.equal(verdicts["ruleset"], "iomine"))).as_py() or 0


def _rows_of(verdicts: pa.Table, cluster: str, night: object) -> pa.Table:
    of_partition = pc.and_(pc.equal(verdicts["cluster"], cluster), pc.equal(verdicts["night"], pa.scalar(night)))
    schema = arrow_schema("verdict")
    rows = verdicts.filter(of_partition).select(schema.names).cast(schema)
    return rows.sort_by([("code", "ascending"), ("log_id", "ascending")])
