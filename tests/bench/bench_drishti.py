"""How fast verdicts are had: reading, features and judging by iomine, against drishti-io 0.8, on one core.

    python tests/bench/bench_drishti.py [DATA] [--cache DIR] [--core N] [--rounds N]

DATA is a folder of logs with a `drishti-io-0.8.csv`; without it, the logs beside the repository are taken. Only logs that
Drishti finishes are timed. Each side does all logs in one process, imports not counted: Drishti's time is what it reports
itself, log by log; iomine's is that from the logs' bytes to a file of verdicts of all triggers, all logs in one night.
Neither reads traces. drishti-io gets an environment of its own, made once under DIR. Exits with 1 where iomine is less than
100 times as fast.
"""

import argparse
import csv
import gc
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from measure import Times, lines
from night import files_of_logs
from peers import python_with

from iomine.lake import Warehouse
from iomine.pipeline.judge import judge
from iomine.pipeline.reader import ENVIRONMENT
from iomine.sources.darshan import read_log
from iomine.triggers import TRIGGERS

_LEAST_SPEEDUP = 100


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds that iomine took for all logs.

    Attributes:
        each: reading, log by log.
        writing: features and records into Parquet.
        judging: views and verdicts.
    """

    each: tuple[float, ...]
    writing: float
    judging: float

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self.each) + self.writing + self.judging


def by_iomine(paths: Sequence[str]) -> Run:
    """From logs to verdicts, as a sweep goes but without its processes."""
    each = []
    logs = []
    for path in paths:
        start = time.perf_counter()
        logs.append((read_log(path, leave_traces="Drishti does not read them either"), path))
        each.append(time.perf_counter() - start)
    with tempfile.TemporaryDirectory() as folder:
        read_at = time.perf_counter()
        files = files_of_logs(logs, Path(folder) / "read")
        written_at = time.perf_counter()
        judge(Warehouse(Path(folder) / "warehouse"), Path(folder) / "staging", files, TRIGGERS)
        judged_at = time.perf_counter()
    return Run(tuple(each), written_at - read_at, judged_at - written_at)


def runs_of_iomine(paths: Sequence[str], rounds: int) -> list[Run]:
    """Runs over all logs in a process of their own, after one that does not count."""
    with multiprocessing.get_context("spawn").Pool(1, gc.freeze) as pool:
        return [pool.apply(by_iomine, (paths,)) for _ in range(rounds + 1)][1:]


def runs_of_drishti(python: Path, paths: Sequence[str], rounds: int) -> list[list[float]]:
    """Seconds for each log, run by run, all in one process, after a run that does not count."""
    printed = subprocess.run(
        [python, "-W", "ignore", Path(__file__).with_name("drishti_seconds.py")],
        input="\n".join([*paths] * (rounds + 1)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    seconds: list[float] = json.loads(printed)
    return [seconds[first : first + len(paths)] for first in range(len(paths), len(seconds), len(paths))]


def logs_of_drishti(data: Path) -> list[str]:
    """Logs that Drishti finishes."""
    with (data / "drishti-io-0.8.csv").open(newline="") as file:
        return [str(data / row["file"]) for row in csv.DictReader(file) if row["result"] == "ok"]


def main() -> int:
    """Times all logs and prints what came of it."""
    parser = argparse.ArgumentParser(description="How fast verdicts are had.")
    parser.add_argument("data", nargs="?", type=Path, default=Path(__file__).parents[3] / "shared/data/darshan")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "iomine-bench")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the core that all of it runs on")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each; the median counts")
    arguments = parser.parse_args()
    logs = logs_of_drishti(arguments.data)
    python = python_with(arguments.cache, "drishti-io==0.8", f"darshan=={version('darshan')}")
    # However many threads DuckDB or NumPy start, they share it; whatever is started from here inherits it.
    os.sched_setaffinity(0, {arguments.core})
    os.environ.update(ENVIRONMENT)
    drishti = runs_of_drishti(python, logs, arguments.rounds)
    iomine = runs_of_iomine(logs, arguments.rounds)
    out = [f"{len(logs)} logs, {arguments.rounds} rounds, {len(TRIGGERS)} triggers, one core", ""]
    theirs, ours = [sum(run) for run in drishti], [run.total for run in iomine]
    out += lines(
        [
            ("way", "total ms", "spread", "median log ms"),
            _row("drishti-io", theirs, drishti),
            _row("iomine", ours),
            _row("  reading", [sum(run.each) for run in iomine], [run.each for run in iomine]),
            _row("  writing", [run.writing for run in iomine]),
            _row("  judging", [run.judging for run in iomine]),
        ]
    )
    speedup = statistics.median(theirs) / statistics.median(ours)
    is_fast = speedup >= _LEAST_SPEEDUP
    out += ["", f"{speedup:.1f} x as fast as drishti-io (at least {_LEAST_SPEEDUP} is asked for)"]
    sys.stdout.write("\n".join([*out, "passed" if is_fast else "FAILED", ""]))
    return 0 if is_fast else 1


def _row(name: str, totals: Sequence[float], of_logs: Sequence[Sequence[float]] = ()) -> tuple[str, ...]:
    times = Times(tuple(totals))
    # The log in the middle, each by its own run in the middle.
    log = statistics.median(map(statistics.median, zip(*of_logs, strict=True))) if of_logs else None
    return name, f"{1e3 * times.median:.0f}", f"{times.spread:.0%}", "" if log is None else f"{1e3 * log:.2f}"


if __name__ == "__main__":
    sys.exit(main())
