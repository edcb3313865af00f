"""How a night's files grow when logs come in several sweeps."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from sweeping import judge_by_one, rows, state, write_no_reports

from iomine.lake import LakeFile, Warehouse
from iomine.pipeline.stages import merge
from iomine.pipeline.sweep import Settings, run
from iomine.simulate import Settings as Simulated
from iomine.simulate import simulate

SWEEPS = 3
LARGE = 40_000
# Of tables that are worked out anew, all files are new.
MERGED = {"posix_file", "rank_io", "file_name", "segment"}


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Logs of two nights, to be swept one folder after the other."""
    write_no_reports(monkeypatch)
    judge_by_one(monkeypatch)
    simulate(Simulated(tmp_path / "facility", log_count=40, seed=5, days=2), lambda *_: None)
    made = [tmp_path / "logs" / str(number) for number in range(SWEEPS)]
    for number, log in enumerate(sorted((tmp_path / "facility" / "darshan").rglob("*.darshan"))):
        made[number % SWEEPS].mkdir(parents=True, exist_ok=True)
        shutil.copy(log, made[number % SWEEPS])
    return made


def _swept(folders: list[Path], warehouse: Path) -> list[list[LakeFile]]:
    """Files of the lake after each sweep."""
    after = []
    for folder in folders:
        run(Settings((folder,), warehouse, workers=1))
        after.append(list(Warehouse(warehouse).lake.snapshot().files))
    return after


@pytest.mark.proof
def test_large_files_stay_as_they_are(folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A night in several files holds the rows of a night in one, and late logs leave the bytes of its large files alone."""
    whole = _swept(folders, tmp_path / "whole")
    assert {1} == set(_file_counts(whole[-1]).values())
    monkeypatch.setattr(merge, "LARGE_BYTES", LARGE)
    parted = _swept(folders, tmp_path / "parted")
    counts = _file_counts(parted[-1])
    assert max(counts.values()) > 2
    expected, found = (state(tmp_path / name) for name in ("whole", "parted"))
    assert {name: table for name, table in expected.items() if name != "known_file"} == {
        name: table for name, table in found.items() if name != "known_file"
    }
    for before, then in pairwise(parted):
        large = [file for file in before if file.table in MERGED and file.size_bytes >= LARGE]
        assert large
        kept = {file.path.stat().st_ino for file in then}
        assert all(file.path.stat().st_ino in kept for file in large)
    (counted,) = rows(tmp_path / "parted", "SELECT count(*) AS logs, count(DISTINCT log_id) AS ids FROM logs")
    assert (40, 40) == tuple(counted.values())


def _file_counts(files: list[LakeFile]) -> dict[tuple[object, ...], int]:
    counts: dict[tuple[object, ...], int] = {}
    for file in files:
        counts[file.table, file.partition] = counts.get((file.table, file.partition), 0) + 1
    return counts
