"""How fast the published views answer: for one night and for a year of a million logs, as DuckDB itself reports; and reports.

A simulated night is read and judged as a sweep does it, with all its tables, and linked under 365 nights: a year of the same
night, which lies in memory after a first run. Each view is asked for a hash over all of its columns, so that nothing can be
left out; the floor is the same hash over the columns of the Parquet files that DuckDB reads to answer.
"""

import json
import statistics
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from history import make_history, nights
from night import CLUSTER, files_of_logs
from options import Options
from part_reports import reports
from part_sweeps import simulated
from results import Result

from iomine.cli.narrowing import Narrowing
from iomine.lake import LakeFile
from iomine.pipeline.judging.judge import judge
from iomine.sources.darshan import read_log
from iomine.sqltext import name_of
from iomine.triggers import TRIGGERS
from iomine.units import GIB
from iomine.views.model import find_views
from iomine.views.query import Limits, open_catalog
from iomine.views.questions import Parameters, question

_NIGHTS = 365
_MOST_NIGHT_SECONDS = 0.3
_MOST_YEAR_SECONDS = 3
_MOST_SCANS = 5
# What takes longer is not run again for a median.
_LONG_SECONDS = 3
# What takes longer is stopped, and said to have taken so long.
_MOST_SECONDS = 30
_LIMITS = Limits(memory_bytes=8 * GIB)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Nights that are asked about, and how long the answer may take."""

    what: str
    begin: date
    end: date
    most: float | None

    @property
    def where(self) -> str:
        """The condition, as people write it."""
        if self.begin == self.end:
            return f"night = DATE '{self.end}'"
        return f"night BETWEEN DATE '{self.begin}' AND DATE '{self.end}'"


@dataclass(frozen=True, slots=True)
class Profile:
    """What DuckDB reports of a query.

    Attributes:
        seconds: on the clock, planning included.
        rows: rows that came from files.
        reads: columns by table that they came from; none if it was stopped.
    """

    seconds: float
    rows: int
    reads: dict[str, set[str]]


def measured(options: Options) -> list[Result]:
    """Every view that has nights, the worst offenders, and reports."""
    with TemporaryDirectory(dir=options.cache) as folder:
        night = _night(options, Path(folder))
        database = make_history(_NIGHTS, night, Path(folder))
        # Reports look back, and would meet with each log in all nights.
        alone = make_history(1, night, Path(folder, "alone"))
        return [*_answers(database, options), *reports(alone)]


def _night(options: Options, folder: Path) -> list[LakeFile]:
    """All tables of a simulated night."""
    log_count = -(-options.year // _NIGHTS)
    paths = sorted(path for path in simulated(options.cache, log_count).rglob("*.darshan"))
    logs = ((read_log(path), str(path)) for path in paths)
    files = files_of_logs(logs, folder / "night")
    judged = judge((), folder / "staging", files, TRIGGERS).files
    return [*files, *judged]


def _answers(database: Path, options: Options) -> Iterator[Result]:
    first, last = nights(_NIGHTS)[0][1], nights(_NIGHTS)[-1][1]
    stretches = (
        Stretch("one night", last, last, _MOST_NIGHT_SECONDS),
        Stretch("30 nights", last - timedelta(days=29), last, None),
        Stretch("a year", first, last, _MOST_YEAR_SECONDS),
    )
    with open_catalog(database, _LIMITS) as con:
        logs = con.execute("SELECT count(*) FROM logs").fetchone()[0]
        lake = database.parent / "lake"
        yield Result(what="logs in the year", ours=logs, unit="logs", least=options.year)
        for stretch in stretches:
            narrowed = Narrowing(first_night=stretch.begin, cluster=CLUSTER).parameters()
            asked = narrowed | {"worst_by": "cost", "most_rows": 20}
            worst = _median(con, question("cli/worst"), options.rounds, asked)
            yield from _held(con, f"iomine worst of {stretch.what}", worst, stretch, lake)
        for view in [view.name for view in find_views() if view.schema == "main"]:
            columns = [name for name, *_ in con.execute(f"DESCRIBE {view}").fetchall()]
            if "night" not in columns:
                continue
            for stretch in stretches:
                answer = _median(con, _hashed(view, columns, stretch), options.rounds)
                yield from _held(con, f"{view} of {stretch.what}", answer, stretch, lake)


def _held(con: Any, what: str, answer: Profile, stretch: Stretch, lake: Path) -> Iterator[Result]:
    """An answer held against its target, and against bare scans of the columns that it read."""
    yield Result(what=what, ours=answer.seconds, most=stretch.most)
    if not answer.reads:
        return
    scans = [_profile(con, _bare(lake / table, columns, stretch)) for table, columns in answer.reads.items()]
    scanned = sum(scan.seconds for scan in scans)
    yield Result(
        what=f"  {sum(scan.rows for scan in scans):,} rows of {', '.join(answer.reads)}",
        ours=answer.seconds, peer=scanned, beside="bare scan", ratio=answer.seconds / scanned, most=_MOST_SCANS,
    )  # fmt: skip


def _bare(table: Path, columns: set[str], stretch: Stretch) -> str:
    """A scan of columns of the files of some nights, named one by one."""
    places = sorted(table.glob("*/night=*/*.parquet"))
    files = [str(place) for place in places if str(stretch.begin) <= place.parent.name.removeprefix("night=") <= str(stretch.end)]
    return f"SELECT {_hash(sorted(columns))} FROM read_parquet({files})"


def _hash(columns: Sequence[str]) -> str:
    return f"count(*), bit_xor(hash({', '.join(map(name_of, columns))}))"


def _hashed(view: str, columns: Sequence[str], stretch: Stretch) -> str:
    """A query that needs every value of a view's columns and gives one number."""
    return f"SELECT {_hash(columns)} FROM {view} WHERE {stretch.where}"


def _median(con: Any, sql: str, rounds: int, parameters: Parameters | None = None) -> Profile:
    """The run in the middle, after one that does not count; one run is enough of what takes long."""
    profile = _profile(con, sql, parameters)
    if profile.seconds > _LONG_SECONDS:
        return profile
    seconds = statistics.median(_profile(con, sql, parameters).seconds for _ in range(rounds))
    return Profile(seconds, profile.rows, profile.reads)


def _profile(con: Any, sql: str, parameters: Parameters | None = None) -> Profile:
    """What DuckDB reports, or that it was stopped."""
    stop = threading.Timer(_MOST_SECONDS, con.interrupt)
    stop.start()
    try:
        reported = json.loads(con.execute(f"EXPLAIN (ANALYZE, FORMAT json) {sql}", parameters).fetchall()[0][1])
    except duckdb.InterruptException:
        return Profile(_MOST_SECONDS, 0, {})
    finally:
        stop.cancel()
    reads: dict[str, set[str]] = {}
    for scan in _scans(reported["operator"]):
        # .../lake/TABLE/cluster=.../night=.../part.parquet
        table = scan["Filename(s)"].split("/cluster=")[0].rpartition("/")[2]
        projected = scan.get("Projections", [])
        columns = {projected} if isinstance(projected, str) else set(projected)
        reads.setdefault(table, set()).update(columns - {"filename"} or {"log_id"})
    return Profile(reported["query"]["total_time"], reported["query"]["total_rows_scanned"], reads)


def _scans(operators: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Scans of files within a plan; those that read none name no file."""
    for operator in operators:
        if "Filename(s)" in operator.get("extra_info", {}):
            yield operator["extra_info"]
        yield from _scans(operator.get("children", []))
