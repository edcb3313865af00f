"""The child of `reader.py`: decodes batches of logs and writes their Parquet files."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final, TextIO

import pyarrow as pa

from iomine.derive import totals
from iomine.errors import UnreadableError, WarehouseError
from iomine.lake import ParquetSink, faults_told
from iomine.lake.files import new_file_path
from iomine.pipeline.find import shown
from iomine.pipeline.reader import CHANGED, die_with_parent, limit_memory
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import Log, read_log
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

    def write(self, log: Log, path: str) -> None:
        for table, batches in [*log.batches.items(), ("log", [_log_row(log, path)])]:
            if table not in self._sinks:
                sink = ParquetSink(table, new_file_path(self._staging, table, *self._partition))
                self._sinks[table] = self._stack.enter_context(sink)
            self._sinks[table].write(batches)

    def files(self) -> list[tuple[str, str, int, int]]:
        """Table, path, size and rows of each file, once they are finished."""
        return [(table, str(sink.path), sink.path.stat().st_size, sink.row_count) for table, sink in self._sinks.items()]


def _log_row(log: Log, path: str) -> pa.RecordBatch:
    job = log.job
    row = {
        "log_id": log.log_id,
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
        **totals(log.batches)._asdict(),
        "path": shown(path),
        "size_bytes": log.size_bytes,
    }
    return pa.RecordBatch.from_pylist([row], schema=arrow_schema("log"))


def _read_batch(request: dict[str, Any], memory_bytes: int, answer: TextIO) -> dict[str, Any]:
    refused: list[tuple[str, str, bool]] = []
    staging = Path(request["staging"])
    try:
        with faults_told(staging), ExitStack() as stack:
            sinks = _Sinks(staging, request["cluster"], date.fromisoformat(request["night"]), stack)
            for path, log_id in request["logs"]:
                answer.write(json.dumps({"reading": path}) + "\n")
                try:
                    log = _read(path, log_id)
                except UnreadableError as error:
                    refused.append((path, error.reason, error.is_final))
                except MemoryError:
                    limit = human_bytes(memory_bytes)
                    refused.append((path, f"Reading it takes more than {limit} of memory, the limit for one log.", True))
                except _LOG_AT_FAULT as error:
                    refused.append((path, f"Its records make no sense to the reader ({type(error).__name__}: {error}).", True))
                else:
                    sinks.write(log, path)
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
        for request in _requests():
            answer.write(json.dumps(_read_batch(request, memory_bytes, answer)) + "\n")


if __name__ == "__main__":
    main()
