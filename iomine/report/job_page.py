"""A job of several logs as a page: what it cost, why, and when its launches ran."""

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape

from iomine.report.causes import core_time
from iomine.report.job import Job
from iomine.report.page import plain, rendered
from iomine.report.pictures import MOST_MARKS, marks_by_time
from iomine.units import fine_seconds, percent
from iomine.views.answers import Row

if TYPE_CHECKING:
    from datetime import datetime

# Of launches, as many lines as are read; SQL has all.
_MOST_LISTED: Final = 50


def job_page(job: Job, *, standalone: bool = False) -> str:
    """The page of a job.

    Args:
        job: what is known of it.
        standalone: whether the page is to need no other file.
    """
    causes = job.merged()
    cost, whole = job.total("cost_core_seconds"), job.total("run_core_seconds")
    listed = sorted(job.launches, key=lambda launch: (-(launch["cost_core_seconds"] or 0.0), -(launch["io_core_seconds"] or 0.0)))
    return rendered(
        "job.html.j2",
        standalone=standalone,
        job=job,
        first=job.launches[0],
        applications=list(dict.fromkeys(launch["application"] or launch["app"] for launch in job.launches)),
        charged=cost,
        charged_ratio=cost / whole if cost is not None and whole else None,
        run_core_seconds=whole,
        causes=[cause for cause in causes if not cause.is_small],
        small_causes=[cause for cause in causes if cause.is_small],
        listed=listed[:_MOST_LISTED],
        launches_picture=launches_picture,
        most_marks=MOST_MARKS,
    )


def launches_picture(job: Job) -> Markup:
    """Launches by time: a mark from start to end, of which the part that is dark went into I/O."""
    known = [launch for launch in job.launches if launch["start_at"] and launch["end_at"]]
    if not known or not job.seconds or job.start_at is None:
        return Markup("")
    lanes = _lanes(known)
    marks = [
        (
            (launch["start_at"] - job.start_at).total_seconds(),
            max(0.0, launch["run_seconds"]),
            lane,
            min(1.0, (launch["io_core_seconds"] or 0.0) / launch["run_core_seconds"]) if launch["run_core_seconds"] else 0.0,
            _says(launch, job),
        )
        for launch, lane in zip(known, lanes, strict=True)
    ]
    programs: dict[int, set[str]] = {}
    for launch, lane in zip(known, lanes, strict=True):
        programs.setdefault(lane, set()).add(launch["application"] or launch["app"] or "unnamed")
    names = {lane: next(iter(found)) for lane, found in programs.items() if len(found) == 1}
    return marks_by_time(marks, names, job.seconds, "When the job's launches ran; the table below has those that cost most.")


def _lanes(launches: Sequence[Row]) -> list[int]:
    """For each launch, in the order of their start, the first lane that is free."""
    free: list[int] = []
    busy: list[tuple[datetime, int]] = []
    found = []
    for launch in launches:
        while busy and busy[0][0] <= launch["start_at"]:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (launch["end_at"], lane))
        found.append(lane)
    return found


def _says(launch: Row, job: Job) -> str:
    ratio = (
        launch["io_core_seconds"] / launch["run_core_seconds"]
        if launch["io_core_seconds"] and launch["run_core_seconds"]
        else 0.0
    )
    cost = launch["cost_core_seconds"]
    could = f"; findings cost {core_time(cost, job.total('run_core_seconds'))}" if cost else ""
    name = escape(plain(launch["application"] or launch["app"] or "unnamed"))
    return f"{name}: {fine_seconds(max(0.0, launch['run_seconds']))}, {percent(min(1.0, ratio))} in I/O{could}"
