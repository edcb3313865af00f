"""DFTracer's files (`.pfw`, `.pfw.gz`): what processes of a program did, one JSON object a line.

A file begins with `[`, which some tools take off, and need not end with `]`: a program that dies leaves it open. Of an event
(`ph` is `X`), `cat` is the layer, `ts` and `dur` are microseconds since the epoch, numbers or texts, and `args` is what a
call was given and returned. In the old dialect `args` has `fname` and `hostname`; in the new one `fhash` and `hhash`, which
events with `ph` `M` declare.

Only pread and pwrite have an offset. That of other calls follows from open, seek and what was moved, for each descriptor of a
process, and is unknown where that is in doubt.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
from zlib_ng import zlib_ng

from iomine.errors import UnreadableError
from iomine.schema.ops import OPS, OtherCalls, Steps
from iomine.sources.garbage import without_collection
from iomine.sources.traced import CALLS, KINDS, Integers, Requests, Traced, file_id_of, segments_of
from iomine.units import KIB, MIB, human_bytes

_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31
# zlib-ng does not say what type its error is.
_BROKEN: Final[tuple[type[Exception], ...]] = (cast("type[Exception]", zlib_ng.error), EOFError)
_HEAD_BYTES: Final = 4096
# Events have an `id` or a `name` first.
_BEGINNING: Final = re.compile(rb'\s*(?:\[\s*\{\s*"(?:id|name)"\s*:|\{\s*"(?:id|name)"\s*:[^\n]*"ph"\s*:\s*")')
# Pieces of a gzip member grow: what lies behind its end is copied, and a hostile file has a member in every 20 bytes.
_FIRST_PACKED_BYTES: Final = 4 * KIB
_PACKED_PIECE_BYTES: Final = MIB // 4
_PIECE_BYTES: Final = 4 * MIB
# Traces shrink to a twentieth; what shrinks further was made to.
_MOST_TIMES: Final = 256
_LEAST_LIMIT_BYTES: Final = 64 * MIB
_LONGEST_LINE_BYTES: Final = MIB
_LONGEST_PATH: Final = 4096
_LONGEST_NAME: Final = 256
# Events of the tracer itself.
_OWN: Final = "dftracer"
_TIMES: Final = re.compile(rb'"ts" ?: ?"?(\d{1,16})"? ?, ?"dur" ?: ?"?(\d{1,16})\b')
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Later clocks, and calls that last longer, are none: no calendar has room for the sum.
_LATEST: Final = 2**53
# No file is longer, and no call moves a TiB.
_MOST_BYTES: Final = 2**60
_MOST_MOVED_BYTES: Final = 2**40
_MOST: Final = 2**63
_DIGITS: Final = 19
_APPEND: Final = 0o2000
_SET, _CURRENT = 0, 1
_UNKNOWN: Final = -1
_MICROSECONDS: Final = 1e6

_CALLS: Final = {layer.upper(): calls for layer, calls in CALLS.items()}
# The declaration of the command stands within the first lines.
_COMMAND_WITHIN_BYTES: Final = 64 * KIB
_LONGEST_TIMES_BYTES: Final = 128


class Extent(NamedTuple):
    """When a file's events began and ended, in microseconds since the epoch, and what was started, empty if not known."""

    start: int
    end: int
    command: str

    @property
    def end_at(self) -> datetime:
        """When the last event ended, in UTC."""
        return _EPOCH + timedelta(microseconds=self.end)


class _Event(NamedTuple):
    """A call, as far as it is followed.

    Attributes:
        end: when it ended, in microseconds since the epoch.
        start: when it began.
        process: pid and tid, as the file has them.
        layer: `posix` or `stdio`.
        call: its kind.
        path: of its file, None where that was not declared.
        descriptor: the file descriptor, of stdio the path, None without one.
        result: what it returned, None where the file does not say it.
        given: of an open whether it appends; of a seek whence and offset; of a data call size of an item, and offset or None.
    """

    end: int
    start: int
    process: tuple[int, int]
    layer: str
    call: str
    path: str | None
    descriptor: int | str | None
    result: int | None
    given: Any


