"""Server statistics and accounting in a sweep: what becomes of each file, and whether what servers saw agrees with the logs."""

import datetime as dt
import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeping import column, judge_by_one, rows, state, write_no_reports

from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline.ingest.statistics import InputBatch, Key, NewInput, hash_all, read_inputs
from iomine.pipeline.ingest.work import after_input_deaths
from iomine.pipeline.site.zones import parse_zone, site_most_processes, site_zone
from iomine.pipeline.sweep import Counts, Settings, Summary, run
from iomine.simulate import Settings as Facility
from iomine.simulate import simulate
from iomine.units import MIB

TEMPLATE = Path(__file__).parents[3] / "deploy" / "sources.toml"


_SLOTS = """
    SELECT begin_at, target, owner, "user", rpc_count, moved_bytes, night,
        round(service_seconds, 6) AS service, round(usual_service_seconds, 6) AS usual
    FROM core.server_slot ORDER BY ALL
"""
_INTERVALS = "SELECT * FROM core.server_interval ORDER BY ALL"


@pytest.fixture(scope="module")
def facility(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days of a small facility."""
    out = tmp_path_factory.mktemp("facility") / "out"
    simulate(Facility(out, 120, 3, 2, "small", workers=1), lambda *_: None)
    return out


@pytest.fixture(autouse=True)
def _one_trigger(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by_one(monkeypatch)
    write_no_reports(monkeypatch)


def sweep(warehouse: Path, scheduler: str, *paths: Path, stats: tuple[Path, ...] = ()) -> Summary:
    return run(Settings(paths, warehouse, "small", scheduler, stats=stats))


def test_statistics_are_counted_and_agree_with_the_logs(tmp_path: Path, scheduler: str, facility: Path):
    """Each file is ingested, known or rejected; servers saw the bytes that logs say of each job; every log has its job."""
    logs, stats = facility / "darshan", (facility / "lustre", facility / "slurm")
    files = [path for folder in (logs, *stats) for path in folder.rglob("*") if path.is_file()]
    summary = sweep(tmp_path / "w", scheduler, logs, stats=stats)

    of_logs = {path for path in files if logs in path.parents}
    assert len(of_logs) == summary.found == summary.ingested + summary.known + summary.rejected
    statistics = summary.statistics
    assert Counts(len(files) - len(of_logs), len(files) - len(of_logs), 0, 0) == statistics
    assert [] == column(tmp_path / "w", "SELECT path FROM rejects")
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
    """For jobs whose every log has a trace: bytes of each OST are what its servers counted, except for parts of a stripe."""
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
    # A reading at midnight is of the night that begins then.
    assert {newest, newest + dt.timedelta(days=1)} == set(
        column(warehouse, "SELECT DISTINCT night FROM core.lustre_counter WHERE night <= current_date")
    )
    expected = rows(warehouse, _INTERVALS)
    summary = sweep(warehouse, scheduler, stats=(late,))

    assert 1 == summary.statistics.ingested
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
    exact = {"server_interval", "verdict", "job", "job_step", "log", "weather"}
    assert {table: expected[table] for table in exact} == {table: got[table] for table in exact}
    # Sums of times depend on the order of their parts in the last digits.
    assert rows(tmp_path / "at_once", _SLOTS) == rows(tmp_path / "later", _SLOTS)
    again = sweep(tmp_path / "later", scheduler, logs, stats=stats)
    assert (0, 0) == (again.ingested, again.rejected)
    assert again.known == again.found
    assert again.statistics == Counts(again.statistics.found, 0, again.statistics.found, 0)


def test_accounting_of_several_clusters_is_read_for_each(tmp_path: Path, scheduler: str):
    """A file that was read for one cluster is read for another one too, and then is known to both."""
    line = "{0}|100|{0}|COMPLETED|2024-01-05T23:00:00|2024-01-05T23:30:00|1\n"
    (tmp_path / "sacct.txt").write_text(
        "Cluster|JobIDRaw|User|State|Start|End|NNodes\n" + "".join(map(line.format, ("alpha", "beta")))
    )
    for cluster, ingested in (("gamma", 0), ("alpha", 1), ("beta", 1), ("alpha", 0), ("beta", 0)):
        settings = Settings((), tmp_path / "w", stats=(tmp_path / "sacct.txt",), cluster=cluster, scheduler=scheduler)
        assert ingested == run(settings).statistics.ingested
    owners = rows(tmp_path / "w", 'SELECT cluster, "user" FROM jobs ORDER BY ALL')
    assert [("alpha", "alpha"), ("beta", "beta")] == [(row["cluster"], row["user"]) for row in owners]


def test_what_is_no_statistics_is_reported_and_remembered(tmp_path: Path, scheduler: str):
    """Files of any kind end as rejects with a reason, twice alike; those that a dot hides are passed over."""
    stats = tmp_path / "stats"
    stats.mkdir()
    for name, content in (("README.md", b"# Read me"), ("empty", b""), ("torn.gz", b"\x1f\x8b\x08torn"), (".hidden", b"x")):
        (stats / name).write_bytes(content)
    first, second = (sweep(tmp_path / "w", scheduler, stats=(stats,)) for _ in range(2))

    assert Counts(3, 0, 0, 3) == first.statistics == second.statistics
    assert first.reasons == second.reasons
    assert ["README.md", "empty", "torn.gz"] == column(
        tmp_path / "w", "SELECT parse_filename(path) FROM rejects WHERE reason <> '' ORDER BY path"
    )


def job_stats(gib: int, last_io: int = 0) -> str:
    """What Lustre 2.12 says of one job that has written so much; it has no moment of reading, and not since when it counts."""
    moment = f"  snapshot_time:   {last_io}\n" if last_io else ""
    return (
        f"job_stats:\n- job_id:          77\n{moment}"
        f"  write_bytes:     {{ samples: {gib * 1024:11d}, unit: bytes, min: 1048576, max: 1048576, sum: {gib << 30:15d} }}\n"
    )


def put(folder: Path, texts: Mapping[str, str]) -> Path:
    """A folder with files below it."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def tarred(path: Path, texts: Mapping[str, str | bytes], mode: str = "w:gz") -> Path:
    """An archive with members of these names."""
    with tarfile.open(path, mode) as archive:
        for name, text in texts.items():
            data = text.encode() if isinstance(text, str) else text
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))
    return path


