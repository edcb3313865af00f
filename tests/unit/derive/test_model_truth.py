"""The I/O model of programs of which it is known what they did."""

from collections import Counter
from functools import cache
from typing import Any

import pytest
from phase_truth import known_phases
from shared import SHARED_DATA, Row, each, log_of, truth_of, workloads

from iomine.derive import traces
from iomine.derive.model.replay import class_columns
from iomine.errors import UnreadableError
from iomine.pipeline.ingest.rows import model_of
from iomine.schema.ops import READ
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import assembled, read_log

HEAVIEST = (
    SHARED_DATA / "darshan/dxt-explorer/jeanbez_8_benchmark_parallel_id45195555_8-6-50011-11681279140261054765_1628283217.darshan"
)
MIB = 1 << 20
BTIO_FULL = ("s100", "s103", "s104", "s105", "s106", "s107", "s111", "s112")
# Of s040 one rank is late, so that each phase is two; the other two write without gaps from rank to rank (docs/phases.md).
MISSED = {"s040_ckpt_late_rank2": (10, 0), "s102_btio_epio_S_4": (3, 1), "s109_btio_epio_W_16": (20, 1)}

pytestmark = pytest.mark.skipif(not workloads(), reason="../shared/data is not here")


@cache
def rows_of(workload: str) -> list[dict[str, Any]]:
    """Classes of the workload whose id begins so, as they are written."""
    row = next(row for row in workloads() if row["id"].startswith(workload))
    columns = model_of(read_log(log_of(row))).columns
    return assembled("phase_class", [("a", columns)]).to_pylist() if columns else []


