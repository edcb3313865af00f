"""Logs that kill, stall or bloat their reader cost themselves and no other.

What real logs could do is done to order here: a `sitecustomize` in the child's path makes its `read_log` do to some
file names what the names say.
"""

import datetime as dt
import hashlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from sweeping import wait_for

from iomine.errors import WarehouseError
from iomine.pipeline.ingest import reader as reader_room
from iomine.pipeline.ingest.reader import Batch, BatchResult, Limits, Reader
from iomine.units import GIB

NIGHT = dt.date(2017, 9, 21)
_DEEDS = """
    import ctypes, os, pathlib, signal, sys, time
    import iomine.sources.darshan as room
    from iomine.errors import UnreadableError

    true_read_log = room.read_log

    def hog():
        held = []
        while True:
            held.append(bytearray(1 << 26))

    def spin():
        while True:
            pass

    DEEDS = {
        "segfault": lambda path: ctypes.string_at(0),
        "abort": lambda path: (os.write(2, b"free(): invalid pointer\\n"), os.abort()),
        "exit": lambda path: os._exit(7),
        "linger": lambda path: time.sleep(1000),
        "spin": lambda path: spin(),
        "hog": lambda path: hog(),
        "outside": lambda path: os.kill(os.getpid(), signal.SIGKILL),
        "nonsense": lambda path: {}["POSIX"],
        "grow": lambda path: pathlib.Path(path).open("ab").write(b"more"),
        "spoil": lambda path: (pathlib.Path(path).write_bytes(b"half"), refuse()),
        "vanish": lambda path: (os.unlink(path), os._exit(7)),
        "leave": lambda path: os.unlink(path),
        "odd": lambda path: raise_odd(),
        "refuse": lambda path: refuse(),
        "doom": lambda path: doom(),
        "stain": lambda path: stain(),
        "chatter": lambda path: os.write(1, b"Warning: odd record\\n"),
    }

    class OddError(Exception):
        pass

    def raise_odd():
        raise OddError("never seen")

    def refuse():
        raise UnreadableError("It is damaged.")

    def doom():
        reading = sys.modules["__main__"]
        true_rows_of = reading.rows_of

        def rows_of(held, *settings):
            return ctypes.string_at(0) if any("doom" in path for _, path in held) else true_rows_of(held, *settings)

        reading.rows_of = rows_of

    def stain():
        sys.modules["__main__"].RowSinks.finish = lambda sinks: ctypes.string_at(0)

    def read_log(path, **settings):
        for deed, act in DEEDS.items():
            if deed in pathlib.Path(path).name:
                act(path)
        return true_read_log(path, **settings)

    room.read_log = read_log
"""

Read = Callable[..., BatchResult]


@pytest.fixture
def deeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers that are started from here on do what file names say."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(textwrap.dedent(_DEEDS))
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)


@pytest.fixture
def log(shared_data: Path) -> bytes:
    """A real log."""
    return (shared_data / "darshan" / "codes" / "ior-uniq.darshan").read_bytes()


@pytest.fixture
def reader(deeds: None) -> Iterator[Reader]:
    with Reader(Limits(memory_bytes=2 * GIB, seconds=60)) as reader:
        yield reader


@pytest.fixture
def batch(tmp_path: Path, log: bytes) -> Callable[..., Batch]:
    """A batch of the same log under several names, each made different by a byte after its end."""

    def make(*names: str) -> Batch:
        logs = []
        for number, name in enumerate(names):
            path = tmp_path / f"{name}.darshan"
            path.write_bytes(data := log + bytes([number]))
            logs.append((str(path), hashlib.sha256(data).hexdigest()[:16]))
        return Batch("blue", NIGHT, tuple(logs), len(log) * len(logs))

    return make


def reasons(result: BatchResult) -> dict[str, tuple[str, bool]]:
    return {Path(refused.path).stem: (refused.reason, refused.is_final) for refused in result.refused}


