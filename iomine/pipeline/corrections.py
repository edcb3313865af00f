"""Corrects wrong sweeps: forgets logs, moves logs to another machine, settles nights that were swept out of order.

A forgotten log is no longer known, so the next sweep that finds it reads it again. Files of logs stay where they are.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine.errors import UsageError
from iomine.lake import LakeFile, Partition, Snapshot, Warehouse, check_cluster, linked, replaced, row_groups, write_file
from iomine.lake.files import ParquetSink, new_file_path
from iomine.pipeline.between import commit, to_be_written
from iomine.pipeline.ingest.known import KNOWN_FILES
from iomine.pipeline.judging.definitions import notes_of
from iomine.pipeline.judging.judge import judge
from iomine.pipeline.judging.late import OF_NIGHT
from iomine.pipeline.judging.links import PORT_READINGS, days_moved
from iomine.pipeline.judging.rollups import KNOWN, ROLL_UPS, known_logs
from iomine.pipeline.judging.system_state import READINGS, SLOTS, USUAL_NIGHTS
from iomine.pipeline.notes import Note
from iomine.pipeline.publish import publish
from iomine.pipeline.reports import due, list_reports, note_due, retire
from iomine.pipeline.site.collectors import site_collectors
from iomine.pipeline.site.fabric import site_fabric
from iomine.pipeline.site.retention import expired, site_retention, tables_of_logs
from iomine.pipeline.site.triggers import site_triggers
from iomine.schema import TABLES
from iomine.triggers.model import Trigger

_ALL_NIGHTS: Final = 999_999
# Tables of a night that are worked out of logs and readings together.
_OF_BOTH: Final = frozenset((*SLOTS, "link_slot"))
_Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Matter:
    """What is to be forgotten or moved.

    Attributes:
        clusters: machines.
        nights: nights of these machines; None for all nights, with everything else that is kept of the machines.
        log_id: the only log; None for all.
    """

    clusters: frozenset[str]
    nights: frozenset[date] | None = None
    log_id: str | None = None

    def has(self, file: LakeFile) -> bool:
        """Whether a file holds any of it."""
        return file.cluster in self.clusters and (self.nights is None or file.night in self.nights)

    def is_of(self, row: Mapping[str, object]) -> bool:
        """Whether a row with a machine's name belongs to one of the machines."""
        return row["cluster"] in self.clusters


def matter_of(warehouse: Warehouse, cluster: str | None, night: date | None, log: str | None) -> Matter:
    """What is meant by a machine, by a night of one or of all machines, or by the beginning of a log's id.

    Raises:
        UsageError: the warehouse has nothing of it, or more than one such log.
        WarehouseError: there is no warehouse that this program can read.
    """
    files = warehouse.lake.snapshot().of("log", KNOWN, *ROLL_UPS)
    clusters = frozenset(file.cluster for file in files if file.cluster and cluster in {None, file.cluster})
    if cluster is not None and not clusters:
        raise UsageError(f"The warehouse has no logs of {cluster}: `iomine status` names its machines.")
    if log is not None:
        return _log_of(files, clusters, log)
    if night is not None:
        clusters = frozenset(file.cluster for file in files if file.cluster in clusters and file.night == night and file.cluster)
        if not clusters:
            raise UsageError(f"The warehouse has no logs of the night {night}.")
    return Matter(clusters, None if night is None else frozenset({night}))


def _log_of(files: Sequence[LakeFile], clusters: Collection[str], log: str) -> Matter:
    found = {
        (file.cluster, file.night, log_id)
        for file in files
        if file.table == "log" and file.night and file.cluster and file.cluster in clusters
        for log_id in pq.read_table(file.path, columns=["log_id"])["log_id"].to_pylist()
        if log_id.startswith(log)
    }
    if len(found) != 1:
        raise UsageError(f"{len(found):,} logs have an id that begins with {log}: `iomine show` finds a log's id.")
    ((cluster, night, log_id),) = found
    return Matter(frozenset({cluster}), frozenset({night}), log_id)


def counted_logs(warehouse: Warehouse, matter: Matter) -> int:
    """How many logs are concerned, including those whose rows have left."""
    files = [file for file in warehouse.lake.snapshot().of("log", KNOWN) if matter.has(file)]
    return 1 if matter.log_id else sum(file.row_count for file in files)


