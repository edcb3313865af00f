"""Judges the logs of the nights that a sweep touched, before anything is committed."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from iomine.lake import LakeFile, Warehouse, write_file
from iomine.pipeline.site import read_site_file
from iomine.schema.registry import arrow_schema
from iomine.triggers.bars import parse_bars, with_bars
from iomine.triggers.judge import judge_sql, settings, where_sql
from iomine.triggers.model import Trigger
from iomine.triggers.registry import TRIGGERS
from iomine.views.catalog import build_catalog
from iomine.views.query import ask


def site_triggers(warehouse: Warehouse, bars: Path | None = None) -> dict[str, Trigger]:
    """All triggers, with the bars of the site.

    Args:
        warehouse: its `bars.toml` is the site's standing choice, if there is one.
        bars: a file of bars to take instead.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit to be a bar.
    """
    file = warehouse.root / "bars.toml" if bars is None else bars
    if bars is None and not file.exists():
        return dict(TRIGGERS)
    return with_bars(TRIGGERS, read_site_file(file, "bars", lambda text: parse_bars(text, TRIGGERS)))


def judge(
    warehouse: Warehouse, staging: Path, merged: Sequence[LakeFile], triggers: Mapping[str, Trigger]
) -> tuple[list[LakeFile], int]:
    """Verdicts of all triggers over all logs of the touched nights.

    Args:
        warehouse: where the logs lie.
        staging: where the views over uncommitted files may stand meanwhile, and the verdicts be written.
        merged: the new files of the touched partitions.
        triggers: what to judge by.

    Returns:
        Files of the tables of features and of the table `verdict`, and how many verdicts of the default ruleset are findings.
    """
    # A log is judged by its own night's rows, so views over the touched partitions say the same as views over all.
    partitions = sorted({(file.cluster, file.night) for file in merged if file.cluster and file.night})
    replaced = {(file.table, file.cluster, file.night) for file in merged}
    judges = list(triggers.values())
    worked_out = {trigger.view for trigger in judges}
    kept = [
        file
        for file in warehouse.lake.files(warehouse.lake.pins())
        if (file.cluster, file.night) in partitions
        and (file.table, file.cluster, file.night) not in replaced
        and file.table not in worked_out
    ]
    staging.mkdir(parents=True, exist_ok=True)
    features = work_out(staging, [*kept, *merged], judges, partitions)
    verdicts = verdicts_on(staging, [*kept, *merged, *features], judges, partitions)
    found = [verdict_file(staging, verdicts, cluster, night) for cluster, night in partitions]
    told = pc.and_(pc.equal(verdicts["state"], "fired"), pc.is_in(verdicts["level"], pa.array(["high", "warn"])))
    return [*features, *found], pc.sum(pc.and_(told, pc.equal(verdicts["ruleset"], "iomine"))).as_py() or 0


def work_out(
    staging: Path, files: Sequence[LakeFile], judges: Sequence[Trigger], partitions: Sequence[tuple[str, date]]
) -> list[LakeFile]:
    """Features that the triggers are judged by, worked out once: judging again later reads these few columns only.

    Args:
        staging: the folder to write to.
        files: of all tables of the partitions.
        judges: the triggers.
        partitions: clusters and nights.
    """
    views = sorted({trigger.view for trigger in judges})
    database = _catalog(staging, files, {f"feature.{view}" for view in views})
    found = []
    for view in views:
        columns = ", ".join(arrow_schema(view, with_partition_keys=True).names)
        query = f"SELECT {columns} FROM feature.{view}{where_sql(partitions)}"  # noqa: S608  names of ours, and quoted nights
        rows = ask(database, query, variables=settings(judges))
        found += [_partition_file(staging, view, rows, cluster, night, "log_id") for cluster, night in partitions]
    return found


def verdicts_on(
    staging: Path, files: Sequence[LakeFile], judges: Sequence[Trigger], partitions: Sequence[tuple[str, date]]
) -> pa.Table:
    """Verdicts of the triggers on all logs of the partitions, in no order.

    Args:
        staging: where views may stand meanwhile.
        files: of the table `log` and of the features.
        judges: the triggers.
        partitions: clusters and nights.
    """
    database = _catalog(staging, files, {"core.log", *(f"core.{trigger.view}" for trigger in judges)})
    return ask(database, judge_sql(judges, partitions))


def _catalog(staging: Path, files: Sequence[LakeFile], views: set[str]) -> Path:
    """Views over files that are not committed yet."""
    paths: dict[str, list[str]] = {}
    for file in files:
        paths.setdefault(file.table, []).append(str(file.path))
    database = staging / "judge.duckdb"
    build_catalog(database, paths, {}, {}, views)
    return database


def verdict_file(staging: Path, verdicts: pa.Table, cluster: str, night: date) -> LakeFile:
    """Writes the verdicts on one night's logs, in the order in which the lake keeps them.

    Args:
        staging: the folder to write to.
        verdicts: with `cluster` and `night`; those on other nights' logs are left out.
        cluster: partition key.
        night: partition key.
    """
    return _partition_file(staging, "verdict", verdicts, cluster, night, "code", "log_id")


def _partition_file(staging: Path, table: str, rows: pa.Table, cluster: str, night: date, *order: str) -> LakeFile:
    """Writes those rows of a table that belong to a partition."""
    of_partition = pc.and_(pc.equal(rows["cluster"], cluster), pc.equal(rows["night"], pa.scalar(night)))
    schema = arrow_schema(table)
    kept = rows.filter(of_partition).select(schema.names).cast(schema)
    return write_file(staging, table, kept.sort_by([(name, "ascending") for name in order]), cluster, night)
