"""Judges the logs of the nights that a sweep touched, before anything is committed."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import UsageError
from iomine.lake import LakeFile, Warehouse, write_file
from iomine.schema.registry import arrow_schema
from iomine.triggers.bars import parse_bars, with_bars
from iomine.triggers.judge import judge_sql, settings
from iomine.triggers.model import Trigger
from iomine.triggers.registry import TRIGGERS, reference_table
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
    try:
        return with_bars(TRIGGERS, parse_bars(file.read_text(encoding="utf-8"), TRIGGERS))
    except OSError as error:
        raise UsageError(f"The bars in {file} cannot be read ({error.strerror}): name a file that can.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"The bars in {file} are not UTF-8 text: save the file as such.") from error
    except UsageError as error:
        raise UsageError(f"{file}: {error.args[0]}") from error


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
    judges = list(triggers.values())
    verdicts = ask(database, judge_sql(judges, partitions), variables=settings(judges))
    found = [verdict_file(staging, verdicts, cluster, night) for cluster, night in partitions]
    told = pc.and_(pc.equal(verdicts["state"], "fired"), pc.is_in(verdicts["level"], pa.array(["high", "warn"])))
    return found, pc.sum(pc.and_(told, pc.equal(verdicts["ruleset"], "iomine"))).as_py() or 0


def verdict_file(staging: Path, verdicts: pa.Table, cluster: str, night: date) -> LakeFile:
    """Writes the verdicts on one night's logs, in the order in which the lake keeps them.

    Args:
        staging: the folder to write to.
        verdicts: with `cluster` and `night`; those on other nights' logs are left out.
        cluster: partition key.
        night: partition key.
    """
    of_partition = pc.and_(pc.equal(verdicts["cluster"], cluster), pc.equal(verdicts["night"], pa.scalar(night)))
    schema = arrow_schema("verdict")
    rows = verdicts.filter(of_partition).select(schema.names).cast(schema)
    return write_file(staging, "verdict", rows.sort_by([("code", "ascending"), ("log_id", "ascending")]), cluster, night)