def forget(warehouse: Warehouse, matter: Matter) -> None:
    """Removes everything about some logs from the warehouse; readers see all of it removed or nothing.

    What other logs took from these is worked out again. For a whole machine, its statistics and accounting are removed too.

    Raises:
        BusyError: a sweep is writing to it.
        WarehouseError: its files cannot be read or written.
    """
    triggers = site_triggers(warehouse)
    with to_be_written(warehouse) as (lake, staging):
        before = lake.snapshot
        of_logs = {*tables_of_logs(), KNOWN, KNOWN_FILES, *ROLL_UPS}
        hit = [file for file in before.files if matter.has(file) and (matter.nights is None or file.table in of_logs)]
        new: list[LakeFile] = []
        if matter.log_id is not None:
            new = [_without(staging, file, matter.log_id) for file in hit if "log_id" in TABLES[file.table].columns]
        kept = [file for file in new if file.row_count]
        dropped = _places(hit) - _places(kept)
        # Sums of the night, and what it shows of Darshan, are worked out again as long as it has logs.
        gone = dropped if matter.log_id is None else _places(new)
        there = [*(file for file in before.files if (file.table, file.partition) not in gone | _places(kept)), *kept]
        changed = {file.partition for file in hit if file.table == "log" and file.partition}
        # A log may have moved data over links on days before its night.
        days = changed | {(file.cluster, day) for file in hit if file.table == "job_link" for day in days_moved(file)}
        met = [file for file in kept if file.table == "log"]
        met += [file for file in there if file.table in _OF_BOTH and file.partition in days]
        judged = _judged(warehouse, staging, there, [*met, *_looking_back(there, changed)], triggers)
        if matter.nights is None:
            kept.append(_sources(staging, before, lambda row: None if matter.is_of(row) else row))
        due(warehouse).add({file.partition for file in kept if file.partition})
        commit(lake, staging, replaced(kept, judged), sorted(dropped - _places(judged)))
        publish(warehouse, triggers.values(), lake.snapshot)
    # Reports of logs that are gone, of whatever age.
    retire(warehouse, _ALL_NIGHTS)
    list_reports(warehouse)


def move(warehouse: Warehouse, matter: Matter, cluster: str) -> None:
    """Moves everything that is kept of a machine to another one, added to what that has; readers see all of it moved or nothing.

    What logs of either machine take from what the other has is worked out again.

    Raises:
        UsageError: a machine cannot be called so.
        BusyError: a sweep is writing to it.
        WarehouseError: its files cannot be read or written.
    """
    check_cluster(cluster)
    triggers = site_triggers(warehouse)
    with to_be_written(warehouse) as (lake, staging):
        before = lake.snapshot
        moving = [file for file in before.files if matter.has(file)]
        moved = [linked(staging, file, cluster) for file in moving]
        places = _places(moved)
        # A commit replaces a partition, so what is there already is committed again.
        beside = [file for file in before.files if file.partition and (file.table, file.partition) in places]
        there = [file for file in before.files if not matter.has(file) and file not in beside] + [*beside, *moved]
        nights = {night for _, night in places}
        closed = {night for table, night in _places(there) if table == KNOWN} & nights
        new = replaced([*beside, *moved], known_logs(staging, there, closed))
        # If one machine's logs of a night have left, the sums of both stay, and the logs of the other leave too.
        left = _places(file for file in there if file.partition in closed and file.table in tables_of_logs())
        new = [file for file in new if (file.table, file.partition) not in left]
        judged: list[LakeFile] = []
        # A machine that had nothing yet only gets another name for what is there: nothing is judged again.
        if any(file.cluster == cluster for file in before.files):
            there = [file for file in replaced(there, new) if (file.table, file.partition) not in left]
            judged = _judged_together(warehouse, staging, there, nights, cluster=cluster, triggers=triggers)
        new = replaced(new, judged)
        new.append(
            _sources(staging, before, lambda row: row | {"cluster": cluster} if row["cluster"] in matter.clusters else row)
        )
        due(warehouse).add({file.partition for file in moved if file.table == "log" and file.partition})
        commit(lake, staging, new, sorted(_places(moving) | left))
        publish(warehouse, triggers.values(), lake.snapshot)


def unsettled(warehouse: Warehouse) -> Note[Partition]:
    """Nights that were swept after later ones of their cluster; nights that look back at them must be settled."""
    return Note(warehouse, "unsettled.json")


