"""Simulated logs are logs, to PyDarshan and to our own reader, and hold what the truth says."""

from collections.abc import Iterator
from typing import Any

import darshan
import numpy as np
import pytest
from simulated import Facility

from iomine.derive import totals
from iomine.simulate.archetypes import ARCHETYPES
from iomine.sources.darshan import read_log

_LOWEST = ("POSIX", "STDIO")


def samples(facility: Facility) -> Iterator[dict[str, Any]]:
    """Two logs of each archetype, one traced where there is one."""
    for archetype in ARCHETYPES:
        logs = [log for log in facility.logs if log["archetype"] == archetype]
        yield from {log["log"]: log for log in [*logs[:1], *[log for log in logs if log["has_trace"]][:1]]}.values()


@pytest.mark.proof
def test_all_archetypes_occur(facility: Facility) -> None:
    """A facility of some size has logs of every archetype but the one that is there for those who ask for it."""
    assert set(ARCHETYPES) - {"trace_flush"} == {log["archetype"] for log in facility.logs}


@pytest.mark.filterwarnings("ignore")
def test_pydarshan_reads_what_is_true(facility: Facility) -> None:
    """PyDarshan opens logs of every archetype, and its counters, heat maps and traces are the truth's numbers."""
    for log in samples(facility):
        report = darshan.DarshanReport(str(facility.path(log)), read_all=True)
        assert log["nprocs"] == report.metadata["job"]["nprocs"]
        assert int(log["job_id"]) == report.metadata["job"]["jobid"]
        assert np.isclose(log["run_seconds"], report.metadata["job"]["run_time"], atol=1e-5)
        assert log["application"] == report.metadata["exe"]
        sums = {"read": 0, "written": 0}
        for module in _LOWEST:
            if module in report.records:
                counters = report.records[module].to_df()["counters"]
                sums["read"] += int(counters[f"{module}_BYTES_READ"].sum())
                sums["written"] += int(counters[f"{module}_BYTES_WRITTEN"].sum())
        assert {"read": log["read_bytes"], "written": log["write_bytes"]} == sums
        assert log["has_heatmap"] == bool(report.heatmaps)
        if log["has_heatmap"]:
            heat = sum(
                int(heat.to_df(["read", "write"]).to_numpy().sum()) for name, heat in report.heatmaps.items() if name in _LOWEST
            )
            assert sum(sums.values()) == heat
        if log["has_trace"] and "DXT_POSIX" in report.records:
            frames = [
                frame
                for record in report.records["DXT_POSIX"].to_df()
                for frame in (record["read_segments"], record["write_segments"])
            ]
            posix = report.records["POSIX"].to_df()["counters"]
            moved = sum(int(frame["length"].sum()) for frame in frames if len(frame))
            assert int(posix["POSIX_BYTES_READ"].sum() + posix["POSIX_BYTES_WRITTEN"].sum()) == moved


def test_our_reader_finds_nothing_wrong(facility: Facility) -> None:
    """Every module of every log is read whole, and its sums are the truth's."""
    for log in facility.logs:
        read = read_log(facility.path(log))
        assert "" == read.doubt + read.job.doubt
        assert {"read"} == {module.state for module in read.modules}
        found = totals(read.tables)
        assert (log["read_bytes"], log["write_bytes"], log["nprocs"], log["user"]) == (
            *found.read_bytes,
            *found.write_bytes,
            read.job.nprocs,
            read.user,
        )


def test_requests_lie_within_the_run(facility: Facility) -> None:
    """No request ends after the run, and none takes less than no time."""
    for log in facility.logs:
        for part in read_log(facility.path(log)).tables.get("posix_file", ()):
            ends = [part[f"{op}_end_seconds"].to_numpy() for op in ("read", "write", "close")]
            assert max(float(column.max()) for column in ends) <= log["run_seconds"] + 1e-6
            assert all((part[f"{op}_seconds"].to_numpy() >= 0).all() for op in ("read", "write", "meta"))


def test_logs_are_as_old_as_their_runs(facility: Facility) -> None:
    """Files carry the time at which their run ended, not that of the simulation."""
    for log in facility.logs[:20]:
        read = read_log(facility.path(log))
        assert int(read.job.end_at.timestamp()) == int(facility.path(log).stat().st_mtime)
