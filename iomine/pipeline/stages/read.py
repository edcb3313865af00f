"""Reads new inputs into staged files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from iomine.errors import UnreadableError
from iomine.lake import LakeFile
from iomine.pipeline import progress
from iomine.pipeline.ingest import plan
from iomine.pipeline.ingest.reader import Refused
from iomine.pipeline.ingest.statistics import Holding, InputBatch, NewInput, is_known, known_keys, read_inputs
from iomine.pipeline.ingest.work import after_deaths, after_input_deaths, read_batch, reader_closed
from iomine.pipeline.site.zones import site_most_processes
from iomine.pipeline.stages.context import Counts, Reject, Sweep, rejected
from iomine.pipeline.stages.identify import Identified
from iomine.schema.registry import arrow_schema


@dataclass(frozen=True, slots=True)
class Staged:
    """What was read. Every log that was found is accounted for, or there is no such value.

    Attributes:
        identified: what there was to be read.
        files: staged files of all tables.
        sources: rows of the table `source_file`, one for each reading.
        logs: what became of the logs.
        statistics: what became of readings and accounting, of which an archive may hold many.
        log_rejects: logs that could not be read, in this stage or before.
        statistics_rejects: readings that could not be read, in this stage or before.
    """

    identified: Identified
    files: tuple[LakeFile, ...]
    sources: tuple[Mapping[str, Any], ...]
    logs: Counts
    statistics: Counts
    log_rejects: tuple[Reject, ...]
    statistics_rejects: tuple[Reject, ...]


def read(sweep: Sweep, identified: Identified) -> Staged:
    """Reads the new inputs.

    Raises:
        LostLogsError: a log was neither read nor rejected.
        WarehouseError: staged files cannot be written.
        WorkersError: workers were lost.
    """
    logs = _Read(list(identified.logs.rejects))
    statistics = _Read(list(identified.statistics.rejects))
    _read_logs(sweep, identified.logs.new, logs)
    known = identified.statistics.known + _read_statistics(sweep, identified, statistics)
    ingested, rejects = len(statistics.sources), len(statistics.rejects)
    return Staged(
        identified,
        files=(*logs.files, *statistics.files),
        sources=tuple(statistics.sources),
        logs=Counts(identified.log_count, logs.count, identified.logs.known, len(logs.rejects)),
        # How many an archive holds is not known before it is looked into.
        statistics=Counts(ingested + known + rejects, ingested, known, rejects),
        log_rejects=tuple(logs.rejects),
        statistics_rejects=tuple(statistics.rejects),
    )


@dataclass(slots=True)
class _Read:
    """What comes of inputs of one kind, as it comes."""

    rejects: list[Reject]
    files: list[LakeFile] = field(default_factory=list)
    sources: list[Mapping[str, Any]] = field(default_factory=list)
    count: int = 0

    def reject(
        self, path: str, fault: Refused | UnreadableError, sha256: str, size_bytes: int, file_state: int | None = None
    ) -> None:
        """Adds an input that could not be read."""
        row = rejected(
            path, "read", fault.reason, is_final=fault.is_final, size_bytes=size_bytes, sha256=sha256, file_state=file_state
        )
        self.rejects.append(row)


def _read_logs(sweep: Sweep, new: Sequence[plan.NewLog], so_far: _Read) -> None:
    if not new:
        return
    by_path = {log.path: log for log in new}
    workers = sweep.pool.workers(is_little=plan.is_little(log.size_bytes for log in new))
    work = plan.batches(sweep.settings.cluster, new, workers.capacity())
    most_processes = site_most_processes(sweep.warehouse, sweep.settings.cluster)
    given = (sweep.staging, replace(sweep.settings.limits, most_processes=most_processes))
    done = 0
    # Where this process is the worker, what reads for it ends here.
    with reader_closed():
        for batch, result in workers.map(read_batch, work, *given, after_deaths=after_deaths):
            so_far.files += result.files
            so_far.count += result.log_count
            for refused in result.refused:
                log = by_path[refused.path]
                so_far.reject(refused.path, refused, log.sha256, log.size_bytes, log.file_state)
            done += len(batch.logs)
            progress.report("read", done, len(new))


def _read_statistics(sweep: Sweep, identified: Identified, so_far: _Read) -> int:
    """Reads one of several equal inputs first, which shows whether the others say anything new; returns how many do not."""
    new, cluster = identified.statistics.new, sweep.settings.cluster
    if not new:
        return 0
    before = identified.found.snapshot.rows("source_file")
    holding = Holding(before, cluster)
    firsts: dict[str, NewInput] = {}
    others = [
        each
        for each in sorted(new, key=lambda each: each.key.sampled_at or each.modified_at)
        if each.key.sha256 in holding or firsts.setdefault(each.key.sha256, each) is not each
    ]
    _read_each(sweep, list(firsts.values()), so_far, 0, len(new))
    read_now = pa.Table.from_pylist(so_far.sources, schema=arrow_schema("source_file"))
    keys = known_keys(read_now, cluster)
    holding = Holding(pa.concat_tables([before.select(read_now.column_names), read_now]), cluster)
    of_other_moments = [each for each in others if not is_known(each.key, keys) and not holding.says(each.key)]
    known = len(others) - len(of_other_moments)
    _read_each(sweep, of_other_moments, so_far, len(firsts) + known, len(new))
    return known


def _read_each(sweep: Sweep, inputs: Sequence[NewInput], so_far: _Read, done: int, total: int) -> None:
    if not inputs:
        return
    # They are read in the worker itself, so an input that kills its reader must not kill the sweep.
    workers = sweep.pool.workers()
    pieces = plan.cut(((each, each.size_bytes) for each in inputs), workers.capacity())
    work = [InputBatch(sweep.settings.cluster, sweep.zone, tuple(piece)) for piece, _ in pieces]
    for batch, result in workers.map(read_inputs, work, sweep.staging, after_deaths=after_input_deaths):
        so_far.files += result.files
        so_far.sources += result.rows
        for each, error in result.refused:
            so_far.reject(each.path, error, each.key.sha256, each.size_bytes)
        done += len(batch.inputs)
        progress.report("read statistics", done, total)
