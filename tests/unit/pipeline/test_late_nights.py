"""A night that was judged before and gets a few logs more: only these are judged, and all is as if they had not been late."""

import datetime as dt
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest
from catalogs import staged
from sweeping import State, state, write_no_reports

from iomine.lake import LakeFile, Warehouse, replaced
from iomine.pipeline.judging import judge as judge_room
from iomine.pipeline.judging.late import VERDICT, Late, Tables, late_nights
from iomine.pipeline.reports import due, due_logs
from iomine.pipeline.stages import merge
from iomine.pipeline.sweep import Settings, run
from iomine.simulate import Settings as Simulated
from iomine.simulate import simulate

NIGHT: Final = ("default", dt.date(2026, 1, 5))
READ: Final = frozenset(("log", "posix_file", "run_usual", "darshan_build"))
MADE: Final = frozenset((VERDICT, "log_requests"))
BUILD: Final = {"darshan_version": "3.4.4", "stat_count": 2}
BEFORE: Final = {
    "log": [{"log_id": "a"}, {"log_id": "b"}],
    "posix_file": [{"log_id": "a", "file_id": 1}, {"log_id": "b", "file_id": 1}],
    "run_usual": [{"log_id": "a", "run_slowdown_ratio": 0.25}, {"log_id": "b", "run_slowdown_ratio": 0.25}],
    "darshan_build": [BUILD],
    VERDICT: [{"log_id": "a", "code": "P05"}, {"log_id": "b", "code": "P05"}],
    "log_requests": [{"log_id": "a"}, {"log_id": "b"}],
}
ONE_MORE: Final = {
    "log": [*BEFORE["log"], {"log_id": "c"}],
    "posix_file": [*BEFORE["posix_file"], {"log_id": "c", "file_id": 7}],
}
LATE_LOGS: Final = 3


def sweep(
    folder: Path, after: Mapping[str, list[dict[str, Any]]], made: frozenset[str] = MADE, note: str = ""
) -> dict[tuple[str, dt.date], Late]:
    """What a sweep finds of a night that has these rows before, and others of some tables afterwards."""
    warehouse = Warehouse(folder)
    lake = [staged(warehouse, table, given, *NIGHT) for table, given in BEFORE.items()]
    new = [staged(warehouse, table, given, *NIGHT) for table, given in after.items()]
    merged = [file for file in new if file.table in ONE_MORE]
    there = replaced([file for file in lake if file.table in READ], new)
    return late_nights(lake, there, merged, [NIGHT], Tables(READ, made, {"judged_by": note} if note else {}))


def test_logs_that_came_are_judged(tmp_path: Path) -> None:
    """That their version of Darshan counts calls of stat was known; how often it did is nothing that logs are judged by."""
    found = sweep(tmp_path, ONE_MORE | {"darshan_build": [BUILD | {"stat_count": 3}]})
    assert {NIGHT: {"c"}} == {night: late.log_ids for night, late in found.items()}


def test_logs_that_are_held_against_something_else_than_before_are_judged(tmp_path: Path) -> None:
    """Another run may change what usual runs take."""
    usual = [{"log_id": "a", "run_slowdown_ratio": 0.5}, BEFORE["run_usual"][1]]
    assert {NIGHT: {"a"}} == {night: late.log_ids for night, late in sweep(tmp_path, {"run_usual": usual}).items()}
    # Two of three logs: to judge all is as much.
    assert {} == sweep(tmp_path, ONE_MORE | {"run_usual": usual})


@pytest.mark.parametrize(
    ("after", "made", "note"),
    [
        (ONE_MORE | {"darshan_build": [BUILD | {"stat_count": 0}]}, MADE, ""),
        (ONE_MORE | {"posix_file": ONE_MORE["posix_file"][1:]}, MADE, ""),
        (ONE_MORE, MADE, "other triggers"),
        (ONE_MORE, MADE | {"log_activity"}, ""),
    ],
    ids=["stat", "rows-that-left", "triggers", "feature"],
)
def test_all_logs_are_judged(tmp_path: Path, after: dict[str, Any], made: frozenset[str], note: str) -> None:
    """Where their version of Darshan turns out otherwise, rows of others left, or not all was worked out by these triggers."""
    assert {} == sweep(tmp_path, after, made, note)


