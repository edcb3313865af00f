"""The same pages as files, for any web server: the dashboard, the tables that its numbers lead to, and the reports.

The pages that are not in it name a folder of tables that is made for them, and are put in place last, so a reader sees all of the
old site or all of the new one. The folder before it stays until the next time, for those who have the old dashboard open.
"""

import fcntl
import hashlib
import os
import shutil
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Final

from iomine.errors import OutputError, UsageError, WarehouseError
from iomine.locks import lock_file
from iomine.report.job import job_of_page, job_page_name
from iomine.report.page import INDEX_PAGE, TRIGGERS_PAGE
from iomine.report.write import write_shared
from iomine.sharing import group_of, kept_from_others, make_folder
from iomine.triggers.site import with_published
from iomine.views.query import NO_LIMITS
from iomine.web import pages
from iomine.web.about import About, subjects_of
from iomine.web.circle import CircleNight, circle_night_of
from iomine.web.fabric import FIRST, Fabric, FabricNight, fabric_night_of
from iomine.web.panel import JobName, Subject
from iomine.web.question import Question, conditions
from iomine.web.report_cache import is_public, log_of
from iomine.web.search import index_script, names_of
from iomine.web.sessions import Session
from iomine.web.window import Window, window_of
from iomine.whole import clear_unfinished, written_whole

MOST_ROWS: Final = 1000
_MARK: Final = ".iomine-site"
_TABLES: Final = "tables-"
_INDEX: Final = "names.js"
_PAGE: Final = ".html"
# Slow views that every page about one thing needs.
_HELD: Final = (
    *("logs", "findings", "job_weather", "target_hours", "regressions", "neighbours", "advice_outcomes", "filesystem_days"),
)
# Jobs whose links the picture of a fabric can show.
_MOST_JOBS: Final = 300
# Nodes of each circle of a night that lead to their logs, as each of these is a page.
_MOST_LINKS: Final = 20


@dataclass(frozen=True, slots=True)
class Site:
    """What was written.

    Attributes:
        tables: how many tables.
        subjects: how many pages of users, applications, hosts, targets and file systems.
        reports: how many reports.
    """

    tables: int
    subjects: int
    reports: int


@dataclass(slots=True)
class FileLinks:
    """Links of a page that is a file; what the dashboard asks for is noted, and gets a page.

    Attributes:
        root: the way from the page's folder to the dashboard's.
        folder: the folder of tables.
        reports: stems of the pages of logs and jobs.
        tables: the name of the file of each question that has one.
        subjects: the same of each user, application, host, target and file system that has a page.
        fabrics: the name of the page of each machine's fabric.
        circles: the same of the circle of its newest night.
        takes_notes: whether a new question or subject gets a page.
    """

    root: str
    folder: str
    reports: Collection[str]
    tables: dict[Question, str] = field(default_factory=dict)
    subjects: dict[Subject, str] = field(default_factory=dict)
    fabrics: dict[str, str] = field(default_factory=dict)
    circles: dict[str, str] = field(default_factory=dict)
    takes_notes: bool = False
    is_served: bool = False

    def dashboard(self, _parameters: Sequence[tuple[str, str]] = ()) -> str:
        """The dashboard."""
        return f"{self.root}index.html"

    def rows(self, question: Question, ending: str = "") -> str | None:
        """Rows of a view, where the dashboard leads to them."""
        if self.takes_notes:
            self.tables.setdefault(question, f"{question.view}-{_digest(question.parameters)}.html")
        name = self.tables.get(question)
        return None if name is None or ending else f"{self.root}{self.folder}/{name}"

    def fabric(self, cluster: str | None = None) -> str | None:
        """The fabric of a machine, where one is written."""
        if not self.fabrics:
            return None
        return f"{self.root}{self.fabrics[cluster or next(iter(self.fabrics))]}"

    def circle(self, cluster: str | None = None) -> str | None:
        """The circle of a machine, where one is written."""
        if not self.circles:
            return None
        return f"{self.root}{self.circles[cluster or next(iter(self.circles))]}"

    def script(self, name: str) -> str:
        """A script that draws."""
        return f"{self.root}assets/{pages.script_name(name)}"

    def about(self, subject: Subject) -> str | None:
        """The page of a user, application, host, target or file system, where one is written."""
        if self.takes_notes:
            self.subjects.setdefault(subject, f"{subject.kind}-{_digest(subject)}.html")
        name = self.subjects.get(subject)
        return name and f"{self.root}{self.folder}/{name}"

    def job(self, job: JobName) -> str | None:
        """A job's page, where one is written."""
        name = job_page_name(job.cluster, job.job_id)
        return f"{self.root}reports/{name}" if name and name.removesuffix(_PAGE) in self.reports else None

    def search(self, _text: str = "") -> None:
        """Only a server answers a form."""

    def names(self) -> str:
        """The index of all that has a page."""
        return f"{self.root}{self.folder}/{_INDEX}"

    def views(self) -> None:
        """Views are the server's."""

    def report(self, log_id: str, anchor: str = "") -> str | None:
        """A log's report, where it is written."""
        return f"{self.root}reports/{log_id}.html" + (f"#{anchor}" if anchor else "") if log_id in self.reports else None

    def triggers(self, code: str) -> str:
        """What a trigger stands for."""
        return f"{self.root}reports/{TRIGGERS_PAGE}#{code}"

    def style(self, name: str = "web") -> str:
        """A style sheet."""
        return f"{self.root}assets/{pages.style_name(name)}"


