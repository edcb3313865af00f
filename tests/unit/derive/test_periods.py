"""How regularly phases come."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import log_of, workloads

from iomine.derive import periods, phase_layers, phases, traces
from iomine.errors import UnreadableError
from iomine.sources.darshan import read_log

# Phases are told to be regular from here on.
_REGULAR = 0.85


def _columns(starts: list[float], written: list[int]) -> dict[str, pa.Array]:
    return {
        "layer": pa.array(["all"] * len(starts)),
        "evidence": pa.array(["trace"] * len(starts)),
        "start_seconds": pa.array(starts, pa.float64()),
        "write_bytes": pa.array(written, pa.int64()),
        "read_bytes": pa.array([0] * len(starts), pa.int64()),
    }


def _rows(columns: dict[str, pa.Array]) -> list[dict[str, object]]:
    found = periods(columns)
    return pa.table(found).to_pylist() if found else []


@given(st.integers(3, 20), st.integers(1, 1000), st.integers(0, 100))
def test_equal_distances_are_a_period(count: int, period: int, first: int) -> None:
    """Phases at equal distances have that period, with full confidence."""
    (row,) = _rows(_columns([float(first + period * at) for at in range(count)], [1] * count))
    expected = {"layer": "all", "op": "write", "evidence": "trace", "io_phase_count": count}
    assert expected | {"period_seconds": float(period), "period_confidence_ratio": 1.0} == row


@pytest.mark.parametrize(
    ("starts", "period", "confidence"),
    [
        ([0.0, 10.0, 20.0, 40.0, 50.0, 60.0], 10.0, 1.0),
        ([0.0, 1.0, 11.0, 31.0], 10.0, 0.1),
        ([0.0, 8.0, 18.0, 30.0], 10.0, 0.8),
        ([5.0, 5.0, 5.0], 0.0, 0.0),
    ],
    ids=["one is missing", "no rhythm", "a loose rhythm", "all at once"],
)
def test_irregular_distances(starts: list[float], period: float, confidence: float) -> None:
    """The median distance is the period, and the less others are like it the less sure it is."""
    (row,) = _rows(_columns(starts, [1] * len(starts)))
    assert (period, pytest.approx(confidence)) == (row["period_seconds"], row["period_confidence_ratio"])


def test_two_phases_have_no_period() -> None:
    """It takes three phases with bytes of one direction; those without do not count."""
    assert [] == _rows(_columns([0.0, 1.0, 2.0], [1, 0, 1]))
    assert [] == _rows({})


def test_known_programs(shared_data: Path) -> None:
    """At least 19 of 20 programs that are called regular are periodic ones, and as many of the periodic ones are called so."""
    claims: list[tuple[bool, bool]] = []
    for workload in workloads():
        try:
            log = read_log(log_of(workload))
        except UnreadableError:
            continue
        rows = _rows(phases(phase_layers(log.tables, traces(log.tables)), log.job.run_seconds))
        sure = {row["op"]: row["period_confidence_ratio"] for row in rows if row["layer"] == "all"}
        for op, label in (("write", "periodic_writes"), ("read", "periodic_reads")):
            if workload["truth"].get(label) is not None:
                claims.append((workload["truth"][label], sure.get(op, 0.0) > _REGULAR))
    right = sum(known and said for known, said in claims)
    assert right > 80
    assert right / sum(said for _, said in claims) >= 0.95
    assert right / sum(known for known, _ in claims) >= 0.95
