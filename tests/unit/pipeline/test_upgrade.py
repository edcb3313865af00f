"""Warehouses of earlier schemas, upgraded."""

import tarfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sweeping import column, judge_by_one
from tiers import REPO

from iomine.errors import WarehouseError
from iomine.lake import Lake, LakeFile, LakeWriter, Snapshot, Warehouse
from iomine.pipeline.ingest.rows import DERIVATIONS, tables_of
from iomine.pipeline.ingest.runs import read_run, runs_of
from iomine.pipeline.judging.rollups import ROLL_UPS
from iomine.pipeline.sweep import Settings as SweepSettings
from iomine.pipeline.sweep import run
from iomine.pipeline.upgrade import upgrade as room
from iomine.pipeline.upgrade.carry import READ_TABLES, carried, to_carry
from iomine.pipeline.upgrade.kept import LEFT, RAW_TABLES, rows_of
from iomine.pipeline.upgrade.upgrade import Outcome, Settings, upgrade
from iomine.schema import SCHEMA_VERSION, TABLES
from iomine.schema.registry import arrow_schema
from iomine.sources.darshan import Log, assembled, identify, read_log

PACKED = REPO / "tests" / "data" / "warehouses"
# What differs from one sweep to the next though it says the same.
PASSING = {"source_file": {"at", "path"}, "log": {"path"}}
State = dict[str, Counter[str]]


class KilledError(BaseException):
    """What ends a program that nothing in it foresees."""


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
    none: Counter[str] = Counter()
    both = {table: (expected.get(table, none), got.get(table, none)) for table in expected.keys() | got.keys()}
    return {table: (wanted - there, there - wanted) for table, (wanted, there) in both.items() if wanted != there}


@pytest.mark.parametrize(
    ("commit", "version", "swept"),
    [
        ("f8710d5", 1, "anew_without_statistics"),
        ("cc14212", 1, "anew"),
        ("43f1fcc", 1, "anew"),
        ("286fef4", 2, "anew"),
    ],
)
@pytest.mark.site
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


@pytest.mark.site
def test_a_killed_upgrade_goes_on_where_it_was(
    inputs: Path, anew_without_statistics: State, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in each of its stages, the warehouse is as it was until the last commit; what was done before is not done again."""
    warehouse = unpacked("f8710d5", tmp_path)
    settings = Settings(warehouse, (inputs / "logs",), (), scheduler)
    lake = Warehouse(warehouse).lake
    before, files = lake.snapshot_of_any_version(), lake_files(warehouse)
    read = []
    stage, commit, set_version = room.read, LakeWriter.commit, Lake.set_version
    monkeypatch.setattr(room, "read", lambda *given: read.append(1) or stage(*given))

    def commit_a_few(self: LakeWriter, name: str, *given: Any, **named: Any) -> None:
        if named.get("is_whole") and name > "h":
            raise KilledError
        commit(self, name, *given, **named)

    def keep_the_old_version(self: Lake, version: int) -> None:
        if version == SCHEMA_VERSION and self.root == lake.root:
            raise KilledError
        set_version(self, version)

    for owner, name, killed in (
        (room, "judge", end),
        (room, "_take_over", end),
        (LakeWriter, "commit", commit_a_few),
    ):
        upgrade_killed(settings, owner, name, killed)
        assert before == lake.snapshot_of_any_version()
        assert files.items() <= lake_files(warehouse).items()
        with pytest.raises(WarehouseError, match=r"schema version 1, .* run `iomine upgrade`"):
            lake.snapshot()
    for owner, name, killed in ((Lake, "set_version", keep_the_old_version), (room, "publish", end)):
        upgrade_killed(settings, owner, name, killed)
        assert not (warehouse / "iomine.duckdb").exists()
    # The first was killed before what it had read was committed.
    assert 2 == len(read)

    upgrade(settings)

    assert {} == differing(anew_without_statistics, state(warehouse))
    assert 2 == len(column(warehouse, "SELECT sweep_id FROM sweeps"))
    assert files.items() <= lake_files(warehouse).items()
    assert 2 == len(read)


def end(*_given: object, **_named: object) -> None:
    raise KilledError


def upgrade_killed(settings: Settings, owner: object, name: str, killed: Callable[..., None]) -> None:
    """Upgrades until what is called so ends it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, killed)
        with pytest.raises(KilledError):
            upgrade(settings)


