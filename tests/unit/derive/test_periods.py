"""How regularly phases come."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from heat_bins import heat_bins
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shared import log_of, workloads
from tables import columns, rows_of

from iomine.derive import periods, phase_layers, phases, traces
from iomine.derive.periods import _by_starts
from iomine.derive.trace import Tables
from iomine.errors import UnreadableError
from iomine.sources.darshan import read_log

# Phases count as regular from here on.
_REGULAR = 0.85


def _traced(starts: list[float], written: list[int], seconds: float = 0.25) -> Tables:
    """A trace with one request in each phase."""
    rows = [
        {"layer": "posix", "op": "write" if moved else "read", "length_bytes": moved or 1, "start_seconds": start}
        | {"end_seconds": start + seconds}
        for start, moved in zip(starts, written, strict=True)
    ]
    return {"segment": [columns("segment", rows)]}


def _mapped(bins: list[int], bin_seconds: float) -> Tables:
    """A heat map of writes."""
    row = {"layer": "posix", "bin_seconds": bin_seconds, "bin_count": len(bins), **heat_bins(write=bins)}
    return {"heatmap_rank": [columns("heatmap_rank", [row])]}


def _rows(tables: Tables) -> list[dict[str, Any]]:
    """Rows of the whole log."""
    found = phases(phase_layers(tables, traces(tables)), None)
    return [row for row in rows_of(periods(found, tables, traces(tables))) if row["layer"] == "all"]


# The first loads SciPy.
@settings(deadline=None)
@given(st.integers(3, 20), st.integers(1, 1000), st.integers(0, 100))
# Distances of no whole number of bins: the spectrum saw two of them as one.
@example(5, 32, 0)
@example(9, 16, 0)
def test_equal_distances_are_a_period(count: int, period: int, first: int) -> None:
    """Phases at equal distances have that period, with full confidence; the spectrum says the same."""
    (row,) = _rows(_traced([float(first + period * at) for at in range(count)], [1] * count))
    assert ("write", "trace", count, "starts") == (row["op"], row["evidence"], row["io_phase_count"], row["period_method"])
    assert (float(period), 1.0) == (row["period_seconds"], row["period_confidence_ratio"])
    assert row["spectrum_period_seconds"] == pytest.approx(period, rel=0.1, abs=0.1)


@pytest.mark.parametrize(
    ("starts", "period", "confidence"),
    [
        ([0.0, 10.0, 20.0, 40.0, 50.0, 60.0], 10.0, 1.0),
        ([0.0, 1.0, 11.0, 31.0], 10.0, 0.1),
        ([0.0, 8.0, 18.0, 30.0], 10.0, 0.8),
    ],
    ids=["one is missing", "no rhythm", "a loose rhythm"],
)
def test_irregular_distances(starts: list[float], period: float, confidence: float) -> None:
    """The median distance is the period, and the less others are like it the less sure it is."""
    (row,) = _rows(_traced(starts, [1] * len(starts)))
    assert (period, pytest.approx(confidence)) == (row["period_seconds"], row["period_confidence_ratio"])


def test_phases_that_start_at_once() -> None:
    """Phases without a distance, as unsound rows may say, have no rhythm."""
    assert (0.0, 0.0) == _by_starts(np.array([5.0, 5.0, 5.0]))


def test_two_phases_have_no_period() -> None:
    """It takes three phases with bytes of one direction; those without do not count."""
    assert [] == _rows(_traced([0.0, 1.0, 2.0], [1, 0, 1]))
    assert [] == _rows({})


def test_a_direction_that_only_heat_maps_know() -> None:
    """Reads of a heat map have a period too where only writes were traced, and are not of the trace's layer."""
    row = {"layer": "posix", "bin_seconds": 1.0, "bin_count": 7, **heat_bins(read=[1, 0, 0, 1, 0, 0, 1])}
    record = {"read_bytes": 1 << 40, "write_bytes": 1}
    tables = dict(_traced([0.0, 3.0, 6.0], [1, 1, 1])) | {
        "heatmap_rank": [columns("heatmap_rank", [row])],
        "posix_file": [columns("posix_file", [record])],
    }
    assert [("read", "heatmap", 3.0)] == [(row["op"], row["evidence"], row["period_seconds"]) for row in _rows(tables)]


