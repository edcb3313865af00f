"""A reader process: where logs are decoded, so that a log that kills its reader costs one log.

Parent and child speak JSON, a line each. The parent sends a batch; the child says at last which logs it must reject and which
files it wrote. Meanwhile the child notes which log it begins, or that it derives from several logs together. The parent reads the
note only after a long wait: waking it for each log would cost as much as deriving some tables. If the child dies or takes
too long, the log that it had begun is the culprit: it is rejected, and a new child does the batch without it. If it had several
in hand, the culprit is unknown, and a new child does the batch log by log. If it was writing rows, which are of several logs, new
children do each half of the batch.
"""

import ctypes
import hashlib
import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, NamedTuple, Self, cast

from iomine.errors import WarehouseError
from iomine.lake import LakeFile
from iomine.pipeline.workers.environment import KEPT_MEMORY
from iomine.sources.opening import opened
from iomine.sources.traced import digest_of
from iomine.units import GIB, human_bytes, human_seconds

CHANGED: Final = "The file changed while it was being read: the next sweep will see it whole."

ENVIRONMENT: Final = KEPT_MEMORY | {
    # One thread reads one log; more would only take address space from it.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # Small logs are thousands of small arrays. Huge pages spare the processor lookups of pages, where the kernel gives them to
    # memory that asks. A glibc before 2.35 ignores the name.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}

# Logs that are derived from together.
TOGETHER: Final = 256
# Values that a note has instead of a log's number: no log is begun yet, several are in hand, or rows of any are written.
_NONE, SEVERAL, WRITING = -1, -2, -3
_NOTE: Final = struct.Struct("<qdd")
_STDERR_TAIL_BYTES: Final = 2000
_PIPE_BYTES: Final = 65536
_PR_SET_PDEATHSIG: Final = 1
# A process that waits for a file system computes almost nothing; one that shares its core computes part of the time.
_COMPUTING: Final = 0.25
# Signals from people and from a kernel short of memory; a log does not make its reader send these to itself.
_FROM_OUTSIDE: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one log may take.

    Attributes:
        memory_bytes: address space of the reader process.
        seconds: time for one log.
        deadly_seconds: time for all logs together that end their reader, or are given up, in one worker of a sweep; once it is
            used up, each log has `least_seconds`.
        least_seconds: time that every log has.
        file_bytes: size of the file, which is read whole before it is decoded.
        most_processes: processes that the cluster has room for, None if the site does not say; larger logs are read but doubted.
    """

    memory_bytes: int = 4 * GIB
    seconds: float = 300.0
    deadly_seconds: float = 300.0
    least_seconds: float = 20.0
    file_bytes: int = 1 * GIB
    most_processes: int | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Logs of one night that are read together.

    Attributes:
        cluster: the machine that they came from.
        night: the UTC date on which they ended.
        logs: path and log id of each.
        size_bytes: their size together.
        members: files of each run that was traced into files of their own, by its path.
    """

    cluster: str
    night: date
    logs: tuple[tuple[str, str], ...]
    size_bytes: int
    members: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A log that could not be read, and why."""

    path: str
    reason: str
    is_final: bool


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What came of a batch.

    Attributes:
        files: staged files, one for each table that got rows.
        log_count: logs that were read.
        refused: logs that were not.
    """

    files: tuple[LakeFile, ...]
    log_count: int
    refused: tuple[Refused, ...]


class Note(NamedTuple):
    """What the child has in hand.

    Attributes:
        log: number of the log in the batch; negative where it is no single one.
        begun_at: when it was begun, on the clock that all processes share.
        cpu_seconds: what the child had computed by then.
    """

    log: int
    begun_at: float
    cpu_seconds: float

    @classmethod
    def of(cls, log: int) -> Self:
        """A note that this process begins the log now."""
        return cls(log, time.monotonic(), time.process_time())

    @classmethod
    def read(cls, file: int) -> Self:
        """The last note that was written."""
        return cls(*_NOTE.unpack(os.pread(file, _NOTE.size, 0)))

    def write(self, file: int) -> None:
        """Writes this note over the one before."""
        os.pwrite(file, _NOTE.pack(*self), 0)


class _ReaderDiedError(Exception):
    """The child is gone, or had to be ended, with this note in hand; `how` describes its end for people."""

    def __init__(self, note: Note, how: str, is_final: bool) -> None:
        super().__init__(note, how, is_final)
        self.note = note
        self.how = how
        self.is_final = is_final


class Reader:
    """A child process that reads batches, replaced whenever it dies.

    Args:
        limits: what one log may take.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._child: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._note: IO[bytes] | None = None
        self._unread = b""
        self._deadly_seconds = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def read(self, batch: Batch, staging: Path) -> BatchResult:
        """Reads a batch to the end, however many of its logs are deadly.

        Args:
            batch: the logs.
            staging: folder under which the files are written.

        Raises:
            WarehouseError: the files cannot be written, for example because the disk is full.
        """
        killers: list[Refused] = []
        return _result(batch, self._answers(batch, list(batch.logs), staging, killers), killers)

    def _answers(self, batch: Batch, logs: list[tuple[str, str]], staging: Path, killers: list[Refused]) -> list[dict[str, Any]]:
        """Answers of children that read these logs of a batch; logs that kill them are added to `killers`."""
        together = TOGETHER
        while True:
            request = {
                "cluster": batch.cluster,
                "night": batch.night.isoformat(),
                "logs": logs,
                "members": dict(batch.members),
                "staging": str(staging),
                "most_processes": self._limits.most_processes,
                "together": together,
            }
            try:
                return [self._ask(request)]
            except _ReaderDiedError as death:
                if death.note.log == SEVERAL:
                    together = 1
                    continue
                if death.note.log == _NONE:
                    raise WarehouseError(f"The process that reads logs does not start: {death.how}") from death
                self._deadly_seconds += time.monotonic() - death.note.begun_at
                if death.note.log == WRITING and len(logs) > 1:
                    halves = logs[: len(logs) // 2], logs[len(logs) // 2 :]
                    return [answer for half in halves for answer in self._answers(batch, half, staging, killers)]
                path, _ = logs.pop(max(0, death.note.log))
                killers.append(Refused(path, death.how, death.is_final))

    def close(self) -> None:
        """Ends the child."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            for pipe in (self._child.stdin, self._child.stdout, self._stderr, self._note):
                if pipe is not None:
                    # The pipe to a child that has ended is broken; its unsent requests are lost with it.
                    with suppress(BrokenPipeError):
                        pipe.close()
            self._child = None

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Sends a request and waits for its answer."""
        if self._child is not None and self._child.poll() is not None:
            # It died with no log in hand, so none is to blame.
            self.close()
        child = self._child or self._start()
        Note.of(_NONE).write(_pipe(self._note).fileno())
        try:
            _pipe(child.stdin).write(json.dumps(request).encode() + b"\n")
            _pipe(child.stdin).flush()
        except BrokenPipeError:
            raise self._autopsy(child) from None
        return cast("dict[str, Any]", json.loads(self._line(child)))

    def _line(self, child: subprocess.Popen[bytes]) -> bytes:
        """The child's next line, however long it takes, up to the limit for what it has in hand."""
        output = _pipe(child.stdout).fileno()
        while b"\n" not in self._unread:
            note = self._noted()
            limit = self._seconds(note)
            left = note.begun_at + limit - time.monotonic()
            if left <= 0:
                raise self._given_up(child, note, limit)
            if select.select([output], [], [], left)[0]:
                if not (said := os.read(output, _PIPE_BYTES)):
                    raise self._autopsy(child)
                self._unread += said
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _noted(self) -> Note:
        return Note.read(_pipe(self._note).fileno())

    def _seconds(self, note: Note) -> float:
        """Time for the log in hand, or for writing; for the start of a child, and for several logs, always the same."""
        if note.log in {_NONE, SEVERAL}:
            return self._limits.seconds
        left = max(self._limits.least_seconds, self._limits.deadly_seconds - self._deadly_seconds)
        return min(self._limits.seconds, left)

    def _given_up(self, child: subprocess.Popen[bytes], note: Note, limit: float) -> _ReaderDiedError:
        """Ends the child and says why; the log is at fault if the child has computed and not waited for a file system."""
        is_final = _cpu_seconds(child.pid) - note.cpu_seconds >= self._limits.seconds * _COMPUTING
        self.close()
        which = "the limit for one log" if limit == self._limits.seconds else "what others that could not be read have left"
        return _ReaderDiedError(note, f"Reading it takes longer than {human_seconds(limit)}, {which}.", is_final)

    def _start(self) -> subprocess.Popen[bytes]:
        self._unread = b""
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the child
        # In memory: a full or slow disk must not affect notes.
        note = os.memfd_create("note")
        self._note = os.fdopen(note, "r+b", buffering=0)
        self._child = subprocess.Popen(  # noqa: S603  this very program
            # -P: folders of logs are writable to many, and a sweep may have been started in one.
            [
                sys.executable,
                "-P",
                "-m",
                "iomine.pipeline.ingest.reading",
                *map(str, (os.getpid(), self._limits.memory_bytes, note)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            pass_fds=(note,),
            env=os.environ | ENVIRONMENT,
        )
        return self._child

    def _autopsy(self, child: subprocess.Popen[bytes]) -> _ReaderDiedError:
        """How the child ended, in a sentence, with the last that it or the C library printed."""
        code, note = child.wait(), self._noted()
        stderr = _pipe(self._stderr)
        stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - _STDERR_TAIL_BYTES))
        printed = stderr.read().decode("utf-8", "replace").strip().splitlines()
        self.close()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        said = f"; the last it printed was: {printed[-1]}" if printed else ""
        within = human_bytes(self._limits.memory_bytes)
        return _ReaderDiedError(
            note, f"The log ended the process that read it ({how}, within {within} of memory){said}.", -code not in _FROM_OUTSIDE
        )


def _cpu_seconds(pid: int) -> float:
    """What a process has computed so far; 0 for one that is gone."""
    try:
        # The name of the program, in parentheses, may have spaces.
        user, system = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    except OSError:
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    """The pipe, which is there for as long as the child is."""
    if pipe is None:
        raise ValueError("The child was started without its pipes.")
    return pipe


def _result(batch: Batch, answers: Sequence[dict[str, Any]], killers: list[Refused]) -> BatchResult:
    if failed := next((answer["failed"] for answer in answers if "failed" in answer), ""):
        raise WarehouseError(failed)
    files = tuple(
        LakeFile(table, batch.cluster, batch.night, Path(path), size_bytes, row_count)
        for answer in answers
        for table, path, size_bytes, row_count in answer["files"]
    )
    log_id_of, members_of = dict(batch.logs), dict(batch.members)
    refused = (
        _as_found(each, log_id_of[each.path], members_of.get(each.path, ()))
        for each in (*killers, *(Refused(*each) for answer in answers for each in answer["refused"]))
    )
    return BatchResult(files, sum(answer["log_count"] for answer in answers), tuple(refused))


def _sha256_of(path: str) -> str:
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _as_found(refused: Refused, log_id: str, members: Sequence[str]) -> Refused:
    """The refusal, unless the bytes that were refused are not those that were identified."""
    try:
        sha256 = digest_of(map(_sha256_of, members)) if members else _sha256_of(refused.path)
    except OSError as error:
        return Refused(refused.path, f"The file cannot be read: {error.strerror}.", is_final=False)
    return refused if sha256.startswith(log_id) else Refused(refused.path, CHANGED, is_final=False)


def die_with_parent(parent: int) -> None:
    """Makes this process end with the thread that started it, even in the middle of a log that never ends.

    Args:
        parent: the id of its process.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # A parent that ended earlier sends no signal, and its request may still be in the pipe.
    if os.getppid() != parent:
        sys.exit()


def give_memory_back() -> None:
    """Gives the system the memory that this process keeps but does not need."""
    ctypes.CDLL(None).malloc_trim(0)


def limit_memory(memory_bytes: int) -> None:
    """Bounds this process's address space, so that a log that asks for more gets an error instead of the machine."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard), hard))