def names_read(result: BatchResult) -> list[str]:
    """Names of the logs that are in the staged files, which must be the logs of every table."""
    tables: dict[str, list[str]] = {}
    for file in result.files:
        tables.setdefault(file.table, []).extend(pq.read_table(file.path, columns=["log_id"])["log_id"].to_pylist())
    assert all(set(ids) <= set(tables["log"]) for ids in tables.values())
    logs = (file.path for file in result.files if file.table == "log")
    return [Path(path).stem for file in logs for path in pq.read_table(file, columns=["path"])["path"].to_pylist()]


@pytest.mark.proof
@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("segfault", "The log ended the process that read it (signal SIGSEGV, within 2.0 GiB of memory)."),
        ("abort", "(signal SIGABRT, within 2.0 GiB of memory); the last it printed was: free(): invalid pointer."),
        ("exit", "The log ended the process that read it (exit code 7, within 2.0 GiB of memory)."),
        ("hog", "Reading it takes more than 2.0 GiB of memory, the limit for one log."),
        ("nonsense", "Its records make no sense to the reader (KeyError: 'POSIX')."),
        ("odd", "Its records make no sense to the reader (OddError: never seen)."),
        ("refuse", "It is damaged."),
        ("outside", "The log ended the process that read it (signal SIGKILL, within 2.0 GiB of memory)."),
    ],
)
def test_a_log_that_harms_its_reader_costs_itself_alone(reader, batch, tmp_path, deed, reason):
    """It is refused with a reason that a person understands; those before and after it in the batch are read."""
    result = reader.read(batch("first", deed, "last"), tmp_path / "staging")

    assert [deed] == list(reasons(result))
    reported, is_final = reasons(result)[deed]
    assert reported.endswith(reason)
    # Someone's kill is not the log's doing, so the next sweep tries again.
    assert (deed != "outside") == is_final
    assert (2, ["first", "last"]) == (result.log_count, names_read(result))


@pytest.mark.proof
def test_a_log_that_takes_for_ever_costs_itself_alone(deeds, batch, tmp_path, monkeypatch):
    """It is given up at the limit; the next sweep tries again where it waited, since a file system may have hung."""
    # A machine that many share leaves it little.
    monkeypatch.setattr(reader_room, "_COMPUTING", 0.02)
    with Reader(Limits(memory_bytes=2 * GIB, seconds=8)) as reader:
        result = reader.read(batch("first", "spin", "linger", "last"), tmp_path / "staging")

    why = "Reading it takes longer than 8.0 s, the limit for one log."
    assert {"spin": (why, True), "linger": (why, False)} == reasons(result)
    assert (2, ["first", "last"]) == (result.log_count, names_read(result))


@pytest.mark.proof
def test_deadly_logs_share_their_time(deeds, batch, tmp_path):
    """The first is waited for as long as any log may take, and the others no longer than each has in any case."""
    with Reader(Limits(memory_bytes=2 * GIB, seconds=8, deadly_seconds=8, least_seconds=1)) as reader:
        first = reader.read(batch("linger"), tmp_path / "staging")
        others = reader.read(batch("linger1", "linger2"), tmp_path / "staging")

    assert {"linger": ("Reading it takes longer than 8.0 s, the limit for one log.", False)} == reasons(first)
    why = "Reading it takes longer than 1.0 s, what others that could not be read have left."
    # It is not final: on its own each may take longer.
    assert dict.fromkeys(("linger1", "linger2"), (why, False)) == reasons(others)


def test_two_killers_in_a_batch_cost_two_logs(reader, batch, tmp_path):
    """The batch is begun again without each of them, and no log is read twice."""
    result = reader.read(batch("first", "segfault", "between", "abort", "last"), tmp_path / "staging")

    assert {"segfault", "abort"} == set(reasons(result))
    # Rows lie in the order of ids, which is not that of these names.
    assert (3, ["between", "first", "last"]) == (result.log_count, sorted(names_read(result)))


