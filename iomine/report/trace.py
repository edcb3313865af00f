"""What a page shows of a log's trace: its requests, or levels of detail of them, and what goes with them.

A trace of up to 300,000 requests goes into the page whole. Of a longer one the page gets the levels of detail, so that its
size depends on what can be seen and not on how long the program ran.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from iomine.errors import UsageError
from iomine.report.columns import Names, page_parquet, tick_seconds
from iomine.views.query import answer, open_catalog

_MOST_REQUESTS: Final = 300_000
# More names would outweigh the trace; the files that move least share one.
_MOST_FILES: Final = 1000
# MPI-IO stands above POSIX, to which its requests go down.
_LAYERS: Final = ("mpiio", "posix")
_OPS: Final = ("read", "write")
# As in derive/detail.py: the run's length is rounded in old logs, and clocks of nodes differ a little.
_CLOCK_SLACK_SECONDS: Final = 2.0
_SHORTEST_SECONDS: Final = 1e-3

_OF_LOG: Final = "log_id = $1 AND night = $2 AND cluster = $3"
_SOUND: Final = f"{_OF_LOG} AND start_seconds >= 0 AND end_seconds >= start_seconds AND end_seconds <= $4"
_REQUESTS: Final = f"""
    SELECT
        layer, op, rank, host, file_id, ost AS ost_id, offset_bytes, greatest(length_bytes, 0) AS length_bytes,
        start_seconds, end_seconds
    FROM segments
    WHERE {_SOUND}
    ORDER BY layer, rank, start_seconds
"""
_RANK_DETAIL: Final = f"""
    WITH hosts AS (SELECT rank, any_value(host) AS host FROM core.rank_io WHERE {_OF_LOG} GROUP BY rank)
    SELECT
        layer, op, rank, host, start_seconds, end_seconds, request_count, moved_bytes, busy_seconds, detail_level,
        tolerance_seconds
    FROM core.rank_detail
    LEFT JOIN hosts USING (rank)
    WHERE {_OF_LOG}
    ORDER BY layer, rank, start_seconds
"""
_OST_DETAIL: Final = f"""
    SELECT
        layer, op, ost_id, start_seconds, end_seconds, request_count, moved_bytes, busy_seconds, detail_level, tolerance_seconds
    FROM core.ost_detail
    WHERE {_OF_LOG}
    ORDER BY layer, ost_id, start_seconds
"""
_OFFSET_DETAIL: Final = f"""
    SELECT
        layer, op, file_id, offset_bytes, end_offset_bytes - offset_bytes AS length_bytes, start_seconds, end_seconds,
        request_count, moved_bytes, busy_seconds, 0 AS detail_level, tolerance_bytes AS tolerance_seconds
    FROM core.offset_detail
    WHERE {_OF_LOG}
    ORDER BY layer, file_id, offset_bytes
"""
_DETAIL: Final = {"rank": _RANK_DETAIL, "ost": _OST_DETAIL, "offset": _OFFSET_DETAIL}
_PHASES: Final = f"""
    SELECT
        layer, phase, start_seconds, end_seconds, read_bytes, write_bytes, request_count, rank_count, fastest_rank,
        slowest_rank, fastest_rank_seconds, slowest_rank_seconds, straggler_count
    FROM phases
    WHERE {_OF_LOG}
    ORDER BY layer, phase
"""
_OSTS: Final = f"""
    SELECT ost_id, op, request_count, moved_bytes, reason
    FROM ost_io
    WHERE {_OF_LOG} AND layer = 'posix'
    ORDER BY ost_id NULLS LAST, op
"""
_FILES: Final = f"""
    SELECT file_id, any_value(path) AS path
    FROM core.file_access
    LEFT JOIN core.file_name USING (cluster, night, log_id, file_id)
    WHERE {_OF_LOG}
    GROUP BY file_id
    ORDER BY sum(moved_bytes) DESC, file_id
