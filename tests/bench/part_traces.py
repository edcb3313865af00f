"""How fast traces are gone through: against NumPy's sort, PyRanges' merge, and DXT Explorer's dataframes.

All in CPU seconds, on one core:

- a log with many traced requests, from its bytes to phases, ranks, OSTs, overlaps and levels of detail, against the time
  that NumPy needs to sort the starts of the requests once;
- the phases of these requests, against PyRanges 0.1.7 merging the same intervals;
- a real log with 276,882 traced requests, from its bytes to all tables, against the time that dxt-explorer 0.4 needs to
  make its dataframes of it;
- logs of ten times as many requests each, from their bytes to all tables.

The peers get environments of their own.
"""

import json
import multiprocessing
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from long_trace import RUN_SECONDS, write_long_trace
from measure import Times, exponent, peak_memory_bytes
from options import Options
from peers import python_with
from results import Result, faster, slower

from iomine import derive
from iomine.lake.files import fills_row_group
from iomine.pipeline.ingest.reader import ENVIRONMENT
from iomine.pipeline.ingest.rows import tables_of
from iomine.sources.darshan import Columns, assembled, read_log, row_count

_MOST_SORTS = 10
_MOST_BYTES = 1.2 * (1 << 30)
_LEAST_OF_MERGE = 20
_LEAST_OF_EXPLORER = 50
_EXPLORED = "dxt-explorer/jeanbez_8_benchmark_parallel_id45195555_8-6-50011-11681279140261054765_1628283217.darshan"
_SMALLEST = 1000
# Below so many requests, what a log costs anyway outweighs what they cost.
_FIRST_FITTED = 10_000


def through_long_trace(path: str, intervals: str) -> tuple[dict[str, float], int]:
    """CPU seconds of each step on a log with a long trace, and the most memory that the process held."""
    seconds: dict[str, float] = {}

    def timed(step: str, work: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = work()
        seconds[step] = time.process_time() - start
        return result

    log = timed("decode", lambda: read_log(path))
    traces = timed("runs", lambda: derive.traces(log.tables))
    timed("phases", lambda: derive.phases(derive.phase_layers(log.tables, traces), RUN_SECONDS))
    timed("ranks", lambda: derive.rank_io(log.tables, traces, log.job.nprocs))
    lustre = timed("layouts", lambda: derive.Lustre(log.tables, traces))
    timed("OSTs", lambda: derive.ost_io(log.tables, traces, lustre))
    timed("overlaps", lambda: derive.file_overlap(log.tables, derive.in_order(traces)))
    timed("rank detail", lambda: derive.rank_detail(traces, RUN_SECONDS))
    timed("offset detail", lambda: derive.offset_detail(traces, RUN_SECONDS))
    timed("ost detail", lambda: derive.ost_detail(traces, lustre, RUN_SECONDS))
    peak = peak_memory_bytes()
    starts = traces[0].starts
    timed("sort", lambda: np.sort(starts))
    np.save(intervals, np.stack([starts, traces[0].ends]))
    return seconds, peak


def through_log(path: str) -> tuple[float, int]:
    """CPU seconds from a log to all tables that a sweep keeps, and the most memory that the process held."""
    start = time.process_time()
    log = read_log(path)
    for table, parts in tables_of(log, path).items():
        _assemble(log.log_id, table, parts)
    return time.process_time() - start, peak_memory_bytes()


def _assemble(log_id: str, table: str, parts: Iterable[Columns]) -> None:
    """Makes Arrow tables of columns whenever there are enough for a row group, as a sweep does."""
    pending: list[tuple[str, Columns]] = []
    for part in parts:
        pending.append((log_id, part))
        if fills_row_group(sum(row_count(columns) for _, columns in pending), 0):
            assembled(table, pending)
            pending = []
    if pending:
        assembled(table, pending)


def of_peer(python: Path, program: str, *arguments: object) -> Times:
    """CPU seconds that a program for another environment prints."""
    command = [python, "-W", "ignore", Path(__file__).with_name(program), *map(str, arguments)]
    return Times.of_cpu(json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))


def measured(options: Options) -> list[Result]:
    """A long trace, a real one, and growing ones."""
    explorer = python_with(options.cache, "dxt-explorer==0.4", "pyranges==0.1.7", f"darshan=={version('darshan')}")
    with patch.dict(os.environ, ENVIRONMENT), tempfile.TemporaryDirectory(dir=options.cache) as folder:
        return [*_long(options, explorer, Path(folder)), *_real(options, explorer), *_growth(options, Path(folder))]


def _runs(options: Options, work: Callable[..., Any], *arguments: str) -> list[Any]:
    """Runs in one process; the first, which does not count, is where the system finds the memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return [pool.apply(work, arguments) for _ in range(options.rounds + 1)][1:]


def _long(options: Options, explorer: Path, folder: Path) -> Iterator[Result]:
    long, intervals = folder / "long.darshan", folder / "intervals.npy"
    write_long_trace(long, options.requests)
    runs = _runs(options, through_long_trace, str(long), str(intervals))
    steps = {step: Times.of_cpu([seconds[step] for seconds, _ in runs]) for step in runs[0][0]}
    sort = steps.pop("sort")
    requests = f"{options.requests:,} requests"
    yield slower(f"one log of {requests} gone through", Times.sum_of(steps.values()), "NumPy's sort", sort, _MOST_SORTS)
    for step, times in steps.items():
        yield slower(f"of that {step}", times, "NumPy's sort", sort)
    yield Result(what="memory meanwhile", ours=max(peak for _, peak in runs), unit="B", most=_MOST_BYTES)
    merge = of_peer(explorer, "pyranges_seconds.py", intervals, options.rounds)
    yield faster(f"phases of {requests}", steps["phases"], "PyRanges' merge", merge, _LEAST_OF_MERGE)


def _real(options: Options, explorer: Path) -> Iterator[Result]:
    log = options.data / "darshan" / _EXPLORED
    ours = Times.of_cpu([seconds for seconds, _ in _runs(options, through_log, str(log))])
    theirs = of_peer(explorer, "dxt_explorer_seconds.py", log, options.rounds)
    yield faster("all tables of a real log", ours, "dxt-explorer's dataframes", theirs, _LEAST_OF_EXPLORER)


def _growth(options: Options, folder: Path) -> Iterator[Result]:
    sizes = [_SMALLEST]
    while sizes[-1] * 10 <= options.requests:
        sizes.append(sizes[-1] * 10)
    medians = {}
    for size in sizes:
        log = folder / "growing.darshan"
        write_long_trace(log, size)
        runs = _runs(options, through_log, str(log))
        times = Times.of_cpu([seconds for seconds, _ in runs])
        medians[size] = times.cpu
        yield Result(what=f"all tables of a log of {size:,} requests", ours=times.cpu, cpu_seconds=times.cpu, spread=times.spread)
        yield Result(what=f"memory of {size:,} requests", ours=max(peak for _, peak in runs), unit="B")
    fitted = {size: seconds for size, seconds in medians.items() if size >= _FIRST_FITTED}
    if len(fitted) > 1:
        what = f"exponent of CPU seconds, {min(fitted):,} to {max(fitted):,} requests"
        yield Result(what=what, ours=exponent(list(fitted), list(fitted.values())), unit="")
