"""How much longer readers wait while a sweep is at work: four of them ask in a loop, without a sweep and then during one."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from options import Options, kept
from part_sweeps import IOMINE, simulated
from results import Result

_READER: Final = Path(__file__).with_name("reading_loop.py")
_READERS: Final = 4
_LOGS: Final = 1000
_ALONE_SECONDS: Final = 20
_MOST_SLOWDOWN: Final = 2


def measured(options: Options) -> list[Result]:
    """Seconds of an answer to one of four readers, in the middle of all of them."""
    times = kept(options, f"load-{_LOGS}", lambda: _measure(options))
    return [
        Result(
            what=f"an answer to one of {_READERS} readers while {_LOGS:,} logs are swept ({times['answers']:,} answers)",
            ours=times["during"], peer=times["alone"], beside="without a sweep", ratio=times["during"] / times["alone"],
            most=_MOST_SLOWDOWN,
        ),
        Result(what="  of them neither as before the sweep nor as after it", ours=times["strange"], unit="answers", most=0),
    ]  # fmt: skip


def _measure(options: Options) -> dict[str, Any]:
    first, second = simulated(options.cache, 100), simulated(options.cache, _LOGS)
    with tempfile.TemporaryDirectory(prefix="iomine-bench-", dir=options.cache) as folder:
        warehouse = Path(folder) / "warehouse"
        _sweep(first, warehouse)
        alone = answers(warehouse, Path(folder) / "stop-alone", lambda: time.sleep(_ALONE_SECONDS))
        during = answers(warehouse, Path(folder) / "stop-during", lambda: _sweep(second, warehouse))
        ends = [_counts(of_reader[n]) for of_reader in during for n in (0, -1)]
        strange = [each for of_reader in during for each in of_reader if _counts(each) not in ends]
        seconds = [statistics.median(each["seconds"] for reader in reported for each in reader) for reported in (alone, during)]
        return {"alone": seconds[0], "during": seconds[1], "answers": sum(map(len, during)), "strange": len(strange)}


def answers(warehouse: Path, stop: Path, work: Callable[[], object]) -> list[list[dict[str, Any]]]:
    """What each of the readers was answered while some work was done."""
    command = [sys.executable, _READER, warehouse / "iomine.duckdb", stop]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(_READERS)]
    try:
        work()
    finally:
        stop.touch()
    reported = [reader.communicate()[0] for reader in readers]
    if any(reader.returncode for reader in readers):
        raise RuntimeError("A reader failed.")
    return [[json.loads(line) for line in lines.splitlines()] for lines in reported]


def _counts(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: count for name, count in answer.items() if name != "seconds"}


def _sweep(logs: Path, warehouse: Path) -> None:
    subprocess.run([*IOMINE, "sweep", logs, "--warehouse", warehouse], check=True, capture_output=True)
