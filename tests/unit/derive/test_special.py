"""Special files, and tables without them."""

from typing import Any

import numpy as np
import pytest
from tables import columns, rows_of

from iomine.derive import special_files, special_ids, split_by_files, traces, traces_of_others

_PIPE = {"rank": 0, "open_count": 2, "read_count": 2, "write_count": 1, "read_seconds": 1e-5, "write_seconds": 4e-6}


def _special(path: str, **record: Any) -> list[tuple[str, str]]:
    tables = {
        "file_name": [{"file_id": [7], "path": [path]}],
        "posix_file": [columns("posix_file", [{"file_id": 7} | _PIPE | record])],
    }
    return [(row["special_kind"], row["evidence"]) for row in rows_of(special_files(tables))]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("<STDIN>", "stream"),
        ("<STDOUT>", "stream"),
        ("<STDERR>", "stream"),
        ("/dev/null", "device"),
        ("/proc/self/maps", "kernel"),
        ("/sys/class/net", "kernel"),
        ("anon_inode:[eventpoll]", "kernel"),
        ("pipe:[4711]", "pipe"),
        ("socket:[4711]", "socket"),
    ],
)
def test_names_that_say_it(path: str, kind: str) -> None:
    """Streams, devices, what the kernel shows, and pipes and sockets without a path are known by name."""
    assert [(kind, "name")] == _special(path)


@pytest.mark.parametrize("path", ["/scratch/dev/null", "/device/a", "/procs/1", "/scratch/pipe:[1]", "<STDOUT>.txt", "", "/dev"])
def test_names_that_say_nothing(path: str) -> None:
    """A file on storage whose name only looks like that is none."""
    assert [] == _special(path)


def test_opens_that_wait() -> None:
    """A handful of opens of a minute each beside reads of microseconds are those of a named pipe, whatever its name."""
    assert [("pipe", "times")] == _special("/home/ada/queue", meta_seconds=120.0)
    assert [("pipe", "times")] == _special("", meta_seconds=120.0)


@pytest.mark.parametrize(
    "record",
    [
        {"meta_seconds": 2 * 4.9},  # a metadata server under load
        {"meta_seconds": 120.0, "open_count": 17},  # many ranks, or many opens: no handful
        {"meta_seconds": 120.0, "open_count": 0},
        {"meta_seconds": 120.0, "read_seconds": 0.01},  # a read that went to a server
        {"meta_seconds": 120.0, "read_count": 0, "read_seconds": 0.0},  # writes go to the cache in microseconds anyway
        {"meta_seconds": 120.0, "seek_count": 1},
        {"meta_seconds": 120.0, "fsync_count": 1},
        {"meta_seconds": 120.0, "mmap_count": 1},
        {"meta_seconds": float("nan")},
        {"meta_seconds": -120.0},
    ],
)
def test_opens_that_are_merely_slow(record: dict[str, Any]) -> None:
    """What a pipe cannot do, or a file system may do, leaves a file a file."""
    assert [] == _special("/home/ada/queue", **record)


def test_name_that_speaks_of_a_pipe() -> None:
    """Where the name speaks of a pipe or socket, shorter waits are enough; without waits it is a file."""
    assert [("pipe", "times")] == _special("/home/w/pipe_-1418236394", meta_seconds=0.4, read_count=0, read_seconds=0.0)
    assert [("socket", "times")] == _special("/home/w/agent.sock", meta_seconds=0.4)
    assert [] == _special("/scratch/flow/pipe_3.dat", meta_seconds=0.01)
    assert [] == _special("/scratch/pipe_flow/mesh.dat", meta_seconds=0.4)


def test_file_of_mpiio_is_no_pipe() -> None:
    """What was opened through MPI-IO is a file, however long that took."""
    tables = {
        "file_name": [{"file_id": [7], "path": ["/scratch/a"]}],
        "posix_file": [columns("posix_file", [{"file_id": 7, "meta_seconds": 120.0} | _PIPE])],
        "mpiio_file": [columns("mpiio_file", [{"file_id": 7}])],
    }
    assert {} == special_files(tables)


def test_tables_are_parted() -> None:
    """Records of special files go apart, part by part; all other tables stay as they are."""
    posix = [
        columns("posix_file", [{"file_id": 1, "rank": 0}, {"file_id": 2, "rank": 1}]),
        columns("posix_file", [{"file_id": 2}]),
    ]
    tables = {"posix_file": posix, "stdio_file": [columns("stdio_file", [{"file_id": 1}])], "mount": [{"mount": ["/"]}]}
    others, special = split_by_files(tables, np.array([2]))
    assert [[1]] == [part["file_id"].to_pylist() for part in others["posix_file"]]
    assert [[2], [2]] == [part["file_id"].to_pylist() for part in special["posix_file"]]
    assert [1] == special["posix_file"][0]["rank"].to_pylist()
    assert (tables["stdio_file"], tables["mount"]) == (others["stdio_file"], others["mount"])
    assert {"posix_file"} == special.keys()
    assert (tables, {}) == split_by_files(tables, np.array([], np.int64))


def test_table_of_special_files_alone_goes() -> None:
    """Where a module saw special files only, nothing is left of its table."""
    others, _ = split_by_files({"stdio_file": [columns("stdio_file", [{"file_id": 2}])]}, np.array([2]))
    assert {} == others


def test_traces_without_special_files() -> None:
    """Requests of a special file leave the trace, and what it says of runs still fits its requests."""
    requests = [
        {"layer": "posix", "file_id": file_id, "rank": 0, "op": "read", "length_bytes": length, "end_seconds": 1.0}
        for file_id, length in [(1, 10), (2, 20), (2, 30), (1, 40), (3, 50)]
    ]
    (trace,) = traces_of_others(traces({"segment": [columns("segment", requests)]}), np.array([2]))
    assert [1, 1, 3] == trace.file_ids.tolist()
    assert [10, 40, 50] == trace.lengths.tolist()
    assert ([0, 1, 2], [1, 1, 1]) == (trace.firsts.tolist(), trace.counts.tolist())
    assert [10.0, 40.0, 50.0] == trace.bytes.tolist()
    assert [] == traces_of_others(traces({"segment": [columns("segment", requests)]}), np.array([1, 2, 3]))


def test_ids_come_in_order() -> None:
    """Ids are in order, as those who look them up expect; a log without special files has none."""
    tables = {"file_name": [{"file_id": [9, -4, 3], "path": ["<STDOUT>", "<STDIN>", "/a"]}]}
    assert [-4, 9] == special_ids(special_files(tables)).tolist()
    assert [] == special_ids(special_files({})).tolist()
