"""Sweeps of logs that were made to mislead or to end a sweep, beside sound ones."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from sweeping import column, rows, rows_of_logs, write_no_reports

from iomine.errors import LostLogsError, UsageError, WarehouseError
from iomine.pipeline.judging import judge as judge_room
from iomine.pipeline.judging.spans import JUDGED_AT_ONCE
from iomine.pipeline.stages import context
from iomine.pipeline.stages import read as read_stage
from iomine.pipeline.sweep import Settings, begun, run
from iomine.schema import SCHEMA_VERSION
from iomine.triggers import TRIGGERS

# One that is about the counters that were changed in p6, and one about other ones.
FEW = {code: TRIGGERS[code] for code in ("MPIIO-101", "POSIX-101")}
HOSTILE = ("p1", "p2", "p3", "p4", "p5", "p6", "p7_future")


@pytest.fixture(scope="module", autouse=True)
def _few_triggers() -> Any:
    """Judges by two triggers: planning the questions of all takes longer than the rest of a small sweep."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context, "site_triggers", lambda _warehouse: FEW)
        yield


def sound_logs(shared_data: Path) -> tuple[Path, ...]:
    """Sound logs of two nights."""
    ecpam21 = sorted((shared_data / "darshan" / "ecpam21").rglob("*.darshan"))
    return (*ecpam21, shared_data / "darshan" / "codes" / "ior-uniq.darshan")