_BURST = "SELECT begin_at, interval_seconds, moved_bytes, quality FROM lustre_jobs ORDER BY begin_at"
# A job wrote, was still for half an hour, and wrote for ten minutes.
_STILL = {f"2026-01-05/{time}/scratch-OST0001.txt": job_stats(1) for time in ("1400", "1410", "1420", "1430")}
_READ_THEN = _STILL | {"2026-01-05/1350/scratch-OST0001.txt": "job_stats:\n", "2026-01-05/1440/scratch-OST0001.txt": job_stats(3)}
_AT_14 = dt.datetime(2026, 1, 5, 14, tzinfo=dt.UTC)
_EXPECTED_BURSTS = [
    {"begin_at": _AT_14 - dt.timedelta(minutes=10), "interval_seconds": 600.0, "moved_bytes": 1 << 30, "quality": "sound"},
    {"begin_at": _AT_14 + dt.timedelta(minutes=30), "interval_seconds": 600.0, "moved_bytes": 2 << 30, "quality": "sound"},
]


def test_a_burst_after_idle_readings_lasts_its_ten_minutes(tmp_path: Path, scheduler: str):
    """Readings of equal bytes at different moments all count: a burst is not spread over the time in which nothing was done."""
    stats = put(tmp_path / "stats", _READ_THEN)
    summary = sweep(tmp_path / "w", scheduler, stats=(stats,))

    assert Counts(6, 6, 0, 0) == summary.statistics
    assert (0, 0, 0, 0) == (summary.found, summary.ingested, summary.known, summary.rejected)
    assert _EXPECTED_BURSTS == rows(tmp_path / "w", _BURST)
    reported = "SELECT found_count, statistics_found_count, statistics_ingested_count, statistics_known_count FROM sweeps"
    assert [(0, 6, 6, 0)] == [tuple(row.values()) for row in rows(tmp_path / "w", reported)]


