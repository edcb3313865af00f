"""Holds counters of Darshan logs, as PyDarshan reads them, against what a run can have: `python tests/raw_records.py < paths`.

Nothing of iomine is asked: this is what its doubts are held against. Each log is read in a process of its own, which the C
library of PyDarshan may end. A line of JSON comes back for each: the run, and the counters that cannot be. With `--report` each
is read by `DarshanReport` instead, and the line says how that ended.
"""

import json
import math
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import darshan
from darshan.backend import cffi_backend as backend

_SECONDS: Final = 20
# Docs/data_quality.md has these bounds.
_SLACK_RATIO, _SLACK_SECONDS = 1.01, 1.0
_ROUNDING_SECONDS: Final = 1e-6
_MOST: Final = 2**60
_UNKNOWN: Final = -1
_OLDEST: Final = 1_199_145_600
_LONGEST_SECONDS: Final = 1000 * 86400
_MOST_PROCESSES: Final = 2**31 - 1
_MODULES: Final = ("POSIX", "MPI-IO", "STDIO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR")
_NAMES: Final = {"MPI-IO": "MPIIO"}
_RANKS: Final = ("FASTEST_RANK", "SLOWEST_RANK")
# What is neither a count nor bytes, or may be any number.
_FREE: Final = ("OFFSET", "MAX_BYTE", "RANK", "TYPE", "STRIDE", "ACCESS", "RENAMED", "ALIGNMENT", "MODE", "REC_ID", "DIM")
_BINS: Final = (
    *((0, 100), (101, 1024), (1025, 10240), (10241, 102400), (102401, 2**20), (2**20 + 1, 2**22)),
    *((2**22 + 1, 10 * 2**20), (10 * 2**20 + 1, 100 * 2**20), (100 * 2**20 + 1, 2**30), (2**30 + 1, 2**40)),
)
_CALLS: Final = {
    ("POSIX", "READ"): ("READS",),
    ("POSIX", "WRITE"): ("WRITES",),
    ("MPI-IO", "READ"): ("INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS"),
    ("MPI-IO", "WRITE"): ("INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES"),
}
_ROUNDING_RATIO: Final = 1e-6

Absurd = tuple[str, str, str, str, int]


def absurdities(path: str) -> dict[str, Any]:
    """The run of a log, and its counters that cannot be: module, counter, why, value, record."""
    log = backend.log_open(path)
    job = backend.log_get_job(log)
    seconds, processes = float(job["run_time"]), int(job["nprocs"])
    start, end = job["start_time_sec"], job["end_time_sec"]
    if not (processes or start or end):
        # Darshan's library says on standard error alone that it could not read the job record.
        return {}
    is_run = _OLDEST <= start <= end <= time.time() + 86400 and 0 <= seconds <= _LONGEST_SECONDS
    is_sound = is_run and 0 < processes <= _MOST_PROCESSES
    found: set[Absurd] = set()
    for module in _MODULES:
        if module not in backend.log_get_modules(log):
            continue
        prefix = _NAMES.get(module, module)
        integers, floats = ([name.removeprefix(f"{prefix}_") for name in names] for names in _counters(module))
        while (record := backend.log_get_record(log, module)) is not None:
            whole = {"rank": record["rank"], **dict(zip(integers, record["counters"].tolist(), strict=True))}
            times = dict(zip(floats, record["fcounters"].tolist(), strict=True))
            for name, why, value in (*_integers(whole), *_floats(times, seconds, processes if is_sound else 0, record["rank"])):
                found.add((module, name, why, str(value), int(record["id"])))
            if is_sound:
                found.update(
                    (module, name, "ranks", str(whole[name]), int(record["id"])) for name in _odd_ranks(whole, processes)
                )
            found.update((module, name, "sizes", str(whole[name]), int(record["id"])) for name in _odd_sizes(module, whole))
    return {"run_seconds": seconds, "nprocs": processes, "is_sound": is_sound, "absurd": sorted(found)}


def _counters(module: str) -> tuple[list[str], list[str]]:
    return backend.counter_names(module), backend.fcounter_names(module)


