"""Sweeps for tests: run without Prefect, and looked at from outside, as readers do."""

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from iomine.pipeline.reports import Reported
from iomine.pipeline.stages import context
from iomine.pipeline.stages import report as report_stage
from iomine.schema import TABLES
from iomine.triggers import TRIGGERS
from iomine.views.query import answer_own, open_catalog

# The command, of the very program that is tested.
IOMINE = (sys.executable, "-c", "from iomine.cli import main; main()")
# To plan the questions of all triggers takes longer than the rest of a small sweep.
BY_ONE = """
from iomine.pipeline.stages import context
from iomine.triggers import TRIGGERS
context.site_triggers = lambda _warehouse: {"P05": TRIGGERS["P05"]}
"""
IOMINE_BY_ONE = (sys.executable, "-c", f"{BY_ONE}\nfrom iomine.cli import main; main()")
# A sweep that writes no reports; warehouse and paths are its arguments.
ALONE = f"""
import sys
from pathlib import Path
from iomine.pipeline import sweep as room
from iomine.pipeline.sweep import Settings, run
{BY_ONE}
room.report = lambda *_: None

if __name__ == "__main__":
    warehouse, *paths = map(Path, sys.argv[1:])
    run(Settings(tuple(paths), warehouse, workers=1))
"""
# What differs from one sweep to the next though it says the same.
_PASSING = {"reject": 'EXCLUDE ("at")', "source_file": 'EXCLUDE ("at")'}

State = dict[str, tuple[int, int]]


def judge_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes sweeps judge by one trigger: planning the questions of all takes longer than the rest of a small sweep."""
    monkeypatch.setattr(context, "site_triggers", lambda _warehouse: {"P05": TRIGGERS["P05"]})


def write_no_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps end without reports, which tests of what they read and commit do not look at."""
    monkeypatch.setattr(report_stage, "report_due", lambda *_: Reported(0, 0, ()))


def judge_by(monkeypatch: pytest.MonkeyPatch, *codes: str) -> None:
    """Leaves the program these triggers only: to plan the questions of all takes longer than most of what is tested."""
    every = dict(TRIGGERS)
    # Put back in the opposite order, which is theirs.
    for code in reversed(every):
        monkeypatch.delitem(TRIGGERS, code)
    for code in codes:
        monkeypatch.setitem(TRIGGERS, code, every[code])


def rows(warehouse: Path, query: str) -> list[dict[str, Any]]:
    """What a reader is answered."""
    return _answer(warehouse, query).to_pylist()


def column(warehouse: Path, query: str) -> list[Any]:
    """What a reader is answered, of one column."""
    return _answer(warehouse, query).column(0).to_pylist()


def _answer(warehouse: Path, query: str) -> pa.Table:
    # Without the guard against other people's queries, DuckDB plans it once and not twice.
    with open_catalog(warehouse / "iomine.duckdb") as connection:
        return answer_own(connection, query)


def state(warehouse: Path) -> State:
    """Rows of every published table, as their number and a sum of their digests; empty where nothing is published."""
    if not (warehouse / "iomine.duckdb").exists():
        return {}
    parts = [
        f"SELECT '{table}', count(*), coalesce(sum(hash(passed)::HUGEINT), 0)::VARCHAR "
        f"FROM (SELECT * {_PASSING.get(table, '')} FROM lake.{table}) AS passed"
        for table in TABLES
        if table != "sweep"
    ]
    answer = _answer(warehouse, " UNION ALL ".join(parts))
    tables, counts, sums = (answer.column(index).to_pylist() for index in range(3))
    return {table: (count, int(total)) for table, count, total in zip(tables, counts, sums, strict=True) if count}


def rows_of_logs(warehouse: Path, log_ids: list[str]) -> Mapping[str, Any]:
    """Rows of these logs in every table, as their number and a sum of their digests."""
    listed = ", ".join(f"'{log_id}'" for log_id in log_ids)
    parts = [
        f"SELECT '{name}' AS name, count(*) AS count, sum(hash(listed)::HUGEINT)::VARCHAR AS sum "
        f"FROM (SELECT * FROM lake.{name} WHERE log_id IN ({listed})) AS listed"
        for name, table in TABLES.items()
        if "log_id" in table.columns
    ]
    return {row["name"]: row for row in rows(warehouse, " UNION ALL ".join(parts))}


def strays(warehouse: Path) -> list[str]:
    """Tables that hold rows of logs which the table `log` does not."""
    with_logs = [table for table, entry in TABLES.items() if "log_id" in entry.columns and table not in {"log", "known_log"}]
    parts = [f"SELECT '{table}' FROM lake.{table} ANTI JOIN lake.log USING (cluster, night, log_id)" for table in with_logs]
    return column(warehouse, " UNION ".join(parts))


def wait_for(condition: Callable[[], object], seconds: float) -> bool:
    """Whether a condition comes true in time."""
    give_up_at = time.monotonic() + seconds
    while time.monotonic() < give_up_at:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


def most_memory(process: int) -> int:
    """Bytes that a process has held in memory, at most."""
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