def test_an_archive_of_readings_is_its_members(tmp_path: Path, scheduler: str):
    """Members are read each with its own path; what they say is what the files say, and then they are known as the files are."""
    archive = tarred(tmp_path / "night.tar.gz", _READ_THEN | {"2026-01-05/1450/notes": "Nothing to see.", "x/.hidden": "x"})
    warehouse = tmp_path / "w"
    assert Counts(7, 6, 0, 1) == sweep(warehouse, scheduler, stats=(archive,)).statistics
    assert _EXPECTED_BURSTS == rows(warehouse, _BURST)
    assert [f"{archive}/2026-01-05/1450/notes"] == column(warehouse, "SELECT path FROM rejects")

    assert Counts(13, 0, 12, 1) == sweep(warehouse, scheduler, stats=(archive, put(tmp_path / "stats", _READ_THEN))).statistics
    # An archive that has changed has its members looked at anew.
    tarred(archive, _READ_THEN, "w:xz")
    assert Counts(6, 0, 6, 0) == sweep(warehouse, scheduler, stats=(archive,)).statistics
    assert [] == column(warehouse, "SELECT path FROM rejects")


def test_equal_bytes_are_known_by_what_they_say_themselves(tmp_path: Path, scheduler: str):
    """Of two targets, or two moments in paths, equal bytes are two readings; of a moment in their content, one."""
    reported = (
        "snapshot_time             1767622200.000000001 secs.nsecs\nwrite_bytes               1 samples [bytes] 4096 4096 4096\n"
    )
    stats = put(
        tmp_path / "stats",
        {
            "a/2026-01-05/1400/scratch-OST0001.txt": job_stats(1),
            "b/2026-01-05/1400/scratch-OST0001.txt": job_stats(1),
            "a/2026-01-05/1400/scratch-OST0002.txt": job_stats(1),
            "a/2026-01-05/1400/scratch-OST0003/stats": reported,
            "a/2026-01-05/1500/scratch-OST0003/stats": reported,
        },
    )
    assert Counts(5, 3, 2, 0) == sweep(tmp_path / "w", scheduler, stats=(stats,)).statistics
    assert Counts(5, 0, 5, 0) == sweep(tmp_path / "w", scheduler, stats=(stats,)).statistics


def test_files_touched_at_other_times_are_other_readings(tmp_path: Path, scheduler: str):
    """Where only the time of change gives the moment, that time separates readings."""
    stats = put(tmp_path / "stats", {"a/scratch-OST0001": job_stats(1), "b/scratch-OST0001": job_stats(1)})
    for name, seconds in (("a", 1767621600), ("b", 1767622200)):
        os.utime(stats / name / "scratch-OST0001", (seconds, seconds))
    assert Counts(2, 2, 0, 0) == sweep(tmp_path / "w", scheduler, stats=(stats,)).statistics
    assert [1767621600, 1767622200] == column(
        tmp_path / "w", "SELECT epoch(sampled_at)::BIGINT FROM core.lustre_counter ORDER BY sampled_at"
    )


