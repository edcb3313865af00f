"""Judges the logs of the nights that a sweep touched, before anything is committed."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from iomine.lake import LakeFile, ParquetSink, Partition, as_warehouse_errors, replaced, row_groups, write_file
from iomine.lake.files import new_file_path
from iomine.pipeline import progress
from iomine.pipeline.culprits import culprits, may_be_by_input
from iomine.pipeline.failures import FAILED, error_line
from iomine.pipeline.judging.definitions import judged_by, worked_out_by
from iomine.pipeline.judging.featureless import Ask, asked_views
from iomine.pipeline.judging.late import OF_NIGHT, VERDICT, Late, Tables, late_nights
from iomine.pipeline.judging.met import met_files
from iomine.pipeline.judging.owners import owner_files
from iomine.pipeline.judging.rollups import outdated, roll_up
from iomine.pipeline.judging.silent import silent
from iomine.pipeline.judging.spans import JUDGED_AT_ONCE, Span, divided, in_halves, shared, spans, written
from iomine.pipeline.judging.uncommitted import UncommittedViews, views_over
from iomine.pipeline.site.fabric import NO_SITE, SiteFabric
from iomine.pipeline.workers.model import Workers, task_memory_bytes
from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.triggers.judge import EXCUSES, features, judge_sql, settings
from iomine.triggers.model import DEFAULT_RULESET, FINDING_LEVELS, Trigger
from iomine.units import GIB
from iomine.views.model import JUDGING, tables_read
from iomine.views.trial import SITE_LIMITS

# Fired verdicts are few, and most queries ask for them. So their rows lie together.
VERDICT_ORDER: Final = ("state", "code", "log_id")
_CLAIMS: Final = "cost_claim"
# DuckDB's memory for judging. 6,000 logs with 740,000 records take 3 GB; with half a gigabyte, and the rest on disk, they take a
# third more CPU.
_MOST_MEMORY: Final = 4 * GIB
_LEAST_MEMORY: Final = GIB // 2
# No trigger asks for them, but every report does, and they take many records to work out.
_REPORTED: Final = ("io_part", "log_layer")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What judging some nights gave.

    Attributes:
        files: of the tables that were worked out, including `verdict`, and those that replace merged files.
        findings: how many verdicts of the default ruleset on logs of these nights are findings.
        few: for nights that were judged before and got only logs since, the logs of which anything is new.
    """

    files: tuple[LakeFile, ...]
    findings: int
    few: Mapping[Partition, frozenset[str]]


def judge(
    lake: Sequence[LakeFile],
    staging: Path,
    merged: Sequence[LakeFile],
    triggers: Mapping[str, Trigger],
    workers: Callable[[], Workers] | None = None,
    *,
    site: SiteFabric = NO_SITE,
    collectors: Sequence[int] = (),
) -> Judgement:
    """Verdicts of all triggers over all logs of the touched nights.

    If the same triggers judged a night before, only those logs are judged that are new, or that depend on a row that has
    changed.

    A log that cannot be judged is found by halving, span by span. Its rows are withdrawn, since every query over them would fail
    too; the row of the table `log` stays, without numbers. A row of `failed_derivation` names it. Its verdicts are unknown.

    Args:
        lake: the files of all tables before the sweep.
        staging: the folder to write to.
        merged: the new files of the touched partitions.
        triggers: what to judge by.
        workers: gives workers that share what is too much to be judged at once, None to judge all of it here.
        site: what the site says of its fabric.
        collectors: uids that own files of other users' logs.

    Raises:
        WarehouseError: files cannot be read or written.
        WorkersError: workers were lost.
    """
    attempt = partial(_judge, lake, triggers=triggers, site=site, collectors=collectors)
    try:
        return attempt(staging=staging, merged=merged, workers=workers)
    except Exception as error:
        if not may_be_by_input(error):
            raise
        files = _without_culprits(lake, staging, merged, attempt)
        if not files:
            raise
    judged = attempt(staging=staging, merged=replaced(merged, files), workers=workers)
    return replace(judged, files=(*files, *judged.files))


