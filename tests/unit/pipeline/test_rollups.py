"""Sums of nights: what they are, that they stay when their logs leave, and that no log counts twice or is lost."""

import datetime as dt
import itertools
import json
import shutil
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeping import column, rows, write_no_reports

from iomine.lake import LakeFile, LakeWriter, Warehouse, write_file
from iomine.pipeline.judging.rejudge import rejudge
from iomine.pipeline.judging.rollups import ROLL_UPS, outdated, roll_up
from iomine.pipeline.publish import publish
from iomine.pipeline.stages import context
from iomine.pipeline.sweep import Settings, run
from iomine.schema.registry import arrow_schema
from iomine.triggers import TRIGGERS
from iomine.triggers.thresholds import parse_thresholds, with_thresholds

FEW = {"POSIX-102": TRIGGERS["POSIX-102"]}
FIRST = dt.date(2024, 4, 18)
NIGHTS = [FIRST + dt.timedelta(days=days) for days in range(10)]
# Only trends have the night of a sweep without logs, and is not about logs.
ANSWERS = {
    **{
        view: f"SELECT * FROM {view}"
        for view in (
            *("offenders", "worst_offenders", "repeat_offenders", "findings_by_trigger", "findings_by_user"),
            *("small_file_producers", "mount_usage", "layer_usage"),
        )
    },
    "trends": "SELECT * EXCLUDE (rejected_count) FROM trends WHERE log_count > 0",
}


def _staged(folder: Path, table: str, found: list[dict[str, object]], cluster: str | None, night: dt.date | None) -> LakeFile:
    return write_file(folder, table, pa.Table.from_pylist(found, schema=arrow_schema(table)), cluster, night)


def _commit(warehouse: Warehouse, files: list[LakeFile]) -> None:
    """Commits files, and that they belong together, as a sweep does."""
    lake = LakeWriter(warehouse.lake, warehouse.staging)
    for table, cluster in sorted({(file.table, file.cluster or "") for file in files}):
        lake.commit(table, [file for file in files if (file.table, file.cluster) == (table, cluster)], "by hand")
    versions = {table: version for table, version in lake.snapshot.versions.items() if table != "sweep"}
    sweep = [{"sweep_id": "by hand", "cluster": "blue", "table_versions": json.dumps(versions)}]
    lake.commit("sweep", [_staged(warehouse.staging, "sweep", sweep, None, None)], "by hand")
    publish(warehouse)


