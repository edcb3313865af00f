"""DFTracer's files: what calls moved, where, and what cannot be known."""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dftracer_mutations import outcomes, real
from zlib_ng import zlib_ng

from iomine.errors import UnreadableError
from iomine.sources import dftracer
from iomine.sources.dftracer import extent_of, is_trace, read_trace
from iomine.sources.traced import Traced

_START = 1_700_000_000_000_000
_PATH = "/scratch/data"


def _event(name: str, at: int, *, cat: str = "POSIX", pid: int = 7, tid: int | None = None, **args: Any) -> dict[str, Any]:
    head = {"id": at, "name": name, "cat": cat, "pid": pid, "tid": pid if tid is None else tid}
    return head | {"ts": _START + at, "dur": 2, "ph": "X", "args": {"hostname": "n1", "fname": _PATH} | args}


def _file(*events: dict[str, Any] | bytes, end: bytes = b"\n]") -> bytes:
    lines = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    return b"[\n" + b"\n".join(lines) + end


def _rows(run: Traced) -> list[tuple[Any, ...]]:
    names = ("layer", "rank", "op", "offset_bytes", "length_bytes")
    return [row for part in run.segments for row in zip(*(part[name].to_pylist() for name in names), strict=True)]


def _moved(*events: dict[str, Any]) -> list[tuple[int, int]]:
    """Offset and length of each request."""
    return [row[-2:] for row in _rows(read_trace([_file(*events)]))]


def _open(flags: int = 0) -> dict[str, Any]:
    return _event("open", 0, ret=3, flags=flags)


def test_offsets_follow_opens_seeks_and_bytes() -> None:
    """A request begins where the open, the seek or the request before it left the descriptor; pread says it itself."""
    moves = (
        _open(),
        _event("write", 10, fd=3, ret=100, count=120),
        _event("write", 20, fd=3, ret="50", count="50"),
        _event("lseek64", 30, fd=3, ret=1000, whence=0, offset=1000),
        _event("read", 40, fd=3, ret=10),
        _event("pread64", 50, fd=3, ret=5, offset=77),
        _event("read", 60, fd=3, ret=0),
    )
    # In a lane in the order of ends.
    assert _moved(*moves) == [(1000, 10), (77, 5), (1010, 0), (0, 100), (100, 50)]


@pytest.mark.parametrize(
    "moves",
    [
        (_event("read", 10, fd=3, ret=5),),
        (_event("lseek", 5, fd=3, ret=5, whence=0, offset=5), _event("read", 10, fd=3, ret=5)),
        (_open(flags=0o2001), _event("write", 10, fd=3, ret=5)),
        (_open(flags=0o2001), _event("lseek", 5, fd=3, ret=5, whence=0, offset=5), _event("write", 10, fd=3, ret=5)),
        (_open(), _event("close", 5, fd=3, ret=0), _event("read", 10, fd=3, ret=5)),
        (_open(), _event("read", 10, fd=3, ret=5, fname="/other")),
        (_open(), _event("read", 10, ret=5)),
        (_event("open", 0, ret=-1), _event("read", 10, fd=3, ret=5)),
        (_event("open", 0, pid=8, ret=3, flags=0), _event("read", 10, fd=3, ret=5)),
        (_event("fopen", 0, cat="STDIO", mode="a"), _event("fread", 10, cat="STDIO", ret=5, size=1)),
        (
            _event("fopen", 0, cat="STDIO", mode="r"),
            _event("fopen", 4, cat="STDIO", mode="r"),
            _event("fread", 10, cat="STDIO", ret=5, size=1),
        ),
    ],
)
def test_offset_is_not_known(moves: tuple[dict[str, Any], ...]) -> None:
    """Where a descriptor was not seen to be opened, or appends, or is not clear, the offset is not known; the bytes are."""
    assert _moved(*moves) == [(-1, 5)]


def test_stdio_moves_items() -> None:
    """Streams return items, of the size that they were given, and seek from where they are."""
    moves = (
        _event("fopen64", 0, cat="STDIO", mode="r"),
        _event("fread", 10, cat="STDIO", ret=3, size=8, count=4),
        _event("fseek", 20, cat="STDIO", ret=0, whence=1, offset=100),
        _event("fread", 30, cat="STDIO", ret=1, size=4, count=1),
    )
    assert _moved(*moves) == [(0, 24), (124, 4)]


