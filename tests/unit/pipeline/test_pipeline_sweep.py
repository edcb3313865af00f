"""Sweeps of a few real logs, looked at as readers do: what is counted, what is kept, what the next sweep makes of it."""

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sweeping import column, rows, state, strays, write_no_reports

from iomine.errors import UsageError, WarehouseError, WorkersError
from iomine.lake import Lake, LakeWriter
from iomine.lake import lake as lake_room
from iomine.lake.files import new_file_path
from iomine.pipeline import sweep as sweep_room
from iomine.pipeline.ingest.reader import Limits
from iomine.pipeline.judging import judge as judging
from iomine.pipeline.stages import context
from iomine.pipeline.stages import identify as identify_stage
from iomine.pipeline.stages import read as read_stage
from iomine.pipeline.sweep import Settings, Summary, begun, run
from iomine.triggers import TRIGGERS
from iomine.triggers.thresholds import SiteThreshold, with_thresholds

SweepUp = Callable[..., Summary]
# How many logs of `real` end on which night.
NIGHTS = {"2017-09-21": 2, "2021-04-06": 2, "2021-04-14": 3}


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


@pytest.fixture(autouse=True)
def _few_triggers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges by two triggers, and writes no reports: both would take longer than the rest of a small sweep."""
    few = {code: TRIGGERS[code] for code in ("POSIX-101", "P05")}
    monkeypatch.setattr(context, "site_triggers", lambda _warehouse: few)
    write_no_reports(monkeypatch)


@pytest.fixture
def sweep_up(scheduler: str, warehouse: Path) -> SweepUp:
    """Sweeps paths into the warehouse."""

    def swept(*paths: Path, cluster: str = "default", limits: Limits | None = None) -> Summary:
        return run(Settings(paths, warehouse, cluster, scheduler, limits=limits or Limits()))

    return swept


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder to put logs in."""
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture
def real(shared_data: Path) -> list[Path]:
    """Seven logs of three nights."""
    return sorted(path for name in ("codes", "ecpam21") for path in (shared_data / "darshan" / name).rglob("*.darshan"))


def counts(summary: Summary) -> tuple[int, int, int, int]:
    return summary.found, summary.ingested, summary.known, summary.rejected


def nights(warehouse: Path) -> dict[str, int]:
    found = rows(warehouse, "SELECT night::VARCHAR AS night, count(*) AS logs FROM logs GROUP BY ALL ORDER BY ALL")
    return {row["night"]: row["logs"] for row in found}


@pytest.mark.sample
def test_a_second_sweep_finds_everything_known_and_changes_nothing(sweep_up, warehouse, real):
    """Every log is ingested once; the second time all are known, and no table says anything else than before."""
    assert (7, 7, 0, 0) == counts(sweep_up(*real))
    before = state(warehouse)
    assert NIGHTS == nights(warehouse)
    assert [] == strays(warehouse)

    assert (7, 0, 7, 0) == counts(sweep_up(*real))
    assert before == state(warehouse)
    expected = [(7, 7, 0, 0), (7, 0, 7, 0)]
    reported = rows(warehouse, "SELECT found_count, ingested_count, known_count, rejected_count FROM sweeps ORDER BY start_at")
    assert expected == [tuple(row.values()) for row in reported]


def test_the_same_bytes_are_the_same_log(sweep_up, warehouse, logs, real):
    """A copy under another name, in the same sweep or a later one, even under another cluster, is known and not a second log."""
    shutil.copy(real[0], logs / "a.darshan")
    shutil.copy(real[0], logs / "b.darshan")
    assert (2, 1, 1, 0) == counts(sweep_up(logs))

    shutil.copy(real[0], logs / "c.darshan")
    assert (3, 0, 3, 0) == counts(sweep_up(logs, cluster="other"))
    assert [str(logs / "a.darshan")] == column(warehouse, "SELECT path FROM logs")


@pytest.mark.proof
def test_logs_that_come_late_join_their_night(sweep_up, warehouse, real):
    """A night that was swept already is rewritten with old rows and new, just as if all had come at once."""
    late = [real[0], real[3]]
    sweep_up(*(log for log in real if log not in late))
    summary = sweep_up(*real)

    assert (7, 2, 5, 0) == counts(summary)
    in_two = state(warehouse)
    shutil.rmtree(warehouse)
    sweep_up(*real)
    assert in_two == state(warehouse)
    assert NIGHTS == nights(warehouse)


