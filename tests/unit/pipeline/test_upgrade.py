"""Warehouses of earlier schemas, upgraded."""

import tarfile
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from sweeping import column, judge_by_one
from tiers import REPO

from iomine.lake import Warehouse
from iomine.pipeline.sweep import Settings as SweepSettings
from iomine.pipeline.sweep import run
from iomine.pipeline.upgrade.upgrade import Outcome, Settings, upgrade
from iomine.schema import SCHEMA_VERSION, TABLES
from iomine.schema.registry import arrow_schema

PACKED = REPO / "tests" / "data" / "warehouses"
# What differs from one sweep to the next though it says the same.
PASSING = {"source_file": {"at", "path"}, "log": {"path"}}
State = dict[str, Counter[str]]


@pytest.fixture(scope="module", autouse=True)
def _one_trigger() -> Iterator[None]:
    """Judges by one trigger: planning the questions of all takes longer than the rest."""
    with pytest.MonkeyPatch.context() as patch:
        judge_by_one(patch)
        yield


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs and statistics that all these warehouses were swept from."""
    return unpacked("inputs", tmp_path_factory.mktemp("inputs"))


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(PACKED / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def anew(inputs: Path, scheduler: str, tmp_path_factory: pytest.TempPathFactory) -> State:
    """What a sweep of today into a new warehouse makes of them."""
    warehouse = tmp_path_factory.mktemp("anew")
    run(SweepSettings((inputs / "logs",), warehouse, scheduler=scheduler, stats=(inputs / "stats",)))
    return state(warehouse)


@pytest.fixture(scope="module")
def anew_without_statistics(inputs: Path, scheduler: str, tmp_path_factory: pytest.TempPathFactory) -> State:
    """The same, for a warehouse of before there were statistics."""
    warehouse = tmp_path_factory.mktemp("anew")
    run(SweepSettings((inputs / "logs",), warehouse, scheduler=scheduler))
    return state(warehouse)


def state(warehouse: Path, *left_out: str) -> State:
    """Rows of all tables that a sweep of the same inputs has too, without some columns; floats as far as sums agree."""
    snapshot = Warehouse(warehouse).lake.snapshot()
    return {
        table: counted
        for table in TABLES.keys() - {"sweep"}
        if (counted := Counter(row for file in snapshot.of(table) for row in _rows(file.path, table, left_out)))
    }


def _rows(path: Path, table: str, left_out: Collection[str]) -> Iterator[str]:
    for row in pq.read_table(path, schema=arrow_schema(table)).to_pylist():
        yield repr([near(value) for name, value in row.items() if name not in {*PASSING.get(table, ()), *left_out}])


def near(value: Any) -> Any:
    """A value without the digits that depend on the order of additions."""
    if isinstance(value, list):
        return [near(each) for each in value]
    return float(f"{round(value, 9):.8g}") if isinstance(value, float) and value == value else value  # noqa: PLR0124  NaN is not


def lake_files(warehouse: Path) -> dict[Path, tuple[int, int]]:
    """Data files, which readers of the old views have open."""
    return {path: (path.stat().st_ino, path.stat().st_size) for path in (warehouse / "lake").rglob("*.parquet")}


def differing(expected: State, got: State) -> dict[str, tuple[Any, Any]]:
    """Tables that say something else."""
    return {
        table: (
            expected.get(table, Counter()) - got.get(table, Counter()),
            got.get(table, Counter()) - expected.get(table, Counter()),
        )
        for table in expected.keys() | got.keys()
        if expected.get(table) != got.get(table)
    }


@pytest.mark.parametrize(
    ("commit", "version", "swept"),
    [
        ("f8710d5", 1, "anew_without_statistics"),
        ("cc14212", 1, "anew"),
        ("43f1fcc", 1, "anew"),
        ("286fef4", 2, "anew"),
    ],
)
@pytest.mark.proof
def test_an_older_warehouse_says_what_one_swept_anew_says(
    *, commit: str, version: int, swept: str, inputs: Path, scheduler: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Logs and readings are read where they are now; files that readers have open stay; doing it again changes nothing."""
    warehouse = unpacked(commit, tmp_path)
    before = lake_files(warehouse)
    settings = Settings(warehouse, (inputs / "logs",), (inputs / "stats",), scheduler)

    outcome = upgrade(settings)

    read = 11 if swept == "anew" else 0
    assert Outcome(version, SCHEMA_VERSION, read=5, statistics_read=read) == replace(outcome, seconds=0)
    assert {} == differing(request.getfixturevalue(swept), state(warehouse))
    assert before.items() <= lake_files(warehouse).items()
    assert [SCHEMA_VERSION, False] == [Warehouse(warehouse).lake.version(), (warehouse / "upgrade").exists()]
    assert 2 == len(column(warehouse, "SELECT sweep_id FROM sweeps"))

    after = lake_files(warehouse)
    assert Outcome(SCHEMA_VERSION, SCHEMA_VERSION) == replace(upgrade(settings), seconds=0)
    assert after == lake_files(warehouse)
    summary = run(SweepSettings((inputs / "logs",), warehouse, scheduler=scheduler))
    assert (5, 5) == (summary.found, summary.known)
