"""Older record layouts, which libdarshan-util brings to the current one."""

import sys

import pytest
from writing import Blueprint, Module, words

from iomine.errors import UnreadableError
from iomine.schema.counters import COUNTERS
from iomine.sources.darshan import convert

_STDIO = COUNTERS["STDIO"]


def _stdio_v1(order: str, rank: int) -> bytes:
    """A record of version 1, which had no count of fdopens."""
    return words(order, 5, rank, *range(10, 23), *(n / 4 for n in range(15)))


@pytest.mark.parametrize("order", ["<", ">"])
def test_older_records(order: str, read, rows) -> None:
    """Records of an older version come out under the current words, in either byte order; -1 is what they did not count."""
    log = read(Blueprint({"STDIO": Module(1, [_stdio_v1(order, 0) + _stdio_v1(order, 1)])}, version="3.10", order=order))
    got = rows(log, "stdio_file")
    names = (
        "file_id rank open_count fdopen_count read_count write_count slowest_rank_bytes meta_seconds rank_bytes_variance".split()
    )
    assert [(5, 0, 10, -1, 11, 12, 22, 0.0, 3.5), (5, 1, 10, -1, 11, 12, 22, 0.0, 3.5)] == [
        tuple(row[name] for name in names) for row in got
    ]
    assert [(2, "read", "")] == [(module.record_count, module.state, module.reason) for module in log.modules]


@pytest.mark.parametrize(("version", "size"), [(0, 240), (1, 5), (1, 239)])
def test_bytes_that_the_library_refuses(version: int, size: int, read, capfd: pytest.CaptureFixture[str]) -> None:
    """Where libdarshan gives no record of bytes that are there, the module is unsound, and the log is read all the same."""
    log = read(Blueprint({"STDIO": Module(version, [bytes(size)])}))
    (module,) = log.modules
    assert ("unsound", 0, f"its {size} bytes are not whole records of its version") == (
        module.state,
        module.record_count,
        module.reason,
    )
    assert "stdio_file" not in log.tables


def test_older_records_without_the_library(read, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is this machine's fault and not the log's, which another sweep may read; logs that do not need the library are read."""
    monkeypatch.setitem(sys.modules, "darshan.backend.cffi_backend", None)
    monkeypatch.setattr(convert, "_library", convert._library.__wrapped__)
    with pytest.raises(UnreadableError) as refused:
        read(Blueprint({"STDIO": Module(1, [_stdio_v1("<", 0)])}, version="3.10"))
    assert (convert.NO_LIBRARY, False) == (refused.value.reason, refused.value.is_final)

    assert 1 == len(read(Blueprint({"STDIO": Module(2, [bytes(8 * 31)])})).modules)


def test_older_records_with_a_rest(read) -> None:
    """Bytes after the last whole record of an older version make the module unsound, and the whole ones stay."""
    log = read(Blueprint({"STDIO": Module(1, [_stdio_v1("<", 0) + _stdio_v1("<", 1) + b"rest!"])}, version="3.10"))
    assert [("unsound", 2)] == [(module.state, module.record_count) for module in log.modules]


@pytest.mark.parametrize(("size", "count"), [(96, 0), (9 * 120 + 24, 9)])
def test_older_records_of_bgq_end(size: int, count: int, read) -> None:
    """A BG/Q region that ends within a record ends the reading of it too, where libdarshan goes on without end."""
    (module,) = read(Blueprint({"BG/Q": Module(1, [bytes(size)])})).modules
    assert ("unsound", count) == (module.state, module.record_count)