def test_a_late_log_leaves_other_nights_files_alone(sweep_up, warehouse, real):
    """Only the partitions that got rows are written anew."""
    sweep_up(*real[1:])
    before = {path.name for path in (warehouse / "lake").rglob("*.parquet")}
    summary = sweep_up(*real)

    (night,) = summary.nights
    new = [path for path in (warehouse / "lake").rglob("*.parquet") if path.name not in before]
    assert {f"night={night}"} == {path.parent.name for path in new if path.parent.name.startswith("night=")}


def test_the_rows_of_a_night_lie_in_the_order_of_log_ids(sweep_up, warehouse, shared_data):
    """In the file of each night that one sweep wrote, whole logs follow each other by id."""
    sweep_up(shared_data / "darshan" / "dask-polaris")

    for table in ("log", "posix_file", "segment"):
        files = f"SELECT cluster, night, list(log_id) AS ids FROM lake.{table} GROUP BY ALL"
        assert [] == column(warehouse, f"SELECT night FROM ({files}) WHERE ids != list_sort(ids)")


def test_two_clusters_share_a_warehouse(sweep_up, warehouse, real):
    """Each keeps its own rows of a night that both have; a log's cluster is the one that it was swept for."""
    sweep_up(*real[:4], cluster="red")
    sweep_up(*real[4:], cluster="blue")

    clusters = rows(warehouse, "SELECT cluster, count(*) AS logs FROM logs GROUP BY ALL ORDER BY ALL")
    assert [{"cluster": "blue", "logs": 3}, {"cluster": "red", "logs": 4}] == clusters
    assert NIGHTS == nights(warehouse)
    assert [] == strays(warehouse)


def test_rejects_are_kept_with_their_reason_and_leave_when_they_can_be_read(sweep_up, warehouse, logs, real):
    """A file that cannot be read is a row with a reason, once; when its bytes are good it becomes a log and the row goes."""
    (logs / "a.darshan").write_bytes(b"")
    (logs / "b.darshan").write_bytes(real[0].read_bytes()[:100])
    for _ in range(2):
        assert (2, 0, 0, 2) == counts(sweep_up(logs))
        stages = rows(warehouse, "SELECT path, stage, length(reason) > 20 AS is_reported FROM rejects ORDER BY path")
        expected = [{"path": str(logs / f"{name}.darshan"), "stage": "identify", "is_reported": True} for name in "ab"]
        assert expected == stages

    shutil.copy(real[0], logs / "b.darshan")
    assert (2, 1, 0, 1) == counts(sweep_up(logs))
    assert [str(logs / "a.darshan")] == column(warehouse, "SELECT path FROM rejects")


def test_rejects_of_other_folders_stay(sweep_up, warehouse, logs, real):
    """A sweep speaks of what it has looked at; what another one rejected elsewhere remains."""
    (logs / "bad.darshan").write_bytes(b"junk")
    sweep_up(logs)
    sweep_up(real[0])

    assert [str(logs / "bad.darshan")] == column(warehouse, "SELECT path FROM rejects")


def test_what_no_reader_can_decode_is_not_read_again(sweep_up, warehouse, logs, real, monkeypatch):
    """A log that is damaged for good is remembered by its digest, also under another name, and counted each time."""
    size = real[0].stat().st_size
    (logs / "a.darshan").write_bytes(real[0].read_bytes())
    monkeypatch.setattr(read_stage, "read_batch", refuse_all)
    assert (1, 0, 0, 1) == counts(sweep_up(logs))
    monkeypatch.undo()

    shutil.copy(logs / "a.darshan", logs / "b.darshan")
    assert (2, 0, 0, 2) == counts(sweep_up(logs))
    expected = [{"path": str(logs / f"{name}.darshan"), "size_bytes": size, "reason": "It is damaged."} for name in "ab"]
    assert expected == rows(warehouse, "SELECT path, size_bytes, reason FROM rejects ORDER BY path")


def refuse_all(batch, _staging, _limits):
    """A reader to whom every log is damaged for good."""
    from iomine.pipeline.ingest.reader import BatchResult, Refused  # noqa: PLC0415  runs on the worker

    return BatchResult((), 0, tuple(Refused(path, "It is damaged.", is_final=True) for path, _ in batch.logs))


def test_a_log_that_workers_do_not_see_is_no_reject(sweep_up, warehouse, real, logs, monkeypatch):
    """Where it is there for the sweep and not for them the fault is a mount's, and the sweep ends; a log that is gone is one."""
    monkeypatch.setattr(identify_stage, "identify_all", see_nothing)
    with pytest.raises(
        WorkersError, match=rf"^Workers do not see {re.escape(str(real[0]))}, which is there: mount its file system"
    ):
        sweep_up(real[0])
    assert {} == state(warehouse)

    shutil.copy(real[0], logs)
    monkeypatch.setattr(
        identify_stage.plan, "cut", lambda sized, _bound: [shutil.rmtree(logs) or ([item for item, _ in sized], 1)]
    )
    assert {"The file cannot be read: No such file or directory.": 1} == sweep_up(logs).reasons


