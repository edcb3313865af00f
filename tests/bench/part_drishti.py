"""How fast verdicts are had: reading, features and judging by iomine, against drishti-io 0.8, on one core.

Only real logs that Drishti finishes are timed. Each side does all logs in one process, imports not counted: Drishti from
the path of a log to its report, log by log, iomine from the logs' bytes to a file of verdicts of all triggers, all logs in
one night. Neither reads traces. drishti-io gets an environment of its own. Of a simulated night it does a sample.
"""

import csv
import gc
import json
import multiprocessing
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from itertools import pairwise, starmap
from pathlib import Path
from unittest.mock import patch

from measure import Times
from night import files_of_logs
from options import Options
from part_sweeps import simulated
from peers import python_with
from results import Result, faster

from iomine.pipeline.ingest.reader import ENVIRONMENT
from iomine.pipeline.judging.judge import judge
from iomine.sources.darshan import read_log
from iomine.triggers import TRIGGERS

_LEAST_SPEEDUP = 100
_LEAST_SPEEDUP_OF_NIGHT = 30
_SAMPLE = 200
_STEPS = ("reading", "writing", "judging")

# On the clock, and of the processor.
Seconds = tuple[float, float]


def _now() -> Seconds:
    return time.perf_counter(), time.process_time()


def by_iomine(paths: Sequence[str]) -> list[Seconds]:
    """Seconds from logs to verdicts step by step, as a sweep goes but without its processes."""
    with tempfile.TemporaryDirectory() as folder:
        at = [_now()]
        logs = [(read_log(path, leave_traces="Drishti does not read them either"), path) for path in paths]
        at.append(_now())
        files = files_of_logs(logs, Path(folder) / "read")
        at.append(_now())
        judge((), Path(folder) / "staging", files, TRIGGERS)
        at.append(_now())
    return list(starmap(_between, pairwise(at)))


def night_by_iomine(paths: Sequence[str]) -> Seconds:
    """Seconds from logs to verdicts of a night that memory does not hold."""
    with tempfile.TemporaryDirectory() as folder:
        start = _now()
        logs = ((read_log(path, leave_traces="Drishti does not read them either"), path) for path in paths)
        judge((), Path(folder) / "staging", files_of_logs(logs, Path(folder) / "read"), TRIGGERS)
        return _between(start, _now())


def _between(start: Seconds, end: Seconds) -> Seconds:
    return end[0] - start[0], end[1] - start[1]


def runs_of_iomine(paths: Sequence[str], rounds: int) -> dict[str, Times]:
    """Runs over all logs in a process of their own, after one that does not count, step by step."""
    with multiprocessing.get_context("spawn").Pool(1, gc.freeze) as pool:
        runs = [pool.apply(by_iomine, (paths,)) for _ in range(rounds + 1)][1:]
    return {step: Times.of(of_runs) for step, of_runs in zip(_STEPS, zip(*runs, strict=True), strict=True)}


def runs_of_drishti(python: Path, paths: Sequence[str], rounds: int) -> Times:
    """Runs over all logs, all in one process, after a run that does not count."""
    printed = subprocess.run(
        [python, "-W", "ignore", Path(__file__).with_name("drishti_seconds.py")],
        input="\n".join([*paths] * (rounds + 1)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    seconds: list[list[float]] = json.loads(printed)
    runs = [seconds[first : first + len(paths)] for first in range(len(paths), len(seconds), len(paths))]
    return Times.of((sum(wall for wall, _ in run), sum(cpu for _, cpu in run)) for run in runs)


def logs_of_drishti(data: Path) -> list[str]:
    """Logs that Drishti finishes."""
    with (data / "drishti-io-0.8.csv").open(newline="") as file:
        return [str(data / row["file"]) for row in csv.DictReader(file) if row["result"] == "ok"]


def measured(options: Options) -> list[Result]:
    """All real logs, and a simulated night, by Drishti and by iomine."""
    logs = logs_of_drishti(options.data / "darshan")
    night = sorted(map(str, simulated(options.cache, options.night).rglob("*.darshan")))
    sample = random.Random(0).sample(night, min(_SAMPLE, len(night)))
    python = python_with(options.cache, "drishti-io==0.8", f"darshan=={version('darshan')}")
    cores = os.sched_getaffinity(0)
    # However many threads DuckDB or NumPy start, they share it; whatever is started from here inherits it.
    os.sched_setaffinity(0, {max(cores)})
    try:
        with patch.dict(os.environ, ENVIRONMENT):
            theirs = runs_of_drishti(python, logs, options.rounds)
            steps = runs_of_iomine(logs, options.rounds)
            theirs_of_sample = runs_of_drishti(python, sample, 1)
            with multiprocessing.get_context("spawn").Pool(1, gc.freeze) as pool:
                of_night = Times.of([pool.apply(night_by_iomine, (night,))])
    finally:
        os.sched_setaffinity(0, cores)
    what = f"{len(logs)} real logs, from their bytes to the verdicts of {len(TRIGGERS)} triggers, on one core"
    return [
        faster(what, Times.sum_of(steps.values()), "drishti-io", theirs, _LEAST_SPEEDUP),
        *(
            Result(what=f"of that {step}", ours=times.cpu, cpu_seconds=times.cpu, spread=times.spread)
            for step, times in steps.items()
        ),
        faster(
            f"each log of a simulated night of {len(night):,}, likewise",
            _each(of_night, len(night)),
            f"drishti-io on {len(sample)} of them",
            _each(theirs_of_sample, len(sample)),
            _LEAST_SPEEDUP_OF_NIGHT,
        ),
    ]


def _each(times: Times, count: int) -> Times:
    return Times(tuple(run / count for run in times.runs), tuple(run / count for run in times.cpu_runs))
