"""`iomine config`, `nightly`, `backfill` and `metrics`: a site's settings, and what follows from them."""

import datetime as dt
import json
import os
import shutil
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as of_textfile
from shared import SHARED_DATA
from sweeping import judge_by_one, write_no_reports

from iomine.cli import backfill, nightly
from iomine.cli.terminal import sweeps
from iomine.lake import Warehouse
from iomine.pipeline import corrections
from iomine.pipeline.backfill import Pace, nights
from iomine.pipeline.corrections import unsettled
from iomine.pipeline.emptiness import emptiness
from iomine.pipeline.ingest import known
from iomine.pipeline.reports import due
from iomine.pipeline.sweep import Settings, Summary, run

SAMPLE = SHARED_DATA / "darshan" / "darshan" / "input" / "sample-badost.darshan"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_data: Path) -> Path:
    """Settings of a site with two machines: one with a log, one whose folders are not there."""
    assert shared_data.is_dir()
    judge_by_one(monkeypatch)
    write_no_reports(monkeypatch)
    folder = tmp_path / "logs" / "2017-03-20"
    folder.mkdir(parents=True)
    shutil.copy(SAMPLE, folder)
    file = tmp_path / "iomine.toml"
    file.write_text(
        f'warehouse = "{tmp_path}/warehouse"\n[clusters.edison]\nlogs = ["{tmp_path}/logs/%Y-%m-%d"]\n'
        f'[clusters.gone]\nlogs = ["{tmp_path}/gone/%Y-%m-%d"]\n[workers]\ncount = 1\n'
        f'[nightly]\ndigest = true\noutbox = "{tmp_path}/mails"\nmetrics = "{tmp_path}/iomine.prom"\n'
    )
    # What the option sets would hold for all tests after this one.
    for name in ("IOMINE_CONFIG", "IOMINE_WAREHOUSE", "IOMINE_LOG_FORMAT"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return file


@pytest.mark.proof
def test_a_night_is_swept_and_what_fails_is_named(iomine, site):
    """The machine whose folders are missing is named and costs status 1; the other is swept, mailed about and measured."""
    result = iomine("--config", site, "nightly", "--date", "2017-03-21")
    assert 1 == result.exit_code
    assert "None of the folders of gone is there for 2017-03-21" in result.stderr
    assert "edison, 2017-03-21\n1 found = 1 ingested + 0 known + 0 rejected" in result.stdout
    assert "written" in result.stdout
    figures = {
        (sample.name, sample.labels.get("cluster")): sample.value
        for family in of_textfile((site.parent / "iomine.prom").read_text())
        for sample in family.samples
    }
    assert 1 == figures["iomine_sweep_ingested", "edison"]
    again = iomine("--log-format", "json", "--config", site, "nightly", "--date", "2017-03-21", "--cluster", "edison")
    assert (0, True) == (again.exit_code, "1 found = 0 ingested + 1 known + 0 rejected" in again.stdout)
    events = [json.loads(line) for line in again.stderr.splitlines()]
    (swept,) = [event for event in events if event["event"] == "sweep"]
    assert (1, 0, 1, 0) == tuple(swept[name] for name in ("found", "ingested", "known", "rejected"))
    assert {"identify"} <= {event["stage"] for event in events if event["event"] == "stage"}
    assert {"time", "level"} <= set.intersection(*map(set, events))
    gone = iomine("--log-format", "json", "--config", site, "nightly", "--date", "2017-03-21", "--cluster", "gone")
    levels = {event["level"] for event in map(json.loads, gone.stderr.splitlines()) if "None of the folders" in str(event)}
    assert (1, {"error"}) == (gone.exit_code, levels)
    missing = iomine("--log-format", "json", "--config", site, "nightly", "--cluster", "edisom")
    (failure,) = map(json.loads, missing.stderr.splitlines())
    assert (2, "error", True) == (missing.exit_code, failure["level"], "edison" in failure["message"])


def test_a_fault_that_nobody_foresaw_in_a_step_does_not_end_the_night(iomine, site, monkeypatch):
    """It is named, the other machines are swept, and the steps that follow are done."""
    done = []

    def sweep(_config: object, _warehouse: Path, name: str, *_: object) -> int:
        if name == "edison":
            raise ZeroDivisionError("by zero")
        done.append(name)
        return 0

    monkeypatch.setattr(nightly, "_sweep", sweep)
    monkeypatch.setattr(nightly, "_mail", lambda _order: done.append("mails") or 0)
    monkeypatch.setattr(nightly, "_write_metrics", lambda *_: done.append("figures") or 0)
    result = iomine("--log-format", "json", "--config", site, "nightly")
    assert (1, ["gone", "mails", "figures"]) == (result.exit_code, done)
    (failure,) = map(json.loads, result.stderr.splitlines())
    assert ("error", True) == (failure["level"], "(ZeroDivisionError: by zero)" in failure["message"])


def test_a_place_of_statistics_that_is_not_there_is_named(iomine, site, tmp_path):
    """The night is done in part: what its logs met with on the servers is unknown."""
    site.write_text(site.read_text().replace("[clusters.gone]\n", f'stats = ["{tmp_path}/collectd/%Y-%m-%d"]\n[clusters.gone]\n'))
    result = iomine("--config", site, "nightly", "--date", "2017-03-20", "--cluster", "edison")
    assert 3 == result.exit_code
    assert (
        f"{tmp_path}/collectd/%Y-%m-%d has nothing for 2017-03-20: mount it, or correct clusters.edison.stats." in result.stderr
    )
    assert "1 found = 1 ingested + 0 known + 0 rejected" in result.stdout


@pytest.mark.proof
def test_a_range_is_swept_night_by_night(iomine, site):
    """Nights without a folder are named; no mail is written, and the others are swept in the order that is asked for."""
    result = iomine("--config", site, "backfill", "--since", "2017-03-19", "--until", "2017-03-20", "--newest-first")
    assert 1 == result.exit_code
    swept = [line.partition(":")[0] for line in result.stdout.splitlines() if " ingested, " in line]
    assert ["edison, 2017-03-20"] == swept
    assert "edison, 2017-03-19: None of the folders" in result.stderr
    assert not (site.parent / "mails").exists()


@pytest.mark.proof
def test_a_range_that_is_begun_again_passes_over_nights_that_are_done(iomine, site, monkeypatch):
    """Only a night with reports that are due is swept again; a file that changed, or is new, makes its night one to be swept."""
    swept: list[Settings] = []

    def sweep(settings: Settings) -> Summary:
        swept.append(settings)
        summary = run(settings)
        # As reports do, which are not written here.
        due(warehouse).strike(due(warehouse).noted())
        return summary

    warehouse = Warehouse(site.parent / "warehouse")
    folder = site.parent / "logs" / "2017-06-20"
    shutil.copytree(folder.with_name("2017-03-20"), folder)
    shutil.copytree(folder, folder.with_name("2017-06-21"))
    (folder / "none.darshan").write_text("no log")
    monkeypatch.setattr(sweeps, "swept", sweep)
    # What was written a moment ago might still change.
    monkeypatch.setattr(known, "_SETTLED_NS", 0)
    backfill_again = partial(
        iomine, "--config", site, "backfill", "--cluster", "edison", "--since", "2017-06-20", "--until", "2017-06-21"
    )
    days = [folder.name, "2017-06-21"]
    for new, due_nights in ((days, []), ([], []), ([folder.name], [("edison", dt.date(2017, 6, 20))])):
        due(warehouse).add(due_nights)
        swept.clear()
        result = backfill_again()
        assert 3 == result.exit_code
        assert new == [each.paths[0].name for each in swept]
        said = ["1 ingested, 0 known, 1 rejected", "0 ingested, 1 known, 0 rejected"]
        said = said if new == days else ["0 ingested, 1 known, 1 rejected", said[1]]
        assert said == [line.partition(": ")[2].partition(";")[0] for line in result.stdout.splitlines()]
    os.utime(folder / SAMPLE.name, (1, 1))
    swept.clear()
    backfill_again()
    assert [folder.name] == [each.paths[0].name for each in swept]


@pytest.mark.proof
def test_nights_out_of_order_stay_noted_until_they_are_settled(iomine, site, monkeypatch):
    """A night before those that are there is noted before it is swept, so that a backfill which is killed settles it later."""
    warehouse = Warehouse(site.parent / "warehouse")
    run(Settings((SAMPLE,), warehouse.root, "edison", workers=1))
    assert [dt.date(2017, 6, 20)] == [file.night for file in warehouse.lake.snapshot().of("log")]
    shutil.copy(SAMPLE.with_name("sample.darshan"), site.parent / "logs" / "2017-03-20")
    since = ("--config", site, "backfill", "--cluster", "edison", "--since", "2017-03-20", "--until", "2017-03-20")

    def killed(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(corrections, "settle", killed)
        assert 0 != iomine(*since).exit_code
    assert [("edison", dt.date(2017, 3, 20))] == unsettled(warehouse).noted()
    settled: list[tuple[str, dt.date, dt.date]] = []

    def settle(_: Warehouse, *given: Any) -> int:
        settled.append(given)
        # As another backfill does meanwhile.
        unsettled(warehouse).add([("edison", dt.date(2017, 3, 19))])
        return 1

    monkeypatch.setattr(corrections, "settle", settle)
    assert "edison: 1 night judged again by the nights before" in iomine(*since).stdout
    assert [("edison", dt.date(2017, 3, 20), dt.date(2017, 3, 20))] == settled
    assert [("edison", dt.date(2017, 3, 19))] == unsettled(warehouse).noted()


@pytest.mark.proof
def test_a_sweep_that_finds_nothing_where_most_do_fails(iomine, site, tmp_path):
    """An empty folder is a success at first; once most sweeps found logs it is a failure, unless it is meant."""
    warehouse, logs, empty = tmp_path / "w", tmp_path / "logs", tmp_path / "empty"
    empty.mkdir()
    assert 0 == iomine("sweep", empty, "--warehouse", warehouse, "--workers", "1").exit_code
    for _ in range(2):
        run(Settings((logs,), warehouse, workers=1))
    result = iomine("sweep", empty, "--warehouse", warehouse, "--workers", "1")
    assert 1 == result.exit_code
    assert "No log was found for default, where 2 of the last 3 sweeps found some" in result.stderr
    assert 0 == iomine("sweep", empty, "--warehouse", warehouse, "--workers", "1", "--allow-empty").exit_code
    settings = Settings((), warehouse)
    assert emptiness(settings, run(settings)) is None


def test_figures_are_openmetrics(iomine, warehouse_of):
    """What a warehouse holds stands machine by machine, in a form that Prometheus's own parser reads."""
    at = dt.datetime(2024, 4, 18, 3, tzinfo=dt.UTC)
    sweep = {"sweep_id": "a", "cluster": "x", "start_at": at, "end_at": at + dt.timedelta(minutes=5), "found_count": 7}
    counts = {"ingested_count": 4, "known_count": 2, "rejected_count": 1, "statistics_rejected_count": 0}
    before = sweep | {"sweep_id": "b", "start_at": at - dt.timedelta(days=1), "found_count": 70}
    log = {"log_id": "l", "cluster": "x", "night": dt.date(2024, 4, 17), "nprocs": 1}
    warehouse = warehouse_of(sweep=[sweep | counts, before | counts], log=[log])
    result = iomine("metrics", "--warehouse", warehouse)
    found = {sample.name: sample.value for family in text_string_to_metric_families(result.stdout) for sample in family.samples}
    assert (7, 4, 2, 1, 300) == tuple(
        found[f"iomine_sweep_{name}"] for name in ("found", "ingested", "known", "rejected", "duration_seconds")
    )
    assert found["iomine_newest_night_age_seconds"] > 0
    assert (at + dt.timedelta(minutes=5)).timestamp() == found["iomine_sweep_end_timestamp_seconds"]
    assert found["iomine_free_bytes"] > 0


def test_figures_are_whole_in_their_file(iomine, warehouse, tmp_path):
    """The file appears at once, readable to node_exporter, and nothing is left beside it."""
    assert 0 == iomine("metrics", "--out", tmp_path / "iomine.prom", "--warehouse", warehouse).exit_code
    assert ["iomine.prom"] == [file.name for file in tmp_path.glob("*iomine.prom*")]
    assert 0o644 == (tmp_path / "iomine.prom").stat().st_mode & 0o777
    refused = iomine("metrics", "--out", tmp_path / "none" / "iomine.prom", "--warehouse", warehouse)
    assert (1, True) == (refused.exit_code, "cannot be written" in refused.stderr)


def test_settings_are_checked_shown_and_explained(iomine, site):
    """What is wrong is said in a sentence each; what is set is shown with its file; a key's sentence is found."""
    assert "nothing is wrong" in iomine("--config", site, "config", "check").stdout
    other = iomine("--config", site, "config", "check", "--warehouse", site.parent / "other").stdout
    assert f"other, which has no iomine.toml, and is not the warehouse of {site}: nothing is wrong." in other
    shown = iomine("--config", site, "config", "show").stdout
    assert f"workers.count = 1  # {site}" in shown
    explained = iomine("config", "explain", "clusters.edison.days").stdout
    assert explained.startswith("clusters.NAME.days: Days whose folders a night sweeps")
    site.write_text("[nightly]\ndigest = 3\n[clusters.x]\nlogs = ['x']")
    wrong = iomine("config", "check", "--warehouse", site.parent)
    assert (2, 1) == (wrong.exit_code, len(wrong.stderr.splitlines()))
    assert 2 == iomine("config", "show", "x", "--warehouse", site.parent).exit_code


def test_older_files_become_one(iomine, tmp_path):
    """They are kept under another name, and what they say stays in force."""
    (tmp_path / "retention.toml").write_text("[days]\nsegment = 3\n")
    result = iomine("config", "migrate", "--warehouse", tmp_path)
    assert (0, ["iomine.toml", "retention.toml.merged"]) == (result.exit_code, sorted(file.name for file in tmp_path.iterdir()))
    assert "retention.days.segment = 3" in iomine("config", "show", "--warehouse", tmp_path).stdout
    assert "has no files to merge" in iomine("config", "migrate", "--warehouse", tmp_path).stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--until", "2024-01-01"), "--until 2024-01-01 is before --since 2024-01-02: change one of them."),
        (("--hours", "20"), "--hours 20 is not FROM-TO: write it as 20-6."),
        (("--bytes-per-second", "fast"), "--bytes-per-second: 'fast' is no number of bytes"),
    ],
)
def test_what_backfill_cannot_do_is_misuse(iomine, warehouse, options, sentence):
    """It is said before anything is swept."""
    result = iomine("backfill", "--since", "2024-01-02", *options, "--warehouse", warehouse)
    assert (2, True) == (result.exit_code, sentence in result.stderr)