def see_nothing(paths):
    """A worker on a host without the logs."""
    from iomine.errors import UnreadableError  # noqa: PLC0415  runs on the worker

    return [UnreadableError("The file cannot be read: No such file or directory.", False) for _ in paths]


def test_names_of_any_bytes_are_swept(sweep_up, warehouse, logs, real):
    """Logs and rejects whose names no text can hold are shown with escapes, and looked up by them the next time."""
    for number, name in enumerate((b"bad\xff.darshan", b"new\nline.darshan", b"quo'te\".darshan")):
        (logs / os.fsdecode(name)).write_bytes(real[number].read_bytes())
    (logs / os.fsdecode(b"junk\xfe.darshan")).write_bytes(b"junk")

    for expected in ((4, 3, 0, 1), (4, 0, 3, 1)):
        assert expected == counts(sweep_up(logs))
        shown = [r"bad\xff.darshan", "new\nline.darshan", "quo'te\".darshan"]
        assert shown == [Path(path).name for path in column(warehouse, "SELECT path FROM logs ORDER BY path")]
        assert [rf"{logs}/junk\xfe.darshan"] == column(warehouse, "SELECT path FROM rejects")


def test_a_log_beyond_the_limit_is_reported_and_not_opened(sweep_up, logs, real):
    """The size of the file is a limit like time and memory."""
    shutil.copy(real[0], logs)
    summary = sweep_up(logs, limits=Limits(file_bytes=1024))

    assert [1] == [summary.rejected]
    assert ["the limit for one file"] == [reason.rpartition(", ")[2].rstrip(".") for reason in summary.reasons]


def test_a_sweep_of_nothing_is_published(sweep_up, warehouse, logs):
    """An empty folder makes a warehouse with empty views, which can be asked."""
    assert (0, 0, 0, 0) == counts(sweep_up(logs))

    assert [0] == column(warehouse, "SELECT count(*) FROM logs")


def test_a_cluster_that_would_leave_the_warehouse_is_refused(warehouse):
    """However the sweep is called, not by the command alone."""
    with pytest.raises(UsageError, match="is not a valid cluster name"):
        Settings((), warehouse, cluster="../x")


def test_a_sweep_that_fails_frees_the_warehouse(scheduler, warehouse, real, monkeypatch):
    """Its lock is released and its staging cleared, so that the next one can begin at once."""
    settings = Settings(tuple(real), warehouse, scheduler=scheduler)
    with monkeypatch.context() as patched:
        patched.setattr(sweep_room, "merge", fail_after_reading)
        with pytest.raises(RuntimeError, match="half way"):
            run(settings)

    assert not (warehouse / "staging").exists()
    assert (7, 7, 0, 0) == counts(run(settings))


def fail_after_reading(sweep, _staged):
    assert list(sweep.staging.rglob("*.parquet"))
    raise RuntimeError("half way")


def test_a_sweep_keeps_others_out(scheduler, warehouse, real):
    """From beginning to end another sweep is refused, and says why."""
    settings = Settings(tuple(real), warehouse, scheduler=scheduler)
    with begun(settings), pytest.raises(WarehouseError, match="Another sweep is writing"), begun(settings):
        pass


@pytest.mark.parametrize("stage", ["identify", "read", "merge", "judge"])
def test_a_stage_may_be_run_again(scheduler, warehouse, real, monkeypatch, stage):
    """Workers may be lost and a stage tried again: nothing is counted or written twice."""
    run(Settings(tuple(real[:3]), warehouse, scheduler=scheduler))
    once = getattr(sweep_room, stage)

    def lose_first(sweep, given):
        monkeypatch.setattr(sweep_room, stage, once)
        once(sweep, given)
        return once(sweep, given)

    monkeypatch.setattr(sweep_room, stage, lose_first)
    summary = run(Settings(tuple(real), warehouse, scheduler=scheduler))

    assert (7, 4, 3, 0) == counts(summary)
    assert NIGHTS == nights(warehouse)
    assert [] == strays(warehouse)


