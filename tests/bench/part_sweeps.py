"""How sweeps grow: simulated nights of ten times as many logs each, and a night on one worker and on two.

Each sweep is the command itself, in a session of its own, on a night of logs that `iomine simulate` wrote. Memory is the
proportional set size of its processes by role: the client's is sampled several times a second, that of others every few seconds.
The times of its stages are those that Prefect noted.
"""

import itertools
import json
import multiprocessing
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, Final

import psutil
from measure import Contest, exponent
from options import Options, kept
from part_reader import by_record_loop
from results import Result

from iomine.units import MIB
from iomine.views.query import ask

IOMINE: Final = (sys.executable, "-c", "from iomine.cli import main; main()")
_SMALLEST: Final = 100
# Below so many logs, what a sweep costs anyway outweighs what its logs cost.
_FIRST_FITTED: Final = 1000
_MOST_EXPONENT: Final = 1.05
_FIRST_OF_MEMORY: Final = 10_000
_MOST_GROWTH_BYTES: Final = 300_000_000
_MOST_CLIENT_BYTES: Final = 600 * MIB
# Of processors, for a log of the largest sweep; beside libdarshan, which goes through its records and does nothing with them.
_MOST_SECONDS_EACH: Final = 0.007
_MOST_BARE_LOOPS: Final = 8
_SAMPLE: Final = 5000
_LEAST_SPEEDUP: Final = 1.8
_SAMPLE_SECONDS: Final = 0.25
# To say how much a process holds, the system goes through all its pages. Of workers and readers, four times a second, that took
# 7% of two cores from a sweep of 10,000 logs, which it was to measure.
_SAMPLES_PER_LOOK: Final = 20
# Warehouses, which are removed as the program ends: for minutes after many files were deleted, ext4 makes new ones beside them
# slowly, and the next sweep was measured so.
_FOLDERS: Final[list[tempfile.TemporaryDirectory[str]]] = []
# A megabyte each time, for some seconds.
_INFLATED: Final = 1500
# What a command line holds that says which part a process has.
_ROLES: Final = {"iomine.pipeline.ingest.reading": "readers", "multiprocessing.forkserver": "workers"}
_CLIENT: Final = "client and scheduler"
_STAGES: Final = ("find", "identify", "read", "merge", "judge", "commit", "publish", "report")
# What a night of a centre has beside logs, as folders that `iomine simulate` writes beside them.
_STATISTICS: Final = ("lustre", "slurm", "fabric")
_MOST_FOR_STATISTICS: Final = 1.5
# A sweep that says how long each stage took; logs, warehouse, the number of workers, and folders of statistics are its arguments.
_TIMED_SWEEP: Final = f"""
import json, sys, time
from dataclasses import asdict
from pathlib import Path
from iomine.pipeline import sweep as room

seconds = {{}}

def timed(name):
    stage = getattr(room, name)
    def run_stage(*given):
        began_at = time.perf_counter()
        result = stage(*given)
        seconds[name] = time.perf_counter() - began_at
        return result
    setattr(room, name, run_stage)

logs, warehouse, workers, *stats = sys.argv[1:]
for name in {_STAGES}:
    timed(name)
summary = room.run(room.Settings((Path(logs),), Path(warehouse), workers=int(workers), stats=tuple(map(Path, stats))))
print(json.dumps(asdict(summary) | {{"stages": seconds}}, default=str))
"""

Measures = dict[str, Any]


def measured(options: Options) -> list[Result]:
    """Sweeps of growing nights, and the night on one worker and on two."""
    sizes = [size for size in (100, 1000, 10_000, 100_000, 1_000_000) if size <= options.largest]
    grown = [_kept(options, size, 2) for size in sizes]
    return [*_growth(grown), *_each(options, grown[-1]), *_memory(grown), *_speedup(options), *_statistics(options)]


def _each(options: Options, largest: Measures) -> Iterator[Result]:
    """What a log of the largest sweep cost."""
    count = largest["logs"]
    logs = [*map(str, sorted(simulated(options.cache, count).rglob("*.darshan")))]
    sample = random.Random(0).sample(logs, min(_SAMPLE, count))
    with Contest({"loop": by_record_loop}) as contest:
        bare = contest.times("\n".join(sample), 1)["loop"].cpu / len(sample)
    each = largest["cpu_seconds"] / count
    yield Result(what=f"each of {count:,} logs swept, CPU seconds", ours=each, most=_MOST_SECONDS_EACH)
    beside = f"libdarshan's bare loop, on {len(sample):,} of them"
    yield Result(
        what=f"each of {count:,} logs swept", ours=each, peer=bare, beside=beside, ratio=each / bare, most=_MOST_BARE_LOOPS
    )