def _without_culprits(
    lake: Sequence[LakeFile], staging: Path, merged: Sequence[LakeFile], judged: Callable[..., object]
) -> list[LakeFile]:
    """Files to take the place of merged ones, without the rows of logs that cannot be judged and with the names of these.

    Args:
        lake: the files of all tables before the sweep.
        staging: the folder to write to.
        merged: the new files of the touched partitions.
        judged: judges files, given `merged` ones and a folder for what it writes.

    Returns:
        No files where no log is to blame.
    """
    partition_of = {
        log_id: file.partition
        for file in merged
        if file.table == "log" and file.partition
        for log_id in pq.read_table(file.path, columns=["log_id"])["log_id"].to_pylist()
    }

    def attempt(log_ids: Sequence[str], among: Sequence[LakeFile]) -> None:
        # What was written for an attempt leaves with it: there are many, of all rows of the nights.
        with TemporaryDirectory(prefix="halving-", dir=staging) as folder:
            others = sorted(partition_of.keys() - set(log_ids))
            judged(merged=_withdrawn(Path(folder), among, others), staging=Path(folder))

    # Where statements fail without any log, none is to blame.
    attempt((), merged)
    found: dict[str, Exception] = {}
    # No worker judges more logs at once, so a failure repeats here. Trying a whole large night would take long at each attempt.
    for span in spans(merged, JUDGED_AT_ONCE):
        first, end = span.edges
        suspects = sorted(id_ for id_, night in partition_of.items() if night in span.partitions and first <= id_ < end)
        with TemporaryDirectory(prefix="span-", dir=staging) as folder:
            of_span = _withdrawn(Path(folder), merged, sorted(partition_of.keys() - set(suspects)))
            found |= culprits(suspects, partial(attempt, among=of_span))
    if not found:
        return []
    files = _withdrawn(staging, merged, list(found))
    there = replaced(lake, files)
    for partition in {partition_of[log_id] for log_id in found}:
        rows = {log_id: error_line(error) for log_id, error in found.items() if partition_of[log_id] == partition}
        failed = pa.table({"log_id": list(rows), "derivation": [JUDGING] * len(rows), "error": list(rows.values())})
        old = [pq.read_table(file.path) for file in there if (file.table, file.partition) == (FAILED, partition)]
        schema = arrow_schema(FAILED)
        failures = pa.concat_tables([table.select(schema.names).cast(schema) for table in (*old, failed)])
        files = replaced(files, [write_file(staging, FAILED, failures, *partition)])
    before = {file.path for file in merged}
    return [file for file in files if file.path not in before]


def _withdrawn(staging: Path, files: Sequence[LakeFile], log_ids: Sequence[str]) -> list[LakeFile]:
    """The files without the rows of these logs; what stays is that the logs exist, and whose they are."""
    wanted = pa.array(log_ids, pa.string())
    return [_rid_of(staging, file, wanted) for file in files]


def _rid_of(staging: Path, file: LakeFile, log_ids: pa.Array) -> LakeFile:
    if "log_id" not in TABLES[file.table].columns:
        return file
    held = pq.read_table(file.path, columns=["log_id"])["log_id"]
    if not pc.any(pc.is_in(held, log_ids)).as_py():
        return file
    with ParquetSink(file.table, new_file_path(staging, file.table, file.cluster, file.night)) as sink:
        for rows in row_groups(file.table, file.path):
            is_theirs = pc.is_in(rows["log_id"], log_ids)
            sink.write(_without_numbers(rows, is_theirs) if file.table == "log" else rows.filter(pc.invert(is_theirs)))
    return sink.lake_file(file.cluster, file.night)


def _without_numbers(rows: pa.Table, is_withdrawn: pa.ChunkedArray) -> pa.Table:
    columns = [
        pc.if_else(is_withdrawn, None, column)
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
        else column
        for column in rows.columns
    ]
    return pa.Table.from_arrays(columns, schema=rows.schema)