class _File:
    """One file, line by line.

    Args:
        data: its bytes.

    Raises:
        UnreadableError: less than half of it are events, or none has a time.
    """

    def __init__(self, data: bytes) -> None:
        self.damaged = 0
        self.event_count = 0
        self.unreadable = 0
        self.undeclared = 0
        self.ambiguous = 0
        self.start, self.end = 2 * _LATEST, -1
        self.events: list[_Event] = []
        # Of processes whose calls say where they were made.
        self.hosts: dict[tuple[int, int], str] = {}
        # End, start, process, layer and name of what lies above calls.
        self.steps: list[tuple[int, int, tuple[int, int], str, str]] = []
        self._names: dict[str, dict[Any, str]] = {"FH": {}, "HH": {}, "SH": {}}
        # Hashes are short, so that two names may have the same.
        self._shared: set[Any] = set()
        self._command: Any = None
        self._processes: set[tuple[int, int]] = set()
        for line in self._lines(data):
            self._add(line)
        if self.unreadable > self.event_count:
            raise UnreadableError(
                f"More than half of its lines are not events of DFTracer ({self.unreadable:,} of "
                f"{self.unreadable + self.event_count:,}): the file is damaged."
            )
        if self.end < 0:
            raise UnreadableError("It holds no event with a time: the program ended before DFTracer wrote any.")

    @property
    def command(self) -> str | None:
        """What was started, None where the file does not say it."""
        return self._names["SH"].get(self._command)

    @property
    def processes(self) -> Mapping[tuple[int, int], int]:
        """Process ids of pids and tids; in the old dialect a pid is a rank, and tids are processes."""
        whole = {pid for pid, tid in self._processes if pid == tid}
        return {(pid, tid): pid if pid in whole else tid for pid, tid in self._processes}

    def _lines(self, data: bytes) -> Iterator[bytes]:
        rest = b""
        try:
            for piece in _unpacked(data):
                lines = (rest + piece).split(b"\n")
                rest = lines.pop()
                yield from lines
                if len(rest) > _LONGEST_LINE_BYTES:
                    # What follows of it is no JSON either.
                    self.unreadable += 1
                    rest = b""
        except _BROKEN:
            self.damaged = 1
        yield rest

    def _add(self, line: bytes) -> None:
        text = line.strip(b" \t\r,")
        if text in {b"", b"[", b"]"}:
            return
        try:
            event = orjson.loads(text)
            phase = event["ph"]
            if phase == "X":
                self._add_event(event)
            elif phase == "M":
                self._declare(event["name"], event["args"])
        except (ValueError, TypeError, KeyError, AttributeError):
            self.unreadable += 1
        else:
            self.event_count += 1

    def _declare(self, kind: str, args: Mapping[str, Any]) -> None:
        if (names := self._names.get(kind)) is None:
            return
        name, code = args["name"], args["value"]
        if not isinstance(name, str) or len(name) > _LONGEST_PATH:
            raise ValueError
        if names.setdefault(code, name) != name:
            self._shared.add((kind, code))
            names[code] = name

    def _add_event(self, event: Mapping[str, Any]) -> None:
        start, lasted, name = _number(event["ts"]), _number(event["dur"]), event["name"]
        process, args = (_number(event["pid"]), _number(event["tid"])), event.get("args") or {}
        if not (0 <= start < _LATEST and 0 <= lasted < _LATEST):
            raise ValueError
        layer = event["cat"]
        calls = _CALLS.get(layer)
        call = calls.get(name) if calls is not None else None
        if call is not None:
            self._add_call(start + lasted, start, process, layer.lower(), call, args)
        elif calls is None and layer != _OWN:
            if len(layer) > _LONGEST_NAME or len(name) > _LONGEST_NAME:
                raise ValueError
            self.steps.append((start + lasted, start, process, str(layer), str(name)))
        elif name == "start" and "cmd_hash" in args:
            code = args["cmd_hash"]
            # It must be one that a declaration can have.
            hash(code)
            self._command = code
        self.start, self.end = min(self.start, start), max(self.end, start + lasted)
        self._processes.add(process)

    def _add_call(  # noqa: PLR0917  what an event is
        self, end: int, start: int, process: tuple[int, int], layer: str, call: str, args: Mapping[str, Any]
    ) -> None:
        path = self._named(args, "fname", "fhash", "FH")
        if process not in self.hosts and (host := self._named(args, "hostname", "hhash", "HH")):
            self.hosts[process] = host
        result = _number(args["ret"]) if "ret" in args else None
        if result is not None and result < 0:
            return
        descriptor: int | str | None = path
        if layer == "posix":
            descriptor = result if call == "open" else _number(args["fd"]) if "fd" in args else None
        given = _given(call, args)
        if call in OPS and (result is None or result * given[0] > _MOST_MOVED_BYTES):
            raise ValueError
        if path is None:
            self.undeclared += 1
        elif self._shared and ("FH", args.get("fhash")) in self._shared:
            self.ambiguous += 1
        self.events.append(_Event(end, start, process, layer, call, path, descriptor, result, given))

    def _named(self, args: Mapping[str, Any], plain: str, coded: str, kind: str) -> str | None:
        name = args.get(plain)
        if name is None:
            return self._names[kind].get(args.get(coded))
        if not isinstance(name, str) or len(name) > _LONGEST_PATH:
            raise ValueError
        return name


