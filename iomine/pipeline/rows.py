"""Rows of a log for the lake: what it holds, and what follows from that while it is in memory."""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import date
from pathlib import Path

from iomine.derive import (
    access_runs,
    file_access,
    file_overlap,
    file_phases,
    in_order,
    io_signature,
    lineage_id,
    mpiio_posix,
    offset_detail,
    ost_detail,
    ost_io,
    periods,
    phase_layers,
    phases,
    rank_detail,
    rank_io,
    request_sizes,
    segments,
    totals,
    traces,
)
from iomine.lake import ParquetSink
from iomine.lake.files import fills_row_group, new_file_path
from iomine.pipeline.find import shown
from iomine.sources.darshan import Columns, Log, assembled, row_count, size_bytes


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
        self._sinks[table].write(assembled(table, self._pending.pop(table)))
        self._pending_rows[table] = self._pending_bytes[table] = 0

    def finish(self) -> None:
        """Hands over what is left."""
        for table in list(self._pending):
            self._flush(table)

    def files(self) -> list[tuple[str, str, int, int]]:
        """Table, path, size and rows of each file, once they are finished."""
        return [(table, str(sink.path), sink.path.stat().st_size, sink.row_count) for table, sink in self._sinks.items()]


def rows_of(log: Log, path: str) -> dict[str, Iterable[Columns]]:
    """All rows of a log: what it holds, and what follows from that while it is in memory."""
    found = traces(log.tables)
    ordered = in_order(found)
    run_seconds = None if log.job.doubt else log.job.run_seconds
    layers = phase_layers(log.tables, found)
    log_phases = phases(layers, run_seconds)
    derived = {
        "log": _log_row(log, path),
        "file_access": file_access(ordered),
        "request_size": request_sizes(found),
        "rank_io": rank_io(log.tables, found, log.job.nprocs),
        "phase": log_phases,
        "period": periods(log_phases, log.tables, found),
        "file_phase": file_phases(layers, run_seconds),
        "ost_io": ost_io(log.tables, found),
        "mpiio_posix": mpiio_posix(log.tables, found),
        "file_overlap": file_overlap(log.tables, ordered),
        "access_run": access_runs(ordered),
        "rank_detail": rank_detail(log.tables, found, run_seconds),
        "offset_detail": offset_detail(log.tables, found, run_seconds),
        "ost_detail": ost_detail(log.tables, found, run_seconds),
    }
    return {
        **log.tables,
        **{table: [columns] for table, columns in derived.items() if columns},
        "segment": segments(log.tables),
    }


def _log_row(log: Log, path: str) -> Columns:
    job = log.job
    signature = io_signature(log.tables)
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
        "doubt": log.doubt,
        **totals(log.tables)._asdict(),
        "io_signature": signature,
        # What is not named is not told apart.
        "lineage_id": lineage_id(job.uid, job.application, job.nprocs, signature) if job.application else None,
        "path": shown(path),
        "size_bytes": log.size_bytes,
    }
    return {name: [value] for name, value in row.items()}
