"""Reports as files: a page and its JSON for each log, its trace's data, and beside them what all pages share.

A file is whole or not there, and one that would not change is not written again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Final

from iomine.report.explorer import NAME, beside
from iomine.report.facts import Facts, Place, gather
from iomine.report.highlights import counted_by_findings, highlights_of
from iomine.report.job import Job, JobPlace, job_page_name, jobs_of
from iomine.report.job_page import job_page
from iomine.report.page import INDEX_PAGE, TRIGGERS_PAGE, as_json, page, rendered, shared_assets, triggers_page
from iomine.report.pair import Pair
from iomine.report.pair_page import on_one_scale, pair_page
from iomine.report.radial import Radial, radials_of
from iomine.report.trace import Trace, traces_of
from iomine.views.answers import Ask, Rows, rows_of
from iomine.views.questions import question
from iomine.whole import written_whole

# As many as are gathered at once.
_AT_ONCE: Final = 1000
# All findings of these nights are gone through after each sweep: a third of a second for 100,000 logs.
_LISTED_NIGHTS: Final = 7


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the report of a log or a job.

    Attributes:
        log_id: whose, or the job's id.
        page: where it lies.
        is_new: whether it has changed.
        fault: why it could not be written, empty where it was.
    """

    log_id: str
    page: Path
    is_new: bool
    fault: str = ""


def write_reports(ask: Ask, places: Iterable[Place], folder: Path) -> Iterator[Written]:
    """Writes the reports of logs into a folder, which need not exist.

    Args:
        ask: answers queries over the published views.
        places: where the logs lie.
        folder: gets `<log_id>.html` and `<log_id>.json` of each, and `<log_id>.trace.js` where there is a trace.
    """
    for _, of_cluster in groupby(gather(ask, places), key=lambda facts: facts.log["cluster"]):
        while batch := list(islice(of_cluster, _AT_ONCE)):
            yield from _written(ask, batch, folder)


def write_shared(folder: Path) -> None:
    """Writes what pages in a folder share: the style sheet, the script, all triggers, and, unless there is one, an index."""
    (folder / "assets").mkdir(parents=True, exist_ok=True)
    for name, text in shared_assets().items():
        _replace(folder / "assets" / name, text.encode())
    _replace(folder / TRIGGERS_PAGE, triggers_page().encode())
    if not (folder / INDEX_PAGE).exists():
        _replace(folder / INDEX_PAGE, rendered("index.html.j2", users=(), night_count=None).encode())


def write_index(ask: Ask, folder: Path) -> None:
    """Writes the page to which reports lead: of each user the newest reports in the folder.

    Args:
        ask: answers queries over the published views.
        folder: holds the reports.
    """
    _write_list(rows_of(ask(question("reports/newest"), {"night_count": _LISTED_NIGHTS})), folder, _LISTED_NIGHTS)


def write_whole_index(ask: Ask, folder: Path) -> None:
    """Writes the list of all reports in a folder that is not the warehouse's; logs that are not in the warehouse are left out.

    Args:
        ask: answers queries over the published views.
        folder: holds the reports.
    """
    log_ids = sorted(path.stem for path in folder.glob("*.html"))
    _write_list(rows_of(ask(question("reports/listed"), {"log_ids": log_ids})), folder, None)


def _write_list(rows: Rows, folder: Path, night_count: int | None) -> None:
    runs = []
    for run in rows:
        if (folder / f"{run['log_id']}.html").exists():
            job = job_page_name(run["cluster"], run["job_id"])
            runs.append(run | {"job_page": job if job and (folder / job).exists() else None})
    users = [(user, list(of_user)) for user, of_user in groupby(runs, key=itemgetter("user"))]
    _replace(folder / INDEX_PAGE, rendered("index.html.j2", users=users, night_count=night_count).encode())


def _written(ask: Ask, batch: Sequence[Facts], folder: Path) -> Iterator[Written]:
    """Reports of a batch; what one hostile log holds must not keep others from theirs, so they are then written one by one."""
    left = {facts.log["log_id"]: facts for facts in batch}
    try:
        for written in _write_batch(ask, batch, folder):
            del left[written.log_id]
            yield written
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001  whatever it is
        if len(batch) > 1:
            for facts in left.values():
                yield from _written(ask, [facts], folder)
            return
        (log_id,) = left
        fault = f"The report of log {log_id} cannot be written: {type(error).__name__}: {error}"
        yield Written(log_id, folder / f"{log_id}.html", is_new=False, fault=fault)


