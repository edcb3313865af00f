"""How fast logs are judged: a long history of made-up features, and one night of real records through the real views.

    python tests/bench/bench_judge.py [DATA] [--history N] [--night N] [--rounds N]

DATA is the folder that holds the sets `darshan` and `groundtruth`; without it, the one beside the repository is taken. All
triggers of all rulesets judge. Exits with 1 where a history of a million logs takes 10 seconds or 2 GB of memory, or a night
of 10,000 logs takes a second; these bars hold for other numbers of logs too. How long counting the history's verdicts takes,
which is what a comparison of bars does, is told beside.
"""

import argparse
import csv
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa
from features import make_history, nights
from measure import Contest, lines
from night import CLUSTER, NIGHT, copy_logs, files_in, files_of_logs

from iomine.errors import UnreadableError
from iomine.lake import LakeFile, Warehouse
from iomine.pipeline.judge import judge
from iomine.sources.darshan import Log, read_log
from iomine.triggers import TRIGGERS, Trigger, judge_sql, reference_table, settings
from iomine.views.catalog import build_catalog
from iomine.views.model import find_views
from iomine.views.query import answer, ask, open_catalog

_MOST_HISTORY_SECONDS = 10
_MOST_HISTORY_GB = 2
_GB = 1_000_000_000
_MOST_NIGHT_SECONDS = 1
# Metrics of all logs that are judged at once lie in memory together.
_NIGHTS_AT_ONCE = 25
_ROWS_PER_BATCH = 122_880

_JUDGES = list(TRIGGERS.values())


def history_judged(database: str) -> object:
    """All verdicts on a history, as Arrow batches that are counted and let go."""
    log_count = ask(Path(database), "SELECT count(*) AS count FROM core.log")["count"][0].as_py()
    history = nights(log_count)
    verdict_count = 0
    with _opened(Path(database), _JUDGES) as con:
        for first in range(0, len(history), _NIGHTS_AT_ONCE):
            verdicts = con.sql(judge_sql(_JUDGES, history[first : first + _NIGHTS_AT_ONCE]))
            verdict_count += sum(batch.num_rows for batch in verdicts.to_arrow_reader(_ROWS_PER_BATCH))
    if verdict_count != log_count * len(_JUDGES):
        raise RuntimeError(f"{verdict_count:,} verdicts on {log_count:,} logs are not {len(_JUDGES)} on each.")
    return verdict_count


def history_counted(database: str) -> pa.Table:
    """How many verdicts a history gets and what share of them is fired, worked out without a verdict leaving DuckDB."""
    sql = f"SELECT count(*) AS count, avg((state = 'fired')::INTEGER) AS fired_ratio FROM ({judge_sql(_JUDGES)})"
    return ask(Path(database), sql, variables=settings(_JUDGES))


def night_judged(folder: str) -> object:
    """A night judged as a sweep does it, from staged files to files of verdicts."""
    with TemporaryDirectory() as scratch:
        return judge(Warehouse(Path(scratch) / "warehouse"), Path(scratch) / "staging", files_in(Path(folder)), TRIGGERS)


@contextmanager
def _opened(database: Path, triggers: Sequence[Trigger]) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_catalog(database) as con:
        for name, value in settings(triggers).items():
            con.execute(f"SET VARIABLE {name} = {value!r}")
        yield con


def night_parts(folder: Path, rounds: int) -> dict[str, float]:
    """Seconds that the parts of judging a night take: building the views, judging by all triggers, and by those of one view.

    Each of these statements opens, plans and reads for itself, so the views' seconds add up to more than those of all.
    """
    files = files_in(folder)
    with TemporaryDirectory() as scratch:
        database = Path(scratch) / "judge.duckdb"

        def build() -> None:
            build_catalog(database, {file.table: [str(file.path)] for file in files}, {"triggers": reference_table()}, {})

        def judge_by(triggers: Sequence[Trigger]) -> None:
            with _opened(database, triggers) as con:
                answer(con, judge_sql(triggers, [(CLUSTER, NIGHT)]))

        parts = {"building the views": _median_seconds(build, rounds)}
        parts["all triggers"] = _median_seconds(lambda: judge_by(_JUDGES), rounds)
        by_view = {trigger.view: [other for other in _JUDGES if other.view == trigger.view] for trigger in _JUDGES}
        for view, triggers in by_view.items():
            parts[f"{view} ({len(triggers)})"] = _median_seconds(lambda asked=triggers: judge_by(asked), rounds)
    return parts


def _median_seconds(do: Callable[[], object], rounds: int) -> float:
    runs = []
    for _ in range(rounds):
        start = time.perf_counter()
        do()
        runs.append(time.perf_counter() - start)
    return statistics.median(runs)