def _given(call: str, args: Mapping[str, Any]) -> Any:  # noqa: ANN401  by the kind of call
    if call == "open":
        flags = args.get("flags")
        # Without either nobody knows.
        return "a" in str(args.get("mode", "a")) if flags is None else bool(_number(flags) & _APPEND)
    if call == "seek":
        return _number(args.get("whence", _UNKNOWN)), _number(args.get("offset", 0))
    if call in OPS:
        size, offset = _number(args.get("size", 1)), args.get("offset")
        if size < 0:
            raise ValueError
        return size, None if offset is None else _number(offset)
    return None


def _number(value: Any) -> int:  # noqa: ANN401  whatever JSON has
    """A whole number, or the text of one.

    Raises:
        ValueError: it is neither, or takes more than 64 bits.
    """
    if type(value) is str and len(value) <= _DIGITS + 1:
        value = int(value)
    if type(value) is not int or not -_MOST <= value < _MOST:
        raise ValueError
    return value


def is_trace(data: bytes) -> bool:
    """Whether a file is one of DFTracer's, by how it begins."""
    head = data[:_HEAD_BYTES]
    if head.startswith(_GZIP):
        with suppress(*_BROKEN):
            head = zlib_ng.decompressobj(_GZIP_WINDOW).decompress(head, _HEAD_BYTES)
    return _BEGINNING.match(head) is not None


def extent_of(data: bytes) -> Extent:
    """The extent of a file's events, found without decoding all of them.

    Raises:
        UnreadableError: it holds no event with a time, or too much.
    """
    start, end, rest, head = 2 * _LATEST, -1, b"", b""
    try:
        for piece in _unpacked(data):
            head += piece[: _COMMAND_WITHIN_BYTES - len(head)]
            text = rest + piece
            for match in _TIMES.finditer(text):
                began, lasted = int(match[1]), int(match[2])
                if began < _LATEST and lasted < _LATEST:
                    start, end = min(start, began), max(end, began + lasted)
            # An event may lie across the edge; to see one twice changes nothing.
            rest = text[-_LONGEST_TIMES_BYTES:]
    except _BROKEN:
        # What is missing at the end is said by who reads it all.
        pass
    if end < 0:
        raise UnreadableError("It holds no event with a time: the program ended before DFTracer wrote any.")
    return Extent(start, end, _command_in(head))


def _command_in(head: bytes) -> str:
    with suppress(UnreadableError):
        return _File(head.rpartition(b"\n")[0]).command or ""
    return ""


def read_trace(files: Sequence[bytes]) -> Traced:
    """A run from the bytes of its files.

    Raises:
        UnreadableError: a file cannot be read, or the run's clock was wrong.
    """
    with without_collection():
        return _read_trace(files)


