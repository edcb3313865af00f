"""A long range of nights, swept by `iomine backfill`: once undisturbed, and once killed over and over and begun again.

Both run beside each other, and their warehouses are to say the same in every table. What a night costs, and how many files a
warehouse has for it, must not grow with the nights that are there already. CPU seconds are those of all processes of the command,
taken where it says that a night is done. A machine that others use too is slower at one hour than at another, so the same work is
done again and again beside the nights, and what a night took is held against what that took.
"""

import math
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import psutil
from measure import exponent
from options import Options, kept
from part_sweeps import IOMINE, family, simulated
from results import Result

from iomine.units import counted
from iomine.views.query import ask

sys.path.append(str(Path(__file__).parents[1]))
from sweeping import state

_LOGS: Final = 100
# All nights are over: what ends in the future has no night of its own.
_FIRST: Final = date(2025, 1, 6)
_MOST_EXPONENT: Final = 1.05
_FIRST_FITTED: Final = 2
_SAMPLE_SECONDS: Final = 0.25
_NEW: Final = ": 0 ingested"


@dataclass(frozen=True, slots=True)
class Done:
    """What had been done when a night of a backfill was.

    Attributes:
        seconds: since the command began, on the clock.
        cpu_seconds: of all its processes.
        files: in the warehouse, with those of Delta's logs and those kept for readers of an earlier state.
        is_new: whether logs were read; otherwise all were known.
        same_work_seconds: CPU seconds that the same work took just then.
    """

    seconds: float
    cpu_seconds: float
    files: int
    is_new: bool
    same_work_seconds: float


def measured(options: Options) -> list[Result]:
    """A range of nights, undisturbed and killed."""
    found = kept(options, f"backfilled-{options.nights}-{options.kills}", lambda: _measure(options))
    nights = [Done(**each) for each in found["nights"]]
    # Folders of days beyond hold the few runs that were late.
    count, last, fitted = options.nights, nights[options.nights - 1], nights[_FIRST_FITTED - 1 : options.nights]
    same_work = np.array([each.same_work_seconds for each in nights])
    each_night = np.diff([each.cpu_seconds for each in nights], prepend=0) / same_work
    kills = f"after {counted(found['kills'], 'kill')}"
    return [
        Result(what=f"a night of {_LOGS} logs, of {count}", ours=last.seconds / count, cpu_seconds=last.cpu_seconds / count),
        *(
            Result(
                what=f"exponent of {what}, from {_FIRST_FITTED} to {count} nights",
                ours=exponent(range(_FIRST_FITTED, count + 1), values),
                unit="",
                most=_MOST_EXPONENT,
            )
            for what, values in (
                ("CPU seconds", [each.cpu_seconds for each in fitted]),
                (
                    "CPU seconds by those of the same work beside each night",
                    np.cumsum(each_night)[_FIRST_FITTED - 1 : count].tolist(),
                ),
                ("files of the warehouse", [each.files for each in fitted]),
            )
        ),
        Result(
            what="same work beside the nights, the last hundred by the first",
            ours=same_work[-100:].mean() / same_work[:100].mean(),
            unit="",
        ),
        Result(what=f"files of the warehouse, a night of {count}", ours=last.files / count, unit="files"),
        Result(what=f"{kills}: CPU seconds of passing over a night that is known", ours=found["passed_over"]),
        Result(what=f"{kills}: logs lost or counted twice", ours=found["lost"], unit="logs", most=0),
        Result(what=f"{kills}: tables that differ from those in order", ours=len(found["differing"]), unit="tables", most=0),
    ]


