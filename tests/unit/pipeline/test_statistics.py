"""Server statistics and accounting in a sweep: what becomes of each file, and whether what servers saw agrees with the logs."""

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeping import column, judge_by_one, rows, run, state

from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline.statistics import InputBatch, NewInput, digest_all, read_inputs
from iomine.pipeline.sweep import Settings, Summary
from iomine.pipeline.work import after_input_deaths
from iomine.pipeline.zones import parse_zone, site_zone
from iomine.simulate import Settings as Facility
from iomine.simulate import simulate
from iomine.units import MIB

TEMPLATE = Path(__file__).parents[3] / "deploy" / "sources.toml"


_SLOTS = """
    SELECT begin_at, target, owner, "user", rpc_count, moved_bytes, night,
        round(service_seconds, 6) AS service, round(usual_service_seconds, 6) AS usual,
        round(app_usual_service_seconds, 6) AS app_usual
    FROM core.server_slot ORDER BY ALL
"""
_INTERVALS = "SELECT * FROM core.server_interval ORDER BY ALL"
_WEATHER = """
    SELECT log_id, layer, phase, target_kind, target_count, rpc_count, neighbour, neighbour_job_id,
        round(server_slowdown_ratio, 6) AS slowdown, round(own_ratio, 6) AS own, round(neighbour_ratio, 6) AS neighbours
    FROM core.weather ORDER BY ALL
"""


