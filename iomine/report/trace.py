"""What a page shows of a log's trace: its requests, or levels of detail of them, and what goes with them.

A trace of up to 300,000 requests goes into the page whole. Of a longer one the page gets the levels of detail, so that its
size depends on what can be seen and not on how long the program ran.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from iomine.report import queries
from iomine.report.columns import page_parquet, tick_seconds
from iomine.report.facts import Ask, Row

_MOST_REQUESTS: Final = 300_000
# More names would outweigh the trace; the files that move least share one.
_MOST_FILES: Final = 1000
_COARSE, _FINE = 0, 1
_LEVELS: Final = (("rank", _COARSE), ("rank", _FINE), ("ost", _COARSE), ("ost", _FINE), ("offset", _COARSE))
# MPI-IO stands above POSIX, to which its requests go down.
_LAYERS: Final = ("mpiio", "posix")
_OPS: Final = ("read", "write")
# As in derive/detail.py: the run's length is rounded in old logs, and clocks of nodes differ a little.
_CLOCK_SLACK_SECONDS: Final = 2.0
_SHORTEST_SECONDS: Final = 1e-3


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
        by: what its rows are told apart by beside time: `rank`, `ost`, or `offset`.
        tolerance: gaps of as many seconds, or bytes for `offset`, are closed; 0 where each request has a row.
        row_count: how many rows there are.
        parquet: the rows, packed by gzip.
    """

    by: str
    tolerance: float
    row_count: int
    parquet: bytes


@dataclass(frozen=True, slots=True)
class Trace:
    """What a page holds of a trace.

    Attributes:
        about: what goes with the tables, as the client's `About` has it.
        tables: coarse ones first.
    """

    about: dict[str, Any]
    tables: list[Table]


def trace_of(ask: Ask, log: Row, highlights: Sequence[Highlight] = ()) -> Trace | None:
    """The trace of a log; None where the warehouse holds none of it.

    Args:
        ask: answers queries over the published views.
        log: its row of `logs`.
        highlights: what can be highlighted, beside what can be in any trace: rank 0 and the slowest requests.
    """
    keys = (log["log_id"], log["night"], log["cluster"])
    sound = (*keys, (log["run_seconds"] or 0.0) + _CLOCK_SLACK_SECONDS)
    [extent] = ask(queries.EXTENT, sound).to_pylist()
    if not extent["sound_count"]:
        return None
    run_seconds = max(log["run_seconds"] or 0.0, extent["last_seconds"], _SHORTEST_SECONDS)
    files = ask(queries.FILES, keys).to_pylist()
    lists = {
        "layer": _LAYERS,
        "op": _OPS,
        "host": ask(queries.HOSTS, keys)["host"].to_pylist(),
        "file_id": [file["file_id"] for file in files[:_MOST_FILES]],
    }
    tick = tick_seconds(run_seconds)

    def table(by: str, sql: str) -> Table:
        rows = ask(sql, sound)
        return Table(by, max(rows["tolerance"].to_pylist(), default=0.0), len(rows), page_parquet(rows, lists, tick))

    usual = _usual(extent["slow_seconds"], ask(queries.BUSY_RANKS, sound)["rank"].to_pylist())
    numbered = [_numbered(highlight, files) for highlight in (*highlights, *usual)]
    about = {
        "run_seconds": run_seconds,
        "rank_count": max(log["nprocs"] or 0, extent["highest_rank"] + 1),
        "tick_seconds": tick,
        "request_count": extent["request_count"],
        "layers": _LAYERS,
        "ops": _OPS,
        "files": _file_names(files),
        "hosts": lists["host"],
        "phases": ask(queries.PHASES, keys).to_pylist(),
        "osts": ask(queries.OSTS, keys).to_pylist(),
        # A finding may be about files that are not traced.
        "highlights": [found for found in numbered if found.get("files") != []],
    }
    return Trace(about, _tables(table, extent["sound_count"]))


def _tables(table: Callable[[str, str], Table], request_count: int) -> list[Table]:
    """The requests, or levels of detail where these are many; no level is worth it of a trace that is hardly longer."""
    if request_count > _MOST_REQUESTS:
        levels = [table(by, queries.level_sql(by, level)) for by, level in _LEVELS]
        if any(found.by == "rank" and found.tolerance for found in levels):
            distinct = {(found.by, found.tolerance): found for found in levels if found.row_count}
            return list(distinct.values())
    return [table("rank", queries.REQUESTS)]


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
