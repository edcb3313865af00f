"""What layers moved and how fast, held against Darshan's own accumulators."""

import datetime as dt
from contextlib import ExitStack
from pathlib import Path

import darshan
import pandas as pd
import pytest
from darshan.backend.cffi_backend import accumulate_records
from shared import NOT_HERE, darshan_rows, log_of

from iomine.pipeline.ingest.rows import RowSinks, rows_of
from iomine.sources.darshan import read_log
from iomine.views.catalog import build_catalog
from iomine.views.query import ask

LAYERS = {"POSIX": "posix", "MPI-IO": "mpiio", "STDIO": "stdio"}
# Enough of all that is there, in seconds.
LARGEST_BYTES = 60_000


@pytest.mark.proof
def test_layers_agree_with_darshans_accumulators(tmp_path: Path) -> None:
    """Bytes, the slowest rank's time and the estimate of performance are those that darshan-util works out, log by log."""
    rows = [row for row in darshan_rows() if row["pydarshan_3_5_0"] == "ok" and "dask-polaris" not in row["file"]]
    paths = {path.resolve(): None for path in map(log_of, rows) if path.stat().st_size < LARGEST_BYTES}
    if not paths:
        pytest.skip(NOT_HERE)
    logs = {log.log_id: (log, path) for path in paths for log in [read_log(path)]}
    got, special = layers_of(logs, tmp_path)
    assert special
    compared = 0
    for log_id, (_, path) in logs.items():
        report = darshan.DarshanReport(str(path), read_all=False)
        nprocs = report.metadata["job"]["nprocs"]
        for module in LAYERS.keys() & report.modules.keys():
            report.mod_read_all_records(module)
            if not len(report.records[module]):
                continue
            records = storage_records(report.records[module].to_df(), special.get(log_id, set()))
            if records["counters"].empty:
                assert (log_id, LAYERS[module]) not in got
                continue
            # A negative number of bytes or seconds, as an old Darshan wrote it, is no measurement to us.
            if any((frame.filter(regex="_BYTES_|_TIME$") < 0).any(axis=None) for frame in records.values()):
                continue
            metrics = accumulate_records(records, module, nprocs).derived_metrics
            layer = got[log_id, LAYERS[module]]
            reported = (
                layer["read_bytes"] + layer["write_bytes"],
                layer["slowest_io_seconds"],
                layer["moved_bytes_per_second"] or 0.0,
            )
            expected = metrics.total_bytes, metrics.agg_time_by_slowest, metrics.agg_perf_by_slowest * 1024**2
            assert expected == pytest.approx(reported, rel=1e-9), f"{path} {module}"
            compared += 1
    assert compared > len(logs)


def storage_records(frames: dict[str, pd.DataFrame], special: set[int]) -> dict[str, pd.DataFrame]:
    """Counters of files on storage: what is none of it, such as standard streams, is in no layer's sums."""
    return {
        name: frame[[int(each) not in special for each in frame["id"]]].reset_index(drop=True) for name, frame in frames.items()
    }


def layers_of(logs, folder: Path) -> tuple[dict[tuple[str, str], dict[str, float]], dict[str, set[int]]]:
    """Layers by log and name, and the ids of special files by log."""
    with ExitStack() as stack:
        sinks = RowSinks(folder, "x", dt.date(2024, 4, 18), stack)
        for log, path in logs.values():
            sinks.write([log.log_id], rows_of([(log, str(path))]))
        sinks.finish()
    files: dict[str, list[str]] = {}
    for table, path, _, _ in sinks.files():
        files.setdefault(table, []).append(str(path))
    build_catalog(folder / "iomine.duckdb", files, {}, {})
    rows = ask(folder / "iomine.duckdb", "FROM feature.log_layer").to_pylist()
    special: dict[str, set[int]] = {}
    for row in ask(folder / "iomine.duckdb", "SELECT log_id, file_id FROM special_files").to_pylist():
        special.setdefault(row["log_id"], set()).add(row["file_id"] % 2**64)
    return {(row["log_id"], row["layer"]): row for row in rows}, special