def test_views_work_with_the_settings_of_the_site(monkeypatch, sweep_up, warehouse, real):
    """A sweep publishes views that count as small what its verdicts counted as small: here nothing."""
    few = with_thresholds({"POSIX-101": TRIGGERS["POSIX-101"]}, [SiteThreshold("POSIX-101", "small_read_bytes", 0)])
    monkeypatch.setattr(context, "site_triggers", lambda _warehouse: few)
    sweep_up(*real[:3])
    reads = "SELECT sum(small_count)::BIGINT AS small, count(*) > 0 AS is_there FROM file_requests WHERE op = 'read'"
    assert [{"small": 0, "is_there": True}] == rows(warehouse, reads)


class KilledError(BaseException):
    """Stands for a death that no code of the sweep sees."""


def commits_until(death: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a sweep die before that commit, counted from 0."""
    commit, left = LakeWriter.commit, iter(range(death))

    def commit_or_die(lake, name, *rest):
        if next(left, None) is None:
            raise KilledError(name)
        return commit(lake, name, *rest)

    monkeypatch.setattr(LakeWriter, "commit", commit_or_die)


def judge_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Works out in the first sweep what is to be committed; in those after it of the same logs, copies stand for it."""
    judge, kept = judging.judge, []

    def judged(lake, staging, *rest, **more):
        if not kept:
            found = judge(lake, staging, *rest, **more)
            kept.append(replace(found, files=[replace(file, path=Path(shutil.copy(file.path, folder))) for file in found.files]))
        return replace(kept[0], files=tuple(replace(file, path=copied(file, staging)) for file in kept[0].files))

    def copied(file, staging):
        path = new_file_path(staging, file.table, file.cluster, file.night)
        path.parent.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(file.path, path))

    monkeypatch.setattr(judging, "judge", judged)


@pytest.mark.parametrize("earlier", [0, 1], ids=["first-sweep", "later-sweep"])
def test_a_death_between_any_two_commits_shows_nowhere(sweep_up, warehouse, real, monkeypatch, earlier):
    """Readers see the state before; each next sweep rolls back what the dead left, and the last makes what one alone would."""
    later = real[: earlier + 1]
    if earlier:
        sweep_up(real[0])
    before = state(warehouse)
    died_before = []
    with monkeypatch.context() as once:
        judge_once(warehouse.parent, once)
        while len(died_before) < 100:
            with monkeypatch.context() as patched:
                commits_until(len(died_before), patched)
                try:
                    last = sweep_up(*later)
                    break
                except KilledError as death:
                    died_before.append(str(death))
            assert before == state(warehouse)

    assert {"log", "posix_file", "verdict", "reject"} < set(died_before)
    assert "sweep" == died_before[-1]
    assert (earlier + 1, 1, earlier, 0) == counts(last)
    disturbed = state(warehouse)
    shutil.rmtree(warehouse)
    sweep_up(*later)
    assert disturbed == state(warehouse)
    assert [] == strays(warehouse)


@pytest.mark.sample
def test_a_death_before_the_views_are_swapped_is_taken_up(sweep_up, warehouse, real, monkeypatch):
    """The sweep is committed: the next one finds its logs known, counts none twice, and publishes them."""
    sweep_up(*real[:3])
    before = state(warehouse)
    with monkeypatch.context() as patched:

        def die(*_):
            raise KilledError

        patched.setattr(sweep_room, "publish", die)
        with pytest.raises(KilledError):
            sweep_up(*real)
    assert before == state(warehouse)

    assert (7, 0, 7, 0) == counts(sweep_up(*real))
    assert NIGHTS == nights(warehouse)
    assert [] == strays(warehouse)
    assert [3, 7, 7] == column(warehouse, "SELECT found_count FROM sweeps ORDER BY start_at")


def keep(warehouse: Path, **days: int) -> None:
    """Sets for how many days tables are kept."""
    warehouse.mkdir(exist_ok=True)
    (warehouse / "retention.toml").write_text("[days]\n" + "".join(f"{table} = {count}\n" for table, count in days.items()))


def nights_of(warehouse: Path, table: str) -> list[str]:
    return column(warehouse, f"SELECT DISTINCT night::VARCHAR FROM lake.{table} ORDER BY ALL")


def test_rows_past_their_days_leave_with_the_next_sweep(sweep_up, warehouse, real):
    """Only those of the tables that are named, at whole nights; the logs stay known, and what left does not come back."""
    sweep_up(*real)
    before = state(warehouse)
    keep(warehouse, mount=30, verdict=1)
    assert (7, 0, 7, 0) == counts(sweep_up(*real))

    after = state(warehouse)
    assert ["2021-04-06", "2021-04-14"] == nights_of(warehouse, "mount")
    assert ["2021-04-14"] == nights_of(warehouse, "verdict")
    assert {"mount", "verdict"} == {table for table in before if before[table] != after.get(table)}
    assert (7, 0, 7, 0) == counts(sweep_up(*real))
    assert after == state(warehouse)