def _files_of(folder: Path, cluster: str, night: dt.date, whose: list[tuple[str, str]]) -> list[LakeFile]:
    """A log for each user and app, which wrote a file, half of it in small pieces."""
    tables: dict[str, list[dict[str, object]]] = {
        table: [] for table in ("log", "module", "file_name", "posix_file", "log_layer", "job")
    }
    counters = {name: 0 for name in arrow_schema("posix_file").names if name.startswith(("read_size_", "write_size_"))}
    for number, (user, app) in enumerate(whose):
        log_id = f"{cluster}{night:%m%d}{number}"
        run_of = {"job_id": log_id, "user": user, "uid": len(user), "app": app, "nprocs": 2, "run_seconds": 100.0}
        run_of["end_at"] = dt.datetime.combine(night, dt.time(9), dt.UTC)
        tables["log"].append({"log_id": log_id, **run_of, "io_core_seconds": 30.0, "read_bytes": 0, "write_bytes": 10**6})
        tables["module"].append({"log_id": log_id, "module": "POSIX", "state": "read", "is_partial": False})
        tables["file_name"].append({"log_id": log_id, "file_id": number, "path": f"/s/{number}", "mount": "/s", "fs_type": "x"})
        file = {"file_id": number, "rank": 0, "write_count": 100, "read_count": 0, "write_bytes": 10**6, "read_bytes": 0}
        spent = {"write_seconds": 20.0 + number, "read_seconds": 0.0, "meta_seconds": 1.0, "max_write_offset_bytes": 10**6 - 1}
        small = {"write_size_0_100_count": 50, "write_size_1m_4m_count": 50, "max_read_offset_bytes": 0}
        tables["posix_file"].append({"log_id": log_id, **counters, **file, **spent, **small})
        moved = {"file_count": 1, "read_bytes": 0, "write_bytes": 10**6, "read_count": 0, "write_count": 100}
        took = {"read_core_seconds": 0.0, "write_core_seconds": 20.0 + number, "meta_core_seconds": 1.0}
        tables["log_layer"].append({"log_id": log_id, "layer": "posix", **moved, **took})
        ran = {
            "start_at": dt.datetime.combine(night, dt.time(), dt.UTC),
            "end_at": dt.datetime.combine(night, dt.time(9), dt.UTC),
        }
        tables["job"].append({"job_id": log_id, "account": f"of {user}", **ran})
    return [_staged(folder, table, found, cluster, night) for table, found in tables.items()]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Ten nights of a machine and two of another, judged by one trigger and summed up."""
    warehouse = Warehouse(tmp_path_factory.mktemp("judged"))
    people = itertools.cycle([("ann", "solver"), ("bobby", "mesher"), ("ann", "solver"), ("ann", "mesher")])
    files = [
        file
        for cluster, nights in (("blue", NIGHTS), ("red", NIGHTS[:2]))
        for night in nights
        for file in _files_of(warehouse.staging, cluster, night, list(itertools.islice(people, 3)))
    ]
    _commit(warehouse, files)
    rejudge(warehouse, FEW)
    there = warehouse.lake.snapshot().files
    nights = {file.partition for file in there if file.partition}
    _commit(warehouse, roll_up(warehouse.staging, there, nights, ["mount_night", "layer_night"]))
    return warehouse


@pytest.fixture
def warehouse(judged: Warehouse, tmp_path: Path) -> Path:
    """The same, in a copy of its own."""
    copy = Warehouse(shutil.copytree(judged.root, tmp_path / "warehouse"))
    publish(copy)
    return copy.root


def _answers(warehouse: Path) -> dict[str, list[dict[str, object]]]:
    return {view: sorted(rows(warehouse, query), key=repr) for view, query in ANSWERS.items()}


def _keep(warehouse: Path, **days: int) -> None:
    warehouse.mkdir(exist_ok=True)
    (warehouse / "retention.toml").write_text("[days]\n" + "".join(f"{table} = {count}\n" for table, count in days.items()))


_COSTS = st.lists(st.one_of(st.none(), st.floats(0, 50)), max_size=3)


# Each example builds views anew.
@settings(max_examples=8, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ann", "bob", None]),
            st.sampled_from(["x", "y"]),
            st.sampled_from(["1", "2", None]),
            st.one_of(st.none(), st.floats(0, 100)),
            _COSTS,
        ),
        max_size=12,
    )
)
def test_sums_are_those_of_the_logs(logs: list[tuple[str | None, str, str | None, float | None, list[float | None]]]) -> None:
    """Each log counts once, with what its findings are charged; accounting comes days later."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        log_rows, verdicts = [], []
        counts: Counter[tuple[object, ...]] = Counter()
        costs: Counter[tuple[object, ...]] = Counter()
        for number, (user, app, job, io, found) in enumerate(logs):
            log_rows.append({"log_id": str(number), "user": user, "app": app, "job_id": job, "io_core_seconds": io})
            reported = {"log_id": str(number), "ruleset": "iomine", "state": "fired", "level": "warn"}
            verdicts += [
                reported | {"code": f"C-{code}", "cost_core_seconds": 50.0, "charged_core_seconds": cost}
                for code, cost in enumerate(found)
            ]
            verdicts.append(reported | {"code": "D", "ruleset": "drishti", "cost_core_seconds": 1e6})
            key = (user, app, "phys" if job == "1" else None)
            counts[key] += 1
            costs[key] += sum(cost or 0 for cost in found)
        files = [
            _staged(folder, "log", log_rows, "blue", FIRST),
            _staged(folder, "verdict", verdicts, "blue", FIRST),
            _staged(folder, "job", [{"job_id": "1", "account": "phys"}], "blue", FIRST + dt.timedelta(days=5)),
            _staged(folder, "job", [{"job_id": "1", "account": "chem"}], "red", FIRST),
        ]
        sums = {file.table: pq.read_table(file.path).to_pylist() for file in roll_up(folder, files, {("blue", FIRST)})}
    of = {(row["user"], row["app"], row["account"]): row for row in sums["app_night"]}
    assert counts == Counter({key: row["log_count"] for key, row in of.items()})
    assert dict(costs) == {key: pytest.approx(row["cost_core_seconds"] or 0) for key, row in of.items()}
    findings = sum(len(found) for *_, found in logs)
    assert [findings] * 2 == [sum(row["finding_count"] for row in sums[view]) for view in ("app_night", "finding_night")]
    assert sum(1 for *_, found in logs if found) == sum(row["finding_log_count"] for row in sums["app_night"])


def test_layers_are_summed_up_over_the_logs_of_a_night(warehouse: Path) -> None:
    """Three logs a night write a file each through POSIX: a million bytes in a hundred requests, in 20 to 22 s."""
    summed = rows(warehouse, "SELECT * EXCLUDE (cluster, night, user_count) FROM layer_usage WHERE cluster = 'blue'")
    counts = {"log_count": 3, "file_count": 3, "read_bytes": 0, "write_bytes": 3 * 10**6, "read_count": 0, "write_count": 300}
    times = {"read_core_seconds": 0.0, "write_core_seconds": 63.0, "meta_core_seconds": 3.0}
    assert [{"layer": "posix", **counts, **times}] * len(NIGHTS) == summed
    of_logs = "SELECT sum(write_core_seconds), sum(write_bytes), count(*) FROM log_layers"
    in_sums = "SELECT sum(write_core_seconds), sum(write_bytes), sum(log_count) FROM layer_usage"
    assert rows(warehouse, f"FROM ({of_logs}) AS of_logs (seconds, bytes, logs)") == rows(
        warehouse, f"FROM ({in_sums}) AS in_sums (seconds, bytes, logs)"
    )