def test_a_log_that_kills_while_several_are_in_hand_costs_itself_alone(reader, batch, tmp_path):
    """Nobody knows which of them it was until they are read log by log."""
    result = reader.read(batch("first", "doom", "last"), tmp_path / "staging")

    assert [("doom", True)] == [(name, is_final) for name, (_, is_final) in reasons(result).items()]
    assert (2, ["first", "last"]) == (result.log_count, sorted(names_read(result)))


@pytest.mark.parametrize("names", [("stain", "middle", "last"), ("first", "middle", "stain", "last"), ("stain",)])
def test_a_log_that_kills_while_rows_are_written_costs_itself_alone(reader, batch, tmp_path, names):
    """Rows of several logs are written at the end, so that the last log that was read need not be the one at fault."""
    result = reader.read(batch(*names), tmp_path / "staging")

    assert [("stain", True)] == [(name, is_final) for name, (_, is_final) in reasons(result).items()]
    others = sorted(set(names) - {"stain"})
    assert (len(others), others) == (result.log_count, sorted(names_read(result) if others else []))


def test_a_batch_of_killers_gives_no_file(reader, batch, tmp_path):
    """Nothing is written where nothing could be read."""
    result = reader.read(batch("segfault", "exit"), tmp_path / "staging")

    assert ({"segfault", "exit"}, (), 0) == (set(reasons(result)), result.files, result.log_count)


def test_a_reader_serves_the_next_batch_after_a_death(reader, batch, tmp_path):
    """A new child takes the place of the dead one."""
    reader.read(batch("exit"), tmp_path / "staging")
    result = reader.read(batch("whole"), tmp_path / "staging")

    assert ["whole"] == names_read(result)


def test_a_child_that_dies_idle_is_replaced(reader, batch, tmp_path):
    """Nobody is to blame when a child is ended between two batches, and nothing is lost."""
    reader.read(batch("before"), tmp_path / "staging")
    reader._child.kill()
    reader._child.wait()
    result = reader.read(batch("after"), tmp_path / "staging")

    assert ({}, ["after"]) == (reasons(result), names_read(result))


def test_the_memory_of_a_reader_asks_for_huge_pages(reader, batch, tmp_path):
    """Where the kernel gives them to memory that asks, and glibc can ask."""
    enabled = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    library, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    if not enabled.exists() or "[madvise]" not in enabled.read_text():
        pytest.skip("The kernel gives huge pages to all memory, or to none.")
    if library != "glibc" or tuple(map(int, version.split("."))) < (2, 35):
        pytest.skip("The C library cannot ask for huge pages.")

    reader.read(batch("log"), tmp_path / "staging")

    mappings = Path(f"/proc/{reader._child.pid}/smaps").read_text().splitlines()
    flags = [set(line.split()[1:]) for line in mappings if line.startswith("VmFlags:")]
    assert any("hg" in each for each in flags)


def test_what_the_library_prints_is_kept_with_the_log(reader, batch, tmp_path):
    """libdarshan-util reports oddities by printing only: its words become the log's doubt, and that log's alone."""
    result = reader.read(batch("before", "chatter", "later"), tmp_path / "staging")

    (logs,) = (file.path for file in result.files if file.table == "log")
    assert [None, "libdarshan-util said: Warning: odd record", None] == pq.read_table(logs)["doubt"].to_pylist()


@pytest.mark.parametrize("deed", ["grow", "spoil"])
def test_a_file_that_changes_meanwhile_is_for_the_next_sweep(reader, batch, tmp_path, deed):
    """What is read is no longer what was identified, so nothing final is said of either, even where the new bytes are bad."""
    result = reader.read(batch("first", deed), tmp_path / "staging")

    changed = "The file changed while it was being read: the next sweep will see it whole."
    assert {deed: (changed, False)} == reasons(result)
    assert ["first"] == names_read(result)


