"""`iomine forward`: what gathering would change, from what is kept and from the trace."""

import datetime as dt
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared import NOT_HERE, SHARED_DATA
from sweeping import column

from iomine.cli.options import database_of
from iomine.derive import access_runs, as_traced, coalescing, in_order, traces
from iomine.pipeline.sweep import Settings, run
from iomine.schema.registry import arrow_schema
from iomine.triggers import reference_table
from iomine.units import GIB, KIB, MIB
from iomine.views.catalog import build_catalog

LOG, LARGE, COUNTED = "abcd000000000001", "abcd000000000002", "abcd000000000003"
NIGHT = dt.date(2024, 4, 18)
# Of the IOFSL paper's largest run.
RANKS, BYTES, SECONDS = 200_448, 415 * GIB, 178
TRACES = SHARED_DATA / "darshan/dxt-explorer"


def requests(log_id: str, size: int, count: int = 120) -> list[dict[str, Any]]:
    """Writes of four ranks in turn, end to end in one file, each rank's 5 ms apart."""
    return [
        {
            "log_id": log_id, "layer": "posix", "file_id": 1, "rank": k % 4, "host": f"n{k % 4 // 2}", "op": "write",
            "offset_bytes": k * size, "length_bytes": size, "start_seconds": k // 4 * 0.005,
            "end_seconds": k // 4 * 0.005 + 0.001,
        }
        for k in range(count)
    ]  # fmt: skip


