"""Commits all tables, and last the sweep itself."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from iomine import __version__
from iomine.lake import Snapshot, replaced, write_file
from iomine.pipeline.ingest.find import shown
from iomine.pipeline.ingest.known import KnownFile, known_files
from iomine.pipeline.judging.rollups import known_logs
from iomine.pipeline.reports import note_due
from iomine.pipeline.stages.context import Reject, Sweep
from iomine.pipeline.stages.judge import Judged
from iomine.pipeline.stages.read import Staged
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import log_id_of


@dataclass(frozen=True, slots=True)
class Committed:
    """What is in the lake, and not yet shown to readers.

    Attributes:
        judged: what was committed.
        snapshot: the lake since.
    """

    judged: Judged
    snapshot: Snapshot


def commit(sweep: Sweep, judged: Judged) -> Committed:
    """Commits what was merged and judged, rid of rows that are past their days.

    Raises:
        WarehouseError: files cannot be written.
    """
    staged, cluster = judged.merged.staged, sweep.settings.cluster
    before = staged.identified.found.snapshot
    new = replaced(judged.merged.files, judged.files)
    there = replaced(before.files, new)
    past = sweep.past(there)
    new += known_logs(sweep.staging, there, {(cluster, night) for table, night in past if table == "log"})
    new += known_files(sweep.staging, there, cluster, _files(staged))
    note_due(sweep.warehouse, {file.partition for file in judged.files if file.partition}, judged.few)
    for table in sorted({file.table for file in new} | {table for table, _ in past}):
        files = [file for file in new if file.table == table and (table, file.night) not in past]
        sweep.lake.commit(table, files, sweep.id, [(cluster, night) for name, night in past if name == table])
    _commit_rows(sweep, "reject", pa.Table.from_pylist([*_rejects(before, staged)], schema=arrow_schema("reject")))
    if staged.sources:
        rows = pa.Table.from_pylist(staged.sources, schema=arrow_schema("source_file"))
        _commit_rows(sweep, "source_file", pa.concat_tables([before.rows("source_file"), rows]))
    # This row names what is committed, and is the commit.
    row = pa.Table.from_pylist([_row(sweep, staged)], schema=arrow_schema("sweep"))
    _commit_rows(sweep, "sweep", pa.concat_tables([before.rows("sweep"), row]))
    return Committed(judged, sweep.lake.snapshot)


def _commit_rows(sweep: Sweep, table: str, rows: pa.Table) -> None:
    sweep.lake.commit(table, [write_file(sweep.staging, table, rows)], sweep.id)


def _row(sweep: Sweep, staged: Staged) -> dict[str, object]:
    versions = {table: version for table, version in sweep.lake.snapshot.versions.items() if table != "sweep"}
    return {
        "sweep_id": sweep.id,
        "cluster": sweep.settings.cluster,
        "paths": [shown(str(path.absolute())) for path in (*sweep.settings.paths, *sweep.settings.stats)],
        "start_at": sweep.started_at,
        "end_at": datetime.now(UTC),
        **{f"{name}_count": count for name, count in asdict(staged.logs).items()},
        **{f"statistics_{name}_count": count for name, count in asdict(staged.statistics).items()},
        "reader_version": __version__,
        "table_versions": json.dumps(versions, sort_keys=True),
    }


def _files(staged: Staged) -> Iterator[KnownFile]:
    """Files that hold logs which are in the lake now."""
    unread = {log_id_of(reject["sha256"]) for reject in staged.log_rejects if reject["sha256"]}
    return (file for file in staged.identified.files if file.log_id not in unread)


def _rejects(before: Snapshot, staged: Staged) -> Iterator[Reject]:
    """Rejects of earlier sweeps, except for what this sweep has looked at again, and its own."""
    found = staged.identified.found
    looked_at = {shown(candidate.path) for candidate in (*found.logs, *found.statistics)}
    # A member's path is below its archive's, as a file's is below its folder's; a folder is a candidate only if unreadable.
    readable = {shown(candidate.path) for candidate in found.statistics if not candidate.reason}
    for row in before.rows("reject").to_pylist():
        if row["path"] not in looked_at and readable.isdisjoint(map(str, Path(row["path"]).parents)):
            yield row
    yield from staged.log_rejects
    yield from staged.statistics_rejects