def _read_trace(files: Sequence[bytes]) -> Traced:
    read = [_File(data) for data in files]
    start, end = min(file.start for file in read), max(file.end for file in read)
    # The same process id may be of two hosts.
    keys = [{process: (own, file.hosts.get(process, "")) for process, own in file.processes.items()} for file in read]
    rank_of = {key: rank for rank, key in enumerate(sorted({key for each in keys for key in each.values()}))}
    followed = _Followed(start, {rank: host for (_, host), rank in rank_of.items()})
    steps: list[tuple[int, int, int, str, str]] = []
    for file, key_of in zip(read, keys, strict=True):
        ranks = {process: rank_of[key] for process, key in key_of.items()}
        for event in sorted(file.events, key=itemgetter(0)):
            followed.add(event, ranks[event.process])
        steps += [(began, ended, ranks[process], layer, name) for ended, began, process, layer, name in file.steps]
    lost, doubt = _faults(read)
    return Traced(
        tool="dftracer",
        start_at=_EPOCH + timedelta(microseconds=start),
        run_seconds=(end - start) / _MICROSECONDS,
        nprocs=len(rank_of),
        command=next((file.command for file in read if file.command), None),
        event_count=sum(file.event_count for file in read),
        segments=followed.segments(),
        calls=followed.calls(),
        paths=followed.paths,
        notes="ranks are processes, in the order of their ids, and no MPI ranks",
        not_watched="DFTracer does not watch it",
        lost=lost,
        doubt="; ".join(filter(None, (lost, doubt))),
        steps=_steps(steps, start) if steps else None,
    )


def _steps(rows: Sequence[tuple[int, int, int, str, str]], start: int) -> Steps:
    starts, ends, ranks, layers, names = zip(*rows, strict=True)
    seconds = ((np.array(times, np.int64) - start) / _MICROSECONDS for times in (starts, ends))
    return Steps(layers, names, np.array(ranks, np.int64), *seconds)


def _faults(files: Sequence[_File]) -> tuple[str, str]:
    """What of files was lost, and what else is not sure, in sentences."""

    def total(name: str) -> int:
        return sum(getattr(file, name) for file in files)

    def said(*faults: tuple[str, str]) -> str:
        return "; ".join(f"{total(name):,} {what}" for name, what in faults if total(name))

    return said(
        ("unreadable", "lines are not whole events and were left out"),
        ("undeclared", "calls name no file that was declared and were left out"),
        ("damaged", "files end before their gzip member does"),
    ), said(("ambiguous", "calls name their file by a hash that two names have; the one declared last is taken"))