def test_hours_may_go_over_midnight():
    """The last hour is not one of them."""
    at = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    open_at = {hour for hour in range(24) if backfill.is_open(backfill.hours_of("20-6"), at.replace(hour=hour))}
    assert {20, 21, 22, 23, 0, 1, 2, 3, 4, 5} == open_at
    assert backfill.is_open(backfill.hours_of(None), at)


@pytest.mark.parametrize(
    ("pace", "known", "seconds"), [(Pace(), 0, 0), (Pace(files=0.5), 0, 4), (Pace(size_bytes=50), 0, 6), (Pace(0.5, 50), 1, 3)]
)
def test_a_pace_counts_what_was_read(tmp_path, pace, known, seconds):
    """The slower of files and bytes counts, and half of it where half of the logs were known."""
    for name in "ab":
        (tmp_path / f"{name}.darshan").write_bytes(bytes(150))
    summary = SimpleNamespace(found=2, known=known)
    assert seconds == pace.seconds((tmp_path,), summary)


def test_nights_are_in_order():
    """Both ends are among them."""
    first, last = dt.date(2024, 2, 28), dt.date(2024, 3, 1)
    assert [first, dt.date(2024, 2, 29), last] == list(nights(first, last, newest_first=False))
    assert [last, dt.date(2024, 2, 29), first] == list(nights(first, last, newest_first=True))