def _growth(grown: Sequence[Measures]) -> Iterator[Result]:
    for sweep in grown:
        stages = ", ".join(f"{stage} {sweep['stages'][stage]:.1f}" for stage in _STAGES)
        yield Result(what=f"{sweep['logs']:,} logs swept ({stages})", ours=sweep["seconds"], cpu_seconds=sweep["cpu_seconds"])
        yield Result(what=f"{sweep['logs']:,} logs: lost or counted twice", ours=sweep["lost"], unit="logs", most=0)
    fitted = [sweep for sweep in grown if sweep["logs"] >= _FIRST_FITTED]
    if len(fitted) < 2:
        return
    span = f"from {fitted[0]['logs']:,} to {fitted[-1]['logs']:,} logs"
    logs = [sweep["logs"] for sweep in fitted]
    for what in ("seconds", "cpu_seconds"):
        found = exponent(logs, [sweep[what] for sweep in fitted])
        yield Result(what=f"exponent of {what.replace('_', ' ')}, {span}", ours=found, unit="", most=_MOST_EXPONENT)
    for stage in _STAGES:
        found = exponent(logs, [sweep["stages"][stage] for sweep in fitted])
        yield Result(what=f"exponent of stage {stage}, {span}", ours=found, unit="")


def _memory(grown: Sequence[Measures]) -> Iterator[Result]:
    last = grown[-1]
    for role, held in last["memory"].items():
        most = _MOST_CLIENT_BYTES if role == _CLIENT else None
        yield Result(what=f"memory of {role}, {last['logs']:,} logs", ours=held, unit="B", most=most)
    if last["logs"] > _FIRST_OF_MEMORY:
        first = next(sweep for sweep in grown if sweep["logs"] == _FIRST_OF_MEMORY)
        grew = last["memory"][_CLIENT] - first["memory"][_CLIENT]
        what = f"growth of client and scheduler, {first['logs']:,} to {last['logs']:,} logs"
        yield Result(what=what, ours=grew, unit="B", most=_MOST_GROWTH_BYTES)


def _speedup(options: Options) -> Iterator[Result]:
    """What a second worker gains where each is held to a core, without what a sweep costs that has next to nothing to do."""
    one, two = (_kept(options, options.shared_night, workers, is_held=True) for workers in (1, 2))
    first, second = (_kept(options, _SMALLEST, workers, is_held=True) for workers in (1, 2))
    alone, shared = one["seconds"] - first["seconds"], two["seconds"] - second["seconds"]
    yield Result(
        what=f"{options.shared_night:,} logs swept by two workers, each held to one core, fixed costs apart",
        ours=shared, peer=alone, beside="one worker", ratio=alone / shared, least=_LEAST_SPEEDUP,
    )  # fmt: skip
    for stage in ("identify", "read", "merge", "judge", "report"):
        ours, peer = two["stages"][stage], one["stages"][stage]
        yield Result(what=f"{stage} by two workers", ours=ours, peer=peer, beside="one worker", ratio=peer / ours)
    # Cores that share what is in them, or with others, do not make twice as much of anything.
    bare, halves = (statistics.median(_inflating(count) for _ in range(options.rounds)) for count in (1, 2))
    what = "bytes inflated by two processes, and nothing else"
    yield Result(what=what, ours=halves, peer=2 * bare, beside="one process", ratio=2 * bare / halves)


def _statistics(options: Options) -> Iterator[Result]:
    """What a night costs whose servers, scheduler and fabric left statistics."""
    alone = _kept(options, options.shared_night, 2)
    beside = _kept(options, options.shared_night, 2, has_statistics=True)
    stages = ", ".join(f"{stage} {beside['stages'][stage]:.1f}" for stage in _STAGES)
    yield Result(
        what=f"{options.shared_night:,} logs swept with statistics of servers, scheduler and fabric ({stages})",
        ours=beside["seconds"], cpu_seconds=beside["cpu_seconds"], peer=alone["seconds"], beside="the logs alone",
        ratio=beside["seconds"] / alone["seconds"], most=_MOST_FOR_STATISTICS,
    )  # fmt: skip
    held = beside["memory"][_CLIENT]
    yield Result(what="memory of client and scheduler meanwhile", ours=held, unit="B", most=_MOST_CLIENT_BYTES)


def _inflating(processes: int) -> float:
    """Seconds that processes take at once, each for the same work."""
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.map(_inflate, [1] * processes, 1)
        start = time.perf_counter()
        pool.map(_inflate, [_INFLATED] * processes, 1)
        return time.perf_counter() - start


def _inflate(times: int) -> None:
    packed = zlib.compress(bytes(range(256)) * 4096)
    for _ in range(times):
        zlib.decompress(packed)


def _kept(options: Options, logs: int, workers: int, *, is_held: bool = False, has_statistics: bool = False) -> Measures:
    """One sweep, or what was kept of it."""
    name = f"sweep-{logs}-{workers}{'-held' if is_held else ''}{'-statistics' if has_statistics else ''}"

    def sweep() -> Measures:
        night = simulated(options.cache, logs)
        stats = [night.with_name(folder) for folder in _STATISTICS] if has_statistics else []
        return swept(night, logs, workers, is_held=is_held, stats=stats)

    return kept(options, name, sweep)


