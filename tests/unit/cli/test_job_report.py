"""A job of many logs: one page, one entry of a mail, one row of `jobs`, and one sum in all of them."""

import datetime as dt
import email
import email.policy
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browser import chromium
from hypothesis import given, settings
from hypothesis import strategies as st
from outline import Outline

from iomine.report.job import Job, JobPlace, job_of_page, job_page_name
from iomine.report.job_page import launches_picture
from iomine.units import core_hours

START = dt.datetime(2024, 4, 18, 8, tzinfo=dt.UTC)
FORGED = 999
COSTS = [1234.567 + 77.7 * number for number in range(30)]


def _log(number: int, job_id: str, start_seconds: float, process_count: int) -> dict[str, object]:
    start_at = START + dt.timedelta(seconds=start_seconds)
    return {
        "log_id": f"{number:016x}", "job_id": job_id, "uid": 1, "owner_uid": 1, "name_uid": 1, "user": "ada", "app": "solve",
        "application": "solve", "nprocs": process_count, "start_at": start_at, "end_at": start_at + dt.timedelta(seconds=60),
        "run_seconds": 60.0, "io_core_seconds": 30.0 * process_count,
    }  # fmt: skip


def _finding(number: int, cost: float) -> dict[str, object]:
    words = {"finding": f"Finding {number} of a log.", "advice": "Open less. Then more."}
    shared = {"ruleset": "iomine", "code": "POSIX-301", "level": "high", "state": "fired", "cause_code": "POSIX-301"}
    return shared | words | {"log_id": f"{number:016x}", "cost_core_seconds": cost, "charged_core_seconds": cost}


@pytest.fixture(scope="module")
def pipeline(warehouse_of) -> Path:
    """A job of thirty launches one after the other, and one of twenty processes with a log each, both with accounting.

    Another user wrote a log with a large finding that names the first job and its user.
    """
    logs = [_log(number, "77", 100 * number, 64) for number in range(30)]
    logs += [_log(100 + number, "88", number, 1) for number in range(20)]
    logs.append(_log(FORGED, "77", 50, 64))
    jobs = [
        {"job_id": job_id, "user": "ada", "start_at": START, "end_at": START + dt.timedelta(hours=2), "run_seconds": 7200}
        for job_id in ("77", "88")
    ]
    return warehouse_of(
        log=logs,
        verdict=[*(_finding(number, cost) for number, cost in enumerate(COSTS)), _finding(FORGED, 1e6) | {"finding": "Forged."}],
        job=jobs,
        owner_doubt=[{"log_id": f"{FORGED:016x}", "reason": "its file is of uid 1002, its record of uid 1"}],
        app_night=[{"application": "solve"}],
    )


def _page(iomine, warehouse: Path, job_id: str, tmp_path: Path) -> str:
    file = tmp_path / "job.html"
    assert 0 == iomine("report", job_id, "--warehouse", warehouse, "--standalone", file).exit_code
    return file.read_text()


def test_costs_agree_in_sql_on_the_page_and_in_the_mail(iomine, pipeline: Path, tmp_path: Path) -> None:
    """`jobs`, the page, and the mail to its user have the same sum, to the printed digit; the mail has one entry."""
    sql = "SELECT cost_core_seconds FROM jobs WHERE job_id = '77'"
    (row,) = json.loads(iomine("sql", sql, "--format", "json", "--warehouse", pipeline).stdout)
    assert pytest.approx(sum(COSTS)) == row["cost_core_seconds"]
    whole = core_hours(row["cost_core_seconds"])
    text = Outline(_page(iomine, pipeline, "77", tmp_path)).text
    assert f"to fix costs {whole}" in text
    assert f"{whole}, " in text
    assert "in 30 of 30 logs" in text
    assert "Forged" not in text
    assert "1 log that another user wrote names this job, and is left out" in text
    assert 0 == iomine("digest", "--outbox", tmp_path / "mails", "--dry-run", "--user", "ada", "--warehouse", pipeline).exit_code
    (mail,) = (tmp_path / "mails").rglob("*.eml")
    message = email.message_from_bytes(mail.read_bytes(), policy=email.policy.default)
    said = " ".join(message.get_body(("plain",)).get_content().split())
    assert f"nights of 5 to 18 April 2024, what was found in your runs cost {whole}" in said
    assert re.search(rf"{re.escape(whole)}, in 30 of 50 runs of job 77", said)
    assert "/job.blue.77.html" in said
    assert 1 == len(re.findall(r"Do this:", said))