def site_of(warehouse: Path, out: Path, *, since: date | None = None, cluster: str | None = None, most: int = MOST_ROWS) -> Site:
    """Writes the site of a warehouse, about the last nights or those from one on, and all machines or one.

    Args:
        warehouse: its root.
        out: as for `write_site`.
        since: the first night; reports of earlier ones are left out.
        cluster: the only machine; reports of others are left out.
        most: as for `write_site`.

    Raises:
        UsageError: the folder holds something else, or the group in the settings is not there.
        WarehouseError: there is nothing to ask.
        OutputError: files cannot be written.
    """
    asked = {"since": "" if since is None else since.isoformat(), "cluster": cluster or ""}
    session = Session(warehouse / "iomine.duckdb", NO_LIMITS)
    window = window_of(session, list(asked.items()))
    only_window = since is not None or cluster is not None
    group = group_of(warehouse)
    return write_site(session, window, out, warehouse / "reports", group=group, most=most, only_window=only_window)


def write_site(
    session: Session,
    window: Window,
    out: Path,
    reports: Path,
    *,
    group: int | None = None,
    most: int = MOST_ROWS,
    only_window: bool,
) -> Site:
    """Writes the site, for its owner and the group: pages show what each user ran.

    Args:
        session: answers.
        window: what the dashboard is about.
        out: the folder of the site, which is made, or holds one.
        reports: the warehouse's reports, which need not exist.
        group: whose a new folder is to be, as its number; None for that of the folder above or of who writes.
        most: how many rows of a table are shown.
        only_window: whether reports of other nights and machines are left out.

    Raises:
        UsageError: the folder holds something else.
        OutputError: files cannot be written.
    """
    _check(out)
    wanted = _logs_of(session, window) if only_window else None
    try:
        make_folder(out, group)
        with kept_from_others(), _alone(out):
            count = _copy_reports(reports, out / "reports", wanted)
            with with_published(session.ask):
                write_shared(out / "reports")
            return Site(*_write_pages(session, window, out, most), count)
    except OSError as error:
        # A copy that fails names first what it read.
        failed = error.filename2 or error.filename or out
        raise OutputError(f"{failed} cannot be written ({error.strerror}): free some space, or name another place.") from error


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Waits for another process that writes the same site, whose tables would be tidied away while it writes them."""
    mark = lock_file(out / _MARK)
    try:
        # A file system without locks lets both write; `iomine doctor` reports it where the warehouse lies on the same.
        with suppress(OSError):
            fcntl.flock(mark, fcntl.LOCK_EX)
        yield
    finally:
        os.close(mark)


def _check(out: Path) -> None:
    if out.exists() and not (out / _MARK).exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists already and is no site: name a folder that is new or empty.")


def _write_pages(session: Session, window: Window, out: Path, most: int) -> tuple[int, int]:
    """Writes the dashboard, its tables, and pages about one thing; returns how many these are."""
    folder = f"{_TABLES}{uuid.uuid4().hex[:12]}"
    try:
        here, made = _write_into(folder, session, window, out, most)
    except BaseException:
        # On a full disk, half a folder for each night that fails would take what room is left.
        shutil.rmtree(out / folder, ignore_errors=True)
        raise
    before = _folder_of(out / "index.html")
    for name, page in made.items():
        _replace(out / name, page)
    _tidy(out, {folder, before})
    return len(here.tables), len(here.subjects)


def _write_into(folder: str, session: Session, window: Window, out: Path, most: int) -> tuple[FileLinks, dict[str, str]]:
    """Writes what no reader is led to yet; returns the links, and the pages that lead there, the dashboard last."""
    (out / "assets").mkdir(exist_ok=True)
    _replace(out / "assets" / pages.style_name(), pages.style())
    for name in pages.SCRIPTS:
        _replace(out / "assets" / pages.script_name(name), pages.script(name))
    reports = {path.stem for path in (out / "reports").glob(f"*{_PAGE}")}
    circles = _circles_of(session, window)
    names = {cluster: f"circle-{number}.html" if number else "circle.html" for number, cluster in enumerate(circles)}
    here = FileLinks("", folder, reports, fabrics=_fabric_names(session, window), circles=names, takes_notes=True)
    index = pages.dashboard(session, window, here)
    made = {names[cluster]: pages.circle_page(session, circle, here, _MOST_LINKS) for cluster, circle in circles.items()}
    for subject in subjects_of(session, window):
        here.about(subject)
    (out / folder).mkdir()
    for number, cluster in enumerate(here.fabrics):
        of = _fabric_of(session, window, cluster, here)
        address = f"{folder}/fabric-{number}"
        _write_parts(Fabric(session.ask, of), out / address)
        made[here.fabrics[cluster]] = pages.fabric_page(session, of, here, partial("{}/{}.js".format, address))
    below = replace(here, root="../", takes_notes=False)
    index_of_names = index_script(names_of(session, window, replace(below, root="")))
    with session.held(_HELD, window.since, window.until):
        for question, name in here.tables.items():
            page = pages.rows_page(session, question, below, shown_count=most, most=most)
            (out / folder / name).write_text(page, encoding="utf-8")
        for subject, name in here.subjects.items():
            page = pages.about_page(session, About(subject, window), below)
            (out / folder / name).write_text(page, encoding="utf-8")
    (out / folder / _INDEX).write_bytes(index_of_names)
    return here, made | {f"reports/{INDEX_PAGE}": pages.search_page("", (), below), "index.html": index}


def _circles_of(session: Session, window: Window) -> dict[str, CircleNight]:
    """The newest night of the window of each machine, where it is known what OSTs did."""
    first = circle_night_of(session.ask, [])
    found = {}
    for cluster in first.clusters if first else ():
        of = circle_night_of(session.ask, [("cluster", cluster)]) if window.cluster in {None, cluster} else None
        night = next((night for night in of.nights if window.since <= night <= window.until), None) if of else None
        if of and night:
            found[cluster] = replace(of, night=night)
    return {cluster: replace(of, clusters=tuple(found)) for cluster, of in found.items()}


def _fabric_names(session: Session, window: Window) -> dict[str, str]:
    """Names of pages by machine whose fabric is known, those of the window only."""
    first = fabric_night_of(session.ask, [])
    clusters = [each for each in (first.clusters if first else ()) if window.cluster in {None, each}]
    return {cluster: f"fabric-{number}.html" if number else "fabric.html" for number, cluster in enumerate(clusters)}


def _fabric_of(session: Session, window: Window, cluster: str, links: FileLinks) -> FabricNight:
    """The fabric of a machine in the newest night of the window, or, where nothing is known of these, in the newest."""
    newest = fabric_night_of(session.ask, [("cluster", cluster)])
    if newest is None:
        raise WarehouseError(f"The fabric of {cluster} is gone: a sweep has published another catalog. Run `iomine site` again.")
    night = next((night for night in newest.nights if window.since <= night <= window.until), newest.night)
    return replace(newest, night=night, clusters=tuple(links.fabrics))


def _write_parts(fabric: Fabric, folder: Path) -> None:
    folder.mkdir()
    for name in (FIRST, *fabric.parts(_MOST_JOBS)):
        (folder / f"{name}.js").write_bytes(fabric.part(name))


def _digest(thing: object) -> str:
    return hashlib.sha256(repr(thing).encode()).hexdigest()[:12]


def _logs_of(session: Session, window: Window) -> frozenset[str]:
    where, values = conditions(window.filters)
    return frozenset(session.ask(f"SELECT log_id FROM core.log WHERE {where}", values)["log_id"].to_pylist())  # noqa: S608


def _copy_reports(source: Path, target: Path, wanted: frozenset[str] | None) -> int:
    """Makes a folder hold the reports of a warehouse, as links where it lies on the same file system."""
    target.mkdir(exist_ok=True)
    names = {
        name
        for name in _names(source)
        # The site has its own page instead of the index; and a job's page may have logs of nights that are left out.
        if is_public(name)
        and name != INDEX_PAGE
        and (wanted is None or (not job_of_page(name) and (log_of(name) is None or log_of(name) in wanted)))
    }
    for name in sorted(names):
        _lay(source / name, target / name)
    for name in set(_names(target)) - names - {INDEX_PAGE}:
        (target / name).unlink()
    return sum(1 for name in names if log_of(name) and name.endswith(".html"))


def _names(folder: Path) -> Iterator[str]:
    return (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _lay(source: Path, target: Path) -> None:
    if target.exists() and target.stat().st_mtime_ns == source.stat().st_mtime_ns:
        return
    target.parent.mkdir(exist_ok=True)
    with written_whole(target) as beside:
        try:
            # Reports are replaced and never written over, so a link keeps what it was made to.
            os.link(source, beside)
        except OSError:
            shutil.copy2(source, beside)


def _replace(target: Path, text: str) -> None:
    with written_whole(target) as beside:
        beside.write_text(text, encoding="utf-8")


def _folder_of(index: Path) -> str:
    """The folder of tables that a dashboard leads to."""
    text = index.read_text(encoding="utf-8") if index.exists() else ""
    start = text.find(f'"{_TABLES}')
    return text[start + 1 :].partition("/")[0] if start >= 0 else ""


def _tidy(out: Path, kept: set[str]) -> None:
    clear_unfinished(out)
    for path in out.glob(f"{_TABLES}*"):
        if path.name not in kept:
            shutil.rmtree(path)