def test_a_night_without_anything_new_has_no_logs_to_judge(tmp_path: Path) -> None:
    """What was worked out for it stays as it is."""
    (late,) = sweep(tmp_path, {}).values()
    assert (frozenset(), []) == (late.log_ids, late.of_logs(tmp_path))


def test_what_was_judged_in_parts_lies_beside_the_rest_once(tmp_path: Path) -> None:
    """Each part has a file of each table; what holds of other logs is in the night's file one time."""
    (late,) = sweep(tmp_path, ONE_MORE).values()
    parts = [staged(Warehouse(tmp_path), VERDICT, [{"log_id": "c", "code": code}], *NIGHT) for code in ("P05", "P06")]
    (file,) = late.beside(tmp_path, parts)
    rows = pq.read_table(file.path, columns=["log_id", "code"]).to_pylist()
    assert [("a", "P05"), ("b", "P05"), ("c", "P05"), ("c", "P06")] == [tuple(row.values()) for row in rows]


@pytest.mark.proof
def test_late_logs_make_what_a_single_sweep_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All tables and all reports are equal; what is judged and reported is these logs, and those that they concern."""
    early, late = facility(tmp_path)
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    run(Settings((early, late), whole, workers=1))
    run(Settings((early,), parted, workers=1))
    judged: list[int] = []
    judge_span = judge_room.judge_span

    def counted(work: Any, *others: Any) -> list[LakeFile]:
        judged.append(sum(file.row_count for file in work[1] if file.table == "log"))
        return judge_span(work, *others)

    monkeypatch.setattr(judge_room, "judge_span", counted)
    monkeypatch.setattr(merge, "LITTLE_BYTES", 0)
    run(Settings((late,), parted, workers=1))
    assert LATE_LOGS <= sum(judged) < len([*early.iterdir(), *late.iterdir()]) // 2
    assert tables(whole) == tables(parted)
    assert pages(whole) == pages(parted)
    assert [] == due(Warehouse(parted)).noted() == due_logs(Warehouse(parted)).noted()


@pytest.mark.proof
def test_late_logs_judged_in_parts_make_what_a_single_sweep_makes(
    tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tables are equal where so many logs are late that workers share them."""
    write_no_reports(monkeypatch)
    early, late = facility(tmp_path)
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    run(Settings((early, late), whole, scheduler=scheduler))
    run(Settings((early,), parted, scheduler=scheduler))
    monkeypatch.setattr("iomine.pipeline.judging.spans.JUDGED_AT_ONCE", 1)
    run(Settings((late,), parted, scheduler=scheduler))
    assert tables(whole) == tables(parted)


def facility(folder: Path) -> tuple[Path, Path]:
    """A night's logs, in a folder of most of them and one of those that come late."""
    simulate(Simulated(folder / "facility", log_count=60, seed=5), lambda *_: None)
    # Of one night: what runs of the nights after are held against is worked out with these.
    logs = sorted((folder / "facility" / "darshan" / "2026" / "1" / "5").glob("*.darshan"))
    early, late = folder / "early", folder / "late"
    for target, paths in ((early, logs[LATE_LOGS:]), (late, logs[:LATE_LOGS])):
        target.mkdir()
        for path in paths:
            shutil.copy(path, target)
    return early, late


def tables(warehouse: Path) -> State:
    """All tables, except that of files that are known: of these, paths and times are."""
    return {name: held for name, held in state(warehouse).items() if name != "known_file"}


def pages(warehouse: Path) -> dict[str, bytes]:
    """All files of reports."""
    return {path.name: path.read_bytes() for path in (warehouse / "reports").iterdir() if path.is_file()}
