"""Reports of the logs that a sweep has judged, written once its verdicts are published.

Due reports are noted before the commit, so that the sweep after one that died writes the missing reports. A note names nights,
or the logs of a night with anything new. Later runs of their lineages and logs of their jobs are due too, since their
reports show them.
A report that would not change is not written again, so a note may name more than has changed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import ceil
from pathlib import Path
from typing import Final

from iomine.arrow import leave_pandas_out
from iomine.errors import LimitError, UsageError
from iomine.lake import Partition, Warehouse, as_warehouse_errors
from iomine.pipeline import progress
from iomine.pipeline.notes import LogPlace, Note
from iomine.pipeline.workers.model import Item, Workers
from iomine.report.facts import Place, which
from iomine.report.job import JobPlace, job_of_page, job_page_name
from iomine.report.page import INDEX_PAGE
from iomine.report.write import Written, write_index, write_jobs, write_reports, write_shared
from iomine.sharing import kept_from_others
from iomine.sources.garbage import without_collection
from iomine.sqltext import quoted
from iomine.triggers.site import with_published
from iomine.units import GIB
from iomine.views.answers import Ask
from iomine.views.of_logs import open_for_logs
from iomine.views.passing import Connection
from iomine.views.query import Limits, answer_own, ask, open_catalog
from iomine.views.questions import question
from iomine.whole import clear_unfinished

_DUE: Final = "due.json"
_DUE_LOGS: Final = "due_logs.json"
# Reports of a task, at most and at least: a worker's questions cost the same for one log as for hundreds.
PIECE: Final = 1000
_SMALLEST_PIECE: Final = 250
# Logs of one job are never further apart.
_JOB_DAYS: Final = 14
_LOG_ID: Final = re.compile(r"[0-9a-f]{16}")
_LIMITS: Final = Limits(memory_bytes=2 * GIB, threads=1)


@dataclass(frozen=True, slots=True)
class Reported:
    """What became of the reports of some logs.

    Attributes:
        count: how many logs.
        new_count: how many of their reports have changed.
        faults: why others could not be written.
    """

    count: int
    new_count: int
    faults: tuple[str, ...]


def due(warehouse: Warehouse) -> Note[Partition]:
    """Nights whose reports may have to be written."""
    return Note(warehouse, f"{warehouse.reports.name}/{_DUE}")


def due_logs(warehouse: Warehouse) -> Note[LogPlace]:
    """Logs of other nights whose reports may have to be written, with those of other logs that show them."""
    return Note(warehouse, f"{warehouse.reports.name}/{_DUE_LOGS}")


def note_due(warehouse: Warehouse, nights: Iterable[Partition], few: Mapping[Partition, Iterable[str]]) -> None:
    """Notes reports of nights as due; for some nights only those of few logs.

    Args:
        warehouse: whose reports they are.
        nights: the nights.
        few: of some of them, the logs of which anything is new.

    Raises:
        WarehouseError: a note cannot be written.
    """
    due(warehouse).add(set(nights) - few.keys())
    due_logs(warehouse).add((*night, log_id) for night, log_ids in few.items() for log_id in log_ids)


def is_due(warehouse: Warehouse) -> bool:
    """Whether any report may have to be written."""
    return bool(due(warehouse).noted() or due_logs(warehouse).noted())


def report_due(warehouse: Warehouse, workers: Callable[..., Workers]) -> Reported:
    """Writes the reports that are due, and removes them from the note.

    Args:
        warehouse: as published.
        workers: gives the workers, asked for when there is work for them, and whether it is little (`is_little`).

    Raises:
        WarehouseError: files cannot be read or written.
        WorkersError: workers were lost.
    """
    folder = warehouse.reports
    nights, logs = due(warehouse).noted(), due_logs(warehouse).noted()
    if not nights and not logs:
        return Reported(0, 0, ())
    # All names in the folder are gone through, so only where reports are written anyway.
    clear_unfinished(folder)
    faults: list[str] = []
    new = done = 0
    with _asking(open_catalog(warehouse.database, _LIMITS), folder) as ask:
        places, jobs = _places(ask, folder, nights), _jobs(ask, nights)
        of_logs, of_their_jobs = _of_logs(ask, folder, logs)
        places, jobs = sorted({*places, *of_logs}), sorted({*jobs, *of_their_jobs})
        if places:
            write_shared(folder)
    if places:
        hands = workers(is_little=len(places) <= PIECE)
        pieces = even_pieces(places, hands.capacity())
        for piece, (of_piece, new_faults) in hands.map(report_piece, pieces, warehouse.database, folder):
            new += of_piece
            faults += new_faults
            done += len(piece)
            progress.report("report", done, len(places))
        for _, (of_piece, new_faults) in hands.map(job_piece, even_pieces(jobs, hands.capacity()), warehouse.database, folder):
            new += of_piece
            faults += new_faults
        try:
            list_reports(warehouse)
        except (UsageError, LimitError) as error:
            faults.append(f"The list of reports cannot be written: {error}")
    due(warehouse).strike(nights)
    due_logs(warehouse).strike(logs)
    return Reported(len(places), new, tuple(faults))


def even_pieces(items: Sequence[Item], hands: int) -> list[Sequence[Item]]:
    """Items in pieces of one size, so that workers end at the same time.

    Args:
        items: what to part.
        hands: how many pieces are worked on at a time.
    """
    rounds = ceil(len(items) / (PIECE * hands))
    size = max(_SMALLEST_PIECE, ceil(len(items) / (rounds * hands))) if items else 1
    return [items[first : first + size] for first in range(0, len(items), size)]


def list_reports(warehouse: Warehouse) -> None:
    """Writes the list of reports that are there now, if there ever was one.

    Raises:
        WarehouseError: files cannot be read or written.
    """
    folder = warehouse.reports
    if (folder / INDEX_PAGE).exists():
        with kept_from_others(), _asking(open_catalog(warehouse.database, _LIMITS), folder) as ask:
            write_index(ask, folder)


def retire(warehouse: Warehouse, days: int) -> int:
    """Removes reports of logs that have left, or are older than so many days before the newest night of their cluster.

    Returns:
        How many reports.

    Raises:
        WarehouseError: files cannot be read or removed.
    """
    rows = ask(warehouse.database, question("reports/kept"), {"night_count": days}).to_pylist()
    kept = {row["log_id"] for row in rows}
    kept_jobs = {job_page_name(row["cluster"], row["job_id"]) for row in rows}
    gone = set()
    with as_warehouse_errors(warehouse.root):
        for path in warehouse.reports.glob("*.*"):
            log_id = path.name.partition(".")[0]
            if _LOG_ID.fullmatch(log_id) and log_id not in kept:
                path.unlink(missing_ok=True)
                gone.add(log_id)
            elif job_of_page(path.name) and path.name not in kept_jobs:
                path.unlink(missing_ok=True)
    return len(gone)


def report_piece(places: Sequence[Place], database: Path, folder: Path) -> tuple[int, list[str]]:
    """Writes the reports of some logs; returns how many have changed, and what went wrong.

    Raises:
        WarehouseError: files cannot be read or written.
    """
    leave_pandas_out()
    try:
        with without_collection(), _asking(open_for_logs(database, which(places), _LIMITS), folder) as ask:
            return _outcome(write_reports(ask, places, folder))
    except (UsageError, LimitError):
        # A question about all of them failed; asking one by one costs more, but a failure then costs one report.
        with _asking(open_catalog(database, _LIMITS), folder) as ask:
            alone = [_alone(ask, place, folder) for place in places]
    return sum(new for new, _ in alone), [fault for _, faults in alone for fault in faults]


def job_piece(places: Sequence[JobPlace], database: Path, folder: Path) -> tuple[int, list[str]]:
    """Writes the pages of some jobs, as `report_piece` those of logs; raises as that does."""
    with _asking(open_catalog(database, _LIMITS), folder) as ask:
        try:
            return _outcome(write_jobs(ask, places, folder))
        except (UsageError, LimitError) as error:
            return 0, [f"The pages of {len(places):,} jobs, of {places[0].job_id} and others, cannot be written: {error}"]


@contextmanager
def _asking(opened: AbstractContextManager[Connection], folder: Path) -> Iterator[Ask]:
    with as_warehouse_errors(folder), opened as con:
        ask = partial(answer_own, con)
        with with_published(ask):
            yield ask


def _alone(ask: Ask, place: Place, folder: Path) -> tuple[int, list[str]]:
    try:
        return _outcome(write_reports(ask, [place], folder))
    except (UsageError, LimitError) as error:
        return 0, [f"The report of log {place.log_id} cannot be written: {error}"]


def _outcome(written: Iterable[Written]) -> tuple[int, list[str]]:
    all_of_them = list(written)
    return sum(each.is_new for each in all_of_them), [each.fault for each in all_of_them if each.fault]


def _places(ask: Ask, folder: Path, partitions: Sequence[Partition]) -> list[Place]:
    """Logs of these nights that have findings, or had some when their report was written."""
    if not partitions:
        return []
    nights = ", ".join(f"({quoted(cluster)}, DATE {quoted(night.isoformat())})" for cluster, night in partitions)
    first, last = (quoted(edge(night for _, night in partitions).isoformat()) for edge in (min, max))
    # Values are quoted; only a range spares DuckDB the files of other nights.
    where = f"night BETWEEN DATE {first} AND DATE {last} AND (cluster, night) IN ({nights})"
    sql = f"SELECT cluster, night, log_id, true AS is_finding FROM findings WHERE {where} UNION ALL "  # noqa: S608
    sql += f"SELECT cluster, night, log_id, false FROM core.log WHERE {where}"  # noqa: S608
    there = {path.stem for path in folder.glob("*.html")}
    rows = ask(sql).to_pylist()
    shown = (row for row in rows if row["is_finding"] or row["log_id"] in there)
    return sorted({Place(row["cluster"], row["night"], row["log_id"]) for row in shown})


def _jobs(ask: Ask, partitions: Sequence[Partition]) -> list[JobPlace]:
    """Jobs with several logs, of which one of these nights has findings."""
    if not partitions:
        return []
    clusters, nights = map(list, zip(*partitions, strict=True))
    edges = {"first_night": min(nights) - timedelta(days=_JOB_DAYS), "last_night": max(nights) + timedelta(days=_JOB_DAYS)}
    rows = ask(question("reports/jobs"), {"clusters": clusters, "nights": nights} | edges).to_pylist()
    return [JobPlace(**row) for row in rows]


def _of_logs(ask: Ask, folder: Path, logs: Sequence[LogPlace]) -> tuple[list[Place], list[JobPlace]]:
    """As `_places` and `_jobs` give them, those of some logs and of others of their nights that show them."""
    if not logs:
        return [], []
    nights = sorted({(cluster, night) for cluster, night, _ in logs})
    edges = {"first_night": min(night for _, night in nights), "last_night": max(night for _, night in nights)}
    rows = ask(question("reports/beside"), {**edges, "log_ids": [log_id for *_, log_id in logs]}).to_pylist()
    log_ids, job_ids = ({row[name] for row in rows} for name in ("log_id", "job_id"))
    places = [place for place in _places(ask, folder, nights) if place.log_id in log_ids]
    return places, [job for job in _jobs(ask, nights) if job.job_id in job_ids]