def test_late_logs_of_old_nights_are_ingested_without_rows_past_their_days(sweep_up, warehouse, real):
    """They get logs, records, features and verdicts; of tables that have left that night they get nothing."""
    keep(warehouse, mount=30)
    late = [log for log in real if "ecpam21" not in str(log)][:1]
    sweep_up(*(log for log in real if log not in late))
    before = nights_of(warehouse, "mount")
    assert (7, 1, 6, 0) == counts(sweep_up(*real))

    assert NIGHTS == nights(warehouse)
    assert list(NIGHTS) == nights_of(warehouse, "verdict")
    assert before == nights_of(warehouse, "mount") == ["2021-04-06", "2021-04-14"]
    at_once = state(warehouse)
    shutil.rmtree(warehouse)
    keep(warehouse, mount=30)
    sweep_up(*real)
    assert at_once == state(warehouse)


def test_rows_leave_with_the_sweep_or_not_at_all(sweep_up, warehouse, real, monkeypatch):
    """A sweep that dies before its last commit drops nothing, and its successor does."""
    sweep_up(*real)
    before = state(warehouse)
    keep(warehouse, mount=30)
    with monkeypatch.context() as patched:
        # The table itself, rejects, and then the row of the sweep.
        commits_until(2, patched)
        with pytest.raises(KilledError, match="sweep"):
            sweep_up(*real)
    assert before == state(warehouse)
    assert ["mount", "reject"] == LakeWriter(Lake(warehouse / "lake"), warehouse / "staging").ahead

    sweep_up(*real)
    assert ["2021-04-06", "2021-04-14"] == nights_of(warehouse, "mount")


def test_other_clusters_rows_stay(sweep_up, warehouse, real):
    """A sweep drops rows of its own cluster only, counted from that cluster's newest night."""
    old, new = ([log for log in real if ("ecpam21" in str(log)) is is_new] for is_new in (False, True))
    keep(warehouse, mount=30)
    sweep_up(*old, cluster="red")
    sweep_up(*new, cluster="blue")

    clusters = rows(warehouse, "SELECT cluster, count(DISTINCT log_id) AS logs FROM lake.mount GROUP BY ALL ORDER BY ALL")
    assert [{"cluster": "blue", "logs": len(new)}, {"cluster": "red", "logs": len(old)}] == clusters


def test_days_that_are_not_fit_end_a_sweep_before_it_begins(sweep_up, warehouse, real):
    """In a sentence that names the file."""
    keep(warehouse, segmant=30)
    with pytest.raises(UsageError, match=r"retention\.toml: There is no table segmant: did you mean segment\?"):
        sweep_up(*real)
    assert not (warehouse / "lake").exists()


def test_a_sweep_opens_each_table_once(sweep_up, warehouse, real, monkeypatch):
    """It goes on with what it opened or made, and so does the next sweep of its process, but for the table of sweeps."""
    sweep_up(*real[:3])
    # As in another process.
    monkeypatch.setattr(lake_room, "_last_held", [])
    opened = Counter()
    table = lake_room.DeltaTable

    class Counted(table):
        def __init__(self, folder, **options):
            opened[Path(folder).name] += 1
            super().__init__(folder, **options)

    monkeypatch.setattr(lake_room, "DeltaTable", Counted)
    assert (7, 4, 3, 0) == counts(sweep_up(*real))
    assert {"log", "sweep", "verdict", "reject"} <= opened.keys()
    assert {1} == set(opened.values())
    opened.clear()
    assert (7, 0, 7, 0) == counts(sweep_up(*real))
    assert {"sweep": 1} == opened


@pytest.mark.parametrize("losses", [1, 2])
def test_a_stage_that_lost_its_workers_is_tried_once_more(sweep_up, warehouse, real, monkeypatch, losses):
    """They may be gone for a moment; who stays away ends the sweep, and nothing is published."""
    tries = []
    judge = sweep_room.judge

    def judge_or_lose(sweep, merged):
        tries.append(sweep)
        if len(tries) <= losses:
            raise WorkersError("They are gone.")
        return judge(sweep, merged)

    monkeypatch.setattr(sweep_room, "judge", judge_or_lose)
    monkeypatch.setattr(sweep_room, "RETRY_SECONDS", 0)
    settings = Settings(tuple(real), warehouse, workers=1)
    if losses == 1:
        assert len(real) == sweep_room.run(settings).ingested
        return
    with pytest.raises(WorkersError, match="They are gone"):
        sweep_room.run(settings)
    assert not (warehouse / "iomine.duckdb").exists()