def _judge(
    lake: Sequence[LakeFile],
    staging: Path,
    merged: Sequence[LakeFile],
    triggers: Mapping[str, Trigger],
    workers: Callable[[], Workers] | None = None,
    *,
    site: SiteFabric = NO_SITE,
    collectors: Sequence[int] = (),
) -> Judgement:
    staging.mkdir(parents=True, exist_ok=True)
    there = replaced(lake, merged)
    unsummed = outdated(there, merged)
    logged = {file.partition for file in there if file.table == "log"}
    # First, since what is usual is not learned from logs that somebody else may have written.
    read = {partition for file in merged if (partition := file.partition) and partition in logged}
    doubts = owner_files(staging, there, read | unsummed, collectors)
    there = replaced(there, doubts)
    met, touched = met_files(staging, there, merged, workers, site)
    there = replaced(there, met)
    # Nights whose verdicts have left have nothing to sum up until they are judged again.
    touched |= unsummed - {file.partition for file in there if file.table == VERDICT}
    partitions = {partition for file in there if file.table == "log" and (partition := file.partition) in touched}
    judges = list(triggers.values())
    made = frozenset((_CLAIMS, VERDICT, *_of_logs(judges)))
    # A log is judged by its own night's rows, so views over these nights say the same as views over all.
    files = [file for file in there if file.partition in partitions and file.table not in {OF_NIGHT, *made}]
    of_nights = night_files(staging, files, judges)
    files += of_nights
    few: dict[Partition, Late] = {}
    # A view of the site's may ask whatever it likes.
    if not any(trigger.is_featureless for trigger in judges):
        tables = Tables(frozenset(tables_read(_asked(judges)) - made), made, _judged_by(judges))
        few = late_nights(lake, files, merged, partitions, tables)
    of_few = [file for night in few.values() for file in night.of_logs(staging)]
    judged = _judged(staging, [*(file for file in files if file.partition not in few), *of_few], judges, workers)
    # A night may be judged in parts, of which each writes a file; what holds of its other logs must lie beside them once.
    of_late = [late.beside(staging, [file for file in judged if file.partition == night]) for night, late in few.items()]
    judged = [*(file for file in judged if file.partition not in few), *chain.from_iterable(of_late)]
    there = replaced(there, judged)
    verdicts = [file for file in there if file.table == VERDICT and file.partition in partitions]
    _, sharing = divided((file for file in there if file.partition in touched), workers)
    sums = roll_up(staging, there, partitions | unsummed, workers=sharing)
    others = _nights_with_more_than_logs(merged)
    return Judgement(
        files=(*doubts, *met, *of_nights, *judged, *sums),
        findings=_count_findings(verdicts),
        few={night: late.log_ids for night, late in few.items() if night not in others},
    )


def _judged(
    staging: Path, files: Sequence[LakeFile], judges: Sequence[Trigger], workers: Callable[[], Workers] | None
) -> list[LakeFile]:
    """Features of the logs of some nights, and verdicts on them."""
    of_partition: dict[Partition | None, list[LakeFile]] = defaultdict(list)
    for file in files:
        of_partition[file.partition].append(file)
    found, sharing = divided(files, workers)
    work = [(span, [file for partition in span.partitions for file in of_partition[partition]]) for span in found]
    judged: list[LakeFile] = []
    done = 0
    for (span, _), new in shared(sharing, judge_span, work, staging, judges):
        judged += new
        done += span.logs
        if sharing:
            progress.report("judge", done, sum(each.logs for each in found))
    return judged


def judge_span(work: tuple[Span, Sequence[LakeFile]], staging: Path, judges: Sequence[Trigger]) -> list[LakeFile]:
    """Features of the logs of a span, and verdicts on them; in halves where memory is too little for all at once.

    Args:
        work: the span, and the files of its nights.
        staging: the folder to write to.
        judges: the triggers.

    Raises:
        WarehouseError: files cannot be read or written.
    """
    span, files = work
    return in_halves(span, partial(_judged_at_once, files=files, staging=staging, judges=judges))


def _judged_at_once(span: Span, files: Sequence[LakeFile], staging: Path, judges: Sequence[Trigger]) -> list[LakeFile]:
    # Half of some nights is judged without the rows of the others, which would be written as rows of its own.
    files = [file for file in files if file.partition in span.partitions]
    with as_warehouse_errors(staging), judging_views(files, judges) as views:
        worked_out = work_out(staging, span, views, judges)

        @contextmanager
        def opened(view: str, triggers: Sequence[Trigger]) -> Iterator[Ask]:
            there, beneath = [*files, *worked_out], triggers[0].site_views
            with views_over(there, [view], settings(judges), site=beneath, seconds=SITE_LIMITS.seconds) as apart:
                yield partial(apart.ask, span=span)

        failed: dict[str, str] = {}
        for asked in asked_views(judges, span.where, opened):
            views.hold(asked.name, asked.rows)
            failed |= {asked.view: asked.fault} if asked.fault else {}
        return [*worked_out, *verdict_files(staging, span, views, judges, worked_out, failed=failed)]


def judging_views(files: Iterable[LakeFile], judges: Sequence[Trigger]) -> AbstractContextManager[UncommittedViews]:
    """What a span is judged by.

    Args:
        files: of all tables of its nights, with what `night_files` gives.
        judges: the triggers.
    """
    return views_over(files, _asked(judges), settings(judges), memory_bytes=_memory_bytes())