def values(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def is_ior(row: Row) -> bool:
    return row.get("workload") == "ior" and row["id"] < "s022" and row["parameters"]["api"] != "HDF5"


@pytest.mark.parametrize("workload", each(workloads(), is_ior))
def test_ior_is_known_by_its_parameters(workload: Row) -> None:
    """Ranks, block, transfer, segments and order are those of the command, by trace and (s021) by counters."""
    known = workload["parameters"]
    block, segments = known["block_bytes"], known["segments"]
    if known["file_per_process"]:
        # Segments of an own file follow each other.
        block, segments = block * segments, 1
    order = "consecutive" if segments == 1 else "strided" if block == known["transfer_bytes"] else "segmented"
    if known["random"]:
        order, block, segments = "random", known["transfer_bytes"], block // known["transfer_bytes"]
    rows = rows_of(workload["id"])
    assert [op for op in ("write", "read") if workload["truth"][f"{op}s"]] == [row["op"] for row in rows]
    for row in rows:
        names = ("rank_count", "request_bytes", "block_bytes", "segment_count", "request_order", "access")
        access = "own" if known["file_per_process"] else "shared"
        assert (workload["nprocs"], known["transfer_bytes"], block, segments, order, access) == values(row, *names)
        assert known["repetitions"] == row["phase_count"]
        assert (row["layer"], bool(row["is_collective"])) == (known["api"].lower(), known["collective"])
        assert row["is_synced"] == (known["fsync"] and row["op"] == "write")


def test_checkpoints_of_one_file_follow_a_law() -> None:
    """s030: five phases, each where the one before ended, and ranks side by side."""
    (row,) = rows_of("s030")
    names = ("phase_count", "first_offset_bytes", "rank_step_bytes", "phase_step_bytes", "law_ratio")
    assert (5, 0, 16 * MIB, 64 * MIB, 1.0) == values(row, *names)
    assert (2.0, 2.18) == pytest.approx(values(row, "gap_seconds", "period_seconds"), rel=0.05)


def test_writes_and_reads_are_classes_apart() -> None:
    """s047: six writes and one read; s032: fifty writes alike; s014: five repetitions of the same, two seconds apart."""
    assert [("write", 6), ("read", 1)] == [values(row, "op", "phase_count") for row in rows_of("s047")]
    assert [("write", 50)] == [values(row, "op", "phase_count") for row in rows_of("s032")]
    (row,) = rows_of("s014")
    assert ("write", 5, 0) == values(row, "op", "phase_count", "phase_step_bytes")
    assert row["gap_seconds"] == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("workload", BTIO_FULL)
def test_bt_io_is_two_classes(workload: str) -> None:
    """A dump is a phase in which each rank writes once, and all reads are one phase; POSIX keeps to the blocks of the dumps."""
    btio = truth_of(next(row for row in workloads() if row["id"].startswith(workload)))["btio"]
    (size,) = set(btio["bytes_per_dump_by_rank"])
    write, read = rows_of(workload)
    names = ("op", "phase_count", "request_bytes", "requests_per_rank", "moved_bytes", "tiles_ratio", "is_collective")
    assert ("write", btio["dumps"], size, 1, btio["bytes_written_total"], 1.0, True) == values(write, *names)
    assert ("read", 1, size, btio["dumps"], btio["bytes_read_total"], 1.0, True) == values(read, *names)
    step = write["rank_count"] * size
    assert (step, step) == (write["phase_step_bytes"], read["stride_bytes"])
    # Under a file view the offset is that of a rank's first cell: not a rank's requests away from the next rank's.
    assert (1.0, None) == values(write, "law_ratio", "rank_step_bytes")
    assert write["view_count"] == 2 * write["rank_count"]


def test_exchange_is_the_programs_and_not_the_storages() -> None:
    """s107 and s112 are one program with and without injected latency: exchange per call agrees within 10%, storage does not."""
    for slow, fast in zip(rows_of("s107"), rows_of("s112"), strict=True):
        assert slow["rank_exchange_seconds"] == pytest.approx(fast["rank_exchange_seconds"], rel=0.1)
        assert slow["storage_seconds"] > 1.2 * fast["storage_seconds"]


def test_what_is_counted_twice_is_a_column() -> None:
    """Of s103's reads waiting and storage exceed the time in calls by a tenth: exchange is 0, and all is as by hand."""
    row = next(row for row in rows_of("s103") if row["op"] == "read")
    log = read_log(log_of(next(row for row in workloads() if row["id"].startswith("s103"))))
    requests = {
        trace.layer: [
            (rank, start, end)
            for run, (rank, op) in enumerate(zip(trace.ranks.tolist(), trace.ops.tolist(), strict=True))
            if op == READ
            for start, end in zip(
                trace.starts[trace.firsts[run] :][: trace.counts[run]].tolist(),
                trace.ends[trace.firsts[run] :][: trace.counts[run]].tolist(),
                strict=True,
            )
        ]
        for trace in traces(log.tables)
    }
    by_rank = [sorted((start, end) for rank, start, end in requests["mpiio"] if rank == number) for number in range(16)]
    calls = list(zip(*by_rank, strict=True))
    called = sum(end - start for call in calls for start, end in call) / 16
    waited = sum(min(max(start for start, _ in call), end) - start for call in calls for start, end in call) / 16
    stored, until = 0.0, 0.0
    # A header of 35 bytes is read of another file, long before.
    for start, end in sorted((start, end) for _, start, end in requests["posix"] if start >= row["start_seconds"]):
        stored += max(0.0, end - max(start, until))
        until = max(until, end)
    names = ("rank_call_seconds", "rank_wait_seconds", "storage_seconds", "overcount_seconds", "rank_exchange_seconds")
    assert (called, waited, stored, waited + stored - called, 0.0) == pytest.approx(values(row, *names), abs=1e-6)
    assert 0.05 < row["overcount_seconds"] / row["rank_call_seconds"] < 0.15


def test_phases_are_counted_as_well_as_ever() -> None:
    """Phases of the classes that matter are those that programs say they had, but for the misses that are named."""
    missed, right = {}, 0
    for workload in workloads():
        known = known_phases(workload)
        if known is None:
            continue
        try:
            read_log(log_of(workload))
        except UnreadableError:
            continue
        counted: Counter[str] = Counter()
        for row in rows_of(workload["id"]):
            counted[row["op"]] += (row["phase_count"] or 0) * row["is_relevant"]
        got = (counted["write"], counted["read"])
        right += known == got
        missed |= {} if known == got else {workload["id"]: got}
    assert (MISSED, 86) == (missed, right)


def test_weights_are_the_bytes_of_the_log() -> None:
    """No byte is in two classes, and next to none in no class."""
    for workload in (row for row in workloads() if row.get("dxt") and row["id"] < "s120"):
        rows = rows_of(workload["id"])
        if rows:
            assert 0.99 <= sum(row["weight_ratio"] for row in rows) <= 1 + 1e-9, workload["id"]


def test_columns_are_those_of_the_table() -> None:
    """All columns of the table, but for the log's id, are there."""
    columns = class_columns(model_of(read_log(log_of(next(row for row in workloads() if row["id"].startswith("s107"))))))
    assert {*arrow_schema("phase_class").names} - {"log_id"} == {*columns}


def test_a_long_trace_is_modelled_whole() -> None:
    """Each request of a class is held, and none twice."""
    model = model_of(read_log(HEAVIEST))
    for row, (count, moved) in enumerate(zip(model.columns["request_count"], model.columns["moved_bytes"], strict=True)):
        held = model.requests(row)
        assert held is not None
        assert (count, moved) == (len(held.lengths), held.lengths.sum())