def _integers(whole: dict[str, int]) -> Iterator[tuple[str, str, int]]:
    for name, value in whole.items():
        if name == "rank" or any(word in name for word in _FREE):
            continue
        if value < _UNKNOWN:
            yield name, "negative", value
        elif value > _MOST:
            yield name, "too many", value


def _floats(times: dict[str, float], seconds: float, processes: int, rank: int) -> Iterator[tuple[str, str, float]]:
    own = seconds * _SLACK_RATIO + _SLACK_SECONDS
    shared = seconds * processes * _SLACK_RATIO + _SLACK_SECONDS
    for name, value in times.items():
        if "VARIANCE" in name:
            continue
        is_one_moment = "TIMESTAMP" in name or name in ("F_MAX_READ_TIME", "F_MAX_WRITE_TIME")
        most = own if is_one_moment else 3 * own if "EST_RANK_TIME" in name else shared if rank == _UNKNOWN else own
        if not math.isfinite(value):
            yield name, "not finite", value
        elif 0 < value < sys.float_info.min:
            yield name, "too fine", value
        elif value <= -_ROUNDING_SECONDS and value != _UNKNOWN:
            yield name, "negative", value
        elif processes and value > most * (1 + _ROUNDING_RATIO):
            yield name, "run", value


def _odd_ranks(whole: dict[str, int], processes: int) -> list[str]:
    return [name for name in ("rank", *_RANKS) if name in whole and not _UNKNOWN <= whole[name] < processes]


def _odd_sizes(module: str, whole: dict[str, int]) -> Iterator[str]:
    """Counts and bytes that the sizes of requests contradict."""
    for op in ("READ", "WRITE"):
        calls = _CALLS.get((module, op))
        infix = "AGG_" if module == "MPI-IO" else ""
        bins = [whole.get(f"SIZE_{op}_{infix}{size}", _UNKNOWN) for size in _SIZES]
        if calls is None or any(not 0 <= count <= _MOST for count in bins):
            continue
        counts = [whole[call] for call in calls]
        if all(0 <= count <= _MOST for count in counts) and sum(counts) != sum(bins) and max(counts + bins) < 1 << 50:
            yield from calls
        moved = whole[f"BYTES_{'READ' if op == 'READ' else 'WRITTEN'}"]
        least, most = (sum(count * bound[at] for count, bound in zip(bins, _BINS, strict=True)) for at in (0, 1))
        if 0 <= moved <= _MOST and not least * (1 - _ROUNDING_RATIO) <= moved <= most * (1 + _ROUNDING_RATIO):
            yield f"BYTES_{'READ' if op == 'READ' else 'WRITTEN'}"


_SIZES: Final = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")


def reported(path: str) -> dict[str, Any]:
    """Reads a log as PyDarshan's users do."""
    darshan.DarshanReport(path, read_all=True)
    return {"outcome": "read"}


def apart_from_here(path: str, work: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """What the work gives, in a process of its own; how that ended where it gives nothing."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        for descriptor in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
        try:
            said = work(path)
        except BaseException as error:  # noqa: BLE001  whatever it is, the line says so
            said = {"outcome": "raised", "error": f"{type(error).__name__}: {error}"[:200]}
        with os.fdopen(into, "w") as pipe:
            json.dump(said, pipe)
        os._exit(0)
    os.close(into)
    try:
        with os.fdopen(out, "rb") as pipe:
            text, until = b"", time.monotonic() + _SECONDS
            while select.select([pipe], [], [], max(0.0, until - time.monotonic()))[0]:
                if not (more := os.read(pipe.fileno(), 1 << 16)):
                    break
                text += more
            else:
                os.kill(child, signal.SIGKILL)
                return {"outcome": "too long"}
    finally:
        _, status = os.waitpid(child, 0)
    return json.loads(text) if text else {"outcome": f"died of {signal.Signals(os.WTERMSIG(status)).name}"}


if __name__ == "__main__":
    work = reported if sys.argv[1:] == ["--report"] else absurdities
    for line in sys.stdin:
        print(json.dumps(apart_from_here(line.rstrip("\n"), work)), flush=True)  # noqa: T201
