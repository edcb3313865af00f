"""What commands cost however little there is: their start, and sweeps of two logs.

CPU seconds are those of a command's process and of all that it started and waited for.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from measure import Times
from options import Options
from results import Result

from iomine.views.query import ask

_SETS: Final = "darshan/aiio"
_LOGS_EACH: Final = 2
_NEW: Final = "sweep of two logs into a new warehouse"
_MORE: Final = "sweep of two more into it"
_KNOWN: Final = "sweep with nothing new"
_FLOOR: Final = "import of typer, pyarrow and duckdb, and a connection"
# In CPU seconds.
_MOST: Final = {_NEW: 3.0, _MORE: 3.0, "iomine sql 'SELECT 1'": 0.4, "iomine worst": 0.4, "iomine show LOG": 0.4}
_IOMINE: Final = (sys.executable, "-c", "from iomine.cli import main; main()")


def measured(options: Options) -> list[Result]:
    """Commands in turns, those that sweep among them."""
    runs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory(prefix="iomine-bench-", dir=options.cache) as folder:
            for what, command in _commands(sorted((options.data / _SETS).glob("*.darshan")), Path(folder) / "warehouse"):
                runs[what].append(_seconds(command))
    return [
        Result(what=what, ours=times.cpu, cpu_seconds=times.cpu, most=_MOST.get(what), spread=times.spread)
        for what, times in ((what, Times.of(each)) for what, each in runs.items())
    ]


def _commands(logs: Sequence[Path], warehouse: Path) -> Iterator[tuple[str, Sequence[str | Path]]]:
    two, others = logs[:_LOGS_EACH], logs[_LOGS_EACH : 2 * _LOGS_EACH]
    there = ("--warehouse", warehouse)
    yield _NEW, (*_IOMINE, "sweep", *two, *there)
    yield _MORE, (*_IOMINE, "sweep", *others, *there)
    yield _KNOWN, (*_IOMINE, "sweep", *two, *others, *there)
    (log_id,) = ask(warehouse / "iomine.duckdb", "SELECT min(log_id) AS log_id FROM findings")["log_id"].to_pylist()
    yield "iomine --version", (*_IOMINE, "--version")
    yield "iomine sql 'SELECT 1'", (*_IOMINE, "sql", "SELECT 1", *there)
    yield "iomine worst", (*_IOMINE, "worst", *there)
    yield "iomine show LOG", (*_IOMINE, "show", log_id, *there)
    yield "iomine explain POSIX-102", (*_IOMINE, "explain", "POSIX-102", *there)
    yield _FLOOR, (sys.executable, "-c", "import typer, pyarrow, duckdb; duckdb.connect()")


def _seconds(command: Sequence[str | Path]) -> tuple[float, float]:
    """How long a command takes, on the clock and of processors."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return time.perf_counter() - start, cpu_seconds
