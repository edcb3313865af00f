"""The child of `reader.py`: decodes batches of logs and writes their Parquet files."""

import gc
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final, TextIO

from iomine.arrow import leave_pandas_out
from iomine.errors import UnreadableError, WarehouseError
from iomine.lake import as_warehouse_errors
from iomine.pipeline.ingest.reader import CHANGED, die_with_parent, give_memory_back, limit_memory
from iomine.pipeline.ingest.rows import RowSinks, tables_of
from iomine.pipeline.ingest.runs import read_run
from iomine.sources.darshan import Columns, Log, read_log
from iomine.units import MIB, human_bytes

# What such a log leaves behind is more than the next is likely to need.
_LARGE_LOG_BYTES: Final = 16 * MIB
_STDOUT, _STDERR = 1, 2
_STDERR_BYTES: Final = 2000


def _read_batch(request: dict[str, Any], memory_bytes: int, answer: TextIO) -> dict[str, Any]:
    refused: list[tuple[str, str, bool]] = []
    staging = Path(request["staging"])
    try:
        with as_warehouse_errors(staging), ExitStack() as stack:
            sinks = RowSinks(staging, request["cluster"], date.fromisoformat(request["night"]), stack)
            for path, log_id in request["logs"]:
                answer.write(json.dumps({"reading": path}) + "\n")
                try:
                    if members := request["members"].get(path):
                        tables = tables_of(read_run(members, log_id), path, request["most_processes"])
                    else:
                        tables = _rows(path, log_id, human_bytes(memory_bytes), request["most_processes"])
                except UnreadableError as error:
                    refused.append((path, error.reason, error.is_final))
                except MemoryError:
                    within = human_bytes(memory_bytes)
                    refused.append((path, f"Reading it takes more than {within} of memory, the limit for one log.", True))
                except Exception as error:  # noqa: BLE001  whatever a log makes Python raise, it costs that log
                    refused.append((path, f"Its records make no sense to the reader ({type(error).__name__}: {error}).", True))
                else:
                    sinks.write(log_id, tables)
                    del tables
                # One that is gone meanwhile has been refused, or was read in time.
                with suppress(OSError):
                    if Path(path).stat().st_size >= _LARGE_LOG_BYTES:
                        give_memory_back()
            sinks.finish()
    except WarehouseError as error:
        return {"failed": error.args[0]}
    return {"files": sinks.files(), "refused": refused, "log_count": len(request["logs"]) - len(refused)}


def _rows(path: str, log_id: str, limit: str, most_processes: int | None) -> dict[str, Iterable[Columns]]:
    """Rows of a log; of one whose traces take too much memory, what else it holds."""
    with suppress(MemoryError):
        return tables_of(_read(path, log_id), path, most_processes)
    why = f"to go through its traces takes more than {limit} of memory, the limit for one log"
    return tables_of(_read(path, log_id, leave_traces=why), path, most_processes)


def _read(path: str, log_id: str, *, leave_traces: str = "") -> Log:
    """Reads a log and keeps what libdarshan-util printed about it, which is its only report of errors."""
    printed_before = os.fstat(_STDERR).st_size
    log = read_log(path, leave_traces=leave_traces)
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
    leave_pandas_out()
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