def _write_batch(ask: Ask, batch: Sequence[Facts], folder: Path) -> Iterator[Written]:
    changed: dict[str, tuple[Facts, bytes]] = {}
    for facts in batch:
        log_id = facts.log["log_id"]
        content = as_json(facts)
        if _says(folder, log_id, content):
            yield Written(log_id, folder / f"{log_id}.html", is_new=False)
        else:
            changed[log_id] = facts, content
    traced = [facts for facts, _ in changed.values() if facts.is_traced()]
    circles = dict(radials_of(ask, (facts.log for facts in traced)))
    for log_id, trace in _traces(ask, traced):
        yield _write_report(*changed.pop(log_id), trace, circles.get(log_id), folder)
    for log_id, (facts, content) in changed.items():
        yield _write_report(facts, content, None, circles.get(log_id), folder)


def _says(folder: Path, log_id: str, content: bytes) -> bool:
    """Whether there is a report that says this: written last, the JSON says what the page says."""
    page_file, facts_file = (folder / f"{log_id}.{ending}" for ending in ("html", "json"))
    return page_file.exists() and facts_file.exists() and facts_file.read_bytes() == content


def _write_report(facts: Facts, content: bytes, trace: Trace | None, circle: Radial | None, folder: Path) -> Written:
    log_id = facts.log["log_id"]
    target = folder / f"{log_id}.html"
    for name, data in beside({NAME: trace} if trace else {}, circle, log_id).items():
        _replace(folder / name, data)
    _replace(target, page(facts, trace, circle).encode())
    _replace(target.with_suffix(".json"), content)
    return Written(log_id, target, is_new=True)


def write_standalone(ask: Ask, facts: Facts, file: Path) -> None:
    """Writes the report of a log as one file that needs no other."""
    _replace(file, standalone_report(ask, facts))


def standalone_report(ask: Ask, facts: Facts) -> bytes:
    """The report of a log as one page that needs no other file."""
    traced, log_id = [facts] if facts.is_traced() else [], facts.log["log_id"]
    trace, circle = dict(_traces(ask, traced)).get(log_id), dict(radials_of(ask, (each.log for each in traced))).get(log_id)
    return page(facts, trace, circle, standalone=True).encode()


def write_jobs(ask: Ask, places: Iterable[JobPlace], folder: Path) -> Iterator[Written]:
    """Writes the pages of jobs of several logs into a folder, which exists; they link to the reports of logs.

    What a hostile log calls its job must not keep others from their pages.
    """
    for job in jobs_of(ask, places):
        if (name := job_page_name(job.place.cluster, job.place.job_id)) is None:
            continue
        target = folder / name
        try:
            content = job_page(job).encode()
        except Exception as error:  # noqa: BLE001  whatever it is
            fault = f"The report of job {job.place.job_id} cannot be written: {type(error).__name__}: {error}"
            yield Written(job.place.job_id, target, is_new=False, fault=fault)
        else:
            yield Written(job.place.job_id, target, is_new=_replace(target, content))


def write_standalone_job(job: Job, file: Path) -> None:
    """Writes the page of a job as one file that needs no other."""
    _replace(file, job_page(job, standalone=True).encode())


def write_pair(ask: Ask, pair: Pair, file: Path, *, standalone: bool, run_count: int = 0) -> None:
    """Writes the page of two runs; unless it stands alone, beside what `write_shared` writes, and reports, to which it links.

    Args:
        ask: answers queries over the published views.
        pair: the runs.
        file: the page.
        standalone: whether it is to need no other file.
        run_count: of how many runs of a lineage the first is the usual one, 0 where it was chosen otherwise.
    """
    found = [dict(_traces(ask, [side.facts])) if side.facts.is_traced() else {} for side in (pair.first, pair.second)]
    traces = on_one_scale(*(next(iter(each.values()), None) for each in found))
    if not standalone:
        for name, data in beside(traces, None, file.stem).items():
            _replace(file.with_name(name), data)
    _replace(file, pair_page(pair, traces, file.stem, standalone=standalone, run_count=run_count).encode())


def _traces(ask: Ask, traced: Sequence[Facts]) -> Iterator[tuple[str, Trace]]:
    counted = counted_by_findings(ask, traced)
    return traces_of(ask, ((facts.log, highlights_of(facts, counted.get(facts.log["log_id"], {}))) for facts in traced))


def _replace(target: Path, content: bytes) -> bool:
    """Writes a file whole; returns whether it has changed."""
    if target.exists() and target.read_bytes() == content:
        return False
    with written_whole(target) as beside:
        beside.write_bytes(content)
    return True
