"""Traces: segments of every size, and records whose counts cannot be true."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from writing import RUN_SECONDS, Blueprint, Module, Segment, dxt_record, words

from iomine.sources.darshan.decoded import assembled
from iomine.sources.darshan.dxt import decode_dxt

_TIMES = st.tuples(*[st.floats(0, RUN_SECONDS, allow_subnormal=False)] * 2).map(sorted)
_SEGMENTS = st.lists(
    st.builds(
        lambda offset, length, times, thread: Segment(offset, length, *times, thread),
        st.integers(0, 2**40),
        st.integers(0, 2**30),
        _TIMES,
        st.integers(0, 10**17),
    ),
    max_size=4,
)
_RECORDS = st.lists(st.tuples(_SEGMENTS, _SEGMENTS), min_size=1, max_size=3)
_ONE = Segment(4096, 100, 1.0, 2.5, 42)
_TWO = Segment(8192, 200, 3.0, 3.0, 43)


def _expected(records: Sequence[tuple[Sequence[Segment], Sequence[Segment]]], segment_bytes: int) -> list[tuple[object, ...]]:
    return [
        (rank, op, s.offset, s.length, s.start, s.end, s.thread if segment_bytes in (40, 96) else None)
        for rank, (writes, reads) in enumerate(records)
        for op, segments in (("write", writes), ("read", reads))
        for s in segments
    ]


def _got(columns) -> list[tuple[object, ...]]:
    names = ("rank", "op", "offset_bytes", "length_bytes", "start_seconds", "end_seconds", "thread_id")
    rows = assembled("segment", [("log", columns)])
    return list(zip(*(rows[name].to_pylist() for name in names), strict=True))


@given(st.sampled_from("<>"), st.sampled_from([32, 40, 96, 64]), _RECORDS)
def test_round_trip(order: str, segment_bytes: int, records: list[tuple[list[Segment], list[Segment]]]) -> None:
    """Segments of every size come out in the order of the log, whatever the version number says and the byte order is."""
    data = b"".join(
        dxt_record(order, writes, reads, rank=rank, segment_bytes=segment_bytes) for rank, (writes, reads) in enumerate(records)
    )
    decoded = decode_dxt("DXT_POSIX", 1, data, order, RUN_SECONDS)
    got = _got(decoded.tables["segment"])
    assert (len(records), "") == (decoded.record_count, decoded.damage)
    if all(len(writes) + len(reads) for writes, reads in records) or segment_bytes == 32:
        assert _expected(records, segment_bytes) == got
    assert [len(writes) for writes, _ in records] == decoded.tables["dxt_file"]["write_count"].to_pylist()


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("segment_bytes", "thread"), [(32, None), (40, 42), (96, 42), (48, None), (512, None)])
def test_whole_log(order: str, segment_bytes: int, thread: int | None, read, rows) -> None:
    """A trace in a log comes out with layer, host, file and rank, and with the thread where segments carry one."""
    parts = [
        dxt_record(order, [_ONE], [_TWO], segment_bytes=segment_bytes),
        dxt_record(order, [_TWO], rank=1, host=b"node2\0junk", segment_bytes=segment_bytes),
    ]
    log = read(Blueprint({"DXT_POSIX": Module(1, parts)}, order=order))
    first = {"layer": "posix", "file_id": 5, "rank": 0, "host": "node1", "op": "write", "offset_bytes": 4096}
    first |= {"length_bytes": 100, "start_seconds": 1.0, "end_seconds": 2.5, "thread_id": thread}
    got = rows(log, "segment")
    assert first == got[0]
    assert [("node1", 0, "write"), ("node1", 0, "read"), ("node2", 1, "write")] == [
        (row["host"], row["rank"], row["op"]) for row in got
    ]
    assert [(5, 0, "posix", "node1", 1, 1), (5, 1, "posix", "node2", 1, 0)] == [
        tuple(row[name] for name in ("file_id", "rank", "layer", "host", "write_count", "read_count"))
        for row in rows(log, "dxt_file")
    ]
    assert [(2, "read", "")] == [(module.record_count, module.state, module.reason) for module in log.modules]


@pytest.mark.parametrize("segment_bytes", [32, 40, 96])
def test_single_segment(segment_bytes: int) -> None:
    """One record with one segment is enough to find the segment's size."""
    decoded = decode_dxt("DXT_POSIX", 1, dxt_record("<", [_ONE], segment_bytes=segment_bytes), "<", RUN_SECONDS)
    assert _expected([([_ONE], [])], segment_bytes) == _got(decoded.tables["segment"])
    assert decoded.damage == ""


