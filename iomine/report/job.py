"""One verdict for a job of several logs: its launches, their costs in one sum, and their causes merged."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any, Final

from iomine.report.causes import Cause, outcome, share
from iomine.report.facts import JOB_COLUMNS, title_of
from iomine.units import counted
from iomine.views.answers import Ask, Row, Rows, rows_of
from iomine.views.questions import question

_AT_ONCE: Final = 1000
_UNSAFE: Final = re.compile(rb"[^A-Za-z0-9-]")
_ESCAPED: Final = re.compile(rb"_([0-9a-f]{2})")
_NAME: Final = re.compile(r"job\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.html")
# Names of files may have 255 bytes, and what is written beside one has a longer name.
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True, order=True)
class JobPlace:
    """Where the logs of a job lie.

    Attributes:
        cluster: the machine.
        job_id: the job.
        first_night: the first night with a log of it.
        last_night: the last one.
    """

    cluster: str
    job_id: str
    first_night: date
    last_night: date


@dataclass(frozen=True, slots=True)
class Job:
    """What is known of a job.

    Attributes:
        place: where its logs lie.
        accounting: what accounting knows of it.
        launches: rows of the question `report/job_launches`, in the order of time.
        causes: rows of `report/job_causes`, the costliest first.
    """

    place: JobPlace
    accounting: Row
    launches: Rows
    causes: Rows

    def total(self, column: str) -> Any:  # noqa: ANN401  a number of that column
        """The sum over all launches, None where it is known of none."""
        known = [launch[column] for launch in self.launches if launch[column] is not None]
        return sum(known) if known else None

    @property
    def start_at(self) -> datetime | None:
        """When its first launch began."""
        return min((launch["start_at"] for launch in self.launches if launch["start_at"]), default=None)

    @property
    def end_at(self) -> datetime | None:
        """When its last launch ended."""
        return max((launch["end_at"] for launch in self.launches if launch["end_at"]), default=None)

    @property
    def seconds(self) -> float:
        """From the first launch's start to the last one's end, 0 where that is not known."""
        return (self.end_at - self.start_at).total_seconds() if self.start_at and self.end_at else 0.0

    @property
    def io_ratio(self) -> float | None:
        """The share of I/O in what all launches took, None where that is not known."""
        spent, whole = self.total("io_core_seconds"), self.total("run_core_seconds")
        return min(1.0, spent / whole) if spent is not None and whole else None

    def merged(self) -> list[Cause]:
        """Its causes, the costliest first; each lead has the number of its logs and the costliest of them."""
        return [_merged(row, self.total("run_core_seconds")) for row in self.causes]

    def summary(self) -> str:
        """The whole of it: how many launches, what went into I/O, and what its findings cost."""
        launches, logs = len(self.launches), self.total("log_count")
        of_logs = f" with {counted(logs, 'log')}" if logs != launches else ""
        said = f"{launches:,} {'launch' if launches == 1 else 'launches'}{of_logs}."
        return " ".join((said, share(self.io_ratio, [], "its time"), outcome(self.total("run_core_seconds"), self.merged(), 0)))


def job_page_name(cluster: str, job_id: str | None) -> str | None:
    """The name of a job's page, None where there is no job, or none that a file can be named after."""
    if not job_id or not cluster:
        return None
    name = f"job.{_safe(cluster)}.{_safe(job_id)}.html"
    return name if len(name) <= _LONGEST_NAME else None


def job_of_page(name: str) -> tuple[str, str] | None:
    """Machine and job that a page of that name is about, None where it is none of a job."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    cluster, job_id = (_ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), part.encode()) for part in match.groups())
    return cluster.decode(errors="replace"), job_id.decode(errors="replace")


def _safe(text: str) -> str:
    return _UNSAFE.sub(lambda found: b"_%02x" % found[0][0], text.encode("utf-8", "surrogatepass")).decode()


def _merged(row: Row, run_core_seconds: float | None) -> Cause:
    lead = {**row, **row["costliest"], "title": title_of(row["code"])}
    return Cause.of(lead, (), row["charged_core_seconds"], row["idle_core_seconds"] or 0.0, run_core_seconds)


def jobs_of(ask: Ask, places: Iterable[JobPlace]) -> Iterator[Job]:
    """What is known of jobs, many at once, in the order of machines; those without a log are left out.

    Args:
        ask: answers queries over the published views.
        places: where their logs lie.
    """
    for cluster, of_cluster in groupby(sorted(set(places)), key=lambda place: place.cluster):
        jobs = list(of_cluster)
        for first in range(0, len(jobs), _AT_ONCE):
            yield from _jobs(ask, cluster, jobs[first : first + _AT_ONCE])


def _jobs(ask: Ask, cluster: str, places: list[JobPlace]) -> Iterator[Job]:
    first, last = min(place.first_night for place in places), max(place.last_night for place in places)
    wanted: dict[str, object] = {"cluster": cluster, "job_ids": sorted({place.job_id for place in places})}
    nights: dict[str, object] = {"first_night": first, "last_night": last}
    launches, causes = (_by_job(ask, f"report/job_{name}", wanted | nights) for name in ("launches", "causes"))
    # A job ends after its runs.
    later: dict[str, object] = {"first_history_night": first, "last_history_night": last + timedelta(days=1)}
    accounting = _by_job(ask, "report/jobs", wanted | later)
    for place in places:
        if place.job_id in launches:
            known = next(iter(accounting[place.job_id]), dict.fromkeys(JOB_COLUMNS))
            yield Job(place, known, launches[place.job_id], causes[place.job_id])


def _by_job(ask: Ask, name: str, parameters: dict[str, object]) -> dict[str, Rows]:
    found: dict[str, Rows] = defaultdict(list)
    for row in rows_of(ask(question(name), parameters)):
        found[row["job_id"]].append(row)
    return found