@pytest.fixture(scope="module")
def facility(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days of a small facility."""
    out = tmp_path_factory.mktemp("facility") / "out"
    simulate(Facility(out, 120, 3, 2, "small", workers=1), lambda *_: None)
    return out


@pytest.fixture(autouse=True)
def _one_trigger(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by_one(monkeypatch)


def sweep(warehouse: Path, scheduler: str, *paths: Path, stats: tuple[Path, ...] = ()) -> Summary:
    return run(Settings(paths, warehouse, "small", scheduler, stats=stats))


def test_statistics_are_counted_and_agree_with_the_logs(tmp_path: Path, scheduler: str, facility: Path):
    """Each file is ingested, known or rejected; servers saw the bytes that logs say of each job; every log has its job."""
    logs, stats = facility / "darshan", (facility / "lustre", facility / "slurm")
    files = [path for folder in (logs, *stats) for path in folder.rglob("*") if path.is_file()]
    summary = sweep(tmp_path / "w", scheduler, logs, stats=stats)

    assert len(files) == summary.found == summary.ingested + summary.known + summary.rejected
    assert [str(facility / "slurm" / "topology.conf")] == column(tmp_path / "w", "SELECT path FROM rejects")
    by_logs = """
        SELECT job_id, sum(files.read_bytes::HUGEINT + files.write_bytes)::VARCHAR AS bytes
        FROM files JOIN logs USING (cluster, night, log_id) WHERE mount = '/scratch'
        GROUP BY job_id HAVING bytes <> '0' ORDER BY job_id
    """
    expected = rows(tmp_path / "w", by_logs)
    by_servers = """
        SELECT job_id, sum(moved_bytes)::VARCHAR AS bytes FROM lustre_jobs WHERE target_kind = 'ost'
        GROUP BY job_id HAVING bytes <> '0' ORDER BY job_id
    """
    assert expected == rows(tmp_path / "w", by_servers)
    assert len(expected) > 50
    assert [0] == column(tmp_path / "w", "SELECT sum(jobless_log_count)::BIGINT FROM coverage")


def test_servers_saw_what_traces_say_of_each_ost(tmp_path: Path, scheduler: str, facility: Path):
    """For jobs whose every log has a trace: bytes of each OST are what its servers counted, but for parts of a stripe."""
    sweep(tmp_path / "w", scheduler, facility / "darshan", stats=(facility / "lustre" / "job_stats",))
    both = """
        WITH traced AS (
            SELECT job_id FROM logs LEFT JOIN (SELECT DISTINCT log_id, true AS has_trace FROM ost_io WHERE evidence = 'trace')
            USING (log_id) GROUP BY job_id HAVING bool_and(coalesce(has_trace, false))
        ),
        by_trace AS (
            SELECT job_id, printf('scratch-OST%04x', ost_id) AS target, op, sum(moved_bytes) AS bytes
            FROM ost_io JOIN logs USING (cluster, night, log_id) WHERE layer = 'posix' AND ost_id IS NOT NULL GROUP BY ALL
        ),
        by_servers AS (
            SELECT job_id, target, operation AS op, sum(moved_bytes) AS bytes
            FROM lustre_jobs WHERE target_kind = 'ost' AND moved_bytes > 0 GROUP BY ALL
        )
        SELECT coalesce(by_trace.bytes, 0)::BIGINT AS traced, coalesce(by_servers.bytes, 0)::BIGINT AS served
        FROM by_trace FULL JOIN by_servers USING (job_id, target, op) SEMI JOIN traced USING (job_id)
    """
    found = rows(tmp_path / "w", both)
    assert len(found) > 20
    assert sum(row["traced"] for row in found) == sum(row["served"] for row in found)
    assert [] == [row for row in found if abs(row["traced"] - row["served"]) >= MIB]


def test_readings_that_come_after_their_days_change_nothing(tmp_path: Path, scheduler: str, facility: Path):
    """Once a night's counters have left, late ones do not take the place of the intervals that were worked out from all."""
    first, *nights = sorted((facility / "lustre" / "job_stats").iterdir())
    late, *others = sorted(first.rglob("*.gz"), key=lambda path: -path.stat().st_size)
    warehouse = tmp_path / "w"
    sweep(warehouse, scheduler, facility / "darshan", stats=(*others, *nights))
    newest = max(column(warehouse, "SELECT night FROM logs"))
    (warehouse / "retention.toml").write_text("[days]\nlustre_counter = 1\n")
    sweep(warehouse, scheduler, stats=(facility / "slurm" / "sacct.txt",))
    assert {newest} == set(column(warehouse, "SELECT DISTINCT night FROM core.lustre_counter WHERE night <= current_date"))
    expected = rows(warehouse, _INTERVALS)
    summary = sweep(warehouse, scheduler, stats=(late,))

    assert 1 == summary.ingested
    assert expected == rows(warehouse, _INTERVALS)


def test_what_comes_later_gives_the_same(tmp_path: Path, scheduler: str, facility: Path):
    """Logs first, then what servers said night by night, and accounting last end as all at once; and then nothing is new."""
    logs, stats = facility / "darshan", (facility / "lustre" / "job_stats", facility / "slurm" / "sacct.txt")
    sweep(tmp_path / "at_once", scheduler, logs, stats=stats)
    sweep(tmp_path / "later", scheduler, logs)
    for night in sorted((facility / "lustre" / "job_stats").iterdir()):
        sweep(tmp_path / "later", scheduler, stats=(night,))
    sweep(tmp_path / "later", scheduler, stats=(facility / "slurm" / "sacct.txt",))

    expected, got = state(tmp_path / "at_once"), state(tmp_path / "later")
    exact = {"server_interval", "verdict", "job", "job_step", "log"}
    assert {table: expected[table] for table in exact} == {table: got[table] for table in exact}
    # Sums of times depend on the order of their parts in the last digits.
    for query in (_SLOTS, _WEATHER):
        assert rows(tmp_path / "at_once", query) == rows(tmp_path / "later", query)
    again = sweep(tmp_path / "later", scheduler, logs, stats=stats)
    assert (0, 0) == (again.ingested, again.rejected)
    assert again.known == again.found


def test_what_is_no_statistics_is_told_and_remembered(tmp_path: Path, scheduler: str):
    """Files of any kind end as rejects with a reason, twice alike; those that a dot hides are passed over."""
    stats = tmp_path / "stats"
    stats.mkdir()
    for name, content in (("README.md", b"# Read me"), ("empty", b""), ("torn.gz", b"\x1f\x8b\x08torn"), (".hidden", b"x")):
        (stats / name).write_bytes(content)
    first, second = (sweep(tmp_path / "w", scheduler, stats=(stats,)) for _ in range(2))

    assert (3, 3, 0) == (first.found, first.rejected, first.ingested)
    assert first.reasons == second.reasons
    assert ["README.md", "empty", "torn.gz"] == column(
        tmp_path / "w", "SELECT parse_filename(path) FROM rejects WHERE reason <> '' ORDER BY path"
    )


@given(st.binary(max_size=300))
def test_no_bytes_end_a_batch(tmp_path_factory: pytest.TempPathFactory, content: bytes):
    """Whatever a file holds, it is read or refused."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "file").write_bytes(content)
    inputs = tuple(found for found in digest_all([str(folder / "file")]) if isinstance(found, NewInput))
    result = read_inputs(InputBatch("x", "UTC", inputs), folder)
    assert 1 == len(result.rows) + len(result.refused)


def test_a_file_that_changes_meanwhile_waits(tmp_path: Path):
    """A file that is not what it was when it was identified is left to the next sweep."""
    (tmp_path / "file").write_bytes(b"now")
    result = read_inputs(InputBatch("x", "UTC", (NewInput(str(tmp_path / "file"), "0" * 64, 3),)), tmp_path)
    assert [False] == [refused.is_final for refused in result.refused]


def test_inputs_that_kill_their_workers_are_parted():
    """A batch is halved until the one that is to blame is alone, and refused."""
    inputs = tuple(NewInput(name, name, 1) for name in "abc")
    halves = after_input_deaths(InputBatch("x", "UTC", inputs)).items
    assert inputs == sum((half.inputs for half in halves), ())
    assert ["a"] == [refused.path for refused in after_input_deaths(InputBatch("x", "UTC", inputs[:1])).refused]


def test_zones_are_those_of_clusters(tmp_path: Path):
    """A cluster has the zone that the site gives it, and UTC where it gives none; the template gives none."""
    text = '[time_zone]\nmira = "America/Chicago"\n'
    assert "America/Chicago" == parse_zone(text, "mira")
    assert (
        "UTC" == parse_zone(text, "theta") == parse_zone(TEMPLATE.read_text(), "mira") == site_zone(Warehouse(tmp_path), "mira")
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("time_zone", "This is not TOML"),
        ('mira = "UTC"', "mira stands where it means nothing"),
        ("time_zone = 3", "time_zone stands where it means nothing"),
        ('[time_zone]\nmira = "Mars"', "'Mars' is no time zone"),
        ("[time_zone]\nmira = 3", "3 is no time zone"),
        ('[time_zone]\nmira = "../../etc/passwd"', "is no time zone"),
    ],
)
def test_zones_that_are_none_are_told(text: str, told: str):
    """What is wrong is said in a sentence with what to write instead."""
    with pytest.raises(UsageError, match=told):
        parse_zone(text, "mira")


def test_times_without_a_zone_are_those_of_the_site(tmp_path: Path, scheduler: str):
    """A job that ended at 23:30 in Chicago ended on the next night."""
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "sources.toml").write_text('[time_zone]\nsmall = "America/Chicago"\n')
    (tmp_path / "sacct.txt").write_text(
        "JobID|JobName|User|State|Start|End|NNodes\n7|a|ada|COMPLETED|2024-01-05T23:00:00|2024-01-05T23:30:00|1\n"
    )
    sweep(tmp_path / "w", scheduler, stats=(tmp_path / "sacct.txt",))
    assert [dt.datetime(2024, 1, 6, 5, 30, tzinfo=dt.UTC)] == column(tmp_path / "w", "SELECT end_at FROM jobs")
    assert [dt.date(2024, 1, 6)] == column(tmp_path / "w", "SELECT night FROM jobs")
