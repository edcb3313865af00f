"""AutoPerf modules, which real logs hold in one byte order only."""

import pytest
from writing import Blueprint, Module, words

from iomine.sources.darshan.autoperf import CALLS, decode_apmpi, decode_apxc


def _apmpi(order: str) -> bytes:
    head = words(order, 5, -1, 280520118) + (b"\1\0\0\0" if order == "<" else b"\0\0\0\1") + bytes(4) + words(order, 0.5, 0.25)
    send, barrier = [0] * 396, CALLS.index("BARRIER")
    send[:8] = 3, 300, 1, 2, 0, 0, 0, 0
    times = [0.0] * 222
    times[:3] = 1.5, 0.25, 0.75
    times[3 * barrier : 3 * barrier + 3] = 2.5, 2.5, 2.5
    record = words(order, 5, 1, *send, *times, 0.125, *[0.0] * 15, 9.0, 8.0) + b"node1".ljust(128, b"\0")
    return head + record


@pytest.mark.parametrize("order", ["<", ">"])
def test_mpi_calls(order: str, read, rows) -> None:
    """Calls come out with what they have and NULL for what they do not have; calls that were not made have no row."""
    log = read(Blueprint({"APMPI": Module(1, [_apmpi(order)])}, order=order))
    assert [
        {
            "file_id": 5,
            "rank": -1,
            "magic": 280520118,
            "sync_flag": 1,
            "comm_seconds_variance": 0.5,
            "comm_sync_seconds_variance": 0.25,
        }
    ] == rows(log, "apmpi_run")
    assert [
        {"file_id": 5, "rank": 1, "host": "node1", "comm_seconds": 9.0, "comm_sync_seconds": 8.0},
    ] == rows(log, "apmpi_rank")
    names = ("mpi_call", "call_count", "total_bytes", "message_size_256_1k_count", "total_seconds", "max_seconds", "sync_seconds")
    assert [
        ("MPI_SEND", 3, 300, 2, 1.5, 0.75, None),
        ("MPI_BARRIER", 0, None, None, 2.5, 2.5, 0.125),
    ] == [tuple(row[name] for name in names) for row in rows(log, "apmpi_call")]
    assert [(2, "read")] == [(module.record_count, module.state) for module in log.modules]


@pytest.mark.parametrize("order", ["<", ">"])
def test_routers(order: str, read, rows) -> None:
    """Routers come out with their place in the network and all counters in order."""
    head = words(order, 5, 0, 281, 3, 2, 1, 4, 5, 99)
    data = head + words(order, 5, 0, 7, 8, 9, 10, *range(392))
    log = read(Blueprint({"APXC": Module(1, [data])}, order=order))
    (run,), (router,) = rows(log, "apxc_run"), rows(log, "apxc_router")
    assert (3, 2, 1, 4, 5, 99) == tuple(
        run[name] for name in ("blade_count", "chassis_count", "group_count", "memory_mode", "cluster_mode", "application_id")
    )
    assert (7, 8, 9, 10) == tuple(router[name] for name in ("group_index", "chassis_index", "blade_index", "node_index"))
    assert list(range(392)) == router["router_counts"]


@pytest.mark.parametrize("decode", [decode_apmpi, decode_apxc])
@pytest.mark.parametrize("data", [b"", b"odd", bytes(40), bytes(1000), _apmpi("<")[:-8], _apmpi("<") + b"\0"])
def test_bytes_that_are_no_records(decode, data: bytes) -> None:
    """Bytes that are no header and whole records give no rows, and are reported."""
    decoded = decode(data, "<")
    assert ({}, 0) == (decoded.tables, decoded.record_count)
    assert f"its {len(data):,} bytes are not a header and records of" in decoded.damage