def test_a_file_that_vanishes_meanwhile_is_reported(reader, batch, tmp_path):
    """The system's reason is reported, and nothing final."""
    result = reader.read(batch("vanish"), tmp_path / "staging")

    assert {"vanish": ("The file cannot be read: No such file or directory.", False)} == reasons(result)


def test_the_ids_of_logs_are_those_that_were_identified(reader, batch, tmp_path):
    """The first 16 digits of the SHA-256, the same in every table."""
    wanted = batch("a", "b")
    result = reader.read(wanted, tmp_path / "staging")

    (logs,) = (file.path for file in result.files if file.table == "log")
    assert [log_id for _, log_id in wanted.logs] == pq.read_table(logs)["log_id"].to_pylist()


def test_a_place_that_cannot_be_written_to_is_no_fault_of_a_log(reader, batch, tmp_path):
    """The sweep ends with a sentence that names the folder; no log is refused for it."""
    (tmp_path / "staging").touch()

    with pytest.raises(WarehouseError, match=rf"Files in {tmp_path}/staging cannot be read or written: .*Not a directory"):
        reader.read(batch("a"), tmp_path / "staging")


def test_a_child_that_cannot_start_is_no_fault_of_a_log(reader, batch, tmp_path, monkeypatch):
    """Where the program itself does not run, the sweep ends with a sentence instead of rejecting every log."""
    monkeypatch.setattr(sys, "executable", "/bin/false")

    with pytest.raises(WarehouseError, match=r"The process that reads logs does not start: .*exit code 1"):
        reader.read(batch("a"), tmp_path / "staging")


def test_a_child_does_not_outlive_its_parent(deeds, batch, tmp_path):
    """Even in the middle of a log that never ends: nobody would stop it."""
    (path, log_id), *_ = batch("spin").logs
    script = f"""
        import datetime as dt
        from pathlib import Path
        from iomine.pipeline.ingest.reader import Batch, Limits, Reader

        batch = Batch("blue", dt.date(2017, 9, 21), (({path!r}, {log_id!r}),), 1)
        Reader(Limits()).read(batch, Path({str(tmp_path / "staging")!r}))
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)])
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    assert wait_for(children.read_text, 10)
    child = Path("/proc") / children.read_text().split()[0]
    # Some processor time shows that it is past its start.
    assert wait_for(lambda: int((child / "stat").read_text().split()[13]) > 200, 20)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()

    assert wait_for(lambda: not child.exists(), 5)


def test_files_of_any_name_are_read(reader, log, tmp_path):
    """Bytes that are no UTF-8, quotes and line breaks pass to the child and back, and are shown as escapes where they must be."""
    log_id = hashlib.sha256(log).hexdigest()[:16]
    for number, name in enumerate((b"bad\xff", b"new\nline", b"quo'te\"")):
        path = os.fsdecode(os.path.join(os.fsencode(tmp_path), name + b".darshan"))  # noqa: PTH118  bytes
        Path(path).write_bytes(log)
        result = reader.read(Batch("blue", NIGHT, ((path, log_id),), len(log)), tmp_path / f"staging{number}")
        assert [(r"bad\xff", "new\nline", "quo'te\"")[number]] == names_read(result)


def test_staged_files_of_a_death_are_not_taken_for_whole(reader, batch, tmp_path):
    """What a dead child had begun keeps its unfinished name; only whole files are handed on."""
    result = reader.read(batch("first", "segfault"), tmp_path / "staging")

    assert {file.path for file in result.files} == set((tmp_path / "staging").rglob("*.parquet"))


def test_a_file_that_leaves_before_it_is_read_costs_itself_alone(reader, batch, tmp_path):
    """It is refused as any file that is not there, and its batch goes on in the same process."""
    result = reader.read(batch("first", "leave", "last"), tmp_path / "staging")

    assert {"leave": ("The file cannot be read: No such file or directory.", False)} == reasons(result)
    assert (2, ["first", "last"]) == (result.log_count, names_read(result))
