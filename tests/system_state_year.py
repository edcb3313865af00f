"""How verdicts by traffic fall on a year of benchmark runs, of which it is known which were slow.

`python tests/system_state_year.py` writes docs/system_state_year.md: the tables of `tokio_year` become tables of the lake,
and the runs are judged from them night by night, as a sweep does.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyarrow as pa
from catalogs import catalog_of, system_state_profiles
from shared import Row
from tokio_year import MOST_MISSING, YEAR, runs

from iomine.lake import LakeFile, write_file
from iomine.pipeline.judging.spans import JUDGED_AT_ONCE, spans
from iomine.pipeline.judging.steps import worked
from iomine.pipeline.judging.system_state import run_files, slot_files, system_state_files
from iomine.schema.registry import arrow_schema
from iomine.views.query import ask

PAGE: Final = Path(__file__).parents[1] / "docs" / "system_state_year.md"
CLUSTER: Final = "edison"
# A run is slow where the median rate of runs alike is so many times its own, and under high load where others moved less in so
# many of the runs of the 30 days before.
_SLOW, _HIGH = 1.5, 0.95
LOADED, SLOW, REST = "Slow under high load", "Slow otherwise", "Not slow"
LOAD, FULL, APPLICATION = "system, by load", "system, by fullness", "application"
UNEXPLAINED, UNCLEAR = "unexplained", "unclear"
VERDICTS: Final = (LOAD, FULL, APPLICATION, UNEXPLAINED, UNCLEAR)

# Runs by month, kind and verdict.
Counts = Counter[tuple[str, str, str]]


def verdicts(found: Sequence[Row], nights: Sequence[date]) -> list[Row]:
    """Runs of some nights with `job_weather`'s row of each, in the order in which they are given.

    Args:
        found: runs, of as many nights before as verdicts look back to.
        nights: those whose runs are judged.
    """
    with TemporaryDirectory() as folder:
        database = _database(Path(folder), found, nights)
        reported = {row["log_id"]: row for row in ask(database, "SELECT * FROM job_weather").to_pylist()}
    return [{**run, **reported[_log_id(place)]} for place, run in enumerate(found) if _end(run).date() in set(nights)]


def _database(folder: Path, found: Sequence[Row], nights: Sequence[date]) -> Path:
    there = list(_files(folder, found))
    there += worked(slot_files(folder, there, {(CLUSTER, file.night) for file in there if file.night}))
    wanted = {(CLUSTER, night) for night in nights}
    there += [
        *worked(system_state_files(folder, there, wanted)),
        *worked(run_files(folder, there, spans(there, JUDGED_AT_ONCE))),
    ]
    judged = system_state_profiles(folder, [file for file in there if file.partition in wanted])
    return catalog_of(folder, [*there, *judged])


def _files(folder: Path, found: Sequence[Row]) -> Iterator[LakeFile]:
    """The tables as far as the verdicts need them, by night."""
    by_night: dict[tuple[str, date], list[Row]] = {}
    for place, run in enumerate(found):
        for table, row in _rows(_log_id(place), run):
            by_night.setdefault((table, _end(run).date()), []).append(row)
    for (table, night), rows in by_night.items():
        yield write_file(folder, table, pa.Table.from_pylist(rows, schema=arrow_schema(table)), CLUSTER, night)


def _rows(log_id: str, run: Row) -> Iterator[tuple[str, Row]]:
    """What is in the lake of a run: its log, with one file for all, and the state of its file system."""
    start = run["start_at"].replace(tzinfo=UTC)
    file_system, file = run["file_system"], {"log_id": log_id, "file_id": 1}
    yield "log", {"log_id": log_id, "user": "benchmarks", "start_at": start, "end_at": _end(run)} | _run(run)
    if file_system is None or run["moved_bytes"] is None:
        return
    yield "file_name", file | {"mount": f"/{file_system}", "fs_type": "lustre"}
    times = {name: run[name] for name in ("read_seconds", "write_seconds", "meta_seconds")}
    moved = {name: int(run[name]) for name in ("read_bytes", "write_bytes")}
    yield "posix_file", file | {"rank": -1} | times | moved
    if run["fs_bytes"] is not None and run["missing_ratio"] <= MOST_MISSING:
        # What is known is the sum over all OSTs, which thus stand as one.
        counted = {"target": f"{file_system}-OST0000", "target_kind": "ost", "scope": "target", "owner": "", "operation": "all"}
        when = {"begin_at": start, "interval_seconds": run["fs_seconds"], "source_kind": "lmt"}
        yield "server_interval", counted | when | {"moved_bytes": int(run["fs_bytes"]), "quality": "sound"}
    if run["fullest_ost_ratio"] is not None:
        full = {"capacity_bytes": 10**6, "used_bytes": round(run["fullest_ost_ratio"] * 10**6)}
        where = {"target": f"{file_system}-OST0000", "target_kind": "ost", "mount": f"/{file_system}"}
        yield "target_fullness", {"sampled_at": start} | where | full


def _run(run: Row) -> Row:
    """What makes runs comparable: of a benchmark, those that move data the same way on as many processes."""
    seconds = [run[name] for name in ("read_seconds", "write_seconds", "meta_seconds")]
    moved = {name: None if run[name] is None else int(run[name]) for name in ("read_bytes", "write_bytes")}
    return moved | {
        "job_id": str(run["job_id"]),
        "nprocs": run["nprocs"],
        "io_core_seconds": None if None in seconds else sum(seconds),
        "lineage_id": f"{run['application']} {run['op']} {run['nprocs']}",
    }


def _end(run: Row) -> datetime:
    return run["start_at"].replace(tzinfo=UTC) + timedelta(seconds=run["run_seconds"])


def _log_id(place: int) -> str:
    return f"{place:016x}"


def counts(judged: Iterable[Row]) -> Counts:
    """Runs by month, kind and verdict, of those that can be compared with runs alike."""
    return Counter((_end(run).strftime("%Y-%m"), _kind(run), _verdict(run)) for run in judged if run["slowdown"] is not None)


def _kind(run: Row) -> str:
    if run["slowdown"] < _SLOW:
        return REST
    # Where it is not known how much others moved, it is not known to have been much.
    return LOADED if (run["others_rank_ratio"] or 0) >= _HIGH else SLOW


def _verdict(run: Row) -> str:
    if run["weather_verdict"] != "system":
        return str(run["weather_verdict"])
    return LOAD if (run["load_percentile"] or 0) >= 100 * _HIGH else FULL


def total(counted: Counts, kinds: Iterable[str], verdicts: Iterable[str]) -> int:
    """Runs of all months of some kinds that got some verdicts."""
    wanted = {(kind, verdict) for kind in kinds for verdict in verdicts}
    return sum(count for (_, *rest), count in counted.items() if tuple(rest) in wanted)


def lift(counted: Counts, kinds: Iterable[str], verdicts: Iterable[str]) -> float:
    """How many times as often runs of some kinds get one of some verdicts as runs that were not slow, of those that are clear."""
    some, rest = (_ratio(counted, each, verdicts) for each in (kinds, [REST]))
    return some / rest


def _ratio(counted: Counts, kinds: Iterable[str], verdicts: Iterable[str]) -> float:
    return total(counted, kinds, verdicts) / total(counted, kinds, (LOAD, FULL, APPLICATION, UNEXPLAINED))


def page(counted: Counts) -> str:
    """The text of docs/system_state_year.md."""
    about = (
        f"{total(counted, (LOADED, SLOW, REST), VERDICTS):,} runs of IOR, HACC-IO, VPIC-IO and BD-CATS on Edison's three Lustre "
        'file systems, the tables behind "A Year in the Life of a Parallel File System" (Lockwood et al., SC18): bytes and times '
        "by Darshan, traffic by LMT during each run, and how full the fullest OST was. They go through the same queries as a "
        "sweep's readings, and get [the verdicts for servers that count no times](system_state.md#where-servers-count-no-times)."
    )
    terms = (
        "A run is slow where the median rate of runs alike (application, direction, file or file per process, file system, "
        f"processes and size) is at least {_SLOW} times its own; verdicts do not know that. It was under high load where others "
        f"moved less in {_HIGH:.0%} of the runs of the 30 days before, by the tables, run by run; verdicts only see ten minutes, "
        "in which other runs of the same job lie too. `unclear` are the first weeks of a file system, runs of which LMT lacks "
        "samples, and those before which fewer than three of the same were known."
    )
    slow, system = [LOADED, SLOW], (LOAD, FULL)
    reported = (
        f"`system` is {lift(counted, [LOADED], system):.1f} times as frequent for runs that were slow under high load as for "
        f"those that were not slow, by load alone {lift(counted, [LOADED], [LOAD]):.1f} times. Of all slow runs "
        f"{_ratio(counted, slow, system):.0%} get it, {lift(counted, slow, system):.1f} times as many as of the rest: "
        f"{lift(counted, slow, [LOAD]):.1f} times by load, and {lift(counted, slow, [FULL]):.1f} times by fullness."
    )
    blamed = (
        f"`application` is the verdict on {_ratio(counted, slow, [APPLICATION]):.1%} of the slow runs, although no program "
        "changed: benchmarks always move the same. The tables do not say in how many requests, so bytes, processes and times "
        "are all that runs are held against; nor are there findings."
    )
    lines = [
        "# What slow runs of a year met with",
        "",
        "<!-- Written by tests/system_state_year.py. -->",
        "",
        about,
        "",
        terms,
        "",
        "| runs | " + " | ".join(VERDICTS) + " | share of system where it is clear |",
        "| --- |" + " --- |" * (len(VERDICTS) + 1),
        *(_row(counted, kind) for kind in (LOADED, SLOW, REST)),
        "",
        reported,
        "",
        blamed,
    ]
    for kind in (LOADED, SLOW, REST):
        lines += ["", f"## {kind}", "", "| month | " + " | ".join(VERDICTS) + " |", "| --- |" + " --- |" * len(VERDICTS)]
        lines += [
            f"| {month} | {' | '.join(str(counted[month, kind, verdict]) for verdict in VERDICTS)} |"
            for month in sorted({month for month, *_ in counted})
        ]
    return "\n".join([*lines, ""])


def _row(counted: Counts, kind: str) -> str:
    cells = [f"{total(counted, [kind], [verdict]):,}" for verdict in VERDICTS]
    return f"| {kind} | {' | '.join(cells)} | {_ratio(counted, [kind], (LOAD, FULL)):.1%} |"


def main() -> None:
    """Writes the page."""
    found = runs(YEAR).to_pylist()
    nights = sorted({_end(run).date() for run in found})
    PAGE.write_text(page(counts(verdicts(found, nights))), encoding="utf-8")


if __name__ == "__main__":
    os.nice(5)
    main()
