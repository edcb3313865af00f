"""What a page holds of a trace, held against the views that it comes from."""

import sys
from pathlib import Path

import pyarrow as pa
import pytest
from one_log import catalog_of, reported
from page_blocks import columns_of

from iomine.report import trace as trace_room
from iomine.report.trace import Highlight
from iomine.views.query import ask

sys.path.insert(0, str(Path(__file__).parents[1] / "sources"))
from writing import Blueprint, Module, Segment, dxt_record, job, lustre_v2_record, name, write

RUN_SECONDS = 100


def _dense(count: int) -> list[Segment]:
    """Requests of a millisecond, half a millisecond apart."""
    return [Segment(4096 * number, 4096, 0.0015 * number, 0.0015 * number + 0.001) for number in range(count)]


def _sparse(count: int) -> list[Segment]:
    """Requests of a millisecond, a second apart."""
    return [Segment(2**30 * number, 4096, 1.0 * number, number + 0.001) for number in range(count)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A log whose POSIX trace is dense and whose MPI-IO trace is sparse, and has requests outside of the run."""
    folder = tmp_path_factory.mktemp("made")
    posix = [dxt_record("<", _dense(4000), _dense(500), id_=5, rank=rank, host=b"a" if rank else b"b") for rank in range(2)]
    mpiio = dxt_record("<", [*_sparse(90), Segment(0, 1, -1.0, 0.5), Segment(0, 1, 5.0, 4000.0)], id_=5, rank=1)
    log = folder / "made.darshan"
    modules = {
        "LUSTRE": Module(2, [lustre_v2_record("<", [range(3)])]),
        "DXT_POSIX": Module(1, posix),
        "DXT_MPIIO": Module(2, [mpiio]),
    }
    log.write_bytes(write(Blueprint(modules, names=name("<", 5, b"/scratch/out.h5"), job=job(nprocs=2))))
    return catalog_of(log, folder)


def _rows(table):
    return pa.table(columns_of(table.block)).to_pylist()


def test_requests_are_in_the_page_one_by_one(made):
    """A short trace is in the page whole: requests that lie in the run, in order of layer, rank and start."""
    _, trace = reported(*made)
    [table] = trace.tables
    layers, ops = trace.about["layers"], trace.about["ops"]
    found = [
        (
            *(layers[row["layer"]], row["rank"], round(row["start_ticks"] * trace.about["tick_seconds"], 6), ops[row["op"]]),
            *(row["offset_high"] * 2**31 + row["offset_low"], row["length_bytes"], row["ost_id"]),
            *(trace.about["hosts"][row["host"]], trace.about["files"][row["file_id"]]),
        )
        for row in _rows(table)
    ]
    expected = ask(
        made[0],
        "SELECT layer, rank, round(start_seconds, 6) AS start, op, offset_bytes, length_bytes, coalesce(ost, -1), host, "
        f"'/scratch/out.h5' FROM segments WHERE start_seconds >= 0 AND end_seconds <= {RUN_SECONDS + 2}",
    )
    assert sorted(zip(*expected.to_pydict().values(), strict=True)) == sorted(found)
    assert [row[:3] for row in found] == sorted(row[:3] for row in found)
    assert trace.about["request_count"] == len(found) + 2


def test_levels_hold_all_requests_and_what_they_leave_out_one_by_one(made, monkeypatch):
    """Each level adds up to the requests of both layers, though that of MPI-IO was not worth keeping."""
    monkeypatch.setattr(trace_room, "_MOST_REQUESTS", 100)
    _, trace = reported(*made)
    sound = f"start_seconds >= 0 AND end_seconds <= {RUN_SECONDS + 2}"
    for table in trace.tables:
        wanted = f"{sound} AND ost IS NOT NULL" if table.by == "ost" else sound
        [expected] = ask(
            made[0],
            "SELECT count(*) AS requests, sum(length_bytes)::DOUBLE AS bytes, sum(end_seconds - start_seconds) AS busy "
            f"FROM segments WHERE {wanted}",
        ).to_pylist()
        rows = _rows(table)
        assert table.row_count == len(rows) < expected["requests"]
        assert expected["requests"] == sum(row["request_count"] for row in rows)
        assert expected["bytes"] == sum(row["moved_bytes"] for row in rows)
        assert pytest.approx(expected["busy"], rel=1e-6) == sum(row["busy_seconds"] for row in rows)
    assert {"rank", "ost", "offset"} == {table.by for table in trace.tables}


def test_no_trace_no_explorer(tmp_path):
    """A log without a trace has nothing to explore."""
    log = tmp_path / "plain.darshan"
    log.write_bytes(write(Blueprint()))
    database, log_id = catalog_of(log, tmp_path)
    assert reported(database, log_id)[1] is None


def test_highlights_are_numbered_as_the_page_numbers(made):
    """Files of a highlight become the page's numbers; conditions that are none, and files without a trace, are left out."""
    mine = Highlight(code="P01", text="Mine.", paths=["/scratch/out.h5", "/elsewhere"], ranks=[1])
    absent = Highlight(code="P07", text="Not traced.", paths=["/elsewhere"])
    found = reported(*made, [mine, absent])[1].about["highlights"]
    assert {"code": "P01", "text": "Mine.", "files": [0], "ranks": [1]} == found[0]
    assert ["rank 0", "slowest"] == [highlight["code"] for highlight in found[1:3]]
    [bar] = ask(
        made[0],
        "SELECT quantile_cont(end_seconds - start_seconds, 0.95) AS bar FROM segments "
        "WHERE start_seconds >= 0 AND end_seconds <= 102",
    ).to_pylist()
    assert bar["bar"] == found[2]["seconds_from"]


def test_busy_ranks_spend_twice_the_time_of_the_median_rank_in_requests(tmp_path):
    """Of nine ranks, those that take more than twice as long as the one in the middle, in either layer, are busy."""
    posix = [1, 1, 1, 1, 2, 4, 4.5, 1, 5]
    records = [dxt_record("<", [Segment(0, 1, 0.0, seconds)], id_=5, rank=rank) for rank, seconds in enumerate(posix)]
    mpiio = [dxt_record("<", [Segment(0, 1, 0.0, 9.0 if rank == 3 else 1.0)], id_=5, rank=rank) for rank in range(9)]
    log = tmp_path / "busy.darshan"
    modules = {"DXT_POSIX": Module(1, records), "DXT_MPIIO": Module(2, mpiio)}
    log.write_bytes(write(Blueprint(modules, job=job(nprocs=9))))
    [found] = [each for each in reported(*catalog_of(log, tmp_path))[1].about["highlights"] if each["code"] == "busy ranks"]
    median = sorted(posix)[4]
    assert found["ranks"] == sorted({3} | {rank for rank, seconds in enumerate(posix) if seconds > 2 * median})
