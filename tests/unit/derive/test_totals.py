"""What a log moved, and how long it took."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import Row, each, log_of, truth_of, workloads
from tables import columns

from iomine.derive import Times, Totals
from iomine.derive import times as times_of_logs
from iomine.derive import totals as totals_of_logs
from iomine.derive.trace import Tables
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import read_log

_COUNTS = ("read_bytes", "write_bytes", "read_count", "write_count")
_SECONDS = ("read_seconds", "write_seconds", "meta_seconds")
_ALL = (*_COUNTS, "readx_count", "writex_count", *_SECONDS)
_RECORD = st.fixed_dictionaries(
    {name: st.integers(-1, 2**40) for name in (*_COUNTS, "readx_count", "writex_count")}
    # Binary fractions, whose sum does not depend on the order.
    | {name: st.integers(-8, 2**20).map(lambda eighths: eighths / 8) for name in _SECONDS}
)
_TABLES = st.dictionaries(
    st.sampled_from(["posix_file", "stdio_file", "dfs_file", "mpiio_file", "h5d_dataset"]),
    st.lists(st.lists(_RECORD, max_size=4), min_size=1, max_size=3),
)

Records = dict[str, list[list[dict[str, float]]]]


def totals(tables: Tables) -> Totals:
    """Those of one log."""
    return Totals._make(value for (value,) in totals_of_logs(tables))


def times(*arguments: Any) -> Times:
    """Those of one log."""
    return Times._make(value for (value,) in times_of_logs(*arguments))


def _columns(records: Records) -> dict[str, list[dict[str, pa.Array]]]:
    return {
        table: [
            {
                field.name: pa.array([row[field.name] for row in part], field.type)
                for field in arrow_schema(table)
                if field.name in _ALL
            }
            for part in parts
        ]
        for table, parts in records.items()
    }


def _by_hand(records: Records) -> Totals:
    lowest = [
        (table, row) for table in ("posix_file", "stdio_file", "dfs_file") for part in records.get(table, []) for row in part
    ]

    def total(name: str) -> float:
        return sum(max(row[name], 0) for _, row in lowest)

    def indexed(name: str) -> float:
        return sum(max(row[name], 0) for table, row in lowest if table == "dfs_file")

    return Totals(
        int(total("read_bytes")),
        int(total("write_bytes")),
        int(total("read_count") + indexed("readx_count")),
        int(total("write_count") + indexed("writex_count")),
    )


@given(_TABLES)
def test_totals_equal_brute_force(records: Records) -> None:
    """Sums are over POSIX, STDIO and DFS, part by part; other layers and counters that are not known add nothing."""
    assert _by_hand(records) == totals(_columns(records))


def test_log_without_records() -> None:
    """A log without records moved nothing."""
    assert Totals(0, 0, 0, 0) == totals({})
    assert Times(0.0, 0.0, 0.0, 0.0, None, None, False) == times({}, {}, 4, 10.0)


@pytest.mark.parametrize("row", each(workloads(), lambda row: bool(truth_of(row).get("log_totals"))))
def test_totals_of_known_workloads(row: Row) -> None:
    """The totals of a log are the sums that another reader made of its counters."""
    expected = truth_of(row)["log_totals"]
    layers = [(expected[layer], layer) for layer in ("POSIX", "STDIO") if layer in expected]

    def total(*words: str) -> float:
        return sum(counters[f"{layer}_{word}"] for counters, layer in layers for word in words)

    log = read_log(log_of(row))
    assert (total("BYTES_READ"), total("BYTES_WRITTEN"), total("READS"), total("WRITES")) == totals(log.tables)
    # The manifest keeps four digits of each sum of seconds.
    got = times(log.tables, {}, log.job.nprocs, None).storage_core_seconds
    assert total("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME") == pytest.approx(got, abs=1e-3)


def test_sum_beyond_64_bits_is_not_known() -> None:
    """Counters of a hostile log that add up to more than 64 bits hold give no sum, and leave the other sums theirs."""
    most = 2**63 - 1
    records = {"posix_file": [[{"read_bytes": most, "write_bytes": most}, {"read_bytes": 1, "write_bytes": 0}]]}
    full = dict.fromkeys((*_COUNTS, *_SECONDS), 0)
    answer = totals(_columns({table: [[full | row for row in rows] for rows in parts] for table, parts in records.items()}))
    assert Totals(None, None, 0, 0) == answer


_NPROCS = 3
_EIGHTHS = st.integers(0, 400).map(lambda eighths: eighths / 8)
_OWN = st.fixed_dictionaries(
    {"file_id": st.integers(1, 3), "rank": st.integers(0, _NPROCS - 1)} | dict.fromkeys(_SECONDS, _EIGHTHS)
)
# What each rank did in a file that all share, of which the record keeps sum, fastest and slowest.
_SHARED = st.fixed_dictionaries({"file_id": st.integers(1, 3), "by_rank": st.lists(_EIGHTHS, min_size=_NPROCS, max_size=_NPROCS)})
_PROGRAM = st.dictionaries(
    st.sampled_from(["posix_file", "mpiio_file", "stdio_file", "dfs_file"]),
    st.tuples(st.lists(_OWN, max_size=4), st.lists(_SHARED, max_size=2)),
)

Program = dict[str, tuple[list[dict[str, float]], list[dict[str, Any]]]]


def _shared_record(entry: dict[str, Any]) -> dict[str, float]:
    by_rank = entry["by_rank"]
    slowest, fastest = max(by_rank), min(by_rank)
    return {
        "file_id": entry["file_id"],
        "rank": -1,
        "write_seconds": sum(by_rank),
        "slowest_rank": by_rank.index(slowest),
        "slowest_rank_seconds": slowest,
        "fastest_rank": by_rank.index(fastest),
        "fastest_rank_seconds": fastest,
    }


def _tables_of(program: Program) -> dict[str, list[dict[str, pa.Array]]]:
    return {table: [columns(table, [*own, *map(_shared_record, shared)])] for table, (own, shared) in program.items()}


def _own_total(record: dict[str, float]) -> float:
    return sum(record[name] for name in _SECONDS)


@given(_PROGRAM, st.sampled_from([None, 1000.0, 20.0]))
def test_times_equal_brute_force(program: Program, run_seconds: float | None) -> None:
    """I/O time is that of the topmost layer of each file, a process's at most the run; the rest follows from sums by file."""
    through_mpiio = {record["file_id"] for records in program.get("mpiio_file", ()) for record in records}
    own = dict.fromkeys(range(_NPROCS), 0.0)
    shared = dict.fromkeys(range(_NPROCS), 0.0)
    storage = 0.0
    by_file: dict[tuple[str, float], float] = {}
    for table, (own_records, shared_records) in program.items():
        for record, seconds in [
            *((record, _own_total(record)) for record in own_records),
            *((record, sum(record["by_rank"])) for record in shared_records),
        ]:
            is_called = table != "posix_file" or record["file_id"] not in through_mpiio
            storage += seconds if table != "mpiio_file" else 0
            by_file[table, record["file_id"]] = by_file.get((table, record["file_id"]), 0.0) + seconds
            for rank in range(_NPROCS) if is_called else ():
                own[rank] += seconds if record.get("rank") == rank else 0
                shared[rank] += record["by_rank"][rank] if "by_rank" in record else 0
    waiting = sum(max(0, by_file["mpiio_file", each] - by_file.get(("posix_file", each), 0)) for each in through_mpiio)
    bounded = sum(min(seconds, run_seconds or seconds) for seconds in own.values()) + sum(shared.values())
    expected = min(bounded, run_seconds * _NPROCS) if run_seconds else bounded
    got = times(_tables_of(program), {}, _NPROCS, run_seconds)
    assert expected == got.io_core_seconds
    assert storage == got.storage_core_seconds
    assert min(waiting, expected) == got.waiting_core_seconds
    assert (expected < sum(own.values()) + sum(shared.values())) == got.is_overlapping
    by_rank = {rank: own[rank] + shared[rank] for rank in own}
    if got.slowest_rank is not None and run_seconds is None:
        # The result is no more than the slowest rank took, at least nine tenths of it, and names a rank that is as slow.
        assert 0.9 * max(by_rank.values()) <= got.slowest_rank_io_seconds <= by_rank[got.slowest_rank]