def test_records_without_segments() -> None:
    """Records that traced nothing have rows of their own, and no segments."""
    decoded = decode_dxt("DXT_POSIX", 1, dxt_record("<") + dxt_record("<", rank=1), "<", RUN_SECONDS)
    assert (2, "", 0) == (decoded.record_count, decoded.damage, len(decoded.tables["segment"]["rank"]))
    assert [0, 1] == decoded.tables["dxt_file"]["rank"].to_pylist()


@pytest.mark.parametrize(("module", "version"), [("DXT_POSIX", 2), ("DXT_MPIIO", 3)])
def test_newer_versions_have_threads(module: str, version: int) -> None:
    """The record versions that came after Darshan 3.5.0 carry a thread id in each segment."""
    decoded = decode_dxt(module, version, dxt_record("<", [_ONE], [_TWO], segment_bytes=40), "<", RUN_SECONDS)
    assert [42, 43] == decoded.tables["segment"]["thread_id"].to_pylist()


@pytest.mark.parametrize(("version", "offsets"), [(1, [-1, -1]), (2, [4096, 8192])])
def test_mpiio_offsets(version: int, offsets: list[int]) -> None:
    """The first version of MPI-IO traces has no offsets, whatever its bytes hold; the next one has."""
    decoded = decode_dxt("DXT_MPIIO", version, dxt_record("<", [_ONE], [_TWO]), "<", RUN_SECONDS)
    assert offsets == decoded.tables["segment"]["offset_bytes"].to_pylist()
    assert {"mpiio"} == set(decoded.tables["segment"]["layer"].to_pylist())


@pytest.mark.parametrize(
    ("segment", "run_seconds"),
    [
        (Segment(0, 1, 1.0, RUN_SECONDS + 2.5), RUN_SECONDS),
        (Segment(0, 1, 2.0, 1.0), RUN_SECONDS),
        (Segment(0, 1, -1.0, 1.0), RUN_SECONDS),
        (Segment(0, -1, 1.0, 2.0), RUN_SECONDS),
        (Segment(0, 1, math.nan, 1.0), RUN_SECONDS),
        (Segment(0, 1, 1.0, math.nan), None),
        (Segment(2**60, 1, 1.0, 2.0), RUN_SECONDS),
        (Segment(0, 2**60, 1.0, 2.0), RUN_SECONDS),
        (Segment(0, 1, 5e-324, 2.0), RUN_SECONDS),
    ],
)
def test_segments_that_cannot_be(segment: Segment, run_seconds: float | None) -> None:
    """Segments outside the run, backwards in time or of a length that no file has are given, and marked as unsound."""
    decoded = decode_dxt("DXT_POSIX", 1, dxt_record("<", [_ONE, segment]), "<", run_seconds)
    assert (1, "some records name no rank or host, or requests start or end outside the run or have a negative length") == (
        decoded.record_count,
        decoded.damage,
    )


@pytest.mark.parametrize(
    ("records", "count"),
    [
        (dxt_record("<", [_ONE, _TWO]) + dxt_record("<", [_ONE], host=b""), 2),
        (dxt_record("<", [_ONE, _TWO], host=b"") + dxt_record("<", host=b""), 2),
        (dxt_record("<", [_ONE], host=b"\x01"), 1),
        (dxt_record("<", [_ONE], rank=-2), 1),
    ],
    ids=["one-without", "none-and-nothing-traced", "control", "rank"],
)
def test_heads_that_cannot_be(records: bytes, count: int) -> None:
    """A record without a host where others have one, or that traced nothing either, or of no rank: given, marked as unsound."""
    decoded = decode_dxt("DXT_POSIX", 1, records, "<", RUN_SECONDS)
    assert (count, True) == (decoded.record_count, decoded.damage.startswith("some records name no rank or host"))


