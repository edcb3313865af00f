"""Logs are forgotten or moved as if they had never been swept, or swept under the other name."""

import shutil
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from shared import SHARED_DATA
from sweeping import column, judge_by, rows, state, write_no_reports

from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline.corrections import Matter, counted_logs, forget, matter_of, move
from iomine.pipeline.ingest import known
from iomine.pipeline.judging.fresh import stale_features
from iomine.pipeline.sweep import Settings, run
from iomine.simulate import Settings as Simulated
from iomine.simulate import simulate
from iomine.triggers import TRIGGERS

pytestmark = pytest.mark.proof

INPUT = SHARED_DATA / "darshan" / "darshan" / "input"
# Three logs of three nights, and two runs of one program in a fourth.
NAMES = ("sample-badost.darshan", "sample-goodost.darshan", "sample-dxt-simple.darshan")
RUNS = sorted(SHARED_DATA.rglob("pq_app_write_*.darshan"))[:2]

# They ask what a night's logs show of Darshan, what runs usually take, and what servers and links did.
JUDGES = ("POSIX-302", "SYSTEM-101", "FABRIC-101")


@pytest.fixture(scope="module")
def swept(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a folder for each log, and warehouses of all and of some of them."""
    assert shared_data.is_dir()
    folder = tmp_path_factory.mktemp("corrections")
    with pytest.MonkeyPatch.context() as patch:
        judge_by(patch, "P05", "POSIX-102", "LUSTRE-203")
        write_no_reports(patch)
        # However long the sweeps take, files count as written long ago, and all are remembered.
        patch.setattr(known, "_SETTLED_NS", -(10**18))
        for number, log in enumerate((*(INPUT / name for name in NAMES), *RUNS)):
            (folder / str(number)).mkdir()
            shutil.copy(log, folder / str(number))
        for warehouse, cluster, logs in (
            ("all", "x", "01234"),
            ("three", "x", "124"),
            ("one", "x", "03"),
            ("one", "y", "124"),
            ("moved", "y", "01234"),
        ):
            run(Settings(tuple(folder / each for each in logs), folder / warehouse, cluster, workers=1))
    return folder


@pytest.fixture
def warehouse(swept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the warehouse of all logs."""
    judge_by(monkeypatch, "P05", "POSIX-102", "LUSTRE-203")
    monkeypatch.setattr(known, "_SETTLED_NS", -(10**18))
    return _copy(swept / "all", tmp_path)


def _copy(warehouse: Path, folder: Path) -> Path:
    from iomine.pipeline.publish import publish  # noqa: PLC0415  after the triggers are few

    copy = Path(shutil.copytree(warehouse, folder / "warehouse"))
    publish(Warehouse(copy))
    return copy


def _log_at(warehouse: Path, name: str) -> str:
    return column(warehouse, f"SELECT log_id FROM logs WHERE path LIKE '%{name}'")[0]


def _same(first: Path, second: Path, *passing: str) -> None:
    """Both say the same, except for tables that say when or where something was read."""
    one, other = state(first), state(second)
    for table in passing:
        one.pop(table, None)
        other.pop(table, None)
    assert one == other


def test_a_log_is_forgotten(swept, warehouse):
    """What is left is what a sweep of the others gives, whether these are of its night or not; swept again, it is there again."""
    log_id = _log_at(warehouse, NAMES[0])
    folder = Warehouse(warehouse)
    matter = matter_of(folder, None, None, log_id[:10])
    assert (log_id, 1) == (matter.log_id, counted_logs(folder, matter))
    forget(folder, matter)
    forget(folder, matter_of(folder, None, None, _log_at(warehouse, RUNS[0].name)))
    _same(swept / "three", warehouse)
    assert {} == stale_features(folder.lake.snapshot().files, list(TRIGGERS.values()))
    summary = run(Settings((swept / "0", swept / "3"), warehouse, "x", workers=1))
    assert (2, 0) == (summary.ingested, summary.known)
    _same(swept / "all", warehouse)


def test_a_night_is_forgotten(swept, warehouse):
    """Its logs go, and those of other nights stay; nothing of it is known."""
    night = column(warehouse, f"SELECT night FROM logs WHERE path LIKE '%{NAMES[2]}'")[0]
    forget(Warehouse(warehouse), matter_of(Warehouse(warehouse), "x", night, None))
    assert 0 == column(warehouse, f"SELECT count(*) FROM logs WHERE night = '{night}'")[0] < len(rows(warehouse, "FROM logs"))
    assert 1 == run(Settings((swept / "2",), warehouse, "x", workers=1)).ingested
    _same(swept / "all", warehouse)


def test_a_machine_is_moved(swept, warehouse):
    """All is as if it had been swept under the other name, and known there."""
    move(Warehouse(warehouse), matter_of(Warehouse(warehouse), "x", None, None), "y")
    _same(swept / "moved", warehouse)
    assert 5 == run(Settings(tuple(swept / each for each in "01234"), warehouse, "y", workers=1)).known


def test_a_machine_is_moved_beside_what_the_other_has(swept, tmp_path, monkeypatch):
    """Nights that both had have the logs of both, judged and summed up as if they had been swept together."""
    judge_by(monkeypatch, "P05", "POSIX-102", "LUSTRE-203")
    warehouse = _copy(swept / "one", tmp_path)
    move(Warehouse(warehouse), Matter(frozenset({"x"})), "y")
    _same(swept / "moved", warehouse)


def test_sums_stay_where_the_logs_of_one_machine_have_left(tmp_path, monkeypatch):
    """A night that both machines had keeps the sums of both, and each log counts once, also with one that comes late."""
    judge_by(monkeypatch, "P05")
    write_no_reports(monkeypatch)
    here, there, late = sorted(SHARED_DATA.rglob("pq_app_write_*.darshan"))
    (tmp_path / "retention.toml").write_text("[days]\nlog = 1\n")
    # The night of the first leaves as soon as it is summed up, since the second is of a later one.
    run(Settings((here, INPUT / NAMES[2]), tmp_path, "x", workers=1))
    run(Settings((there,), tmp_path, "y", workers=1))
    counted = "SELECT sum(log_count)::INT FROM lake.app_night WHERE night = '2020-07-30'"
    assert (["y"], [2]) == (column(tmp_path, "SELECT cluster FROM logs WHERE night = '2020-07-30'"), column(tmp_path, counted))
    move(Warehouse(tmp_path), Matter(frozenset({"x"})), "y")
    assert [2] == column(tmp_path, counted)
    summary = run(Settings((here, there, late), tmp_path, "y", workers=1))
    assert (2, 1) == (summary.known, summary.ingested)
    assert [3] == column(tmp_path, counted)


def test_what_is_not_there_is_said(warehouse):
    """A machine, a night or a log that the warehouse does not have, and the beginning of several ids."""
    folder = Warehouse(warehouse)
    for given, sentence in (
        (("z", None, None), "no logs of z"),
        ((None, date(2001, 1, 1), None), "no logs of the night 2001-01-01"),
        ((None, None, "x"), "0 logs have an id that begins with x"),
        ((None, None, ""), "5 logs have an id"),
    ):
        with pytest.raises(UsageError, match=sentence):
            matter_of(folder, *given)


@pytest.fixture(scope="module")
def facility(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of two nights on servers that were read and links that were not, and the warehouse `all` of them."""
    folder = tmp_path_factory.mktemp("facility")
    simulate(Simulated(folder, log_count=16, seed=3, days=2, cluster="y"), lambda *_: None)
    shutil.rmtree(folder / "fabric" / "perfquery")
    # Few readings are enough, and take less time.
    for number, file in enumerate(sorted((folder / "lustre" / "job_stats").rglob("*.*"))):
        if number % 24:
            file.unlink()
    with pytest.MonkeyPatch.context() as patch:
        _sweep_facility(patch, folder, "all", _logs(folder))
    return folder


def _logs(facility: Path) -> list[Path]:
    return sorted((facility / "darshan").rglob("*.darshan"))


def _sweep_facility(patch: pytest.MonkeyPatch, facility: Path, warehouse: str | Path, logs: Sequence[Path]) -> Path:
    """A warehouse of some of the logs, and of all readings."""
    judge_by(patch, *JUDGES)
    write_no_reports(patch)
    folder = facility / warehouse
    run(Settings(tuple(logs), folder, "y", stats=tuple(facility / each for each in ("slurm", "lustre", "fabric")), workers=1))
    return folder


def test_logs_of_two_machines_are_judged_as_those_of_one(facility, tmp_path, monkeypatch):
    """Logs that were swept under another name meet servers, links and earlier runs of the machine that they are moved to."""
    logs = _logs(facility)
    warehouse = _sweep_facility(monkeypatch, facility, tmp_path / "warehouse", logs[::2])
    run(Settings(tuple(logs[1::2]), warehouse, "x", workers=1))
    move(Warehouse(warehouse), Matter(frozenset({"x"})), "y")
    _same(facility / "all", warehouse, "known_file")


def test_nights_that_look_back_at_what_is_forgotten_are_judged_again(facility, tmp_path, monkeypatch):
    """No log is compared with one that is forgotten, and links and servers did nothing for it; the same for a night."""
    judge_by(monkeypatch, *JUDGES)
    warehouse = _copy(facility / "all", tmp_path)
    folder, logs = Warehouse(warehouse), _logs(facility)
    forget(folder, matter_of(folder, None, None, _log_at(warehouse, logs[0].name)))
    _same(_sweep_facility(monkeypatch, facility, tmp_path / "without_log", logs[1:]), warehouse, "known_file")
    first = column(warehouse, "SELECT min(night) FROM logs")[0]
    forget(folder, matter_of(folder, None, first, None))
    left = column(warehouse, "SELECT path FROM logs")
    assert 0 < len(left) < len(logs) - 1
    _same(
        _sweep_facility(monkeypatch, facility, tmp_path / "without_night", [Path(path) for path in left]), warehouse, "known_file"
    )
