"""`iomine worst`."""

import datetime as dt
import json
from pathlib import Path

import pytest

from iomine.views.query import ask

MAY = dt.date(2024, 5, 1)


def _sum(user: str | None, **values: object) -> dict[str, object]:
    usual = {
        "uid": 7,
        "app": "a.out",
        "log_count": 1,
        "finding_count": 0,
        "run_core_seconds": 100.0,
        "timed_core_seconds": 100.0,
        "io_core_seconds": 10.0,
        "read_bytes": 1,
        "write_bytes": 1,
    }
    return usual | {"user": user} | values


@pytest.fixture(scope="module")
def busy(warehouse_of) -> Path:
    """Three users: one with findings, one with much I/O on slow servers, one with many bytes and no name."""
    return warehouse_of(
        app_night=[
            _sum("ann", io_core_seconds=20.0, finding_count=2, cost_core_seconds=17.0, doubtful_log_count=1)
            | {"facility_cost_core_seconds": 3.0},
            _sum("ann", io_core_seconds=5.0, finding_count=1, cost_core_seconds=4.0, account="phys", night=MAY),
            _sum("bob", io_core_seconds=90.0, uid=8, night=MAY, cost_core_seconds=30.0, facility_cost_core_seconds=30.0),
            _sum(None, io_core_seconds=1.0, uid=9, read_bytes=10**15, night=MAY, cluster="red"),
        ],
    )


def _named(iomine, busy: Path, *arguments: str) -> list[dict[str, object]]:
    answer = iomine("worst", *arguments, "--format", "json", "--warehouse", busy)
    assert (answer.exit_code, answer.stderr) == (0, "")
    return json.loads(answer.stdout)


@pytest.mark.parametrize(
    ("order", "expected"), [("cost", [7, 8, 9]), ("io", [8, 7, 9]), ("findings", [7, 8, 9]), ("bytes", [9, 7, 8])]
)
def test_offenders_are_ranked_as_asked(iomine, busy: Path, order: str, expected: list[int]) -> None:
    """Each order puts another first; those without any come after, by their I/O."""
    assert expected == [row["uid"] for row in _named(iomine, busy, "--by", order)]


def test_offender_is_summed_up(iomine, busy: Path) -> None:
    """An offender's logs, findings, times and bytes are summed over nights and accounts."""
    expected = {
        "user": "ann",
        "uid": 7,
        "app": "a.out",
        "log_count": 2,
        "io_core_seconds": 25.0,
        "run_core_seconds": 200.0,
        "io_ratio": 0.125,
        "finding_count": 3,
        "cost_core_seconds": 21.0,
        "facility_cost_core_seconds": 3.0,
        "read_bytes": 2,
        "write_bytes": 2,
        "first_night": "2024-04-18",
        "last_night": "2024-05-01",
        "doubtful_log_count": 1,
    }
    assert expected == _named(iomine, busy)[0]


def test_all_nights_answer_as_the_view_does(iomine, busy: Path) -> None:
    """Without a date the command says what the view worst_offenders says, except for what that has of the last nights."""
    reported = _named(iomine, busy)
    columns = ", ".join(f'"{name}"' for name in reported[0])
    dated = "REPLACE (first_night::TEXT AS first_night, last_night::TEXT AS last_night)"
    view = ask(busy / "iomine.duckdb", f"SELECT * {dated} FROM (SELECT {columns} FROM worst_offenders)")
    assert view.to_pylist() == reported


def test_since_leaves_earlier_nights_out(iomine, busy: Path) -> None:
    """Logs and findings of nights before the date do not count."""
    rows = _named(iomine, busy, "--since", "2024-05-01", "--by", "cost")
    assert [(row["uid"], row["log_count"], row["finding_count"], row["cost_core_seconds"]) for row in rows] == [
        (7, 1, 1, 4.0),
        (8, 1, 0, 30.0),
        (9, 1, 0, None),
    ]


def test_cluster_and_limit_narrow_the_answer(iomine, busy: Path) -> None:
    """Only logs of the named machine are ranked, and no more offenders named than asked for."""
    assert [row["uid"] for row in _named(iomine, busy, "--cluster", "red")] == [9]
    assert [row["uid"] for row in _named(iomine, busy, "--limit", "1")] == [7]


def test_date_that_is_none_is_misuse(iomine, busy: Path) -> None:
    """A date is written year first."""
    assert iomine("worst", "--since", "1.5.2024", "--warehouse", busy).exit_code == 2