def test_dialects_say_the_same() -> None:
    """Names in full and numbers as texts, or hashes and numbers; with the brackets or without; packed or not."""
    old = _file(*(_as_text(event) for event in (_open(), _event("read", 10, fd=3, ret=9))), end=b"\n")
    declared = [
        {"id": 1, "name": kind, "cat": "dftracer", "pid": 7, "tid": 7, "ph": "M", "args": {"name": name, "value": code}}
        for kind, name, code in (("FH", _PATH, 11), ("HH", "n1", 12), ("SH", "./a.out", 13))
    ]
    coded = [_event("start", 0, cat="dftracer", cmd_hash=13, hhash=12), _open(), _event("read", 10, fd=3, ret=9)]
    for event in coded:
        del event["args"]["fname"], event["args"]["hostname"]
        event["args"] |= {"fhash": 11, "hhash": 12}
    new = _file(*declared, *coded)
    packed = gzip.compress(new[:100]) + gzip.compress(new[100:])
    bare = new.removeprefix(b"[\n")
    assert bare != new
    runs = [read_trace([data]) for data in (old, new, packed, bare)]
    assert {(*_rows(run), *run.paths.values(), run.doubt) for run in runs} == {(("posix", 0, "read", 0, 9), _PATH, "")}
    assert [run.command for run in runs] == [None, "./a.out", "./a.out", "./a.out"]
    assert [extent_of(data) for data in (old, new, packed, bare)] == [
        (_START, _START + 12, command) for command in ("", "./a.out", "./a.out", "./a.out")
    ]
    assert all(is_trace(data) for data in (old, new, packed, bare))


def _as_text(event: dict[str, Any]) -> dict[str, Any]:
    texts = {name: str(event[name]) for name in ("id", "ts", "dur", "pid", "tid")}
    return event | texts | {"args": {name: str(value) if name == "ret" else value for name, value in event["args"].items()}}


def test_ranks_are_processes() -> None:
    """Each process is a rank, in the order of process ids; where a pid is a rank, each of its tids is a process."""
    files = [_file(_event("read", 10, pid=pid, fd=1, ret=pid)) for pid in (900, 80)]
    assert [(row[1], row[-1]) for row in _rows(read_trace(files))] == [(0, 80), (1, 900)]
    forks = _file(*(_event("read", 10, pid=0, tid=tid, fd=1, ret=tid) for tid in (31, 30)))
    assert [(row[1], row[-1]) for row in _rows(read_trace([forks]))] == [(0, 30), (1, 31)]
    threads = _file(*(_event("read", 10, pid=30, tid=tid, fd=1, ret=tid) for tid in (31, 30)))
    assert {row[1] for row in _rows(read_trace([threads]))} == {0}


def test_what_is_lost_is_said() -> None:
    """Cut lines, calls without a declaration and hashes of two names are counted; what half of is no event is refused."""
    shared = [
        {"id": 1, "name": "FH", "cat": "dftracer", "pid": 7, "tid": 7, "ph": "M", "args": {"name": name, "value": 5}}
        for name in ("/a", "/b")
    ]
    of_two = _event("read", 10, fd=3, ret=4, fhash=5)
    del of_two["args"]["fname"]
    undeclared = _event("read", 20, fd=3, ret=8, fhash=6)
    del undeclared["args"]["fname"]
    run = read_trace([_file(*shared, of_two, undeclared, b'{"id":1,"name":"re', _event("read", 30, fd=1, ret=10**13))])
    assert [row[-1] for row in _rows(run)] == [4]
    assert list(run.paths.values()) == ["/b"]
    assert run.doubt == (
        "2 lines are not whole events and were left out; 1 calls name no file that was declared and were left out; "
        "1 calls name their file by a hash that two names have; the one declared last is taken"
    )
    with pytest.raises(UnreadableError, match="More than half of its lines"):
        read_trace([_file(_open(), b"{", b"x")])
    cut = gzip.compress(_file(*(_event("read", at, fd=1, ret=1) for at in range(2000))))[:-500]
    assert "1 files end before their gzip member does" in read_trace([cut]).doubt


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 10_000,
        b'{"ph":"X","a":' * 10_000,
        json.dumps(_event("read", 1, fd=1, ret=3)).replace('"ret": 3', '"ret": ' + "9" * 400).encode(),
        json.dumps(_event("read", 1, fd=1, ret="9" * 400)).encode(),
        json.dumps(_event("read", 1, fd=1, ret=3) | {"ts": 2**60}).encode(),
        json.dumps(_event("read", 1, fd=1, ret=3) | {"name": []}).encode(),
        json.dumps(_event("read", 1, fd=1, ret=3) | {"args": [1]}).encode(),
        json.dumps(_event("read", 1, fd=1, ret=3, fname="x" * 5000)).encode(),
        json.dumps(_event("start", 1, cat="dftracer", cmd_hash=[1])).encode(),
        b'"' + b"x" * 3_000_000,
        b"null",
    ],
    ids=range(11),
)
def test_hostile_lines_are_left_out(line: bytes) -> None:
    """Whatever a line holds, it costs that line alone."""
    run = read_trace([_file(_open(), line, _event("read", 10, fd=3, ret=5))])
    assert _rows(run) == [("posix", 0, "read", 0, 5)]
    assert run.doubt == "1 lines are not whole events and were left out"


