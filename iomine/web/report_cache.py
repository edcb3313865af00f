"""Reports for a server: those that sweeps have written, and others as they are asked for.

The warehouse is only read. Reports that it does not hold are written into a folder of the server's own, which is emptied when a
sweep has published something new, or when they are many. Readers who may not see all get reports that are made of what they see,
because those that sweeps have written name other users.
"""

import re
import shutil
import threading
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from iomine.errors import OutputError
from iomine.report.facts import Place
from iomine.report.job import JobPlace, job_of_page
from iomine.report.write import write_jobs, write_reports, write_shared
from iomine.triggers.site import with_published
from iomine.views.answers import Rows, rows_of
from iomine.views.questions import question
from iomine.web.question import UnknownNameError
from iomine.web.sessions import SeenBy, Session

# Names of files of a log's report, or of files that all reports share; one folder deep.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*(/[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*)?")
_OF_LOG: Final = re.compile(r"([0-9a-f]{16})[./-]")
_NOTES: Final = frozenset({"due.json"})
_PLACE: Final = "SELECT cluster, night, log_id FROM core.log WHERE log_id = $1"
_JOB: Final = """
    SELECT cluster, job_id, min(night) AS first_night, max(night) AS last_night
    FROM core.log
    WHERE cluster = $1 AND job_id = $2
    GROUP BY ALL
"""
# A log of somebody else that names a job is not part of the job.
_LOGS_OF_JOB: Final = """
    SELECT cluster, night, log_id
    FROM core.log
    ANTI JOIN core.owner_doubt USING (cluster, night, log_id)
    WHERE cluster = $1 AND job_id = $2
"""
_MOST: Final = 200


def is_public(name: str) -> bool:
    """Whether a name in the folder of reports is one of a report, or of what reports share."""
    return _NAME.fullmatch(name) is not None and name not in _NOTES


def log_of(name: str) -> str | None:
    """The log that a file in the folder of reports belongs to, None if it belongs to no single log."""
    match = _OF_LOG.match(name)
    return match and match[1]


class ReportCache:
    """Where reports are fetched from.

    Args:
        folder: the warehouse's reports, which need not exist.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = Path(mkdtemp(prefix="iomine-reports-"))
        self._state = ""
        self._folders: dict[SeenBy | None, Path] = {}
        self._lock = threading.Lock()

    def written(self, name: str) -> Path | None:
        """A file that sweeps have written.

        Raises:
            UnknownNameError: no file of a report is called so.
        """
        if not is_public(name):
            raise UnknownNameError(f"No report is called {name[:100]!r}: they are called LOG_ID.html.")
        return _within(self._folder, name)

    def made(self, session: Session, name: str) -> Path:
        """A file of a report that is made now, or of what reports share.

        Raises:
            UnknownNameError: there is no such log, or no such file.
            OutputError: the report cannot be written.
        """
        log_id, job = log_of(name), job_of_page(name)
        with self._lock, with_published(session.ask):
            self._tidy(session.state)
            folder = self._folder_of(session.scope)
            if log_id is not None and not (folder / f"{log_id}.html").exists():
                _make(session, log_id, folder)
            if job is not None and not (folder / name).exists():
                _make_job(session, job, folder)
            found = _within(folder, name)
        if found is None:
            raise UnknownNameError(f"No report is called {name[:100]!r}: they are called LOG_ID.html.")
        return found

    def close(self) -> None:
        """Removes what was made."""
        shutil.rmtree(self._own, ignore_errors=True)

    def _tidy(self, state: str) -> None:
        if state != self._state or sum(1 for _ in self._own.glob("*/*.html")) > _MOST:
            for path in self._own.iterdir():
                shutil.rmtree(path)
            self._folders.clear()
            self._state = state

    def _folder_of(self, scope: SeenBy | None) -> Path:
        """Where reports for all who see the same are."""
        if scope not in self._folders:
            self._folders[scope] = self._own / str(len(self._folders))
            write_shared(self._folders[scope])
        return self._folders[scope]


def neighbourhood(session: Session, name: str) -> Rows:
    """Whose the logs of a page are, of which applications, on which hosts, OSTs and file systems: rows of `web/log_places`."""
    log_id, job = log_of(name), job_of_page(name)
    if log_id is None and job is None:
        return []
    asked = session.ask(_LOGS_OF_JOB, job) if job else session.ask(_PLACE, [log_id])
    logs = asked.to_pylist()
    if not logs:
        return []
    nights = [log["night"] for log in logs]
    places = {"cluster": logs[0]["cluster"], "first_night": min(nights), "last_night": max(nights)}
    return rows_of(session.ask(question("web/log_places"), places | {"log_ids": [log["log_id"] for log in logs]}))


def _make(session: Session, log_id: str, folder: Path) -> None:
    places = [Place(**row) for row in session.ask(_PLACE, [log_id]).to_pylist()]
    if not places:
        raise UnknownNameError(f"The warehouse has no log {log_id}: the view logs has the ids of all.")
    for written in write_reports(session.ask, places, folder):
        if written.fault:
            raise OutputError(written.fault)


def _make_job(session: Session, job: tuple[str, str], folder: Path) -> None:
    places = [JobPlace(**row) for row in session.ask(_JOB, job).to_pylist()]
    if not places:
        raise UnknownNameError("The warehouse has no log of that job: the view logs has those of all.")
    for written in write_jobs(session.ask, places, folder):
        if written.fault:
            raise OutputError(written.fault)


def _within(folder: Path, name: str) -> Path | None:
    """A file in a folder, unless it is a link that leads out of it."""
    try:
        path = (folder / name).resolve()
        return path if path.is_file() and path.is_relative_to(folder.resolve()) else None
    except OSError:
        # A name that is too long for any file.
        return None
