"""The child of `reader.py`: decodes batches of logs and writes their Parquet files."""

import gc
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from iomine.arrow import leave_pandas_out
from iomine.errors import UnreadableError, WarehouseError
from iomine.lake import as_warehouse_errors
from iomine.pipeline.ingest.reader import CHANGED, SEVERAL, WRITING, Note, die_with_parent, give_memory_back, limit_memory
from iomine.pipeline.ingest.rows import Rows, RowSinks, rows_of
from iomine.pipeline.ingest.runs import read_run
from iomine.sources.darshan import Log, read_log, size_bytes
from iomine.units import MIB, human_bytes

# A log of this size leaves more memory behind than the next one is likely to need.
_LARGE_LOG_BYTES: Final = 16 * MIB
# Bytes of columns of logs that are held until all of these logs are derived from together.
TOGETHER_BYTES: Final = 32 * MIB
# A batch holds more objects, all of them in use: Python's usual garbage collection would take a tenth of the CPU.
_GARBAGE_OBJECTS: Final = 50_000
_STDOUT, _STDERR = 1, 2
_STDERR_BYTES: Final = 2000


@dataclass
class _Batch:
    """A batch while it is read.

    Attributes:
        request: what was asked for.
        memory_bytes: that this process may take.
        note: the file in which the parent finds what is under way.
        sinks: where rows go.
        refused: logs that could not be read, why, and whether that is final.
    """

    request: Mapping[str, Any]
    memory_bytes: int
    note: int
    sinks: RowSinks
    refused: list[tuple[str, str, bool]] = field(default_factory=list)

    def read(self) -> None:
        """Reads all logs, as many at once as memory allows."""
        held: list[tuple[Log, str]] = []
        held_bytes = 0
        for number, (path, log_id) in enumerate(self.request["logs"]):
            Note.of(number).write(self.note)
            with self._refusing(path):
                held.append((self._log(path, log_id), path))
                held_bytes += sum(size_bytes(part) for parts in held[-1][0].tables.values() for part in parts)
            if len(held) >= self.request["together"] or held_bytes >= TOGETHER_BYTES:
                self._write(held)
                held, held_bytes = [], 0
        self._write(held)

    def _write(self, held: list[tuple[Log, str]]) -> None:
        """Writes the rows of logs and releases the logs; if this fails for several logs together, log by log."""
        log_ids, paths = [log.log_id for log, _ in held], [path for _, path in held]
        size = sum(log.size_bytes for log, _ in held)
        rows: Rows = {}
        if len(held) > 1:
            Note.of(SEVERAL).write(self.note)
            try:
                rows = rows_of(held, self.request["most_processes"])
            except Exception:  # noqa: BLE001  whatever it is, it is one log's
                number_of = {path: number for number, (path, _) in enumerate(self.request["logs"])}
                while held:
                    Note.of(number_of[held[0][1]]).write(self.note)
                    self._write([held.pop(0)])
        elif held:
            with self._refusing(paths[0]):
                rows = self._rows(held)
        held.clear()
        Note.of(WRITING).write(self.note)
        self.sinks.write(log_ids, rows)
        del rows
        if size >= _LARGE_LOG_BYTES:
            give_memory_back()

    def _rows(self, held: list[tuple[Log, str]]) -> Rows:
        """Rows of logs; if the traces of a log take too much memory, its rows without the traces."""
        log_id, path = held[0][0].log_id, held[0][1]
        with suppress(MemoryError):
            return rows_of(held, self.request["most_processes"])
        held.clear()
        return rows_of([(self._without_traces(path, log_id), path)], self.request["most_processes"])

    def _log(self, path: str, log_id: str) -> Log:
        if members := self.request["members"].get(path):
            return read_run(members, log_id)
        with suppress(MemoryError):
            return _read(path, log_id)
        return self._without_traces(path, log_id)

    def _without_traces(self, path: str, log_id: str) -> Log:
        if path in self.request["members"]:
            # A traced run consists of traces only.
            raise MemoryError
        return _read(path, log_id, leave_traces=self._too_little("to go through its traces"))

    def _too_little(self, what: str) -> str:
        return f"{what} takes more than {human_bytes(self.memory_bytes)} of memory, the limit for one log"

    @contextmanager
    def _refusing(self, path: str) -> Iterator[None]:
        """Refuses a log that cannot be read."""
        try:
            yield
        except UnreadableError as error:
            self.refused.append((path, error.reason, error.is_final))
        except MemoryError:
            self.refused.append((path, f"{self._too_little('Reading it')}.", True))
        except Exception as error:  # noqa: BLE001  whatever a log makes Python raise, it costs that log
            self.refused.append((path, f"Its records make no sense to the reader ({type(error).__name__}: {error}).", True))


def _read_batch(request: dict[str, Any], memory_bytes: int, note: int) -> dict[str, Any]:
    staging = Path(request["staging"])
    try:
        with as_warehouse_errors(staging), ExitStack() as stack:
            sinks = RowSinks(staging, request["cluster"], date.fromisoformat(request["night"]), stack)
            batch = _Batch(request, memory_bytes, note, sinks)
            batch.read()
            Note.of(WRITING).write(note)
            sinks.finish()
    except WarehouseError as error:
        return {"failed": error.args[0]}
    return {"files": sinks.files(), "refused": batch.refused, "log_count": len(request["logs"]) - len(batch.refused)}


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
    parent, memory_bytes, note = map(int, sys.argv[1:])
    leave_pandas_out()
    # The pipe to the parent is ours alone: what the C library prints, wherever it prints it, goes to stderr.
    with os.fdopen(os.dup(_STDOUT), "w", buffering=1) as answer:
        os.dup2(_STDERR, _STDOUT)
        die_with_parent(parent)
        limit_memory(memory_bytes)
        # What the imports made stays; there is no need to look through it again and again for garbage.
        gc.freeze()
        gc.set_threshold(_GARBAGE_OBJECTS)
        for request in _requests():
            answer.write(json.dumps(_read_batch(request, memory_bytes, note)) + "\n")


if __name__ == "__main__":
    main()