def kept(segments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a sweep works out of a trace."""
    hosts = [{"rank": rank, "host": f"n{rank // 2}"} for rank in range(4)]
    columns = {
        "rank": pa.array([row["rank"] for row in hosts]),
        "host": pa.array([row["host"] for row in hosts]).dictionary_encode(),
    }
    parts = as_traced(pa.Table.from_pylist(segments, schema=arrow_schema("segment")))
    tables = {"segment": parts, "dxt_file": [columns], "file_name": [{"file_id": [1], "mount": ["/s"]}]}
    found = in_order(traces(tables))
    rows = coalescing(tables, found, 4, {}, access_runs(found))
    return [{"log_id": segments[0]["log_id"], **row} for row in (pa.table(rows).to_pylist() if rows else [])]


@pytest.fixture(scope="module")
def warehouse(warehouse_of) -> Path:
    """A log of small writes, one of large ones that are aligned, and one of a file for each rank, without a trace."""
    small, large = requests(LOG, 64 * KIB), requests(LARGE, 4 * MIB)
    assert kept(large) == []
    own = [
        {
            "log_id": COUNTED, "file_id": rank, "rank": rank, "write_bytes": MIB, "write_count": 8,
            "open_start_seconds": 1 + rank / 100, "write_end_seconds": 11.0, "close_end_seconds": 11.0,
        }
        for rank in range(150)
    ]  # fmt: skip
    return warehouse_of(
        log=[
            {"log_id": log_id, "job_id": job, "nprocs": nprocs}
            for log_id, job, nprocs in ((LOG, "7", 4), (LARGE, "7", 4), (COUNTED, "8", 150))
        ],
        segment=small + large[:2],
        file_access=[
            {"log_id": log_id, "layer": "posix", "file_id": 1, "op": "write", "request_count": 120} for log_id in (LOG, LARGE)
        ],
        dxt_file=[{"log_id": LOG, "file_id": 1, "rank": rank, "host": f"n{rank // 2}"} for rank in range(4)],
        file_name=[{"log_id": LOG, "file_id": 1, "mount": "/s", "path": "/s/f"}],
        coalescing=kept(small),
        posix_file=own,
    )


def logs_of(answer: Any) -> list[dict[str, Any]]:
    assert 0 == answer.exit_code
    return json.loads(answer.stdout)["logs"]


def test_what_is_kept_is_shown(iomine, warehouse) -> None:
    """Without options each way of the table, and what to set."""
    (log,) = logs_of(iomine("forward", LOG, "--json", "--warehouse", warehouse))
    assert len(kept(requests(LOG, 64 * KIB))) == len(log["forwarding"])
    assert any(
        "would leave 30 of 120 writes of shared files on /s, gathered in collective calls." in text for text in log["says"]
    )
    assert any(
        "romio_cb_write=enable, cb_nodes=1, cb_buffer_size=4194304, striping_unit=4194304" in text for text in log["advice"]
    )


def test_a_trace_gives_what_was_kept_of_it(iomine, warehouse) -> None:
    """Gathered anew, with the stripe that was assumed before, all rows are equal but for where the stripe is known from."""
    shown, anew = (
        logs_of(iomine("forward", LOG, *options, "--json", "--warehouse", warehouse))[0]["forwarding"]
        for options in ((), ("--stripe", "1MiB"))
    )
    for row in (*shown, *anew):
        row.pop("log_id", None)
        assert row.pop("stripe_evidence") in {"assumed", "layout"}
        assert row.pop("merge_mode") in {"blocking", "write_behind"}
    order = sorted(shown, key=str)
    assert order
    assert order == sorted(anew, key=str)


@pytest.mark.parametrize(
    ("options", "count", "left"),
    [
        (("--forwarders", "4", "--window", "1ms"), 4, 120),
        (("--forwarders", "2", "--window", "tick"), 2, 60),
        (("--forwarders", "host", "--window", "tick"), 2, 60),
        (("--forwarders", "1:4", "--window", "1s"), 1, 2),
        (("--forwarders", "1", "--window", "1 s", "--cap", "1MiB"), 1, 8),
    ],
)
def test_options_say_how_to_gather(iomine, warehouse, options, count, left) -> None:
    """Number, window and cap as asked; a way that changes nothing has no row."""
    (log,) = logs_of(iomine("forward", LOG, *options, "--json", "--warehouse", warehouse))
    assert [(count, left)] * (left < 120) == [(row["forwarder_count"], row["left_count"]) for row in log["forwarding"]]


def test_the_window_decides(iomine, warehouse) -> None:
    """It is said whichever window is asked for."""
    answer = iomine("forward", LOG, "--forwarders", "1", "--window", "10ms", "--warehouse", warehouse)
    assert "The window decides: 1 forwarder would leave 2 within 1 s and 15 within 10 ms, of 120 writes" in answer.stdout


@pytest.mark.parametrize("options", [("--forwarders", "3"), ("--cap", "80KiB", "--stripe", "16KiB", "--window", "10ms")])
def test_one_way_that_helps_little_says_nothing_of_others(iomine, warehouse, options) -> None:
    """Three forwarders for four ranks leave most requests, as do short pieces; one forwarder leaves a quarter."""
    answer = iomine("forward", LOG, *options, "--warehouse", warehouse)
    assert "would leave" in answer.stdout
    assert "would not help" not in answer.stdout


def test_nothing_would_change(iomine, warehouse) -> None:
    """Of large requests that are aligned, and of a job each log is shown."""
    answer = iomine("forward", "7", "--warehouse", warehouse)
    assert f"# {LARGE}: Nothing would change:" in answer.stdout
    assert f"# {LOG}: 1 forwarder would leave" in answer.stdout


def test_files_are_gathered_from_counters_alone(iomine, warehouse) -> None:
    """A run that was not traced says how many files and creates, and how fast each writer has to be."""
    (log,) = logs_of(iomine("forward", COUNTED, "--within", "2min", "--json", "--warehouse", warehouse))
    assert log["says"][0].startswith("The effect of forwarders on its requests is unknown")
    assert [13, 1] == [row["left_file_count"] for row in log["files"]]
    first = log["files"][0]
    assert (150, 100, 9, 150 * 8 * 24) == tuple(
        first[name] for name in ("file_count", "peak_create_count", "left_create_count", "index_bytes")
    )
    assert first["forwarder_bytes_per_second"] == pytest.approx(150 * MIB / 13 / 120)
    assert any("ADIOS2 with NumAggregators=13" in text for text in log["advice"])


@pytest.mark.parametrize(
    "options",
    [
        *(("--forwarders", text) for text in ("0", "-1", "nan", "1:0", "1:x", "5", "many", "1e3", "9" * 400)),
        *(("--window", text) for text in ("0s", "-1s", "nan", "inf", "5", "1 week", "", "9" * 400 + "s")),
        *(("--cap", text) for text in ("0MiB", "-4MiB", "nan", "4", "4 parsecs", "1.5MiB", "9" * 400 + "MiB")),
        ("--cap", "4MiB", "--stripe", "3MiB"),
        ("--stripe", "16MiB"),
        ("--within", "0s"),
        ("--within", "60"),
    ],
)
def test_what_makes_no_sense_is_misuse(iomine, warehouse, options) -> None:
    """One sentence, and status 2."""
    answer = iomine("forward", LOG, *options, "--warehouse", warehouse)
    assert (2, "", 1) == (answer.exit_code, answer.stdout, answer.stderr.count("\n"))


def test_hosts_must_be_known(iomine, warehouse) -> None:
    """To have a forwarder on each."""
    answer = iomine("forward", LARGE, "--forwarders", "host", "--warehouse", warehouse)
    assert (2, 1) == (answer.exit_code, answer.stderr.count("\n"))


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Counters of a run at the paper's scale, with a file for each rank."""
    folder = tmp_path_factory.mktemp("paper")
    ranks = np.arange(RANKS)
    ends = np.full(RANKS, 1.0 + SECONDS)
    sizes = np.diff(np.linspace(0, BYTES, RANKS + 1).astype(np.int64))
    tables: dict[str, dict[str, Any]] = {
        "log": {"log_id": [COUNTED], "nprocs": [RANKS]},
        "file_name": {"log_id": [COUNTED] * RANKS, "file_id": ranks, "mount": ["/lustre"] * RANKS},
        "posix_file": {
            "log_id": [COUNTED] * RANKS, "file_id": ranks, "rank": ranks, "write_bytes": sizes, "write_count": np.full(RANKS, 2),
            "open_start_seconds": 1 + ranks / RANKS / 2, "write_end_seconds": ends, "close_end_seconds": ends,
        },
    }  # fmt: skip
    files = {}
    for name, columns in tables.items():
        place = folder / name / "cluster=blue" / f"night={NIGHT}"
        place.mkdir(parents=True)
        count = len(columns["log_id"])
        arrays = [
            pa.array(columns[each.name], each.type) if each.name in columns else pa.nulls(count, each.type)
            for each in arrow_schema(name)
        ]
        pq.write_table(pa.Table.from_arrays(arrays, schema=arrow_schema(name)), place / "0.parquet")
        files[name] = [str(place / "0.parquet")]
    build_catalog(folder / "iomine.duckdb", files, {"triggers": reference_table()}, {})
    return folder


@pytest.mark.proof
def test_the_papers_run_from_counters(iomine, paper) -> None:
    """672 forwarders leave 672 files, and 3.5 MiB/s is what each has to write, known within ten seconds."""
    begun = time.perf_counter()
    answer = iomine("forward", COUNTED, "--forwarders", "672", "--warehouse", paper)
    assert time.perf_counter() - begun < 10
    assert (
        "200,448 ranks wrote 200,448 files of their own on /lustre (415.0 GiB), 200,448 of them created in one second."
        in answer.stdout
    )
    assert "672 forwarders would leave 672 files and 672 creates a second; each has to write 3.55 MiB/s to end" in answer.stdout
    assert "in the 2 min 58 s that it took." in answer.stdout


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory, scheduler: str) -> Path:
    """Two large traces of other machines, swept."""
    if not TRACES.exists():
        pytest.skip(NOT_HERE)
    root = tmp_path_factory.mktemp("traced")
    run(Settings((TRACES,), root, "default", scheduler))
    return root


@pytest.mark.proof
@pytest.mark.parametrize(
    ("name", "op", "says"),
    [
        ("jeanbez_8%", "read", "16 forwarders would leave at best 980 of "),
        (
            "jlbez_IO_test5%",
            "write",
            "The window decides: 16 forwarders would leave 8,827 within 1 s and 37,028 within 10 ms, of 43,904 writes",
        ),
    ],
)
def test_large_traces(iomine, traced, name, op, says) -> None:
    """What other means found of two large traces, and that of the Summit log the window decides."""
    (log_id,) = column(traced, f"SELECT log_id FROM logs WHERE path LIKE '%/{name}'")
    answer = iomine("forward", log_id, "--forwarders", "16", "--window", "1s", "--cap", "4MiB", "--json", "--warehouse", traced)
    (log,) = logs_of(answer)
    (row,) = (row for row in log["forwarding"] if (row["layer"], row["op"]) == ("posix", op))
    assert row["left_count"] == {"read": 980, "write": 8_827}[op]
    assert any(text.startswith(says) for text in log["says"])
    assert database_of(traced).exists()