def _memory_bytes() -> int:
    """What DuckDB may take: half of a task's memory, since rows come out of it as tables of Arrow's."""
    share = task_memory_bytes()
    return _MOST_MEMORY if share is None else max(_LEAST_MEMORY, min(_MOST_MEMORY, share // 2))


def _asked(judges: Sequence[Trigger]) -> list[str]:
    return [*(f"feature.{view}" for view in (*_of_logs(judges), _CLAIMS)), EXCUSES]


def _of_logs(judges: Sequence[Trigger]) -> list[str]:
    """Views of features that are worked out with rows for each log."""
    return sorted({*features(judges), *_REPORTED})


def night_files(staging: Path, files: Sequence[LakeFile], judges: Sequence[Trigger]) -> list[LakeFile]:
    """What features of logs need to know of all logs of their night.

    Args:
        staging: the folder to write to.
        files: of all tables of some nights.
        judges: the triggers.
    """
    partitions = sorted({partition for file in files if file.table == "log" and (partition := file.partition)})
    nights = [Span(cluster, (night,), 0) for cluster, night in partitions]
    with views_over(files, [f"feature.{OF_NIGHT}"], settings(judges)) as views:
        return written(staging, OF_NIGHT, nights, partial(_rows, view=OF_NIGHT, views=views), "darshan_version")


def work_out(
    staging: Path, span: Span, views: UncommittedViews, judges: Sequence[Trigger], tables: Collection[str] | None = None
) -> list[LakeFile]:
    """Features that the triggers are judged by, worked out once: judging again later reads these few columns only.

    Args:
        staging: the folder to write to.
        span: the logs.
        views: over the files of their nights, from `judging_views`; they show the features afterwards.
        judges: the triggers.
        tables: of `feature_notes`, those to work out; None for all.
    """
    notes = feature_notes(judges)
    names = [name for name in notes if tables is None or name in tables]
    views.hold_shared([f"feature.{name}" for name in names], span, made=names)
    made = [written(staging, name, [span], partial(views.make, name), *TABLES[name].grain, notes=notes[name]) for name in names]
    return list(chain.from_iterable(made))


def feature_notes(judges: Sequence[Trigger]) -> dict[str, dict[str, str]]:
    """The tables of features that are worked out for logs, in order, each with the note that its files carry.

    Args:
        judges: the triggers.
    """
    # Claims of costs are computed from the features.
    names = (*_of_logs(judges), _CLAIMS)
    of_all = worked_out_by(judges, {*names, OF_NIGHT})
    return {name: of_all[name] for name in names}


def _rows(span: Span, view: str, views: UncommittedViews) -> pa.Table:
    columns = ", ".join(arrow_schema(view, with_partition_keys=True).names)
    return views.ask(f"SELECT {columns} FROM feature.{view} WHERE {span.where}", span)  # noqa: S608  names of ours, and quoted values


def verdict_files(
    staging: Path,
    span: Span,
    views: UncommittedViews,
    judges: Sequence[Trigger],
    worked_out: Sequence[LakeFile],
    *,
    failed: Mapping[str, str] = MappingProxyType({}),
) -> list[LakeFile]:
    """Verdicts of the triggers on the logs of a span.

    Args:
        staging: the folder to write to.
        span: the logs.
        views: from `judging_views`, with the features that `work_out` gives.
        judges: the triggers.
        worked_out: the files of these features.
        failed: views that could not be asked, with the reason.
    """
    judged = views.ask(judge_sql(judges, failed=failed, silent=silent(judges, worked_out)), span)
    return written(staging, VERDICT, [span], lambda _: judged, *VERDICT_ORDER, notes=_judged_by(judges))


def _judged_by(judges: Sequence[Trigger]) -> dict[str, str]:
    return judged_by(judges, _asked(judges))


def _nights_with_more_than_logs(files: Iterable[LakeFile]) -> set[Partition]:
    """Nights that got rows which are of no log, such as accounting and readings of servers."""
    return {partition for file in files if (partition := file.partition) and "log_id" not in TABLES[file.table].columns}


def _count_findings(verdicts: Iterable[LakeFile]) -> int:
    """How many verdicts of the default ruleset are findings."""
    is_finding = (
        (pc.field("state") == "fired") & pc.field("level").isin(list(FINDING_LEVELS)) & (pc.field("ruleset") == DEFAULT_RULESET)
    )
    # With threads a long night's are decoded all at once.
    return sum(ds.dataset(file.path).count_rows(filter=is_finding, use_threads=False) for file in verdicts)