def simulated(cache: Path, logs: int, nights: int = 1, first: date | None = None) -> Path:
    """Logs of a night, or spread over several, written once.

    Args:
        cache: where they are kept.
        logs: how many.
        nights: how many.
        first: the first night, None for that of `iomine simulate`.
    """
    out = cache / "-".join(map(str, ["simulated", logs, *([nights] if nights > 1 else []), *([first] if first else [])]))
    if not out.exists():
        unfinished = out.with_suffix(".tmp")
        shutil.rmtree(unfinished, ignore_errors=True)
        since = ["--start", str(first)] if first else []
        command = [*IOMINE, "simulate", unfinished, "--logs", str(logs), "--days", str(nights), *since]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        unfinished.rename(out)
    return out / "darshan"


def swept(
    night: Path,
    logs: int,
    workers: int,
    questions: Mapping[str, str] | None = None,
    *,
    is_held: bool = False,
    stats: Sequence[Path] = (),
) -> Measures:
    """One sweep.

    Args:
        night: folder of the logs, two below the one where its warehouse may lie for as long.
        logs: how many they are.
        workers: how many sweep them.
        questions: SQL that its warehouse is asked, by name.
        is_held: whether each worker is held to one core, as a site's scheduler does.
        stats: folders of statistics of servers, scheduler and fabric.
    """
    folder = tempfile.TemporaryDirectory(prefix="iomine-bench-", dir=night.parents[1])
    _FOLDERS.append(folder)
    warehouse = Path(folder.name) / "warehouse"
    start = time.perf_counter()
    sweep = subprocess.Popen(
        [sys.executable, "-c", _TIMED_SWEEP, night, warehouse, str(workers), *stats],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    memory, cpu_seconds = _watched(sweep.pid, is_held=is_held)
    reported, _ = sweep.communicate()
    seconds = time.perf_counter() - start
    if sweep.returncode:
        raise RuntimeError(f"The sweep of {logs:,} logs ended with {sweep.returncode}.")
    summary = json.loads(reported)
    published = ask(warehouse / "iomine.duckdb", "SELECT count(*) AS count FROM logs")["count"][0].as_py()
    accounted = summary["ingested"] + summary["known"] + summary["rejected"]
    answers = {name: _seconds_of(warehouse / "iomine.duckdb", sql) for name, sql in (questions or {}).items()}
    files = [path.stat().st_size for path in (warehouse / "lake").rglob("*.parquet")]
    return {
        "logs": logs,
        "workers": workers,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "stages": summary["stages"],
        "memory": memory,
        "lost": max(abs(logs - count) for count in (summary["found"], accounted, published)),
        "answers": answers,
        "files": len(files),
        "bytes": sum(files),
    }


def _seconds_of(database: Path, sql: str) -> tuple[float, float]:
    """How long an answer takes, on the clock and of processors."""
    start, cpu_start = time.perf_counter(), time.process_time()
    ask(database, sql)
    return time.perf_counter() - start, time.process_time() - cpu_start


def _watched(pid: int, *, is_held: bool) -> tuple[dict[str, int], float]:
    """Most memory by role, and CPU seconds, of a process and all below it, until it ends.

    Of the client memory is looked at in each sample, of all others in few.

    Args:
        pid: of the process.
        is_held: whether to hold each worker to a core.
    """
    peaks: dict[str, int] = {}
    core_of: dict[int, int] = {}
    cpu_seconds: dict[tuple[int, float], float] = {}
    top = psutil.Process(pid)
    for sample in itertools.count():
        if top.status() == psutil.STATUS_ZOMBIE:
            break
        held: Counter[str] = Counter()
        for process in family(top):
            with suppress(psutil.Error, OSError):
                if is_held and process.pid not in core_of and _is_worker(process):
                    core_of[process.pid] = _held_to_core(process, len(core_of))
                if process == top or sample % _SAMPLES_PER_LOOK == 0:
                    held[_CLIENT if process == top else _role(process)] += process.memory_full_info().pss
                cpu_seconds[process.pid, process.create_time()] = sum(process.cpu_times()[:2])
        peaks = {role: max(peaks.get(role, 0), held[role]) for role in peaks.keys() | held.keys()}
        time.sleep(_SAMPLE_SECONDS)
    return dict(sorted(peaks.items())), sum(cpu_seconds.values())


def _is_worker(process: psutil.Process) -> bool:
    """Whether it is a worker, and not the server that they are forked from."""
    parent = process.parent()
    return _role(process) == "workers" and parent is not None and _role(parent) == "workers"


def _held_to_core(process: psutil.Process, number: int) -> int:
    """Holds all threads of a worker to one core, and with them what it starts from now on; returns the core."""
    cores = sorted(os.sched_getaffinity(0))
    core = cores[number % len(cores)]
    for thread in process.threads():
        os.sched_setaffinity(thread.id, {core})
    return core


def family(top: psutil.Process) -> list[psutil.Process]:
    """A process and all below it, as far as they live."""
    with suppress(psutil.Error):
        return [top, *top.children(recursive=True)]
    return []


def _role(process: psutil.Process) -> str:
    command = " ".join(process.cmdline())
    return next((role for words, role in _ROLES.items() if words in command), "others")
