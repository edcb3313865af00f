"""Warehouses of earlier commits, upgraded by the command and with all triggers; killed meanwhile, an upgrade goes on."""

import subprocess
import tarfile
import time
from collections import Counter
from pathlib import Path

import pytest
from killing import killed
from sweeping import IOMINE
from tiers import REPO

from iomine.lake import Warehouse
from iomine.schema import SCHEMA_VERSION
from iomine.triggers import TRIGGERS
from iomine.triggers.judge import settings
from iomine.views.model import find_views
from iomine.views.query import answer_own, open_catalog, set_variables

# Of a sweep, and not of what it read.
_OF_SWEEPS = {"sweeps", "rejects"}
# Parts of the time that a sweep takes; each upgrade goes on after the last.
_MOMENTS = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)

Answers = dict[str, Counter[str]]


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(REPO / "tests" / "data" / "warehouses" / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs and statistics that all these warehouses were swept from."""
    return unpacked("inputs", tmp_path_factory.mktemp("inputs"))


def answers(warehouse: Path) -> Answers:
    """Rows of all views that people ask, floats as far as sums agree."""
    found = {}
    with open_catalog(warehouse / "iomine.duckdb") as con:
        set_variables(con, settings(list(TRIGGERS.values())))
        for view in find_views():
            if view.schema == "main" and view.name not in _OF_SWEEPS:
                # Of nights without logs there are sweeps only, the older program's among them.
                which = " WHERE log_count > 0" if view.name == "trends" else ""
                rows = answer_own(con, f"FROM {view.qualified}{which}").to_pylist()
                found[view.name] = Counter(repr([near(value) for value in row.values()]) for row in rows)
    return found


def near(value: object) -> object:
    """A value without the digits that depend on the order of additions."""
    if isinstance(value, dict):
        return {key: near(each) for key, each in value.items()}
    if isinstance(value, list):
        return [near(each) for each in value]
    return float(f"{round(value, 9):.8g}") if isinstance(value, float) else value


def swept(warehouse: Path, *paths: object) -> float:
    """Sweeps into a new warehouse, and gives the seconds that it took."""
    begun = time.monotonic()
    command = [*IOMINE, "sweep", *paths, "--workers", "1", "--warehouse", warehouse]
    subprocess.run([*map(str, command)], check=True, capture_output=True)
    return time.monotonic() - begun


@pytest.fixture(scope="module")
def anew(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Answers, float]:
    """What a sweep of today answers, and how long it takes."""
    warehouse = tmp_path_factory.mktemp("anew")
    seconds = swept(warehouse, inputs / "logs", "--stats", inputs / "stats")
    return answers(warehouse), seconds


@pytest.fixture(scope="module")
def anew_without_statistics(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Answers, float]:
    """The same, as of before there were statistics."""
    warehouse = tmp_path_factory.mktemp("anew")
    seconds = swept(warehouse, inputs / "logs")
    return answers(warehouse), seconds


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("commit", "expected", "moments"),
    [
        ("f8710d5", "anew_without_statistics", ()),
        ("cc14212", "anew", ()),
        pytest.param("43f1fcc", "anew", _MOMENTS, marks=pytest.mark.faults),
        ("43f1fcc", "anew", _MOMENTS[1:5:3]),
    ],
)
def test_every_view_of_an_upgraded_warehouse_answers_as_one_swept_anew(
    *, commit: str, expected: str, moments: tuple[float, ...], inputs: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """All triggers judge; an upgrade that is killed leaves the warehouse older or upgraded, and the next one goes on."""
    wanted, seconds = request.getfixturevalue(expected)
    warehouse = unpacked(commit, tmp_path)
    command = [*IOMINE, "upgrade", inputs / "logs", "--stats", inputs / "stats", "--workers", "1", "--warehouse", warehouse]
    for moment in moments:
        killed(command, moment * seconds)
        assert Warehouse(warehouse).lake.version() in {1, SCHEMA_VERSION}

    subprocess.run([*map(str, command)], check=True, capture_output=True)

    got = answers(warehouse)
    assert {} == {name: (rows - got[name], got[name] - rows) for name, rows in wanted.items() if rows != got[name]}
    assert not (warehouse / "upgrade").exists()
