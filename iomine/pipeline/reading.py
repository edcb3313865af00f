"""The child of `reader.py`: decodes batches of logs and writes their Parquet files."""

import gc
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final, TextIO

import pyarrow as pa

from iomine.derive import (
    access_runs,
    file_access,
    file_overlap,
    file_phases,
    offset_detail,
    ost_detail,
    ost_io,
    phases,
    rank_detail,
    rank_io,
    request_sizes,
    totals,
    traces,
)
from iomine.errors import UnreadableError, WarehouseError
from iomine.lake import ParquetSink, faults_told
from iomine.lake.files import fills_row_group, new_file_path
from iomine.pipeline.find import shown
from iomine.pipeline.reader import CHANGED, die_with_parent, limit_memory
from iomine.sources.darshan import Columns, Log, assembled, read_log, row_count, size_bytes
from iomine.units import human_bytes

# Python answers what a log may make it do with one of these; anything worse ends the process, which the parent sees.
_LOG_AT_FAULT: Final = (ValueError, TypeError, KeyError, IndexError, OverflowError, ArithmeticError, pa.ArrowException)


_STDOUT, _STDERR = 1, 2
_STDERR_BYTES: Final = 2000


class _Sinks:
    """A file for each table that gets rows."""

    def __init__(self, staging: Path, cluster: str, night: date, stack: ExitStack) -> None:
        self._partition = (cluster, night)
        self._staging = staging
        self._stack = stack
        self._sinks: dict[str, ParquetSink] = {}
        self._pending: dict[str, list[tuple[str, Columns]]] = {}
        self._pending_rows: Counter[str] = Counter()
        self._pending_bytes: Counter[str] = Counter()

    def write(self, log_id: str, tables: Mapping[str, Sequence[Columns]]) -> None:
        """Adds a log; rows of many logs become Arrow at once."""
        for table, parts in tables.items():
            self._pending.setdefault(table, []).extend((log_id, part) for part in parts)
            self._pending_rows[table] += sum(map(row_count, parts))
            self._pending_bytes[table] += sum(map(size_bytes, parts))
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


def _tables(log: Log, path: str) -> dict[str, list[Columns]]:
    """All rows of a log: what it holds, and what follows from that while it is in memory."""
    found = traces(log.tables)
    run_seconds = None if log.job.doubt else log.job.run_seconds
    derived = {
        "log": _log_row(log, path),
        "file_access": file_access(found),
        "request_size": request_sizes(found),
        "rank_io": rank_io(log.tables, found, log.job.nprocs),
        "phase": phases(log.tables, found, run_seconds),
        "file_phase": file_phases(found, run_seconds),
        "ost_io": ost_io(log.tables, found),
        "file_overlap": file_overlap(log.tables, found),
        "access_run": access_runs(found),
        "rank_detail": rank_detail(log.tables, found, run_seconds),
        "offset_detail": offset_detail(log.tables, found, run_seconds),
        "ost_detail": ost_detail(log.tables, found, run_seconds),
    }
    return log.tables | {table: [columns] for table, columns in derived.items() if columns}


def _log_row(log: Log, path: str) -> Columns:
    job = log.job
    row = {
        "job_id": job.job_id,
        "uid": job.uid,
        "user": log.user,
        "exe": job.exe,
        "app": job.app,
        "nprocs": job.nprocs,
        "start_at": job.start_at,
        "end_at": job.end_at,
        "run_seconds": job.run_seconds,
        "format_version": log.format_version,
        "darshan_version": job.darshan_version,
        "is_partial": log.is_partial,
        "doubt": log.doubt,
        **totals(log.tables)._asdict(),
        "path": shown(path),
        "size_bytes": log.size_bytes,
    }
    return {name: [value] for name, value in row.items()}


def _read_batch(request: dict[str, Any], memory_bytes: int, answer: TextIO) -> dict[str, Any]:
    refused: list[tuple[str, str, bool]] = []
    staging = Path(request["staging"])
    try:
        with faults_told(staging), ExitStack() as stack:
            sinks = _Sinks(staging, request["cluster"], date.fromisoformat(request["night"]), stack)
            for path, log_id in request["logs"]:
                answer.write(json.dumps({"reading": path}) + "\n")
                try:
                    tables = _tables(_read(path, log_id), path)
                except UnreadableError as error:
                    refused.append((path, error.reason, error.is_final))
                except MemoryError:
                    limit = human_bytes(memory_bytes)
                    refused.append((path, f"Reading it takes more than {limit} of memory, the limit for one log.", True))
                except _LOG_AT_FAULT as error:
                    refused.append((path, f"Its records make no sense to the reader ({type(error).__name__}: {error}).", True))
                else:
                    sinks.write(log_id, tables)
            sinks.finish()
    except WarehouseError as error:
        return {"failed": error.args[0]}
    return {"files": sinks.files(), "refused": refused, "log_count": len(request["logs"]) - len(refused)}


def _read(path: str, log_id: str) -> Log:
    """Reads a log and keeps what libdarshan-util printed about it, which is its only way to tell."""
    printed_before = os.fstat(_STDERR).st_size
    log = read_log(path)
    if log.log_id != log_id:
        raise UnreadableError(CHANGED, False)
    if not (said := os.pread(_STDERR, _STDERR_BYTES, printed_before).decode("utf-8", "replace").strip()):
        return log
    return replace(log, doubt="; ".join(filter(None, (log.doubt, f"libdarshan-util said: {said}"))))


def _requests() -> Iterator[dict[str, Any]]:
    """Requests until the parent closes the pipe, which it does by dying if need be."""
    for line in sys.stdin:
        yield json.loads(line)


def main() -> None:
    """Answers requests until there are no more."""
    memory_bytes = int(sys.argv[1])
    # The pipe to the parent is ours alone: what the C library prints, wherever it prints it, goes to stderr.
    with os.fdopen(os.dup(_STDOUT), "w", buffering=1) as answer:
        os.dup2(_STDERR, _STDOUT)
        die_with_parent()
        limit_memory(memory_bytes)
        # What the imports made stays; there is no need to look through it again and again for garbage.
        gc.freeze()
        for request in _requests():
            answer.write(json.dumps(_read_batch(request, memory_bytes, answer)) + "\n")


if __name__ == "__main__":
    main()