@pytest.mark.site
def test_logs_that_are_gone_follow_from_their_rows(
    anew_without_statistics: State, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tables say what they say of the files, but for who owned these; without the rows of a trace it is unknown."""
    warehouse = unpacked("f8710d5", tmp_path)
    monkeypatch.setattr(room, "_is_there", lambda _path: False)

    outcome = upgrade(Settings(warehouse, scheduler=scheduler))

    assert Outcome(1, SCHEMA_VERSION, rebuilt=5) == replace(outcome, seconds=0)
    without_owner = {**anew_without_statistics}
    assert without_owner.pop("log") != (log := state(warehouse)).pop("log")
    assert {} == differing(without_owner, log)
    assert [None] * 5 == column(warehouse, "SELECT owner_uid FROM core.log")


@pytest.fixture(scope="module")
def log(shared_data: Path) -> Log:
    """A real log with a trace."""
    return read_log(shared_data / "darshan" / "darshan-ruby" / "ior_dxt.darshan")


def arrow(rows: dict[str, Any], log_id: str) -> dict[str, pa.Table]:
    tables = {table: assembled(table, [(log_id, part) for part in parts]) for table, parts in rows.items()}
    return {table: held for table, held in tables.items() if held.num_rows}


@pytest.fixture(scope="module")
def traced(shared_data: Path) -> Log:
    """A real run that DFTracer traced."""
    paths = sorted((shared_data / "traces" / "dftracer" / "cm1_1_48_20240926").iterdir())
    ((identity, members),) = runs_of((str(path), identify(path)) for path in paths)
    return read_run(members, identity.log_id)


@pytest.mark.parametrize("name", ["log", "traced"])
def test_all_rows_of_a_log_follow_from_what_is_kept_of_it(name: str, request: pytest.FixtureRequest) -> None:
    """A log that is put together from its rows gives the same rows."""
    log = request.getfixturevalue(name)
    rows = arrow(tables_of(log, "/logs/ior.darshan"), log.log_id)
    kept = {table: rows[table] for table in ("log", *RAW_TABLES) if table in rows}
    again = arrow(rows_of(log.log_id, kept), log.log_id)

    assert rows.keys() == again.keys()
    assert len(rows) > 20
    for table, held in rows.items():
        expected, got = (sorted(repr(near(list(row.values()))) for row in each.to_pylist()) for each in (held, again[table]))
        assert expected == got, table


def test_a_trace_whose_rows_have_left_is_not_taken_for_none(log: Log) -> None:
    """Its module says so, as that of a trace that was not read, and other modules are whole."""
    rows = arrow(tables_of(log, "/logs/ior.darshan"), log.log_id)
    kept = {table: rows[table] for table in ("log", *RAW_TABLES) if table in rows and table != "segment"}
    again = arrow(rows_of(log.log_id, kept), log.log_id)

    states = {row["module"]: (row["state"], row["reason"]) for row in again["module"].to_pylist()}
    traced = {module: ("unread", LEFT) for module in states if module.startswith("DXT")}
    assert traced
    assert dict.fromkeys(states, ("read", None)) | traced == states
    assert {"segment", "access_run", "file_access"}.isdisjoint(again)


def test_readings_that_are_gone_keep_their_rows(tmp_path: Path) -> None:
    """Rows of readings and accounting come into today's columns, and none is lost."""
    old = Warehouse(unpacked("43f1fcc", tmp_path)).lake.snapshot_of_any_version()
    files = list(to_carry(old, "default", with_readings=True))
    new = carried(tmp_path / "new", files, 1)

    assert {"job", "job_step", "lustre_counter"} == {file.table for file in new}
    for before, after in zip(files, new, strict=True):
        expected, got = pq.read_table(before.path, partitioning=None), pq.read_table(after.path, partitioning=None)
        assert arrow_schema(after.table).names == got.column_names
        assert before.row_count == after.row_count > 0
        there = [name for name in got.column_names if name in expected.column_names]
        # An empty text stood for no doubt.
        rows = [
            {name: None if name == "doubt" else value for name, value in row.items()}
            for row in expected.select(there).to_pylist()
        ]
        assert rows == got.select(there).to_pylist()


def test_sums_that_meant_something_else_are_not_carried(tmp_path: Path) -> None:
    """Of nights whose logs have left, counts and bytes stay, I/O times of version 1 do not; whose costs are is not known."""
    night = date(2026, 1, 5)
    sums = pa.table(
        {
            "user": ["ann"],
            "app": ["ior"],
            "log_count": [3],
            "read_bytes": [7],
            "io_core_seconds": [2.5],
            "cost_core_seconds": [1.5],
        }
    )
    fullness = pa.table({"target": ["OST0000"], "total_bytes": [100], "used_bytes": [40]})
    files = []
    for table, rows in (("app_night", sums), ("target_fullness", fullness)):
        pq.write_table(rows, path := tmp_path / f"{table}.parquet")
        files.append(LakeFile(table, "x", night, path, path.stat().st_size, 1))

    (first, second), (kept, _) = carried(tmp_path / "of_1", files, 1), carried(tmp_path / "of_2", files, 2)

    of_1, of_2 = (pq.read_table(file.path, partitioning=None).to_pylist()[0] for file in (first, kept))
    assert (3, 7, None) == (of_1["log_count"], of_1["read_bytes"], of_1["io_core_seconds"])
    assert (2.5, 1.5, None) == (of_2["io_core_seconds"], of_2["cost_core_seconds"], of_2["facility_cost_core_seconds"])
    assert (100, 40) == tuple(pq.read_table(second.path, columns=["capacity_bytes", "used_bytes"]).to_pylist()[0].values())


def test_only_sums_are_left_of_closed_nights() -> None:
    """Sums of nights that have logs are worked out again; those of others, and intervals without readings, are carried."""
    first, second = date(2026, 1, 5), date(2026, 1, 6)
    tables = {
        "known_log": [first],
        "app_night": [first, second],
        "log": [second],
        "server_interval": [first, second],
        "lustre_counter": [second],
        "server_slot": [first],
    }
    of_table = {name: [LakeFile(name, "x", night, Path(name), 1, 1) for night in nights] for name, nights in tables.items()}
    old = Snapshot({}, of_table)
    kept = [("known_log", first), ("app_night", first), ("server_interval", first)]
    assert kept == [(file.table, file.night) for file in to_carry(old, "x", with_readings=False)]
    assert ("lustre_counter", second) in [(file.table, file.night) for file in to_carry(old, "x", with_readings=True)]
    assert [] == list(to_carry(old, "y", with_readings=True))


def test_every_table_is_read_again_carried_or_worked_out(tmp_path: Path) -> None:
    """A new table of statistics is one that upgrades know."""
    old = Warehouse(unpacked("286fef4", tmp_path)).lake.snapshot_of_any_version()
    assert {"job", "job_step", "lustre_counter"} <= set(READ_TABLES) & old.by_table.keys()
    judged = {table for table in TABLES if (REPO / "sql" / "features" / f"{table}.sql").exists()}
    derived = {"segment", "failed_derivation", "data_quality", "verdict", "owner_doubt", *DERIVATIONS}
    # Files are opened once more after an upgrade, and known then.
    history = {"sweep", "reject", "source_file", "mail", "known_log", "known_file"}
    of_nights = {*ROLL_UPS, "fabric_layout", "link_interval", "link_night", "link_slot", "job_link", "job_route"}
    others = TABLES.keys() - judged - derived - history - of_nights - set(READ_TABLES) - set(RAW_TABLES)
    assert set() == others


@pytest.mark.parametrize(
    ("version", "reported"),
    [
        (None, "There is no warehouse with tables at .*: name one with --warehouse."),
        (
            SCHEMA_VERSION + 1,
            f"has schema version {SCHEMA_VERSION + 1}, and this iomine reads version {SCHEMA_VERSION}: use the ",
        ),
    ],
)
def test_what_cannot_be_upgraded_is_left_alone(version: int | None, reported: str, tmp_path: Path) -> None:
    """One that a newer program wrote, and what is no warehouse; nothing is written there."""
    if version:
        unpacked("f8710d5", tmp_path)
        Warehouse(tmp_path).lake.set_version(version)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(WarehouseError, match=reported):
        upgrade(Settings(tmp_path))
    assert before == sorted(tmp_path.rglob("*"))