def settle_noted(warehouse: Warehouse) -> Iterator[tuple[str, int]]:
    """Settles the nights that look back at those noted as unsettled, and removes these from the note.

    Yields:
        Each cluster with nights that were settled, and how many.

    Raises:
        IomineError: as for `settle`; the note stays.
    """
    note = unsettled(warehouse)
    noted = note.noted()
    for cluster, group in groupby(noted, key=itemgetter(0)):
        nights = [night for _, night in group]
        if settled := settle(warehouse, cluster, nights[0], nights[-1]):
            yield cluster, settled
    note.strike(noted)


def settle(warehouse: Warehouse, cluster: str, since: date, until: date) -> int:
    """Recomputes what nights of a cluster take from nights before, and judges them; readers see all of it settled or nothing.

    A run is compared with the runs and servers of the nights before. A night that was swept before some of these gets the rows
    that it would have got if they had been swept in order.

    Args:
        warehouse: where the nights are.
        cluster: whose they are.
        since: the first night that was swept after later ones.
        until: the last such night.

    Returns:
        How many nights were settled.

    Raises:
        BusyError: a sweep is writing to it.
        UsageError: something that the site has set is not fit.
        WarehouseError: its files cannot be read or written.
    """
    triggers = site_triggers(warehouse)
    with to_be_written(warehouse) as (lake, staging):
        last = until + timedelta(days=USUAL_NIGHTS)
        logs = [file for file in lake.snapshot.of("log") if file.cluster == cluster and file.night and since < file.night <= last]
        if judged := _judged(warehouse, staging, lake.snapshot.files, logs, triggers):
            commit(lake, staging, judged)
            publish(warehouse, triggers.values(), lake.snapshot)
    return len({file.night for file in logs})


def _judged_together(
    warehouse: Warehouse,
    staging: Path,
    there: Sequence[LakeFile],
    nights: Collection[Partition],
    *,
    cluster: str,
    triggers: Mapping[str, Trigger],
) -> list[LakeFile]:
    """Nights of a machine that got those of another, and the nights that look back at them, judged as if swept together."""
    # Readings must not replace what was worked out from all readings, once these are past their days.
    past = expired(site_retention(warehouse), there, cluster, datetime.now(UTC).date())
    left = {(table, night) for table, night in past if table in READINGS | PORT_READINGS}
    met = [file for file in there if file.partition in nights and (file.table, file.night) not in left]
    # Each machine's row may say something else of a version of Darshan, which then concerns all logs of the night.
    there = [file for file in there if file.table != OF_NIGHT or file.partition not in nights]
    return _judged(warehouse, staging, there, [*met, *_looking_back(there, nights)], triggers)


def _judged(
    warehouse: Warehouse,
    staging: Path,
    there: Sequence[LakeFile],
    touched: Sequence[LakeFile],
    triggers: Mapping[str, Trigger],
) -> list[LakeFile]:
    """What judging the nights of touched files gives; their reports are noted as due."""
    if not touched:
        return []
    judged = judge(there, staging, touched, triggers, site=site_fabric(warehouse), collectors=site_collectors(warehouse))
    note_due(warehouse, {file.partition for file in touched if file.partition}, judged.few)
    return list(judged.files)


def _looking_back(there: Iterable[LakeFile], nights: Iterable[Partition]) -> list[LakeFile]:
    """Files of the nights that were compared with given ones: logs, or slots of servers and links in nights without logs."""
    after = {(cluster, night + timedelta(days=days)) for cluster, night in nights for days in range(1, USUAL_NIGHTS + 1)}
    after.difference_update(nights)
    files = [file for file in there if file.partition in after]
    logged = {file.partition for file in files if file.table == "log"}
    return [file for file in files if file.table == "log" or (file.table in _OF_BOTH and file.partition not in logged)]


def _places(files: Iterable[LakeFile]) -> set[tuple[str, Partition]]:
    return {(file.table, file.partition) for file in files if file.partition}


def _without(staging: Path, file: LakeFile, log_id: str) -> LakeFile:
    """The file without the rows of a log."""
    with ParquetSink(file.table, new_file_path(staging, file.table, file.cluster, file.night), notes_of(file.path)) as sink:
        for rows in row_groups(file.table, file.path):
            sink.write(rows.filter(pc.not_equal(rows["log_id"], log_id)))
    return sink.lake_file(file.cluster, file.night)


def _sources(staging: Path, before: Snapshot, change: Callable[[_Row], _Row | None]) -> LakeFile:
    """Which statistics and accounting are known, each row changed or left out."""
    rows = before.rows("source_file")
    kept = [changed for row in rows.to_pylist() if (changed := change(row)) is not None]
    return write_file(staging, "source_file", pa.Table.from_pylist(kept, schema=rows.schema))
