"""Storms of creates, in logs of programs of which it is known how many files they create within a second."""

from pathlib import Path
from typing import Any

import pytest
from create_storms import FIRST_FLUSH, FLUSHES, STORMS, write_storms
from sweeping import judge_by, rows, write_no_reports

from iomine.pipeline.sweep import Settings, run

pytestmark = pytest.mark.proof

Row = dict[str, Any]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the logs, judged by FILE-103 and POSIX-303."""
    folder, warehouse = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("warehouse")
    write_storms(folder)
    with pytest.MonkeyPatch.context() as patch:
        judge_by(patch, "FILE-103", "POSIX-303")
        write_no_reports(patch)
        run(Settings((folder,), warehouse, workers=1))
    return warehouse


@pytest.fixture(scope="module")
def verdicts(warehouse: Path) -> dict[tuple[int, str], Row]:
    """Verdicts by number of the program and code."""
    query = "SELECT job_id, code, state, verdicts.level, value, reason FROM verdicts JOIN logs USING (log_id)"
    return {(int(row["job_id"]) - 1, row["code"]): row for row in rows(warehouse, query)}


@pytest.mark.parametrize("number", range(len(STORMS)), ids=[storm.label for storm in STORMS])
def test_a_storm_is_found_where_there_is_one(number: int, verdicts: dict[tuple[int, str], Row]) -> None:
    """State and level are what is true of the program, and the value is the files of its busiest second."""
    storm, verdict = STORMS[number], verdicts[number, "FILE-103"]
    assert (storm.state, float(storm.peak)) == (verdict["state"], verdict["value"])
    assert storm.state != "fired" or storm.level == verdict["level"]
    assert (storm.state == "unknown") == (verdict["reason"] is not None)


def test_a_short_storm_in_a_long_run_is_found_by_this_trigger_alone(verdicts: dict[tuple[int, str], Row]) -> None:
    """The rate from the first open to the last close is that of no storm."""
    assert ("fired", "clear") == (verdicts[0, "FILE-103"]["state"], verdicts[0, "POSIX-303"]["state"])


def test_the_first_flush_is_the_burst(warehouse: Path) -> None:
    """Of several flushes by 8,640 ranks, all creates are in the second in which the first one begins."""
    number = [storm.label for storm in STORMS].index(FIRST_FLUSH)
    flushes = rows(
        warehouse,
        "SELECT start_seconds, end_seconds, phases.write_bytes FROM phases JOIN logs USING (log_id) "
        f"WHERE job_id = '{number + 1}' AND layer = 'all' ORDER BY start_seconds",
    )
    (burst,) = rows(warehouse, f"FROM create_bursts WHERE job_id = '{number + 1}'")
    (seconds,) = rows(warehouse, f"FROM create_seconds WHERE job_id = '{number + 1}'")
    assert FLUSHES == len(flushes)
    assert 1 == len({flush["write_bytes"] for flush in flushes})
    assert 8640 == burst["created_file_count"] == burst["peak_create_count"] == seconds["create_count"]
    assert flushes[0]["start_seconds"] <= burst["peak_start_seconds"] < flushes[0]["end_seconds"]
    assert (burst["peak_at"] - seconds["create_at"]).total_seconds() < 1


def test_the_seconds_of_a_night_add_up(warehouse: Path) -> None:
    """What all logs created in a second, by the facility's view, is each dated file once, with the jobs that created it."""
    (answer,) = rows(
        warehouse,
        """
        SELECT
            (SELECT sum(create_count) FROM facility_creates) AS facility, (SELECT sum(create_count) FROM create_seconds) AS logs,
            (SELECT sum(created_file_count - undated_create_count) FROM create_bursts) AS bursts,
            (SELECT count(*) FROM facility_creates WHERE len(job_ids) <> job_count) AS misnamed
        """,
    )
    created = (3000 + 1) * 2 + 8640 + (1001 + 1) + (1000 + 1) + 2 * 6000 + 1 + 600 + 600 + 1
    assert {"facility": created, "logs": created, "bursts": created, "misnamed": 0} == answer


def test_programs_have_names_of_their_own() -> None:
    """A table names each program once."""
    assert len(STORMS) == len({storm.label for storm in STORMS})