@pytest.fixture(scope="module")
def alone(scheduler: str, shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of sound logs alone."""
    warehouse = tmp_path_factory.mktemp("alone")
    run(Settings(sound_logs(shared_data), warehouse, scheduler=scheduler))
    return warehouse


@pytest.fixture(scope="module")
def beside(scheduler: str, shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of the sound logs and the hostile ones."""
    warehouse = tmp_path_factory.mktemp("beside")
    hostile = tuple(shared_data / "hostile" / f"{name}.darshan" for name in HOSTILE)
    summary = run(Settings((*sound_logs(shared_data), *hostile), warehouse, scheduler=scheduler))
    assert (0, len(HOSTILE)) == (summary.rejected, summary.ingested - len(sound_logs(shared_data)))
    return warehouse


@pytest.mark.proof
def test_sound_logs_have_the_rows_that_they_have_alone(alone: Path, beside: Path) -> None:
    """Whatever hostile logs say, no row of another log differs, verdicts among them."""
    ids = column(alone, "SELECT log_id FROM logs")
    assert rows_of_logs(alone, ids) == rows_of_logs(beside, ids)


def test_what_cannot_be_is_unknown_and_marked(beside: Path) -> None:
    """Each hostile log says what of it is in doubt, and what that enters is NULL."""
    reported = rows(beside, "SELECT path, doubt, read_bytes, io_core_seconds, end_at FROM logs WHERE path LIKE '%/hostile/%'")
    logs = {Path(row.pop("path")).stem: row for row in reported}
    assert set(HOSTILE) == {name for name, row in logs.items() if row["doubt"]}
    unknown = {name: {column for column, value in row.items() if value is None} for name, row in logs.items()}
    times, size = {"io_core_seconds"}, {"read_bytes"}
    expected = {"p1": size, "p2": times, "p3": size, "p4": times, "p5": times, "p6": set(), "p7_future": {"end_at"}}
    assert expected == unknown


def test_each_doubt_is_a_row_with_its_limit(beside: Path) -> None:
    """Nothing of a sound log is listed, and nothing absurd stands in the records of the others."""
    found = rows(
        beside,
        "SELECT path, module, column_name, doubt_check, doubted_value, doubt_limit FROM data_quality JOIN logs USING (log_id) "
        "ORDER BY ALL",
    )
    assert {"hostile"} == {Path(row["path"]).parent.name for row in found}
    checks = {name: {row["doubt_check"] for row in found if Path(row["path"]).stem == name} for name in HOSTILE}
    expected = {"p1": "too many", "p2": "run", "p3": "negative", "p4": "not finite", "p5": "run", "p6": "too many"}
    assert {name: {check} for name, check in expected.items()} | {"p7_future": {"future"}} == checks
    assert [] == [row for row in found if row["doubt_check"] == "run" and row["doubted_value"] <= row["doubt_limit"]]


def test_what_rests_on_a_doubt_is_never_clear(beside: Path) -> None:
    """Verdicts on small reads are about counts and bytes of POSIX; a time in doubt is no matter to them."""
    states = rows(beside, "SELECT path, state FROM verdicts JOIN logs USING (log_id) WHERE code = 'POSIX-101'")
    of = {Path(row["path"]).stem: row["state"] for row in states if "/hostile/" in row["path"]}
    assert not {of["p1"], of["p3"]} & {"clear"}


def test_a_log_of_the_future_makes_no_night_of_the_future(beside: Path) -> None:
    """It lies in the night in which its file was written, from which nothing counts back."""
    (night,) = column(beside, "SELECT night::VARCHAR FROM logs WHERE end_at IS NULL")
    assert night < "2999"
    dated = column(beside, "SELECT max(night) FROM logs WHERE end_at IS NOT NULL")
    assert dated == column(beside, "SELECT last_night FROM core.newest_night")


def test_what_hostile_logs_cost_is_what_their_runs_had(beside: Path) -> None:
    """They lead no list by more than there was."""
    reported = rows(beside, "SELECT cost_core_seconds, io_core_seconds, run_core_seconds FROM worst_offenders")
    assert [] == [row for row in reported if (row["io_core_seconds"] or 0) > row["run_core_seconds"]]
    assert [] == [row for row in reported if (row["cost_core_seconds"] or 0) > (row["io_core_seconds"] or 0) + 1e-9]
    unknown = "SELECT log_id FROM logs WHERE io_core_seconds IS NULL"
    assert {None} == set(column(beside, f"SELECT charged_core_seconds FROM verdicts WHERE log_id IN ({unknown})"))


@pytest.mark.parametrize(
    ("at_once", "fault"),
    [
        pytest.param(JUDGED_AT_ONCE, UsageError("Out of Range Error: Overflow in addition of INT64!"), id="judged here"),
        pytest.param(2, OverflowError("too large"), id="judged by workers"),
    ],
)
def test_a_log_that_no_question_can_deal_with_costs_itself(
    alone: Path,
    scheduler: str,
    shared_data: Path,
    tmp_path: Path,
    *,
    monkeypatch: pytest.MonkeyPatch,
    at_once: int,
    fault: Exception,
) -> None:
    """It is found by halving, named, and judged as unknown; all other logs are published as if it were not there."""
    monkeypatch.setattr(judge_room, "JUDGED_AT_ONCE", at_once)
    monkeypatch.setattr("iomine.pipeline.judging.spans.JUDGED_AT_ONCE", at_once)
    logs = sound_logs(shared_data)
    (culprit,) = column(alone, f"SELECT log_id FROM logs WHERE path = '{logs[0]}'")
    answer = judge_room.judge_span

    def refuse(work: Any, *others: Any) -> Any:
        held = "".join(str(ask_ids(file.path)) for file in work[1] if file.table == "posix_file")
        if culprit in held:
            raise fault
        return answer(work, *others)

    monkeypatch.setattr(judge_room, "judge_span", refuse)
    write_no_reports(monkeypatch)
    summary = run(Settings(logs, tmp_path, scheduler=scheduler, workers=None))

    assert (len(logs), 0) == (summary.ingested, summary.rejected)
    (failure,) = rows(tmp_path, "SELECT log_id, derivation, error, path FROM failed_derivations")
    error = f"{type(fault).__name__}: {fault}"
    assert {"log_id": culprit, "derivation": "verdict", "error": error, "path": str(logs[0])} == failure
    assert {"unknown"} == set(column(tmp_path, f"SELECT state FROM verdicts WHERE log_id = '{culprit}'"))
    (held,) = rows(tmp_path, f"SELECT path, nprocs, run_seconds, io_core_seconds FROM logs WHERE log_id = '{culprit}'")
    assert {"path": str(logs[0]), "nprocs": None, "run_seconds": None, "io_core_seconds": None} == held
    others = column(tmp_path, f"SELECT log_id FROM logs WHERE log_id <> '{culprit}'")
    assert rows_of_logs(alone, others) == rows_of_logs(tmp_path, others)


def ask_ids(file: Path) -> list[str]:
    """Whose rows a file holds."""
    ids: list[str] = pq.read_table(file, columns=["log_id"])["log_id"].to_pylist()
    return ids


def test_a_question_that_fails_without_logs_too_is_reported(
    scheduler: str, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then no log is to blame, and nothing is published."""

    def refuse(*_arguments: object) -> None:
        raise UsageError("Binder Error: no such column")

    monkeypatch.setattr(judge_room, "work_out", refuse)
    with pytest.raises(UsageError, match="Binder Error"):
        run(Settings(sound_logs(shared_data)[-1:], tmp_path, scheduler=scheduler))
    assert not (tmp_path / "iomine.duckdb").exists()


def test_logs_that_are_not_accounted_for_are_an_error_before_anything_is_committed(
    scheduler: str, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found is ingested, known or rejected, or the sweep ends and the lake stays as it was."""
    monkeypatch.setattr(read_stage, "read_batch", lose_all)
    reported = "Of 1 logs found, 0 were ingested, 0 known and 0 rejected, which is 0: nothing was committed"
    with pytest.raises(LostLogsError, match=f"^{reported}"):
        run(Settings(sound_logs(shared_data)[-1:], tmp_path, scheduler=scheduler))
    assert not (tmp_path / "lake").exists()


def lose_all(_batch: object, _staging: Path, _limits: object) -> object:
    """A reader that says nothing of its logs."""
    from iomine.pipeline.ingest.reader import BatchResult  # noqa: PLC0415  runs on the worker

    return BatchResult((), 0, ())


@pytest.mark.parametrize(
    ("version", "reported"),
    [
        (None, f"has schema version 1, and this iomine reads version {SCHEMA_VERSION}: run `iomine upgrade`"),
        (SCHEMA_VERSION + 1, f"has schema version {SCHEMA_VERSION + 1}, and this .* the iomine that wrote it, or a newer one"),
    ],
)
def test_a_lake_of_another_version_is_refused(
    alone: Path, shared_data: Path, version: int | None, reported: str, copied: Callable[[Path], Path]
) -> None:
    """Nobody sweeps into a warehouse whose columns have other meanings."""
    warehouse = copied(alone)
    file = warehouse / "lake" / "schema_version"
    assert f"{SCHEMA_VERSION}\n" == file.read_text()
    if version is None:
        file.unlink()
    else:
        file.write_text(f"{version}\n")

    with pytest.raises(WarehouseError, match=reported), begun(Settings(sound_logs(shared_data), warehouse)):
        pass


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    """A warehouse's lake under another root."""
    return lambda warehouse: Path(shutil.copytree(warehouse, tmp_path / "copy"))
