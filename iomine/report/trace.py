"""What a page shows of a log's trace: its requests, or levels of detail of them, and what goes with them.

A trace of up to 300,000 requests goes into the page whole. Of a longer one the page gets the levels of detail, so that its
size depends on what can be seen and not on how long the program ran.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from iomine.report import queries
from iomine.report.columns import Names, page_columns, tick_seconds
from iomine.report.facts import Place, which
from iomine.schema.ops import OPS
from iomine.units import visible
from iomine.views.answers import Ask, Row
from iomine.views.questions import find_question

_MOST_REQUESTS: Final = 300_000
# More names would outweigh the trace; the files that move least share one.
_MOST_FILES: Final = 1000
_COARSE, _FINE = 0, 1
_LEVELS: Final = (("rank", _COARSE), ("rank", _FINE), ("ost", _COARSE), ("ost", _FINE), ("offset", _COARSE))
# MPI-IO stands above POSIX, to which its requests go down.
_LAYERS: Final = ("mpiio", "posix")
# As in derive/detail.py: the run's length is rounded in old logs, and clocks of nodes differ a little.
_CLOCK_SLACK_SECONDS: Final = 2.0
_SHORTEST_SECONDS: Final = 1e-3
# Signs of a program's name, which stands above a saved picture.
_MOST_NAME: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Highlight:
    """Requests that a finding is about: those that all of its conditions hold for; None is no condition.

    Attributes:
        code: code of the trigger, or a word.
        text: the finding, in a sentence.
        layers: their layer is one of these.
        ops: their direction is one of these.
        ranks: their rank is one of these.
        ost_ids: their first byte lies on one of these OSTs.
        paths: their file is one of these.
        length_bytes_below: they move fewer bytes.
        seconds_from: they take as long, or longer.
    """

    code: str
    text: str
    layers: Sequence[str] | None = None
    ops: Sequence[str] | None = None
    ranks: Sequence[int] | None = None
    ost_ids: Sequence[int] | None = None
    paths: Sequence[str] | None = None
    length_bytes_below: float | None = None
    seconds_from: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a trace.

    Attributes:
        by: what separates its rows beside time: `rank`, `ost`, or `offset`.
        tolerance: gaps of as many seconds, or bytes for `offset`, are closed; 0 where each request has a row.
        row_count: how many rows there are.
        block: the rows, as `page_columns` packs them.
    """

    by: str
    tolerance: float
    row_count: int
    block: bytes