def test_slowest_rank_of_own_records() -> None:
    """Where each rank has records of its own, the slowest is the one with most time, and is known."""
    records = [{"rank": 0, "read_seconds": 1.0}, {"rank": 2, "read_seconds": 2.0}, {"rank": 2, "file_id": 1, "meta_seconds": 1.0}]
    got = times({"posix_file": [columns("posix_file", records)]}, {}, 3, 100.0)
    assert (2, 3.0) == (got.slowest_rank, got.slowest_rank_io_seconds)


def test_slowest_rank_that_records_leave_open() -> None:
    """Of two shared files with other slowest ranks, nobody knows how the times of a rank add up."""
    first = {"rank": -1, "write_seconds": 12.0, "slowest_rank": 1, "slowest_rank_seconds": 10.0, "fastest_rank_seconds": 1.0}
    got = times({"posix_file": [columns("posix_file", [first, first | {"file_id": 1, "slowest_rank": 2}])]}, {}, 3, 100.0)
    assert (None, None) == (got.slowest_rank, got.slowest_rank_io_seconds)
    alike = [first, first | {"file_id": 1}]
    got = times({"posix_file": [columns("posix_file", alike)]}, {}, 3, 100.0)
    assert (1, 20.0) == (got.slowest_rank, got.slowest_rank_io_seconds)


def test_threads_of_a_process() -> None:
    """Where calls of a process's threads overlap, the run is counted at most, and that is said."""
    records = [{"rank": 0, "read_seconds": 764.0}, {"rank": 1, "read_seconds": 5.0}]
    got = times({"posix_file": [columns("posix_file", records)]}, {}, 2, 100.0)
    assert (105.0, True, 100.0) == (got.io_core_seconds, got.is_overlapping, got.slowest_rank_io_seconds)


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_times_that_are_no_numbers(odd: float) -> None:
    """A time that is no number leaves no sum that it is in; a negative is Darshan's word for not known and adds nothing."""
    got = times({"posix_file": [columns("posix_file", [{"read_seconds": odd}])]}, {}, 2, None)
    assert (None, None) == (got.io_core_seconds, got.storage_core_seconds)
    got = times({"posix_file": [columns("posix_file", [{"read_seconds": -1.0, "write_seconds": 2.0}])]}, {}, 2, 100.0)
    assert 2.0 == got.io_core_seconds


def test_time_in_special_files_is_apart() -> None:
    """What special files took is counted by itself, and is no I/O."""
    got = times({}, {"posix_file": [columns("posix_file", [{"meta_seconds": 11218.0}])]}, 1, 1469.0)
    assert (11218.0, 0.0, False) == (got.special_core_seconds, got.io_core_seconds, got.is_overlapping)