class _Followed:
    """Calls of all processes: what they moved, and where in their files.

    Args:
        start: of the run, in microseconds since the epoch.
        hosts: where ranks ran, empty where that is not known.
    """

    def __init__(self, start: int, hosts: Mapping[int, str]) -> None:
        self.paths: dict[int, str] = {}
        self._start = start
        self._hosts = hosts
        self._ids: dict[str, int] = {}
        self._segments: dict[str, list[tuple[int, int, int, int, int, int, int]]] = {"posix": [], "stdio": []}
        self._calls: dict[str, list[tuple[int, int, int, int, int]]] = {"posix": [], "stdio": []}
        # Of each open descriptor of a rank its file, where in it the next request begins, -1 where that is not known, and
        # whether it may become known.
        self._open: dict[tuple[int, int | str], tuple[str | None, int, bool]] = {}

    def add(self, event: _Event, rank: int) -> None:
        """Follows a call; a process's come in the order in which they ended."""
        key = None if event.descriptor is None else (rank, event.descriptor)
        if event.call in OPS:
            self._move(event, rank, key)
            return
        if key is not None:
            self._place(event, key)
        if event.path is not None:
            kind = KINDS[event.layer].index(event.call)
            self._calls[event.layer].append((self._file_id(event.path), rank, kind, event.start, event.end))

    def _place(self, event: _Event, key: tuple[int, int | str]) -> None:
        """What a call that moves no bytes does to its descriptor."""
        if event.call == "open":
            # Writes of one that appends go to the end, and of a stream that is open twice nobody knows which is meant.
            is_clear = not event.given and not (event.layer == "stdio" and key in self._open)
            self._open[key] = event.path, 0 if is_clear else _UNKNOWN, is_clear
        elif event.call == "close":
            self._open.pop(key, None)
        elif event.call == "seek" and key in self._open:
            path, at, is_clear = self._open[key]
            self._open[key] = path, _sought(event, at) if is_clear else _UNKNOWN, is_clear

    def _move(self, event: _Event, rank: int, key: tuple[int, int | str] | None) -> None:
        size, explicit = event.given
        length = (event.result or 0) * size
        at = _UNKNOWN
        if key is not None and key in self._open:
            path, at, is_clear = self._open[key]
            at = at if path == event.path else _UNKNOWN
            if explicit is None:
                self._open[key] = path, _UNKNOWN if at == _UNKNOWN else at + length, is_clear
        offset = at if explicit is None else explicit
        if event.path is not None:
            found = offset if 0 <= offset <= _MOST_BYTES else _UNKNOWN
            of_lane = (self._file_id(event.path), rank, OPS.index(event.call))
            self._segments[event.layer].append((*of_lane, found, length, event.start, event.end))

    def _file_id(self, path: str) -> int:
        if path not in self._ids:
            self._ids[path] = file_id_of(path)
            self.paths[self._ids[path]] = path
        return self._ids[path]

    def _seconds(self, microseconds: Integers) -> npt.NDArray[np.float64]:
        return (microseconds - self._start) / _MICROSECONDS

    def segments(self) -> list[dict[str, pa.Array]]:
        """Parts of the table `segment`, one for each layer that moved anything; in a lane in the order of ends."""
        return [self._segments_of(layer, rows) for layer, rows in self._segments.items() if rows]

    def _segments_of(self, layer: str, rows: Sequence[tuple[int, ...]]) -> dict[str, pa.Array]:
        files, ranks, ops, offsets, lengths, starts, ends = np.ascontiguousarray(np.array(rows, np.int64).T)
        requests = Requests(files, ranks, ops, offsets, lengths, self._seconds(starts), self._seconds(ends))
        return segments_of(layer, requests, self._hosts)

    def calls(self) -> list[OtherCalls]:
        """Calls that move no bytes, of both layers."""
        return [self._calls_of(layer, rows) for layer, rows in self._calls.items()]

    def _calls_of(self, layer: str, rows: Sequence[tuple[int, int, int, int, int]]) -> OtherCalls:
        files, ranks, kinds, starts, ends = np.array(rows, np.int64).reshape(-1, 5).T
        return OtherCalls(layer, files, ranks, kinds, KINDS[layer], self._seconds(starts), self._seconds(ends))


def _sought(event: _Event, at: int) -> int:
    """Where a seek went, -1 where that is not known."""
    if event.layer == "posix":
        return _UNKNOWN if event.result is None else event.result
    whence, offset = event.given
    found = offset if whence == _SET else at + offset if whence == _CURRENT and at != _UNKNOWN else _UNKNOWN
    return max(found, _UNKNOWN)


def _unpacked(data: bytes) -> Iterator[bytes]:
    """The text of a file, a piece at a time.

    Raises:
        EOFError: the file ends within a gzip member.
        zlib_ng.error: it is damaged.
        UnreadableError: it holds more than a trace of its size may.
    """
    if not data.startswith(_GZIP):
        yield from (data[at : at + _PIECE_BYTES] for at in range(0, len(data), _PIECE_BYTES))
        return
    left = max(_LEAST_LIMIT_BYTES, _MOST_TIMES * len(data))
    view, at = memoryview(data), 0
    while at < len(data):
        member = zlib_ng.decompressobj(_GZIP_WINDOW)
        packed_bytes = _FIRST_PACKED_BYTES
        while not member.eof:
            if at >= len(data):
                raise EOFError
            packed: bytes | memoryview = view[at : at + packed_bytes]
            at += len(packed)
            packed_bytes = min(2 * packed_bytes, _PACKED_PIECE_BYTES)
            while packed and not member.eof:
                piece = member.decompress(packed, _PIECE_BYTES)
                packed = member.unconsumed_tail
                left -= len(piece)
                if left < 0:
                    size = human_bytes(len(data))
                    raise UnreadableError(f"Unpacked it has more than {_MOST_TIMES} times its {size}: no trace packs so well.")
                yield piece
        at -= len(member.unused_data)
