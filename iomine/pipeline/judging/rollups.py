"""Sums of nights, which stay when their logs leave; `docs/decisions/rollups.md` says which sums, and when.

As long as a night's logs are there its sums are recomputed from all of them. Once they have left, sums of logs that come late
are written next to the old ones.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iomine.lake import LakeFile, Partition, merge_files, write_file
from iomine.pipeline.judging.spans import JUDGED_AT_ONCE, Span, shared, spans, written
from iomine.pipeline.judging.uncommitted import views_over
from iomine.pipeline.workers.model import Workers
from iomine.schema.registry import arrow_schema

# Logs that are summed up at once: each has many records, but few of its verdicts are findings.
_AT_ONCE: Final = {"app_night": 100_000, "finding_night": 100_000, "mount_night": JUDGED_AT_ONCE, "layer_night": JUDGED_AT_ONCE}
ROLL_UPS: Final = tuple(_AT_ONCE)
OF_VERDICTS: Final = ("app_night", "finding_night")
KNOWN: Final = "known_log"
# A log may end this long before its job does.
_LONGEST_JOB: Final = timedelta(days=31)


def roll_up(
    staging: Path,
    there: Sequence[LakeFile],
    nights: Collection[Partition],
    views: Iterable[str] = ROLL_UPS,
    workers: Callable[[], Workers] | None = None,
) -> list[LakeFile]:
    """Sums of nights, next to the sums of logs that have left.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be, except for the sums.
        nights: clusters and nights to sum up.
        views: which sums.
        workers: gives workers that share them, None to sum up here.
    """
    of_nights = [file for file in there if file.partition in nights]
    work = []
    for view in views:
        # A night has one file of each sum, however many parts it is summed up in.
        for _, of_night in groupby(spans(of_nights, _AT_ONCE[view]), key=lambda span: (span.cluster, span.nights)):
            parts = list(of_night)
            work.append((view, parts, _files_of(parts[0], there)))
    files = [file for _, found in shared(workers, _summed_up, work, staging) for file in found]
    closed = {file.partition for file in there if file.table == KNOWN}
    old = [file for file in there if file.table in ROLL_UPS and file.partition in closed]
    return [
        _beside(staging, [each for each in old if (each.table, each.partition) == (file.table, file.partition)], file)
        for file in files
    ]


def _summed_up(work: tuple[str, Sequence[Span], Sequence[LakeFile]], staging: Path) -> list[LakeFile]:
    view, found, files = work
    return written(staging, view, found, partial(_rows, view=view, files=files), *_keys(view))


def rows_of(
    span: Span, *, view: str, there: Sequence[LakeFile], variables: Mapping[str, Sequence[int]] | None = None
) -> pa.Table:
    """Rows of a view of features about the logs of a span, which may read accounting of the jobs that they are of.

    Args:
        span: the logs.
        view: its name.
        there: the files of all tables.
        variables: values for the variables that the view asks for.
    """
    return _rows(span, view, _files_of(span, there), variables)


def _files_of(span: Span, there: Iterable[LakeFile]) -> list[LakeFile]:
    of_span = set(span.partitions)
    last = span.nights[-1] + _LONGEST_JOB
    return [
        file
        for file in there
        if file.partition in of_span
        or (file.table == "job" and file.cluster == span.cluster and file.night and span.nights[0] <= file.night <= last)
    ]


def _rows(span: Span, view: str, files: Iterable[LakeFile], variables: Mapping[str, Sequence[int]] | None = None) -> pa.Table:
    columns = ", ".join(f'"{name}"' for name in arrow_schema(view, with_partition_keys=True).names)
    with views_over(files, [f"feature.{view}"], variables) as views:
        return views.ask(f"SELECT {columns} FROM feature.{view}", span)  # noqa: S608  names of ours


def _keys(view: str) -> list[str]:
    return [field.name for field in arrow_schema(view) if pa.types.is_string(field.type) or field.name == "uid"]


def _beside(staging: Path, old: Sequence[LakeFile], new: LakeFile) -> LakeFile:
    return merge_files(staging, new.table, [file.path for file in (*old, new)], new.cluster, new.night) if old else new


def outdated(there: Sequence[LakeFile], new: Sequence[LakeFile]) -> set[Partition]:
    """Nights with logs whose sums are missing, or lack the accounts that new accounting has; of the clusters of new files.

    Args:
        there: the files of all tables as they will be.
        new: those among them that are new.
    """
    clusters = {file.cluster for file in new}
    logged = {file.partition for file in there if file.table == "log" and file.partition and file.cluster in clusters}
    run_in = {partition for file in new if file.table == "job" for partition in nights_of_jobs(file)}
    summed = [{file.partition for file in there if file.table == view} for view in ROLL_UPS]
    return {partition for partition in logged if partition in run_in or any(partition not in nights for nights in summed)}


def nights_of_jobs(file: LakeFile) -> set[Partition]:
    """Nights in which the jobs of a file may have left logs."""
    if file.partition is None:
        return set()
    cluster, night = file.partition
    begun = pc.min(pq.read_table(file.path, columns=["start_at"])["start_at"]).as_py()
    first = max(begun.date(), night - _LONGEST_JOB) if begun else night
    return {(cluster, first + timedelta(days=days)) for days in range((night - first).days + 1)}


def known_logs(staging: Path, there: Sequence[LakeFile], closing: Iterable[Partition]) -> list[LakeFile]:
    """Ids of logs whose rows leave, so that they are still known; with those that left their night before.

    Args:
        staging: the folder to write to.
        there: the files of all tables as they will be.
        closing: clusters and nights that are to lose their logs.
    """
    return [_known(staging, there, *partition) for partition in sorted(closing)]


def _known(staging: Path, there: Sequence[LakeFile], cluster: str, night: date) -> LakeFile:
    files = [file for file in there if file.partition == (cluster, night) and file.table in {KNOWN, "log"}]
    ids = pa.concat_tables([pq.read_table(file.path, columns=["log_id"]) for file in files])
    return write_file(staging, KNOWN, ids, cluster, night)