def test_a_trace_of_mpiio_alone() -> None:
    """Phases of MPI-IO have a period where POSIX has a heat map and no trace."""
    rows = [
        {"layer": "mpiio", "op": "write", "length_bytes": 1, "start_seconds": start, "end_seconds": start + 0.25}
        for start in (0.0, 3.0, 6.0)
    ]
    tables = dict(_mapped([1, 0, 0, 1, 0, 0, 1], 1.0)) | {"segment": [columns("segment", rows)]}
    assert [("write", "trace", 3.0)] == [(row["op"], row["evidence"], row["period_seconds"]) for row in _rows(tables)]


def test_heat_maps_resolve_the_period_between_bins() -> None:
    """Bursts every 4.5 bins start at 4 or 5 bins' distance; the spectrum has the same period more finely, and is reported."""
    bins = np.histogram(np.arange(12) * 4.5 + 0.1, np.arange(52))[0].tolist()
    (row,) = _rows(_mapped(bins, 2.0))
    assert ("spectrum", 12) == (row["period_method"], row["io_phase_count"])
    assert row["period_seconds"] == row["spectrum_period_seconds"] == pytest.approx(9.0, rel=0.03)


def test_bursts_without_gaps_have_a_period() -> None:
    """Bytes that swell and fade and never cease are one phase; the spectrum has their period."""
    swell = [100 + round(90 * math.sin(2 * math.pi * at / 10)) for at in range(100)]
    (row,) = _rows(_mapped(swell, 0.1))
    assert ("spectrum", 1) == (row["period_method"], row["io_phase_count"])
    assert row["period_seconds"] == pytest.approx(1.0, rel=0.03)


def test_a_steady_stream_has_no_period() -> None:
    """One phase in which bytes come evenly gives no row."""
    assert [] == _rows(_mapped([100, 101, 99, 100, 102, 100, 98, 100, 101, 100, 99, 100], 0.1))


@given(st.lists(st.floats(), min_size=1, max_size=8), st.lists(st.floats(), min_size=1, max_size=8))
def test_hostile_times(starts: list[float], ends: list[float]) -> None:
    """Whatever times a trace claims, periods are finite and not negative, or there are none."""
    rows = [
        {"layer": "posix", "op": "write", "length_bytes": 1 << 62, "start_seconds": start, "end_seconds": end}
        for start, end in zip(starts, ends, strict=False)
    ]
    for row in _rows({"segment": [columns("segment", rows)]}):
        assert 0 <= row["period_seconds"] < math.inf
        assert 0 <= row["period_confidence_ratio"] <= 1


@given(st.lists(st.integers(0, 1 << 62), min_size=1, max_size=30), st.floats(0, exclude_min=True, allow_infinity=False))
def test_hostile_bins(bins: list[int], bin_seconds: float) -> None:
    """Whatever bins a heat map claims, periods are finite and not negative, or there are none."""
    for row in _rows(_mapped(bins, bin_seconds)):
        assert 0 <= row["period_seconds"] < math.inf
        assert 0 <= row["period_confidence_ratio"] <= 1


def test_known_programs(shared_data: Path) -> None:
    """At least 19 of 20 programs that are called regular are periodic ones, and as many of the periodic ones are called so."""
    claims: list[tuple[bool, bool]] = []
    for workload in workloads():
        try:
            log = read_log(log_of(workload))
        except UnreadableError:
            continue
        sure = {row["op"]: row["period_confidence_ratio"] for row in _rows(log.tables)}
        for op, label in (("write", "periodic_writes"), ("read", "periodic_reads")):
            if workload["truth"].get(label) is not None:
                claims.append((workload["truth"][label], sure.get(op, 0.0) > _REGULAR))
    right = sum(known and said for known, said in claims)
    assert right > 80
    assert right / sum(said for _, said in claims) >= 0.95
    assert right / sum(known for known, _ in claims) >= 0.95