def make_night(data: Path, log_count: int, folder: Path) -> None:
    """Writes the tables that judging needs for a night of real logs, each again and again under other ids.

    Args:
        data: holds the sets of logs; those under `dask-polaris` are hundreds of runs of one program and left out.
        log_count: how many logs.
        folder: where the files go.
    """
    with (data / "darshan" / "MANIFEST.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["pydarshan_3_5_0"] == "ok"]
    logs = [data / "darshan" / row["file"] for row in rows if not row["file"].startswith("dask-polaris/")]
    workloads = json.loads((data / "groundtruth" / "MANIFEST.json").read_text())["workloads"]
    logs += [data / "groundtruth" / workload["log"] for workload in workloads]
    needed = _tables_needed()
    with TemporaryDirectory() as scratch:
        small = files_of_logs(_readable(logs), Path(scratch))
        copy_logs([file for file in small if file.table in needed], log_count, folder)


def _readable(logs: Sequence[Path]) -> Iterator[tuple[Log, str]]:
    """Logs that can be read: some of `groundtruth` were cut off on purpose."""
    for path in logs:
        with suppress(UnreadableError):
            yield read_log(path), str(path)


def _tables_needed() -> set[str]:
    views = {view.qualified: view for view in find_views()}
    found: set[str] = set()
    wanted = {"core.log", *(f"main.{trigger.view}" for trigger in _JUDGES)}
    while wanted - found:
        found |= wanted
        wanted = {read for name in found if name in views for read in views[name].reads}
    return {name.removeprefix("lake.") for name in found if name.startswith("lake.")}


def _history_lines(database: str, contest: Contest, rounds: int) -> tuple[list[str], bool]:
    times = contest.times(database, rounds)
    memory = contest.peak_memory_bytes()
    told = history_counted(database).to_pylist()[0]
    is_good = times["verdicts"].median < _MOST_HISTORY_SECONDS and memory["verdicts"] < _MOST_HISTORY_GB * _GB
    logs = told["count"] // len(_JUDGES)
    out = [f"A history of {logs:,} logs, {told['count']:,} verdicts, {told['fired_ratio']:.0%} of them fired:", ""]
    out += lines(
        [
            ("what comes out", "seconds", "spread", "GB of memory at most"),
            *((name, f"{of.median:.2f}", f"{of.spread:.0%}", f"{memory[name] / _GB:.2f}") for name, of in times.items()),
        ]
    )
    out += ["", f"Less than {_MOST_HISTORY_SECONDS} s and {_MOST_HISTORY_GB} GB are asked for where verdicts come out."]
    return [*out, "passed" if is_good else "FAILED"], is_good


def _night_lines(folder: Path, contest: Contest, rounds: int) -> tuple[list[str], bool]:
    times = contest.times(str(folder), rounds)["night"]
    files = files_in(folder)
    is_good = times.median < _MOST_NIGHT_SECONDS
    out = [
        f"A night of {_rows(files, 'log'):,} logs, {_rows(files, 'posix_file'):,} records of POSIX:",
        f"{times.median:.2f} s, spread {times.spread:.0%} (less than {_MOST_NIGHT_SECONDS} s is asked for), of which",
        "",
    ]
    parts = sorted(night_parts(folder, rounds).items(), key=lambda part: -part[1])
    out += lines([("part", "ms"), *((name, f"{1e3 * seconds:.0f}") for name, seconds in parts)])
    return [*out, "", "passed" if is_good else "FAILED"], is_good


def _rows(files: Sequence[LakeFile], table: str) -> int:
    return sum(file.row_count for file in files if file.table == table)


def main() -> int:
    """Judges a history and a night, and prints what came of it."""
    parser = argparse.ArgumentParser(description="How fast logs are judged.")
    parser.add_argument("data", nargs="?", type=Path, default=Path(__file__).parents[3] / "shared/data")
    parser.add_argument("--history", type=int, default=1_000_000, help="logs of the history")
    parser.add_argument("--night", type=int, default=10_000, help="logs of the night")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each; the median counts")
    arguments = parser.parse_args()
    sys.stdout.write(f"{len(_JUDGES)} triggers over {len({trigger.view for trigger in _JUDGES})} views\n\n")
    with TemporaryDirectory() as folder, Contest({"verdicts": history_judged, "counts": history_counted}) as contest:
        database = make_history(arguments.history, _JUDGES, Path(folder))
        told, is_fast_on_history = _history_lines(str(database), contest, arguments.rounds)
    sys.stdout.write("\n".join([*told, "", ""]))
    with TemporaryDirectory() as folder, Contest({"night": night_judged}) as contest:
        make_night(arguments.data, arguments.night, Path(folder))
        told, is_fast_on_night = _night_lines(Path(folder), contest, arguments.rounds)
    sys.stdout.write("\n".join([*told, ""]))
    return 0 if is_fast_on_history and is_fast_on_night else 1


if __name__ == "__main__":
    sys.exit(main())
