"""Rows of a log for the lake: what it holds, and what follows from that while it is in memory."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Final

import pyarrow as pa

from iomine.derive import (
    Lustre,
    Tables,
    access_runs,
    coalescing,
    file_access,
    file_overlap,
    file_phases,
    in_order,
    io_signature,
    lineage_id,
    link_detail,
    link_node,
    link_patterns,
    link_ring,
    links_of,
    mpiio_posix,
    offset_detail,
    ost_detail,
    ost_io,
    ost_pace,
    ost_streams,
    periods,
    phase_layers,
    phase_model,
    phases,
    rank_detail,
    rank_io,
    rank_ost,
    request_sizes,
    segments,
    special_files,
    special_ids,
    split_by_files,
    times,
    totals,
    traces,
    traces_of_others,
)
from iomine.derive.model import Model
from iomine.derive.model.replay import class_columns
from iomine.derive.order import Ordered
from iomine.derive.ost_pace import Streams
from iomine.derive.phases import Layers
from iomine.derive.radial.moves import Links
from iomine.derive.trace import Integers, Trace, once_each
from iomine.lake import ParquetSink
from iomine.lake.files import fills_row_group, new_file_path
from iomine.pipeline.failures import FAILED, error_line
from iomine.pipeline.ingest.find import shown
from iomine.sources.darshan import (
    LAYOUTS,
    MINGLED,
    Columns,
    Doubt,
    Doubted,
    Job,
    Log,
    Run,
    assembled,
    row_count,
    size_bytes,
    sound,
    uid_of,
)


class RowSinks:
    """Writes rows of many logs of one night, a file for each table that gets any.

    Args:
        staging: folder under which the files are written.
        cluster: partition key.
        night: partition key.
        stack: ends the files, well or not.
    """

    def __init__(self, staging: Path, cluster: str, night: date, stack: ExitStack) -> None:
        self._partition = (cluster, night)
        self._staging = staging
        self._stack = stack
        self._sinks: dict[str, ParquetSink] = {}
        self._pending: dict[str, list[tuple[str, Columns]]] = {}
        self._pending_rows: Counter[str] = Counter()
        self._pending_bytes: Counter[str] = Counter()

    def write(self, log_id: str, tables: Mapping[str, Iterable[Columns]]) -> None:
        """Adds a log; rows of many logs become Arrow at once."""
        for table, parts in tables.items():
            for part in parts:
                self._pending.setdefault(table, []).append((log_id, part))
                self._pending_rows[table] += row_count(part)
                self._pending_bytes[table] += size_bytes(part)
                if fills_row_group(self._pending_rows[table], self._pending_bytes[table]):
                    self._flush(table)

    def _flush(self, table: str) -> None:
        if table not in self._sinks:
            sink = ParquetSink(table, new_file_path(self._staging, table, *self._partition))
            self._sinks[table] = self._stack.enter_context(sink)
        parts = self._pending.pop(table)
        self._pending_rows[table] = self._pending_bytes[table] = 0
        for rows in self._assembled(table, parts):
            self._sinks[table].write(rows)

    def _assembled(self, table: str, parts: list[tuple[str, Columns]]) -> Iterator[pa.Table]:
        """The parts as Arrow; of a log whose rows do not fit the table, a failure in their place."""
        try:
            yield assembled(table, parts)
        except MemoryError:
            raise
        except Exception as error:
            of_logs = {log_id: [part for part in parts if part[0] == log_id] for log_id, _ in parts}
            # A log has a row in these whatever else failed.
            if table in {"log", FAILED}:
                raise
            if len(of_logs) > 1:
                for own in of_logs.values():
                    yield from self._assembled(table, own)
                return
            (log_id,) = of_logs
            self._pending.setdefault(FAILED, []).append((log_id, {"derivation": [table], "error": [error_line(error)]}))
            self._pending_rows[FAILED] += 1

    def finish(self) -> None:
        """Hands over what is left."""
        for table in [table for table in self._pending if table != FAILED]:
            self._flush(table)
        if FAILED in self._pending:
            self._flush(FAILED)

    def files(self) -> list[tuple[str, str, int, int]]:
        """Table, path, size and rows of each file, once they are finished."""
        return [(table, str(sink.path), sink.path.stat().st_size, sink.row_count) for table, sink in self._sinks.items()]


@dataclass(frozen=True)
class Given:
    """What derivations work with; what several of them need is worked out once.

    Attributes:
        log: the log, rid of what cannot be.
        doubted: what that was.
    """

    log: Log
    doubted: Doubted

    @property
    def run_seconds(self) -> float | None:
        """Length of the run, None where the header is in doubt."""
        return None if self.log.job.doubt else self.log.job.run_seconds

    @cached_property
    def everything(self) -> Tables:
        """Columns by table, special files among them."""
        return once_each(self.log.tables)

    @cached_property
    def special(self) -> Columns:
        """Columns of the table `special_file`."""
        return special_files(self.everything)

    @cached_property
    def special_ids(self) -> Integers:
        """Files that are none on storage."""
        return special_ids(self.special)

    @cached_property
    def split(self) -> tuple[Tables, Tables]:
        """Columns by table, without special files and of these alone."""
        return split_by_files(self.everything, self.special_ids)

    @property
    def tables(self) -> Tables:
        """Columns by table, without special files."""
        return self.split[0]

    @cached_property
    def traced(self) -> list[Trace]:
        """The trace of each layer that has one."""
        return traces(self.everything)

    @cached_property
    def traces(self) -> list[Trace]:
        """The same, without special files."""
        return traces_of_others(self.traced, self.special_ids)

    @cached_property
    def ordered(self) -> list[Ordered]:
        """These, in the order of time."""
        return in_order(self.traces)

    @cached_property
    def lustre(self) -> Lustre:
        """Where the bytes of files lie."""
        return Lustre(self.tables, self.traces)

    @cached_property
    def lustre_of_all(self) -> Lustre:
        """The same, of special files too."""
        return Lustre(self.everything, self.traced) if len(self.special_ids) else self.lustre

    @cached_property
    def streams(self) -> Streams:
        """Requests by layer, OST and rank."""
        return ost_streams(self.tables, self.traces, self.lustre, self.log.job.nprocs)

    @cached_property
    def layers(self) -> Layers:
        """Stretches of I/O by layer."""
        return phase_layers(self.tables, self.traces)

    @cached_property
    def phases(self) -> Columns:
        """Columns of the table `phase`."""
        return phases(self.layers, self.run_seconds)

    @cached_property
    def transforms(self) -> Columns:
        """Columns of the table `mpiio_posix`."""
        return mpiio_posix(self.tables, self.traces)

    @cached_property
    def runs(self) -> Columns:
        """Columns of the table `access_run`."""
        return access_runs(self.ordered)

    @cached_property
    def links(self) -> Links | None:
        """Requests with both of their ends, from ranks to carriers and from these to places."""
        return links_of(self.tables, self.ordered, self.lustre, self.log.job.nprocs, self.run_seconds)

    @cached_property
    def link_details(self) -> Columns:
        """Columns of the table `link_detail`."""
        return link_detail(self.links)

    @cached_property
    def link_nodes(self) -> Columns:
        """Columns of the table `link_node`."""
        return link_node(self.links, self.tables)

    @cached_property
    def model(self) -> Model:
        """The I/O model: classes of phases that do the same."""
        return phase_model(self.tables, self.traces, self.layers, self.log.job.nprocs, self.transforms)


def tables_of(log: Log, path: str, most_processes: int | None = None) -> dict[str, Iterable[Columns]]:
    """All rows of a log: what it holds, and what follows from that while it is in memory.

    A derivation that fails costs its own rows and those that follow from them, and becomes a row of the table
    `failed_derivation`.

    Args:
        log: as it was read.
        path: of its file.
        most_processes: that its cluster has room for, None where that is not known.
    """
    given = _given(_held_to_cluster(log, most_processes))
    tables = given.log.tables
    derived: dict[str, Columns] = {}
    failures: list[tuple[str, str]] = []
    rows: dict[str, Iterable[Columns]] = {**tables, "segment": ()}
    for table, derive in DERIVATIONS.items():
        with _failure_noted(table, failures):
            derived[table] = derive(given)
    with _failure_noted("segment", failures):
        rows["segment"] = segments(tables)
    derived["log"] = {**_header(given, path), **derived.get("log", {})}
    if doubts := (*given.log.job.doubts, *given.doubted.doubts):
        derived["data_quality"] = _doubt_rows(doubts)
    if failures:
        names, errors = zip(*failures, strict=True)
        derived[FAILED] = {"derivation": list(names), "error": list(errors)}
    return rows | {table: [columns] for table, columns in derived.items() if columns}


def model_of(log: Log) -> Model:
    """The I/O model of a log that need not be in a warehouse: classes of phases, and the requests that each holds."""
    return _given(log).model


def _given(log: Log) -> Given:
    job = log.job
    unknown = _unknown(job)
    run = Run(None if "run_seconds" in unknown else job.run_seconds, None if "nprocs" in unknown else job.nprocs)
    whole = [LAYOUTS[name].table for name in LAYOUTS if _is_whole(log, name)]
    # Sizes of two layers are not those of one's calls.
    unsized = [LAYOUTS[each.region.module].table for each in log.modules if MINGLED in each.reason]
    tables, doubted = sound(log.tables, run, whole, unsized)
    return Given(replace(log, tables=tables), doubted)


def _held_to_cluster(log: Log, most_processes: int | None) -> Log:
    nprocs = log.job.nprocs
    if most_processes is None or nprocs <= most_processes or "nprocs" in _unknown(log.job):
        return log
    sentence = f"the run has {nprocs:,} processes, more than the {most_processes:,} of its cluster"
    doubt = Doubt(None, "log", "nprocs", "processes", nprocs, most_processes)
    job = replace(log.job, doubts=(*log.job.doubts, doubt))
    return replace(log, job=job, doubt="; ".join(filter(None, (log.doubt, sentence))))


def _unknown(job: Job) -> set[str]:
    """Columns of the table `log` that the header holds nothing true for."""
    return {doubt.column for doubt in job.doubts}


def _is_whole(log: Log, name: str) -> bool:
    return any(each.region.module == name and each.state == "read" and not each.region.is_partial for each in log.modules)


def _doubt_rows(doubts: Sequence[Doubt]) -> Columns:
    """Columns of the table `data_quality`."""
    return {
        "module": [doubt.module for doubt in doubts],
        "table_name": [doubt.table for doubt in doubts],
        "column_name": [doubt.column for doubt in doubts],
        "doubt_check": [doubt.check for doubt in doubts],
        # A header's numbers are whole, and Arrow refuses those that a double rounds.
        "doubted_value": [None if doubt.value is None else float(doubt.value) for doubt in doubts],
        "doubt_limit": [None if doubt.limit is None else float(doubt.limit) for doubt in doubts],
        "doubted_record_count": [doubt.count for doubt in doubts],
    }


@contextmanager
def _failure_noted(derivation: str, failures: list[tuple[str, str]]) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        # The log is read again without its traces.
        raise
    except Exception as error:  # noqa: BLE001  whatever it is, what else the log holds is sound
        failures.append((derivation, error_line(error)))


def _header(given: Given, path: str) -> Columns:
    log, job = given.log, given.log.job
    row = {
        "job_id": job.job_id,
        "uid": job.uid,
        "user": log.user,
        "exe": job.exe,
        "app": job.app,
        "application": job.application,
        "nprocs": job.nprocs,
        "start_at": job.start_at,
        "end_at": job.end_at,
        "run_seconds": job.run_seconds,
        "format_version": log.format_version,
        "darshan_version": job.darshan_version,
        "is_partial": log.is_partial,
        "doubt": "; ".join(filter(None, (log.doubt, str(given.doubted)))) or None,
        "path": shown(path),
        "size_bytes": log.size_bytes,
        "owner_uid": log.owner_uid,
        "archive_uid": log.archive_uid,
        "name_uid": uid_of(log.user),
    }
    row |= dict.fromkeys(_unknown(job))
    return {name: [value] for name, value in row.items()}


def _summed(given: Given) -> Columns:
    job, (tables, special) = given.log.job, given.split
    signature = io_signature(tables)
    sums = totals(tables)._asdict() | times(tables, special, job.nprocs, given.run_seconds)._asdict()
    row = {
        **given.doubted.withheld(sums),
        "io_signature": signature,
        # Without an application name, or a user, there is no lineage.
        "lineage_id": None
        if job.uid is None or not job.application
        else lineage_id(job.uid, job.application, job.nprocs, signature),
    }
    return {name: [value] for name, value in row.items()}


# Each gives columns of the table by whose name it goes, none where there are no rows.
DERIVATIONS: Final[dict[str, Callable[[Given], Columns]]] = {
    "special_file": lambda given: given.special,
    "file_access": lambda given: file_access(given.ordered),
    "request_size": lambda given: request_sizes(given.traces),
    "rank_io": lambda given: rank_io(given.everything, given.traced, given.log.job.nprocs, given.special_ids),
    "phase": lambda given: given.phases,
    "period": lambda given: periods(given.phases, given.tables, given.traces),
    "file_phase": lambda given: file_phases(given.layers, given.run_seconds),
    "ost_io": lambda given: ost_io(given.tables, given.traces, given.lustre),
    "ost_pace": lambda given: ost_pace(given.streams, given.log.job.nprocs),
    "rank_ost": lambda given: rank_ost(given.streams),
    "mpiio_posix": lambda given: given.transforms,
    "phase_class": lambda given: class_columns(given.model),
    "file_overlap": lambda given: file_overlap(given.tables, given.ordered),
    "access_run": lambda given: given.runs,
    "coalescing": lambda given: coalescing(given.tables, given.ordered, given.log.job.nprocs, given.transforms, given.runs),
    "link_detail": lambda given: given.link_details,
    "link_node": lambda given: given.link_nodes,
    "link_pattern": lambda given: link_patterns(given.link_nodes, given.link_details),
    "link_ring": lambda given: link_ring(given.links),
    # Pictures show all requests that were traced.
    "rank_detail": lambda given: rank_detail(given.everything, given.traced, given.run_seconds),
    "offset_detail": lambda given: offset_detail(given.everything, given.traced, given.run_seconds),
    "ost_detail": lambda given: ost_detail(given.everything, given.traced, given.lustre_of_all, given.run_seconds),
    # What the log row says beside its header.
    "log": _summed,
}