@pytest.mark.parametrize("segment_bytes", [32, 40, 96])
def test_logs_that_name_no_host(segment_bytes: int) -> None:
    """Where no record names a host, the trace is sound all the same, and hosts are not known."""
    records = (dxt_record("<", [_ONE, _TWO], rank=rank, host=b"", segment_bytes=segment_bytes) for rank in range(2))
    decoded = decode_dxt("DXT_POSIX", 1, b"".join(records), "<", RUN_SECONDS)
    assert (2, "") == (decoded.record_count, decoded.damage)
    assert [None] * 2 == decoded.tables["dxt_file"]["host"].to_pylist()
    assert [None] * 4 == decoded.tables["segment"]["host"].to_pylist()


def test_run_of_unknown_length() -> None:
    """Where the length of the run is not to be trusted, no end is too late."""
    late = Segment(0, 1, 1.0, 1e6)
    assert decode_dxt("DXT_POSIX", 1, dxt_record("<", [late]), "<", None).damage == ""


@pytest.mark.parametrize(("writes", "reads"), [(2**62, 0), (0, 2**62), (2**62, 2**62), (-1, 2), (1, -1), (3, 0)])
def test_absurd_counts(writes: int, reads: int) -> None:
    """A record that claims segments which are not there is left out, and those before it stay."""
    # Of so many segments the size is certain; of a single one, what follows might be its end.
    good = dxt_record("<", [_ONE] * 5)
    bad = words("<", 5, 1, 0) + b"node1".ljust(64, b"\0") + words("<", writes, reads, *[0] * 8)
    decoded = decode_dxt("DXT_POSIX", 1, good + bad, "<", RUN_SECONDS)
    assert (1, f"bytes from {len(good)} on are not trace records of a known size") == (decoded.record_count, decoded.damage)
    assert [4096] * 5 == decoded.tables["segment"]["offset_bytes"].to_pylist()


@pytest.mark.parametrize("data", [b"", b"odd", bytes(8), bytes(103), b"\xff" * 104])
def test_regions_that_hold_no_trace(data: bytes) -> None:
    """A region without a single record gives no rows, and is never marked as sound."""
    decoded = decode_dxt("DXT_POSIX", 1, data, "<", RUN_SECONDS)
    assert ({}, 0) == (decoded.tables, decoded.record_count)
    assert decoded.damage != ""


@pytest.mark.parametrize("text", [b"", b"pthread_id=", b"pthread_id=x1", b"thread=5", b"pthread_id=" + b"9" * 40])
def test_text_that_is_no_thread(text: bytes) -> None:
    """Text after a segment that names no thread leaves the thread unknown."""
    record = bytearray(dxt_record("<", [_ONE], segment_bytes=96))
    record[-64:] = text.ljust(64, b"\0")
    assert [None] == decode_dxt("DXT_POSIX", 1, bytes(record), "<", RUN_SECONDS).tables["segment"]["thread_id"].to_pylist()


@pytest.mark.parametrize("segment_bytes", [32, 40, 96])
@pytest.mark.parametrize("missing", [8, 20, 32])
def test_cut_traces(segment_bytes: int, missing: int) -> None:
    """Of a trace that was cut off the whole records stay, whatever the size of their segments."""
    record = dxt_record("<", [_ONE] * 5, [_TWO], segment_bytes=segment_bytes)
    decoded = decode_dxt("DXT_POSIX", 1, (record + record)[:-missing], "<", RUN_SECONDS, is_whole=False)
    assert _expected([([_ONE] * 5, [_TWO])], segment_bytes) == _got(decoded.tables["segment"])
    assert (1, f"bytes from {len(record)} on are not trace records of a known size") == (decoded.record_count, decoded.damage)
