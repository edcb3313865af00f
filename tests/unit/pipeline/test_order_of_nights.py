"""A backfill in any order of nights, and corrections of nights, bring what nights swept in order bring."""

from pathlib import Path

import pytest
from sweeping import column, judge_by, rows, state, write_no_reports

from iomine.lake import Warehouse
from iomine.pipeline.corrections import forget, matter_of, move, settle
from iomine.pipeline.sweep import Settings, run
from iomine.schema import TABLES
from iomine.simulate import Settings as Simulated
from iomine.simulate import simulate

pytestmark = pytest.mark.site

NIGHTS = 3


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders of logs, one for each night."""
    facility = tmp_path_factory.mktemp("facility")
    simulate(Simulated(facility, log_count=60, seed=3, days=NIGHTS, cluster="ada"), lambda *_: None)
    found = sorted({log.parent for log in (facility / "darshan").rglob("*.darshan")})
    assert NIGHTS <= len(found) <= NIGHTS + 1
    return found


def test_nights_may_come_in_any_order(folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tables, lineages and regressions are the same for nights swept oldest first, newest first, and with a gap filled."""
    write_no_reports(monkeypatch)
    orders = {"oldest": folders, "newest": folders[::-1], "gap": [*folders[::2], *folders[1::2]]}
    for name, order in orders.items():
        for folder in order:
            run(Settings((folder,), tmp_path / name, "ada", workers=1))
        if name != "oldest":
            nights = column(tmp_path / name, "SELECT DISTINCT night FROM logs ORDER BY ALL")
            assert len(nights) - 1 == settle(Warehouse(tmp_path / name), "ada", nights[0], nights[-1])
    for name in orders:
        assert set() == _differing(tmp_path / name, tmp_path / "oldest")
    # Lineages and regressions are views of these alone.
    assert {"log", "run_usual", "verdict"} <= state(tmp_path / "oldest").keys()


def test_nights_after_a_correction_look_back_at_what_is_there(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Runs are compared with those of the machine that logs were moved to, and no longer with a night that was forgotten."""
    judge_by(monkeypatch, "P05")
    write_no_reports(monkeypatch)
    machines = ("ada", "test", "ada", "test")
    for name, nights in (("all", folders), ("later", folders[1:])):
        for folder in nights:
            run(Settings((folder,), tmp_path / name, "ada", workers=1))
    for folder, machine in zip(folders, machines, strict=False):
        run(Settings((folder,), tmp_path / "two", machine, workers=1))
    two = Warehouse(tmp_path / "two")
    assert "run_usual" in _differing(two.root, tmp_path / "all")
    move(two, matter_of(two, "test", None, None), "ada")
    assert set() == _differing(two.root, tmp_path / "all")
    first = min(column(two.root, "SELECT night FROM logs"))
    forget(two, matter_of(two, "ada", first, None))
    assert "run_usual" in _differing(two.root, tmp_path / "all")
    assert set() == _differing(two.root, tmp_path / "later")


def test_runs_stay_compared_with_nights_that_have_left(folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A late log takes no comparison from the other logs of its night, though what they were compared with has left."""
    judge_by(monkeypatch, "P05")
    write_no_reports(monkeypatch)
    (tmp_path / "retention.toml").write_text("[days]\nlog = 2\n")
    late, *others = sorted(folders[1].iterdir())
    of_second = (
        f"FROM lake.run_usual WHERE night = '{'-'.join(f'{int(part):02}' for part in folders[1].parts[-3:])}' ORDER BY ALL"
    )
    for paths in ((folders[0],), others, (folders[2],)):
        run(Settings(tuple(paths), tmp_path, "ada", workers=1))
    compared = rows(tmp_path, of_second)
    assert len(compared) > 0
    run(Settings((late,), tmp_path, "ada", workers=1))
    assert compared == rows(tmp_path, of_second)


def _differing(one: Path, other: Path) -> set[str]:
    """Tables that differ between warehouses, except for those that say where something was read."""
    states = state(one), state(other)
    return {table for table in TABLES if states[0].get(table) != states[1].get(table)} - {"known_file", "source_file"}
