"""How fast traces are gone through: against NumPy's sort, PyRanges' merge, and DXT Explorer's dataframes.

    python tests/bench/bench_traces.py [DATA] [--cache DIR] [--requests N] [--rounds N]

DATA is a folder of logs; without it, the logs beside the repository are taken. Three things are timed, in CPU seconds:

- a log with ten million traced requests, from its bytes to phases, ranks, OSTs, overlaps and levels of detail, against the
  time that NumPy needs to sort the starts of the requests once;
- the phases of these requests, against PyRanges 0.1.7 merging the same intervals;
- a real log with 276,882 traced requests, from its bytes to all tables, against the time that dxt-explorer 0.4 needs to
  make its dataframes of it.

The peers get environments of their own, made once under DIR. Exits with 1 where one of these takes more than 10 times, or
is less than 20 or 50 times as fast, or the first takes more than 3 GB of memory.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from long_trace import RUN_SECONDS, write_long_trace
from measure import lines, peak_memory_bytes
from peers import python_with

from iomine import derive
from iomine.pipeline.reader import ENVIRONMENT
from iomine.pipeline.rows import rows_of
from iomine.sources.darshan import assembled, read_log
from iomine.units import human_bytes

_MOST_SORTS = 10
_MOST_BYTES = 3 * 10**9
_LEAST_OF_MERGE = 20
_LEAST_OF_EXPLORER = 50
_EXPLORED = "dxt-explorer/jeanbez_8_benchmark_parallel_id45195555_8-6-50011-11681279140261054765_1628283217.darshan"
Seconds = dict[str, float]


def through_long_trace(path: str, intervals: str) -> tuple[Seconds, int]:
    """CPU seconds of each step on a log with a long trace, and the most memory that the process held."""
    seconds: Seconds = {}

    def timed(step: str, work: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = work()
        seconds[step] = time.process_time() - start
        return result

    log = timed("decode", lambda: read_log(path))
    traces = timed("runs", lambda: derive.traces(log.tables))
    timed("phases", lambda: derive.phases(derive.phase_layers(log.tables, traces), RUN_SECONDS))
    timed("ranks", lambda: derive.rank_io(log.tables, traces, log.job.nprocs))
    timed("OSTs", lambda: derive.ost_io(log.tables, traces))
    timed("overlaps", lambda: derive.file_overlap(log.tables, derive.in_order(traces)))
    for what in (derive.rank_detail, derive.offset_detail, derive.ost_detail):
        timed(what.__name__.replace("_", " "), lambda what=what: what(log.tables, traces, RUN_SECONDS))
    peak = peak_memory_bytes()
    starts = traces[0].starts
    timed("sort", lambda: np.sort(starts))
    np.save(intervals, np.stack([starts, traces[0].ends]))
    return seconds, peak


def through_log(path: str) -> float:
    """CPU seconds from a log to all tables that a sweep keeps."""
    start = time.process_time()
    log = read_log(path)
    for table, parts in rows_of(log, path).items():
        assembled(table, [(log.log_id, part) for part in parts])
    return time.process_time() - start


def of_peer(python: Path, program: str, *arguments: object) -> list[float]:
    """Seconds that a program for another environment prints."""
    command = [python, "-W", "ignore", Path(__file__).with_name(program), *map(str, arguments)]
    printed: list[float] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return printed


def main() -> int:
    """Times all three and prints what came of it."""
    parser = argparse.ArgumentParser(description="How fast traces are gone through.")
    parser.add_argument("data", nargs="?", type=Path, default=Path(__file__).parents[3] / "shared/data/darshan")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "iomine-bench")
    parser.add_argument("--requests", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each; the median counts")
    arguments = parser.parse_args()
    explorer = python_with(arguments.cache, "dxt-explorer==0.4", "pyranges==0.1.7", f"darshan=={version('darshan')}")
    os.environ.update(ENVIRONMENT)
    with tempfile.TemporaryDirectory() as folder, multiprocessing.get_context("spawn").Pool(1) as pool:
        long, intervals = Path(folder) / "long.darshan", Path(folder) / "intervals.npy"
        write_long_trace(long, arguments.requests)
        # The first run, which does not count, is where the system finds the memory.
        runs = [pool.apply(through_long_trace, (str(long), str(intervals))) for _ in range(arguments.rounds + 1)][1:]
        merge = statistics.median(of_peer(explorer, "pyranges_seconds.py", intervals, arguments.rounds))
        ours = statistics.median(
            [pool.apply(through_log, (str(arguments.data / _EXPLORED),)) for _ in range(arguments.rounds + 1)][1:]
        )
    theirs = statistics.median(of_peer(explorer, "dxt_explorer_seconds.py", arguments.data / _EXPLORED, arguments.rounds))
    steps = {step: statistics.median(run[step] for run, _ in runs) for step in runs[0][0]}
    sort = steps.pop("sort")
    total, peak = sum(steps.values()), max(peak for _, peak in runs)
    out = [f"{arguments.requests:,} requests of one log, {arguments.rounds} rounds", ""]
    out += lines(
        [
            ("step", "CPU ms", "x sort"),
            *((step, f"{1e3 * seconds:.0f}", f"{seconds / sort:.1f}") for step, seconds in [*steps.items(), ("all", total)]),
            ("NumPy's sort", f"{1e3 * sort:.0f}", "1.0"),
            ("PyRanges' merge", f"{1e3 * merge:.0f}", f"{merge / sort:.1f}"),
        ]
    )
    bars = [
        (total <= _MOST_SORTS * sort, f"{total / sort:.1f} x the time of a sort (at most {_MOST_SORTS} is asked for)"),
        (peak <= _MOST_BYTES, f"{human_bytes(peak)} of memory at most (at most {human_bytes(_MOST_BYTES)} is asked for)"),
        _faster(merge / steps["phases"], _LEAST_OF_MERGE, "phases", "PyRanges' merge"),
        _faster(theirs / ours, _LEAST_OF_EXPLORER, "all tables of a real log", "dxt-explorer's dataframes of it"),
    ]
    out += ["", *(f"{'passed' if is_met else 'FAILED'}: {told}" for is_met, told in bars), ""]
    sys.stdout.write("\n".join(out))
    return 0 if all(is_met for is_met, _ in bars) else 1


def _faster(ratio: float, least: int, ours: str, theirs: str) -> tuple[bool, str]:
    return ratio >= least, f"{ours} {ratio:.1f} x as fast as {theirs} (at least {least} is asked for)"


if __name__ == "__main__":
    sys.exit(main())