@dataclass(frozen=True, slots=True)
class Trace:
    """What a page holds of a trace.

    Attributes:
        about: what goes with the tables, as the client's `About` has it.
        tables: coarse ones first.
    """

    about: dict[str, Any]
    tables: list[Table]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A log whose trace is asked for.

    Attributes:
        log: its row of `logs`.
        highlights: what can be highlighted, beside what can be in any trace.
        extent: how far its requests reach.
    """

    log: Row
    highlights: Sequence[Highlight]
    extent: Row


def traces_of(ask: Ask, logs: Iterable[tuple[Row, Sequence[Highlight]]]) -> Iterator[tuple[str, Trace]]:
    """Traces of logs, asked for together: a question costs the same for one log as for many.

    Args:
        ask: answers queries over the published views.
        logs: rows of `logs`, all of one cluster, each with what can be highlighted in its trace beside what can be in any:
            rank 0 and the slowest requests.

    Yields:
        The id of each log of whose trace the warehouse holds something, and its trace.
    """
    given = {log["log_id"]: (log, highlights) for log, highlights in logs}
    if not given:
        return
    extents = _answer(ask, "trace/extents", [log for log, _ in given.values()]).to_pylist()
    for group in _groups([_Asked(*given[extent["log_id"]], extent) for extent in extents]):
        yield from _traces(ask, group)


def _groups(asked: Sequence[_Asked]) -> Iterator[list[_Asked]]:
    """Logs whose requests fit in memory together."""
    group: list[_Asked] = []
    held = 0
    for each in asked:
        count = each.extent["request_count"]
        if group and held + count > _MOST_REQUESTS:
            yield group
            group, held = [], 0
        group.append(each)
        held += count
    if group:
        yield group


def _answer(ask: Ask, name: str, logs: Sequence[Row]) -> pa.Table:
    asked = find_question(name)
    places = [Place(log["cluster"], log["night"], log["log_id"]) for log in logs]
    parameters = which(places) | {"ended_seconds": [ended_seconds(log) for log in logs]}
    return ask(asked.sql, asked.values(parameters))


def ended_seconds(log: Row) -> float:
    """When requests of a log have to have ended, in seconds since the start of the run."""
    return float(log["run_seconds"] or 0.0) + _CLOCK_SLACK_SECONDS


def _traces(ask: Ask, group: Sequence[_Asked]) -> Iterator[tuple[str, Trace]]:
    logs = [each.log for each in group]

    def rows(name: str) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = defaultdict(list)
        for row in _answer(ask, f"trace/{name}", logs).to_pylist():
            found[row.pop("log_id")].append(row)
        return found

    files, hosts, phases, osts, busy = map(rows, ("files", "hosts", "phases", "osts", "busy_ranks"))
    is_long = group[0].extent["sound_count"] > _MOST_REQUESTS
    requests = None if is_long else _answer(ask, "trace/requests", logs)
    first = 0
    for each in group:
        log_id, count = each.log["log_id"], each.extent["sound_count"]
        of_log = None if requests is None else requests.slice(first, count)
        first += count
        host_names = [row["host"] for row in hosts[log_id]]
        ranks = [row["rank"] for row in busy[log_id]]
        about = _about(each, files[log_id], host_names, ranks) | {"phases": phases[log_id], "osts": osts[log_id]}
        lists = {
            "layer": _LAYERS,
            "op": OPS,
            "host": host_names,
            "file_id": [file["file_id"] for file in files[log_id][:_MOST_FILES]],
        }
        tables = _tables(ask, each.log, of_log)
        yield log_id, Trace(about, [_table(by, found, lists, about["tick_seconds"]) for by, found in tables])


def _about(asked: _Asked, files: Sequence[Row], hosts: Sequence[str], busy_ranks: Sequence[int]) -> dict[str, Any]:
    log, extent = asked.log, asked.extent
    run_seconds = max(log["run_seconds"] or 0.0, extent["last_seconds"], _SHORTEST_SECONDS)
    usual = _usual(extent["slow_seconds"], busy_ranks)
    mounts: dict[str | None, int] = {}
    for file in files[:_MOST_FILES]:
        mounts.setdefault(file["mount"], len(mounts))
    numbered = [_numbered(highlight, files) for highlight in (*asked.highlights, *usual)]
    return {
        "log_id": log["log_id"],
        "app": visible(log["app"])[:_MOST_NAME] if log["app"] else None,
        "run_seconds": run_seconds,
        "rank_count": max(log["nprocs"] or 0, extent["highest_rank"] + 1),
        "tick_seconds": tick_seconds(run_seconds),
        "request_count": extent["request_count"],
        "layers": _LAYERS,
        "ops": OPS,
        "files": _file_names(files),
        "mounts": list(mounts),
        "mount_of": [mounts[file["mount"]] for file in files[:_MOST_FILES]],
        "hosts": hosts,
        # A finding may be about files that are not traced.
        "highlights": [found for found in numbered if found.get("files") != []],
    }


def _table(by: str, rows: pa.Table, lists: Names, tick: float) -> Table:
    return Table(by, max(rows["tolerance"].to_pylist(), default=0.0), len(rows), page_columns(rows, lists, tick))


def _tables(ask: Ask, log: Row, requests: pa.Table | None) -> list[tuple[str, pa.Table]]:
    """The requests, or levels of detail if these are many; a trace that is hardly longer has no level that is worth it."""
    if requests is not None:
        return [("rank", requests)]
    given = (log["log_id"], log["night"], log["cluster"], ended_seconds(log))
    levels = [(by, ask(queries.level_sql(by, level), given)) for by, level in _LEVELS]
    if any(by == "rank" and pc.max(rows["tolerance"]).as_py() for by, rows in levels):
        distinct = {(by, pc.max(rows["tolerance"]).as_py()): (by, rows) for by, rows in levels if len(rows)}
        return list(distinct.values())
    return [("rank", _answer(ask, "trace/requests", [log]))]


def _file_names(files: Sequence[dict[str, Any]]) -> list[str]:
    named = [file["path"] or f"record {file['file_id']}" for file in files[:_MOST_FILES]]
    others = len(files) - len(named)
    return [*named, f"{others:,} other files"] if others else named


def _usual(slow_seconds: float, busy_ranks: Sequence[int]) -> list[Highlight]:
    """What can be highlighted in any trace."""
    found = [
        Highlight(code="rank 0", text="What rank 0 does.", ranks=[0]),
        Highlight(code="slowest", text="The slowest twentieth of all requests.", seconds_from=slow_seconds),
    ]
    text = "Ranks that spend more than twice the median rank's time in requests."
    return [*found, Highlight(code="busy ranks", text=text, ranks=busy_ranks)] if busy_ranks else found


def _numbered(highlight: Highlight, files: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A highlight as the page has it: without what is no condition, and with numbers for files."""
    found = {name: value for name, value in asdict(highlight).items() if value is not None}
    if (paths := found.pop("paths", None)) is not None:
        wanted = set(paths)
        found["files"] = sorted({min(at, _MOST_FILES) for at, file in enumerate(files) if file["path"] in wanted})
    return found