def _measure(options: Options) -> dict[str, Any]:
    logs = simulated(options.cache, _LOGS * options.nights, options.nights, _FIRST)
    with tempfile.TemporaryDirectory(prefix="iomine-bench-", dir=options.cache) as place:
        whole, killed = (_warehouse(Path(place) / name, logs) for name in ("whole", "killed"))
        until = max(date(*map(int, day.parts[-3:])) for day in logs.glob("*/*/*"))
        night_count = sum(1 for _ in logs.glob("*/*/*"))
        chance = random.Random(20260105)
        kills = [night_count / (options.kills + 1) - 0.5 + chance.random() for _ in range(options.kills)]
        with ThreadPoolExecutor() as beside:
            of_killed = beside.submit(lambda: [list(_backfill(killed, until, kill)) for kill in (*kills, math.inf)])
            nights = list(_backfill(whole, until))
            runs = of_killed.result()
        count = ask(killed / "iomine.duckdb", "SELECT count(*) AS count FROM logs")["count"][0].as_py()
        # Which files are remembered depends on how long ago they were written.
        first, second = (
            {table: rows for table, rows in state(each).items() if table != "known_file"} for each in (whole, killed)
        )
        return {
            "nights": [asdict(each) for each in nights],
            "kills": options.kills,
            "passed_over": statistics.median(
                after.cpu_seconds - before.cpu_seconds for run in runs for before, after in pairwise(run) if not after.is_new
            ),
            "lost": abs(_LOGS * options.nights - count),
            "differing": sorted(table for table in first | second if first.get(table) != second.get(table)),
        }


def _warehouse(root: Path, logs: Path) -> Path:
    """A warehouse whose settings name a folder of logs by day."""
    root.mkdir()
    (root / "iomine.toml").write_text(f'[clusters.default]\nlogs = ["{logs}/%Y/%-m/%-d"]\n')
    return root


def _backfill(warehouse: Path, until: date, kill_after: float = math.inf) -> Iterator[Done]:
    """Sweeps the nights.

    Args:
        warehouse: with its settings.
        until: the last night.
        kill_after: so many nights with new logs, the last of them in part.

    Raises:
        RuntimeError: it fails.
    """
    command = [*IOMINE, "backfill", "--since", _FIRST, "--until", until, "--warehouse", warehouse]
    began, new = time.monotonic(), 0
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          start_new_session=True) as process:  # fmt: skip
        assert process.stdout
        spent = _Spent(process.pid)
        spent.start()
        for line in process.stdout:
            done = Done(time.monotonic() - began, spent.seconds, _files(warehouse), _NEW not in line, _same_work())
            yield done
            new += done.is_new
            if new > kill_after - 1:
                time.sleep(kill_after % 1 * done.seconds / max(new, 1))
                os.killpg(process.pid, signal.SIGKILL)
                return
    if process.returncode:
        raise RuntimeError(f"The backfill ended with {process.returncode}.")


class _Spent(threading.Thread):
    """CPU seconds of a process and all below it, looked at again and again: of some that have ended, nobody else keeps them.

    Args:
        pid: of the process.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._top = psutil.Process(pid)
        self._of: dict[tuple[int, float], float] = {}

    def run(self) -> None:
        """Looks until the process has ended."""
        with suppress(psutil.NoSuchProcess):
            while self._top.status() != psutil.STATUS_ZOMBIE:
                for process in family(self._top):
                    with suppress(psutil.Error):
                        self._of[process.pid, process.create_time()] = sum(process.cpu_times()[:2])
                time.sleep(_SAMPLE_SECONDS)

    @property
    def seconds(self) -> float:
        """So far."""
        return sum(tuple(self._of.values()))


def _same_work() -> float:
    """CPU seconds of what a night mostly takes: to plan a long query and to answer it from next to nothing."""
    sums = ", ".join(f"sum(x + {number}) FILTER (x % {number} > 1 AND y IS NOT NULL) AS s{number}" for number in range(2, 100))
    with duckdb.connect(config={"threads": 1}) as con:
        start = time.thread_time()
        con.execute(f"SELECT {sums} FROM (SELECT range AS x, nullif(range, 7) AS y FROM range(100))").fetchall()
        return time.thread_time() - start


def _files(folder: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(folder))