def test_processes_of_one_command_are_one_launch(iomine, pipeline: Path, tmp_path: Path) -> None:
    """Twenty processes that each wrote a log are one launch with twenty logs; thirty launches are drawn as thirty marks."""
    assert "1 launch with 20 logs." in _page(iomine, pipeline, "88", tmp_path)
    page = _page(iomine, pipeline, "77", tmp_path)
    assert "30 launches." in page
    assert 30 == page.count('<rect class="whole"')
    # They run one after the other, so there is one lane, which has the program's name.
    assert ["solve"] == re.findall('text-anchor="end">([^<]*)</text>', page)


@given(cluster=st.text(min_size=1, max_size=20), job_id=st.text(min_size=1, max_size=20))
def test_names_of_pages_lead_back_to_their_jobs(cluster: str, job_id: str) -> None:
    """Whatever a job is called, its page has a plain name from which the job follows."""
    name = job_page_name(cluster, job_id)
    if name is not None:
        assert re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", name)
        assert (cluster, job_id) == job_of_page(name)


def test_job_with_small_findings_alone_says_that_none_costs_much(iomine, warehouse_of, tmp_path: Path) -> None:
    """Under what to change there is a sentence, also where all that was found costs less than a hundredth of the job."""
    cheap = warehouse_of(log=[_log(1, "99", 0, 64), _log(2, "99", 100, 64)], verdict=[_finding(1, 0.5)])
    text = " ".join(Outline(_page(iomine, cheap, "99", tmp_path)).text.split())
    assert "What to change No findings that cost 1% of the job's time. Also seen" in text


def test_only_launches_with_findings_are_linked(iomine, pipeline: Path, tmp_path: Path) -> None:
    """Sweeps write reports of logs with findings: a launch without any is named, and leads nowhere."""
    linked = {}
    for job_id in ("77", "88"):
        assert 0 == iomine("report", job_id, "--warehouse", pipeline, "--out", tmp_path).exit_code
        page = (tmp_path / f"job.blue.{job_id}.html").read_text()
        linked[job_id] = set(re.findall(r'href="([0-9a-f]{16})[.]html', page))
    assert {"77": {f"{number:016x}" for number in range(30)}, "88": set()} == linked
    assert f"<code>{100:016x}</code>" in page


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 99), st.integers(1, 99)), min_size=1, max_size=40), st.integers(0, 100))
def test_launches_that_ran_at_the_same_time_do_not_hide_each_other(spans: list[tuple[int, int]], at_once: int) -> None:
    """However many ran at once, a launch has a lane of its own for as long as it ran."""
    spans = [*spans, *[(50, 9)] * at_once]
    launches: list[dict[str, Any]] = [
        _log(number, "55", start, 1) | {"run_seconds": float(seconds)} for number, (start, seconds) in enumerate(spans)
    ]
    for launch in launches:
        launch |= {"end_at": launch["start_at"] + dt.timedelta(seconds=launch["run_seconds"]), "run_core_seconds": 60.0}
        launch |= {"cost_core_seconds": None}
    launches.sort(key=lambda launch: launch["start_at"])
    picture = launches_picture(Job(JobPlace("blue", "55", START.date(), START.date()), {}, launches, []))
    marks = re.findall(r'<rect class="whole" x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)"', picture)
    assert len(launches) == len(marks)
    lanes: dict[str, list[tuple[float, float]]] = {}
    for left, top, width in marks:
        lanes.setdefault(top, []).append((float(left), float(left) + float(width)))
    # Coordinates are rounded to tenths, and a mark that begins at the end is moved to where it can be seen.
    assert all(before <= left + 0.2 for ends in lanes.values() for (_, before), (left, _) in pairwise(sorted(ends)))


def test_launches_of_long_names_fit_a_screen(iomine, warehouse_of, tmp_path: Path) -> None:
    """A table of launches is as wide as the page: costs are read without moving it sideways."""
    programs = [_log(number, "66", 100 * number, 64) | {"application": "multiprocessing.resource_tracker"} for number in range(2)]
    small = warehouse_of(log=programs, verdict=[_finding(0, 0.5), _finding(1, 0.5)])
    _page(iomine, small, "66", tmp_path)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto((tmp_path / "job.html").as_uri())
        assert page.evaluate(
            "(({offsetWidth, parentElement}) => offsetWidth <= parentElement.clientWidth)(document.querySelector('#run table'))"
        )