@given(st.binary(max_size=300))
def test_no_bytes_end_a_batch(tmp_path_factory: pytest.TempPathFactory, content: bytes):
    """Whatever a file holds, it is read or refused."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "file").write_bytes(content)
    inputs = tuple(found for found in hash_all([str(folder / "file")], "UTC")[0] if isinstance(found, NewInput))
    result = read_inputs(InputBatch("x", "UTC", inputs), folder)
    assert 1 == len(result.rows) + len(result.refused)


def an_input(path: str) -> NewInput:
    """An input that claims more bytes than any file has."""
    return NewInput(path, Key("0" * 64, None, None, None), 3, dt.datetime(2026, 1, 5, tzinfo=dt.UTC))


def test_a_file_that_changes_meanwhile_waits(tmp_path: Path):
    """A file that is not what it was when it was identified is left to the next sweep."""
    (tmp_path / "file").write_bytes(b"now")
    result = read_inputs(InputBatch("x", "UTC", (an_input(str(tmp_path / "file")),)), tmp_path)
    assert [False] == [error.is_final for _, error in result.refused]


def test_what_an_input_does_not_name_is_the_cluster(tmp_path: Path):
    """Outputs of IOR are of the system that a folder names, otherwise of the sweep's cluster."""
    head = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter"
    for place, folder in enumerate(("a", "system=scratch2")):
        (tmp_path / folder).mkdir()
        row = f"write,16.0000,20.0000,0.0500,4096.0000,1024.0000,0.2000,1.6000,0.2000,2.0000,4,{place}"
        (tmp_path / folder / "x.csv").write_text(f"{head}\n{row}\n")
    paths = [str(path) for path in sorted(tmp_path.rglob("*.csv"))]
    inputs = tuple(each for found in hash_all(paths, "UTC") for each in found if isinstance(each, NewInput))
    (file,) = read_inputs(InputBatch("polaris", "UTC", inputs), tmp_path).files
    assert ["polaris", "scratch2"] == pq.read_table(file.path)["system"].to_pylist()


def test_inputs_that_kill_their_workers_are_parted():
    """A batch is halved until the one that is to blame is alone, and refused."""
    inputs = tuple(an_input(name) for name in "abc")
    halves = after_input_deaths(InputBatch("x", "UTC", inputs)).items
    assert inputs == sum((half.inputs for half in halves), ())
    assert ["a"] == [each.path for each, _ in after_input_deaths(InputBatch("x", "UTC", inputs[:1])).refused]


def test_zones_are_those_of_clusters(tmp_path: Path):
    """A cluster has the zone that the site gives it, and UTC where it gives none; the template gives none."""
    text = '[time_zone]\nmira = "America/Chicago"\n'
    assert "America/Chicago" == parse_zone(text, "mira")
    assert (
        "UTC" == parse_zone(text, "theta") == parse_zone(TEMPLATE.read_text(), "mira") == site_zone(Warehouse(tmp_path), "mira")
    )


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("time_zone", "This is not TOML"),
        ('mira = "UTC"', "There is no sources setting mira: there are time_zone, most_processes"),
        ("time_zone = 3", "time_zone is a table"),
        ('[time_zone]\nmira = "Mars"', "'Mars' is not a time zone"),
        ("[time_zone]\nmira = 3", "time_zone.mira must be text, not 3"),
        ('[time_zone]\nmira = "../../etc/passwd"', "is not a time zone"),
    ],
)
def test_zones_that_are_none_are_reported(text: str, reported: str):
    """What is wrong is said in a sentence with what to write instead."""
    with pytest.raises(UsageError, match=reported):
        parse_zone(text, "mira")


def test_a_site_says_how_many_processes_a_run_can_have(tmp_path: Path):
    """By cluster; of others nothing is known."""
    assert site_most_processes(Warehouse(tmp_path), "mira") is None
    (tmp_path / "sources.toml").write_text("[most_processes]\nmira = 786432\n")
    assert (786_432, None) == tuple(site_most_processes(Warehouse(tmp_path), name) for name in ("mira", "theta"))
    (tmp_path / "sources.toml").write_text("[most_processes]\nmira = 0\n")
    with pytest.raises(UsageError, match=r"most_processes\.mira"):
        site_most_processes(Warehouse(tmp_path), "mira")


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
