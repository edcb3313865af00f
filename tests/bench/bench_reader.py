"""How fast logs are read: into Arrow by iomine, by PyDarshan's report, and by libdarshan's bare record loop.

    python tests/bench/bench_reader.py [DATA] [--rounds N]

DATA is a folder of logs with a MANIFEST.csv; without it, the logs beside the repository are taken. Only logs that all
three can read are timed. Exits with 1 where iomine is less than 5 times as fast as PyDarshan, or takes more than twice
as long as the bare loop.
"""

import argparse
import csv
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import darshan
from darshan.backend import cffi_backend as backend
from measure import Contest, Times, lines

from iomine.pipeline.reader import ENVIRONMENT
from iomine.sources.darshan import Columns, assembled, read_log
from iomine.units import human_bytes

_LEAST_SPEEDUP = 5
_MOST_OVERHEAD = 2
_WORST = 10


def by_iomine(path: str) -> object:
    """All records as columns."""
    return read_log(path)


def assembling_seconds(paths: Sequence[str]) -> float:
    """How long it takes to make the columns of all logs Arrow tables, which is done for many logs at once."""
    parts: dict[str, list[tuple[str, Columns]]] = {}
    for log in [read_log(path) for path in paths]:
        for table, columns in log.tables.items():
            parts.setdefault(table, []).extend((log.log_id, part) for part in columns)
    start = time.perf_counter()
    for table, of_logs in parts.items():
        assembled(table, of_logs)
    return time.perf_counter() - start


def by_report(path: str) -> object:
    """All records as PyDarshan's report keeps them."""
    return darshan.DarshanReport(path, read_all=True)


def by_record_loop(path: str) -> object:
    """Each record of each module once through libdarshan, then thrown away."""
    ffi, library = backend.ffi, backend.libdutil
    log = backend.log_open(path)
    for module in backend.log_get_modules(log).values():
        record = ffi.new("void **")
        while library.darshan_log_get_record(log["handle"], module["idx"], record) > 0:
            library.darshan_free(record[0])
            record[0] = ffi.NULL
    backend.log_close(log)
    return None


WAYS = {"iomine": by_iomine, "report": by_report, "loop": by_record_loop}


def logs_to_read(data: Path) -> list[str]:
    """Logs that PyDarshan reads whole; those under `dask-polaris` are hundreds of runs of one program."""
    with (data / "MANIFEST.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = [row["file"] for row in rows if row["pydarshan_3_5_0"] == "ok" and not row["file"].startswith("dask-polaris/")]
    return [str(data / file) for file in wanted]


def main() -> int:
    """Times all logs and prints what came of it."""
    parser = argparse.ArgumentParser(description="How fast logs are read.")
    parser.add_argument("data", nargs="?", type=Path, default=Path(__file__).parents[3] / "shared/data/darshan")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each way for each log; the median counts")
    arguments = parser.parse_args()
    logs = logs_to_read(arguments.data)
    times: dict[str, dict[str, Times]] = {}
    # All ways alike get the environment that reading has in a sweep.
    os.environ.update(ENVIRONMENT)
    with Contest(WAYS) as contest:
        for number, log in enumerate(logs, 1):
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{number} of {len(logs)} logs{'' if number < len(logs) else chr(10)}")
            times[log] = contest.times(log, arguments.rounds)
        assembling = contest.times_of_all("iomine", assembling_seconds, logs, arguments.rounds).median
        memory = contest.peak_memory_bytes()
    totals = {name: sum(times[log][name].median for log in logs) for name in WAYS}
    totals["iomine"] += assembling
    out = [f"{len(logs)} logs, {human_bytes(sum(Path(log).stat().st_size for log in logs))}, {arguments.rounds} rounds", ""]
    out += _totals_table(times, totals, memory)
    out += ["", f"Of iomine's total, {1e3 * assembling:.1f} ms are for making all logs' columns into Arrow tables."]
    out += ["", f"The {_WORST} logs that iomine is slowest at, held against the loop:", ""]
    out += _worst_table(times, arguments.data)
    speedup, overhead = totals["report"] / totals["iomine"], totals["iomine"] / totals["loop"]
    is_fast = speedup >= _LEAST_SPEEDUP and overhead <= _MOST_OVERHEAD
    out += ["", f"{speedup:.1f} x as fast as the report (at least {_LEAST_SPEEDUP} is asked for)"]
    out += [f"{overhead:.2f} x the time of the bare loop (at most {_MOST_OVERHEAD} is asked for)"]
    sys.stdout.write("\n".join([*out, "passed" if is_fast else "FAILED", ""]))
    return 0 if is_fast else 1


def _totals_table(times: dict[str, dict[str, Times]], totals: dict[str, float], memory: dict[str, int]) -> list[str]:
    head = ("way", "total ms", "median ms", "slowest ms", "spread", "x loop", "peak memory")
    rows = []
    for name in WAYS:
        medians = [of_log[name].median for of_log in times.values()]
        rows.append(
            (
                name,
                f"{1e3 * totals[name]:.1f}",
                f"{1e3 * statistics.median(medians):.2f}",
                f"{1e3 * max(medians):.1f}",
                f"{statistics.median(of_log[name].spread for of_log in times.values()):.0%}",
                f"{totals[name] / totals['loop']:.2f}",
                human_bytes(memory[name]),
            )
        )
    return lines([head, *rows])


def _worst_table(times: dict[str, dict[str, Times]], data: Path) -> list[str]:
    worst = sorted(times, key=lambda log: times[log]["loop"].median - times[log]["iomine"].median)[:_WORST]
    return lines(
        [
            ("log", *(f"{name} ms" for name in WAYS), "x loop"),
            *(
                (
                    str(Path(log).relative_to(data)),
                    *(f"{1e3 * times[log][name].median:.2f}" for name in WAYS),
                    f"{times[log]['iomine'].median / times[log]['loop'].median:.2f}",
                )
                for log in worst
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