def test_nights_whose_sums_are_outdated(tmp_path: Path) -> None:
    """Those without sums, and those in which jobs of new accounting ran; of the clusters that get something new."""
    nights = NIGHTS[:5]
    logs = [LakeFile("log", cluster, night, tmp_path, 1, 1) for cluster in ("blue", "red") for night in nights]
    sums = [LakeFile(view, "blue", night, tmp_path, 1, 1) for view in ROLL_UPS for night in nights[1:]]
    began = dt.datetime.combine(nights[3], dt.time(23), dt.UTC)
    job = _staged(tmp_path, "job", [{"job_id": "1", "start_at": began}, {"job_id": "2"}], "blue", nights[4])
    assert {("blue", night) for night in (nights[0], nights[3], nights[4])} == outdated([*logs, *sums, job], [job])
    assert {("blue", nights[0])} == outdated([*logs, *sums], [logs[0]])
    assert set() == outdated([*logs, *sums], [])


@pytest.mark.site
def test_views_answer_the_same_when_logs_have_left(warehouse: Path) -> None:
    """Only the last nights keep records, verdicts and logs; offenders, their findings and trends stay as they were."""
    before = _answers(warehouse)
    assert dict.fromkeys(ANSWERS, True) == {view: bool(reported) for view, reported in before.items()}
    assert [36] == column(warehouse, "SELECT count(*) FROM findings")
    _keep(warehouse, log=2, segment=1)
    run(Settings((), warehouse, "blue"))

    assert [6 + 6] == column(warehouse, "SELECT count(*) FROM logs")
    for table in ("posix_file", "file_name", "verdict"):
        assert NIGHTS[-2:] == column(warehouse, f"SELECT DISTINCT night FROM lake.{table} WHERE cluster = 'blue' ORDER BY ALL")
    assert [24] == column(warehouse, "SELECT count(*) FROM lake.known_log")
    assert before == _answers(warehouse)


@pytest.mark.site
def test_judging_again_changes_sums_of_nights_that_have_logs(warehouse: Path) -> None:
    """Under a threshold that nothing reaches, findings are left of nights alone whose logs have left."""
    _keep(warehouse, log=2)
    run(Settings((), warehouse, "blue"))
    rejudge(Warehouse(warehouse), with_thresholds(FEW, parse_thresholds("[POSIX-102]\nsmall_write_ratio = 0.9", FEW)))

    expected = [("blue", night) for night in NIGHTS[:-2]]
    reported = rows(warehouse, "SELECT cluster, night FROM trends WHERE finding_count > 0 ORDER BY ALL")
    assert expected == [(row["cluster"], row["night"]) for row in reported]
    assert [24] == column(warehouse, "SELECT finding_count FROM findings_by_trigger")
    rejudge(Warehouse(warehouse), FEW)
    assert [36] == column(warehouse, "SELECT finding_count FROM findings_by_trigger")


def test_late_logs_of_nights_that_have_left_are_added_once(
    scheduler: str, tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are in the sums and known from then on, their rows stay out also where more days are set, and no log counts twice."""
    monkeypatch.setattr(context, "site_triggers", lambda _warehouse: FEW)
    write_no_reports(monkeypatch)
    real = sorted(path for name in ("codes", "ecpam21") for path in (shared_data / "darshan" / name).rglob("*.darshan"))
    late = next(path for path in real if "codes" in str(path))

    def swept(folder: str, *paths: Path) -> tuple[int, int]:
        done = run(Settings(paths, tmp_path / folder, scheduler=scheduler))
        return done.ingested, done.known

    def reported(folder: str) -> list[dict[str, object]]:
        return rows(tmp_path / folder, f"{ANSWERS['trends']} ORDER BY night")

    assert (7, 0) == swept("whole", *real)
    _keep(tmp_path / "parted", log=1)
    assert (6, 0) == swept("parted", *(path for path in real if path != late))
    assert (1, 6) == swept("parted", *real)
    _keep(tmp_path / "parted", log=0)
    assert (0, 7) == swept("parted", *real)

    whole, parted = reported("whole"), reported("parted")
    assert [3] == column(tmp_path / "parted", "SELECT count(*) FROM logs")
    assert len(whole) == len(parted) == 3
    for there, summed in zip(whole, parted, strict=True):
        assert {name: value if value is None else pytest.approx(value) for name, value in there.items() if name != "night"} == {
            name: value for name, value in summed.items() if name != "night"
        }
