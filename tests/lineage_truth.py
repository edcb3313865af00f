"""Simulated facilities as their logs tell of them (in progress)."""

import sys
import time
from contextlib import ExitStack
from datetime import date
from pathlib import Path

from iomine.lake import LakeFile, Warehouse
from iomine.pipeline.judge import judge
from iomine.pipeline.rows import RowSinks, rows_of
from iomine.simulate import Settings, simulate
from iomine.sources.darshan import read_log
from iomine.triggers import TRIGGERS
from iomine.views.catalog import build_catalog

LOGS, DAYS = 1000, 7


def build(seed: int, folder: Path) -> None:
    t = time.time()
    out = folder / "facility"
    simulate(Settings(out, LOGS, seed, DAYS, "simulated", dxt_ratio=0, heatmap_ratio=0), lambda *_: None)
    print("simulate", time.time() - t)
    t = time.time()
    with ExitStack() as stack:
        sinks: dict[date, RowSinks] = {}
        for path in sorted((out / "darshan").rglob("*.darshan")):
            log = read_log(path)
            night = log.job.night
            if night not in sinks:
                sinks[night] = RowSinks(folder / "lake", "simulated", night, stack)
            sinks[night].write(log.log_id, rows_of(log, str(path.relative_to(out))))
        for each in sinks.values():
            each.finish()
    files = [
        LakeFile(table, "simulated", night, Path(p), size, rows)
        for night, each in sinks.items()
        for table, p, size, rows in each.files()
    ]
    print("read", time.time() - t)
    t = time.time()
    judges = {c: x for c, x in TRIGGERS.items() if x.ruleset == "iomine" and x.level in ("high", "warn")}
    judged, n = judge(Warehouse(folder / "warehouse"), folder / "staging", files, judges)
    print("judge", n, time.time() - t)
    t = time.time()
    paths: dict[str, list[str]] = {}
    for file in [*files, *judged]:
        paths.setdefault(file.table, []).append(str(file.path))
    build_catalog(folder / "iomine.duckdb", paths, {}, {})
    print("catalog", time.time() - t)


if __name__ == "__main__":
    for s in map(int, sys.argv[2:]):
        folder = Path(sys.argv[1]) / str(s)
        folder.mkdir(parents=True)
        build(s, folder)