"""


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
        parquet: the rows.
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


Ask = Callable[[str, Sequence[object]], pa.Table]


def trace_of(database: Path, log_id: str, highlights: Sequence[Highlight] = ()) -> Trace | None:
    """The trace of a log; None where the warehouse holds none of it.

    Args:
        database: the catalog.
        log_id: the log.
        highlights: what can be highlighted, beside what can be in any trace: rank 0 and the slowest requests.

    Raises:
        UsageError: there is no such log.
        WarehouseError: the catalog is missing or is not one, or a file of the lake is missing.
    """
    with open_catalog(database) as con:
        return _trace(lambda sql, values: answer(con, sql, values), log_id, highlights)


def _trace(ask: Ask, log_id: str, highlights: Sequence[Highlight]) -> Trace | None:
    logs = ask("SELECT log_id, night, cluster, nprocs, run_seconds FROM logs WHERE log_id = $1 LIMIT 1", [log_id]).to_pylist()
    if not logs:
        raise UsageError(f"The warehouse has no log {log_id}: `iomine sql 'SELECT log_id, app FROM logs'` lists those it has.")
    log = logs[0]
    keys = (log["log_id"], log["night"], log["cluster"])
    latest = (log["run_seconds"] or 0.0) + _CLOCK_SLACK_SECONDS
    [extent] = ask(
        f"SELECT count(*) AS requests, count(*) FILTER ({_SOUND}) AS sound, max(rank) AS rank, "
        f"max(end_seconds) FILTER ({_SOUND}) AS \"end\" FROM segments WHERE {_OF_LOG}",
        [*keys, latest],
    ).to_pylist()
    if not extent["sound"]:
        return None
    run_seconds = max(log["run_seconds"] or 0.0, extent["end"], _SHORTEST_SECONDS)
    files = ask(_FILES, keys).to_pylist()
    hosts = ask(f"SELECT DISTINCT host FROM core.rank_io WHERE {_OF_LOG} AND host IS NOT NULL ORDER BY host", keys)
    names = {
        "layer": _LAYERS,
        "op": _OPS,
        "host": hosts["host"].to_pylist(),
        "file_id": [file["file_id"] for file in files[:_MOST_FILES]],
    }
    tick = tick_seconds(run_seconds)
    tables = _tables(ask, keys, extent["sound"], latest, names, tick)
    about = {
        "run_seconds": run_seconds,
        "rank_count": max(log["nprocs"] or 0, extent["rank"] + 1),
        "tick_seconds": tick,
        "request_count": extent["requests"],
        "layers": _LAYERS,
        "ops": _OPS,
        "files": _file_names(files),
        "hosts": names["host"],
        "phases": ask(_PHASES, keys).to_pylist(),
        "osts": ask(_OSTS, keys).to_pylist(),
        "highlights": [_numbered(highlight, files) for highlight in (*highlights, *_usual(ask, keys, latest))],
    }
    return Trace(about, tables)


def _tables(ask: Ask, keys: Sequence[object], count: int, latest: float, names: Names, tick: float) -> list[Table]:
    if count <= _MOST_REQUESTS:
        rows = ask(_REQUESTS, [*keys, latest])
        return [Table("rank", 0.0, len(rows), page_parquet(rows, names, tick))]
    return [table for by in _DETAIL for table in _levels(ask(_DETAIL[by], keys), by, names, tick)]


def _levels(rows: pa.Table, by: str, names: Names, tick: float) -> list[Table]:
    levels = rows["detail_level"].to_numpy()
    found = []
    for level in sorted(set(levels.tolist())):
        own = rows.filter(pa.array(levels == level))
        tolerance = max(own["tolerance_seconds"].to_pylist())
        found.append(Table(by, tolerance, len(own), page_parquet(own, names, tick)))
    return found


def _file_names(files: Sequence[dict[str, Any]]) -> list[str]:
    named = [file["path"] or f"record {file['file_id']}" for file in files[:_MOST_FILES]]
    others = len(files) - len(named)
    return [*named, f"{others:,} other files"] if others else named


def _usual(ask: Ask, keys: Sequence[object], latest: float) -> list[Highlight]:
    """What can be highlighted in any trace."""
    [slow] = ask(
        f"SELECT quantile_cont(end_seconds - start_seconds, 0.95) AS bar FROM segments WHERE {_SOUND}", [*keys, latest]
    ).to_pylist()
    busy = ask(
        f"WITH spent AS (SELECT rank, read_seconds + write_seconds AS seconds FROM core.rank_io WHERE {_OF_LOG} AND layer = 'all') "
        "SELECT rank FROM spent WHERE seconds > 2 * (SELECT median(seconds) FROM spent) ORDER BY rank",
        keys,
    )["rank"].to_pylist()
    found = [
        Highlight(code="rank 0", text="What rank 0 does.", ranks=[0]),
        Highlight(code="slowest", text="The slowest twentieth of all requests.", seconds_from=slow["bar"]),
    ]
    unbalanced = Highlight(code="busy ranks", text="Ranks that spend more than twice the median rank's time in requests.", ranks=busy)
    return [*found, unbalanced] if busy else found


def _numbered(highlight: Highlight, files: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A highlight as the page has it: without what is no condition, and with numbers for files."""
    found = {name: value for name, value in asdict(highlight).items() if value is not None}
    if (paths := found.pop("paths", None)) is not None:
        wanted = set(paths)
        found["files"] = sorted({min(at, _MOST_FILES) for at, file in enumerate(files) if file["path"] in wanted})
    return found
