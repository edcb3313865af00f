"""`iomine upgrade`, and what all other commands say of a warehouse that needs it."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest

from iomine.cli.app import commands
from iomine.lake import Lake
from iomine.pipeline.upgrade import upgrade as room
from iomine.pipeline.upgrade.upgrade import Outcome, Settings
from iomine.schema import SCHEMA_VERSION

# What each command needs to be given to get as far as its warehouse.
GIVEN = {
    "compare": ["2026-01-05", "2026-01-06"],
    "digest": ["--outbox", "out"],
    "backfill": ["--since", "2024-01-01"],
    "export": ["out"],
    "forward": ["x"],
    "forget": ["--cluster", "x"],
    "model": ["x"],
    "move": ["--cluster", "x", "--to", "y"],
    "pattern": ["x"],
    "predict": ["x", "--on", "y"],
    "report": ["x"],
    "show": ["x"],
    "site": ["out"],
    "sql": ["SELECT 1"],
    "sweep": ["."],
}
# They open no views: what they take of a warehouse is its settings alone.
OTHERS = {"config", "explain", "link", "pack", "simulate", "trigger", "unpack", "upgrade"}


@pytest.fixture(scope="module")
def older(empty_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of before there were versions: its views, and what makes its lake one that a sweep has committed."""
    folder = tmp_path_factory.mktemp("older")
    shutil.copy(empty_database, folder)
    with duckdb.connect(folder / "iomine.duckdb") as con:
        con.execute("DELETE FROM _meta WHERE key = 'schema_version'")
    return folder


@pytest.mark.parametrize("name", sorted(commands().keys() - OTHERS))
def test_every_command_refuses_an_older_warehouse(
    name: str, older: Path, iomine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence has both versions and the way out; the warehouse stays as it is."""
    monkeypatch.setattr(Lake, "version", lambda _lake: 1)
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in older.rglob("*") if path.name == "iomine.duckdb"}

    done = iomine(name, *GIVEN.get(name, []), "--warehouse", older)

    sentence = f"has schema version 1, and this iomine reads version {SCHEMA_VERSION}: run `iomine upgrade`."
    said = " ".join((done.stdout + done.stderr).split())
    assert (1, 1) == (done.exit_code, said.count(sentence)), said
    assert before == {path: path.read_bytes() for path in older.rglob("*") if path.name == "iomine.duckdb"}
    assert not list(tmp_path.rglob("*.html"))


def test_what_an_upgrade_did_is_said(iomine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """How many logs came from where, what is unknown now, and that there was nothing to do; rejects end with 3."""
    given = []
    outcome = Outcome(1, 3, read=7, rebuilt=4, rejected=1, incomplete=2, statistics_kept=3, closed_nights=5, seconds=2)
    monkeypatch.setattr(room, "upgrade", lambda settings: given.append(settings) or outcome)

    done = iomine("upgrade", "logs", "--stats", "stats", "--workers", "1", "--warehouse", tmp_path)
    assert [Settings(tmp_path, (Path("logs"),), (Path("stats"),), workers=1)] == given
    assert done.stdout.splitlines() == [
        "Schema version 1 became 3: 12 logs = 7 read again + 4 from kept rows + 1 rejected, in 2.0 s",
        "statistics and accounting: 0 read again + 3 kept",
    ]
    assert "Files and some rows of 2 logs are gone" in done.stderr
    assert "Logs of 5 nights had left: their sums are kept" in done.stderr
    assert 3 == done.exit_code
    assert 4 == json.loads(iomine("upgrade", "--json", "--warehouse", tmp_path).stdout)["rebuilt"]

    outcome = Outcome(3, 3)
    done = iomine("upgrade", "--warehouse", tmp_path)
    assert (0, "The warehouse has schema version 3 already.\n") == (done.exit_code, done.stdout)


def test_a_folder_that_is_no_warehouse_is_refused(iomine, tmp_path: Path) -> None:
    """It is left empty."""
    done = iomine("upgrade", "--warehouse", tmp_path)
    assert (1, "") == (done.exit_code, done.stdout)
    assert "There is no warehouse with tables at" in done.stderr
    assert [] == list(tmp_path.iterdir())
