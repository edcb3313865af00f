"""How fast logs are read: into Arrow by iomine, by PyDarshan's report, and by libdarshan's bare record loop; and derived.

Only real logs that all three can read are timed, all of them in one process for each way.
"""

import csv
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import darshan
from darshan.backend import cffi_backend as backend
from measure import Contest
from night import files_of_logs
from options import Options
from results import Result, faster, slower

from iomine.pipeline.ingest.reader import ENVIRONMENT
from iomine.sources.darshan import Columns, assembled, read_log
from iomine.units import human_bytes

_LEAST_SPEEDUP = 5
_LEAST_SPEEDUP_DERIVED = 3.5
_MOST_SECONDS_DERIVED = 0.008
_MOST_OVERHEAD = 2


def by_iomine(paths: str) -> object:
    """All records as columns, and those of all logs as Arrow tables."""
    parts: dict[str, list[tuple[str, Columns]]] = {}
    for path in paths.splitlines():
        log = read_log(path)
        for table, columns in log.tables.items():
            parts.setdefault(table, []).extend((log.log_id, part) for part in columns)
    return [assembled(table, of_logs) for table, of_logs in parts.items()]


def to_parquet(paths: str) -> object:
    """All tables that follow from the logs, traces included, as a sweep writes them."""
    with TemporaryDirectory() as folder:
        return files_of_logs(((read_log(path), path) for path in paths.splitlines()), Path(folder))


def by_report(paths: str) -> object:
    """All records as PyDarshan's report keeps them."""
    for path in paths.splitlines():
        darshan.DarshanReport(path, read_all=True)
    return None


def by_record_loop(paths: str) -> object:
    """Each record of each module once through libdarshan, then thrown away."""
    ffi, library = backend.ffi, backend.libdutil
    for path in paths.splitlines():
        log = backend.log_open(path)
        for module in backend.log_get_modules(log).values():
            record = ffi.new("void **")
            while library.darshan_log_get_record(log["handle"], module["idx"], record) > 0:
                library.darshan_free(record[0])
                record[0] = ffi.NULL
        backend.log_close(log)
    return None


def logs_to_read(data: Path) -> list[Path]:
    """Logs that PyDarshan reads whole; those under `dask-polaris` are hundreds of runs of one program."""
    with (data / "MANIFEST.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = [row["file"] for row in rows if row["pydarshan_3_5_0"] == "ok" and not row["file"].startswith("dask-polaris/")]
    return [data / file for file in wanted]


def measured(options: Options) -> list[Result]:
    """All logs, read in four ways that take turns."""
    logs = logs_to_read(options.data / "darshan")
    # All ways alike get the environment that reading has in a sweep.
    with (
        patch.dict(os.environ, ENVIRONMENT),
        Contest({"iomine": by_iomine, "derived": to_parquet, "report": by_report, "loop": by_record_loop}) as contest,
    ):
        times = contest.times("\n".join(map(str, logs)), options.rounds)
        memory = contest.peak_memory_bytes()
    of_logs = f"{len(logs)} real logs, {human_bytes(sum(log.stat().st_size for log in logs))}"
    what = f"{of_logs}, into Arrow"
    return [
        faster(what, times["iomine"], "PyDarshan's report", times["report"], _LEAST_SPEEDUP),
        slower(what, times["iomine"], "libdarshan's bare loop", times["loop"], _MOST_OVERHEAD),
        faster(
            f"{of_logs}, derived and written to Parquet",
            times["derived"],
            "PyDarshan's report",
            times["report"],
            _LEAST_SPEEDUP_DERIVED,
        ),
        Result(what="  of that each log", ours=times["derived"].cpu / len(logs), most=_MOST_SECONDS_DERIVED),
        Result(what="memory meanwhile", ours=memory["iomine"], unit="B", peer=memory["report"], beside="PyDarshan's report"),
    ]