def test_a_file_of_many_small_members_costs_no_more_than_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows a member is handed to the unpacker again, so pieces are small as long as members are."""
    handed = 0

    class Counting:
        def __init__(self, window: int) -> None:
            self._unpacker = zlib_ng.decompressobj(window)

        def decompress(self, data: bytes, most: int) -> bytes:
            nonlocal handed
            handed += len(data)
            return self._unpacker.decompress(data, most)

        def __getattr__(self, name: str) -> object:
            return getattr(self._unpacker, name)

    first = gzip.compress(b'[\n{"id":0,"name":"open","cat":"POSIX","pid":1,"tid":1,"ts":1700000000000000,"dur":5,"ph":"X"}\n')
    count = 20_000
    monkeypatch.setattr(dftracer, "zlib_ng", SimpleNamespace(decompressobj=Counting, error=zlib_ng.error))
    assert 1_700_000_000_000_000 == extent_of(first + gzip.compress(b"") * count).start
    assert handed <= 2 * 4096 * count


def test_bomb_is_refused() -> None:
    """What unpacks to far more than a trace does is refused, and not unpacked to its end."""
    bomb = gzip.compress(b"[\n" + b" " * 300_000_000)
    for read in (extent_of, lambda data: read_trace([data])):
        with pytest.raises(UnreadableError, match="no trace packs so well"):
            read(bomb)


@pytest.mark.parametrize(
    "data", [b"", b"[", b'{"traceEvents":[', b"\x1f\x8b", gzip.compress(b"text", mtime=0), b"[1,2]", b'{"id":1}\n{"ph":"X"}']
)
def test_other_files_are_none(data: bytes) -> None:
    """Files that begin otherwise are none of DFTracer's."""
    assert not is_trace(data)


@pytest.fixture(scope="module")
def folders(shared_data: Path) -> dict[str, list[Path]]:
    files = sorted((shared_data / "traces" / "dftracer").rglob("*.pfw.gz"))
    return {name: [path for path in files if (path.parent.name == "dftracer") == (name == "old")] for name in ("old", "new")}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Events of a file as Python's json reads them, each with its file's name as it is declared then."""
    names: dict[Any, str] = {}
    with gzip.open(path, "rt") as file:
        for line in file:
            if len(line) < len("{}\n"):
                continue
            event = json.loads(line)
            if event["name"] == "FH":
                names[event["args"]["value"]] = event["args"]["name"]
            args = event["args"]
            yield event | {"file": args.get("fname") or names.get(args.get("fhash"))}


def test_real_runs(folders: dict[str, list[Path]]) -> None:
    """Events and bytes of each file of two real runs are those that its lines add up to, and offsets those of their seeks."""
    events, totals = 0, Counter[str]()
    for paths in folders.values():
        run = read_trace([path.read_bytes() for path in paths])
        assert run.event_count == sum(1 for path in paths for _ in _lines(path))
        events += run.event_count
        by_hand: Counter[tuple[str, str]] = Counter()
        places: dict[tuple[str, str], Counter[tuple[int, int]]] = defaultdict(Counter)
        for path in paths:
            at: dict[tuple[Any, Any], int] = {}
            for event in sorted(_lines(path), key=lambda event: int(event.get("ts", 0)) + int(event.get("dur", 0))):
                args, name = event["args"], event["name"]
                ret = int(args.get("ret", -1))
                descriptor = (event["tid"], args.get("fd", event["file"]))
                if name.startswith(("open", "fopen")) and name != "opendir":
                    at[event["tid"], ret if name.startswith("open") else event["file"]] = 0
                elif name.startswith("lseek"):
                    at[descriptor] = ret
                elif name in {"read", "write", "fread"} and ret >= 0:
                    length = ret * int(args.get("size", 1))
                    op = name.removeprefix("f")
                    by_hand[event["file"], op] += length
                    places[event["file"], op][at[descriptor], length] += 1
                    at[descriptor] += length
        found: Counter[tuple[str, str]] = Counter()
        for part in run.segments:
            columns = (part[name].to_pylist() for name in ("file_id", "op", "offset_bytes", "length_bytes"))
            for file_id, op, offset, length in zip(*columns, strict=True):
                found[run.paths[file_id], op] += length
                assert places[run.paths[file_id], op][offset, length] > 0
                places[run.paths[file_id], op][offset, length] -= 1
            assert all(
                start <= end for start, end in zip(part["start_seconds"].to_numpy(), part["end_seconds"].to_numpy(), strict=True)
            )
        assert found == by_hand
        for (_, op), length in found.items():
            totals[op] += length
    assert (events, totals) == (148_716, {"read": 21_455_767_560, "write": 121_532_608})


def test_files_of_a_run_overlap(folders: dict[str, list[Path]]) -> None:
    """The files of a run share their command, and their extents overlap."""
    extents = sorted(extent_of(path.read_bytes()) for path in folders["new"])
    assert {extent.command for extent in extents} == {"./cm1.exe"}
    assert all(later.start < earlier.end for earlier, later in pairwise(extents))


def test_damage() -> None:
    """Files that were damaged by chance are read or refused."""
    sound = (
        *real(),
        _file(_open(), _event("read", 10, fd=3, ret=9)),
        gzip.compress(_file(_open(), _event("write", 10, fd=3, ret=9))),
    )
    found = outcomes(sound[-3:], 300, 5)
    assert found.keys() <= {"read", "refused"}
    assert found.total() == 300
