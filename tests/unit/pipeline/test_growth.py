"""Sixty nights of few logs, a sweep for each: the last cost as much as the first, and no more files of commits are left."""

import os
import struct
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median

import psutil
import pytest
from darshan_mutations import Parts, apart
from sweeping import column, judge_by_one, write_no_reports

from iomine.pipeline.sweep import Settings, run

FIRST, NIGHTS, WEEK = date(2024, 1, 1), 60, 7
# First weeks, each in a warehouse of its own, that nights of the last ones are held against.
WEEKS = 2
DAY_SECONDS = 86400
LOGS = (
    "ecpam21/logs/snyder_h5-block_id511919_4-14-3389-13517322816805000194_1.darshan",
    "ecpam21/logs/snyder_h5-block-chunk-coll_id511919_4-14-3948-13517322816805000194_1.darshan",
)
# Words of the job record that are seconds since 1970, in formats from 3.41 on and before.
NEW_TIMES, OLD_TIMES = (1, 3), (1, 2)


def moved(parts: Parts, night: date) -> bytes:
    """A log as if its run had ended in that night; at the hour that it did."""
    order, places = parts.container.order, NEW_TIMES if parts.container.era.slots > 16 else OLD_TIMES
    start, end = (struct.unpack_from(f"{order}q", parts.job, 8 * place)[0] for place in places)
    days = (night - datetime.fromtimestamp(end, UTC).date()).days
    job = bytearray(parts.job)
    for place, seconds in zip(places, (start, end), strict=True):
        struct.pack_into(f"{order}q", job, 8 * place, seconds + days * DAY_SECONDS)
    return replace(parts, job=bytes(job)).together()


def cpu_seconds() -> float:
    """Of this process and all that it started, those that have ended too."""
    here = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in (here, *here.children(recursive=True)))


def commits(warehouse: Path) -> int:
    """Files of commits and checkpoints."""
    return sum(1 for _ in warehouse.glob("lake/*/_delta_log/*"))


def a_day_passes(warehouse: Path) -> None:
    """Files are a day older, by which a sweep knows which of them may go."""
    for file in (warehouse / "lake").rglob("*"):
        if file.is_file():
            at = file.stat().st_mtime - DAY_SECONDS
            os.utime(file, (at, at))


@pytest.mark.site
@pytest.mark.timeout(3600)
def test_the_sixtieth_night_costs_what_one_of_the_first_week_did(
    shared_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    """At most 1.2 times its CPU time; and after 60 nights there are no more files of commits than after 30."""
    judge_by_one(monkeypatch)
    write_no_reports(monkeypatch)
    parts = [apart((shared_data / "darshan" / name).read_bytes()) for name in LOGS]

    def cost(warehouse: Path, number: int) -> float:
        """CPU seconds of the sweep of a night."""
        folder = warehouse.with_name(f"{warehouse.name}-logs") / str(number)
        folder.mkdir(parents=True)
        for name, log in zip(LOGS, parts, strict=True):
            assert log is not None
            (folder / Path(name).name).write_bytes(moved(log, FIRST + timedelta(number)))
        begun = cpu_seconds()
        summary = run(Settings((folder,), warehouse, workers=1))
        spent = cpu_seconds() - begun
        assert len(LOGS) == summary.ingested
        a_day_passes(warehouse)
        return spent

    old, held = tmp_path / "old", []
    late, early = [], []
    for number in range(NIGHTS):
        spent = cost(old, number)
        held.append(commits(old))
        # Nights of a first week and of the last ones take turns, so that both meet the same machine.
        if number >= NIGHTS - WEEKS * WEEK:
            week, day = divmod(number - (NIGHTS - WEEKS * WEEK), WEEK)
            of_first_week = cost(tmp_path / f"young-{week}", day)
            # The first night of all makes the tables.
            if day > 0:
                late.append(spent)
                early.append(of_first_week)

    assert [len(LOGS)] * NIGHTS == column(old, "SELECT log_count FROM trends WHERE log_count > 0")
    ratio = median(last / first for last, first in zip(late, early, strict=True))
    nights = f"a night of the first week {median(early):.2f} s, of the last {median(late):.2f} s ({ratio:.2f} times)"
    record_property("figure", f"{nights}; {held[29]} files of commits after 30, {held[-1]} after 60")
    assert ratio <= 1.2
    # Each table is tidied when it has grown by so many commits, not every night.
    assert held[-1] <= max(held[23:30])
