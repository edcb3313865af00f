"""Logs that a site's own triggers judge, from rows of the lake to reports, mails, exports and comparisons."""

import datetime as dt
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from catalogs import committed, staged
from sweeping import rows

from iomine.lake import Warehouse, write_file
from iomine.pipeline.between import commit, to_be_written
from iomine.pipeline.digest import Order, digest
from iomine.pipeline.export.export import Choice, export
from iomine.pipeline.export.pseudonyms import Pseudonyms
from iomine.pipeline.judging import definitions
from iomine.pipeline.judging.fresh import stale_features
from iomine.pipeline.judging.judge import feature_notes, judge
from iomine.pipeline.judging.rejudge import compare, rejudge, try_on_newest
from iomine.pipeline.publish import publish
from iomine.pipeline.reports import report_piece
from iomine.pipeline.site.rules import site_rules
from iomine.pipeline.site.triggers import site_triggers
from iomine.report.facts import Place
from iomine.schema import TABLES
from iomine.schema.registry import arrow_schema
from iomine.triggers import TRIGGERS, Trigger
from iomine.triggers.thresholds import SiteThreshold, with_thresholds
from iomine.views.model import needed_views
from iomine.views.query import answer_own, open_catalog
from iomine.views.restricted import Whose, open_restricted, restrict
from iomine.web.pages import dashboard
from iomine.web.sessions import LIMITS, Session
from iomine.web.site import FileLinks
from iomine.web.window import window_of

# Each judges by a catalog of its own.
pytestmark = pytest.mark.proof

EXAMPLES = Path(__file__).parents[3] / "docs" / "example_rules"
NIGHT = dt.date(2026, 1, 5)
HOSTILE = "/home/eve/<script>alert(1)</script>/lib{}.so"
# What each log does: files with their mounts, and counters of POSIX or stdio.
LOGS = {
    "a1": ("ada", 4, [(HOSTILE.format(n), "/home", {"read_count": 9, "read_seconds": 900.0}) for n in range(6)]),
    "a2": ("bob", 4, [(f"/data/set/{n}", "/data", {"read_count": 1, "read_seconds": 30.0}) for n in range(300)]),
    "a3": ("bob", 4, [("/scratch/small", "/scratch", {"write_count": 5000, "write_seconds": 9000.0})]),
    "a4": ("cyd", 600, [("/data/shared", "/data", {"write_count": 50, "write_seconds": 8000.0, "rank": -1})]),
    "a5": ("cyd", 4, [("/scratch/run.log", "/scratch", {"stdio": True, "write_count": 500, "write_seconds": 7000.0})]),
    "a6": ("dan", 4, [("/data/fine", "/data", {"read_count": 1, "read_seconds": 1.0})]),
}
FIRED = {"SITE-101": ["a1"], "SITE-102": ["a2"], "SITE-103": ["a3"], "SITE-104": ["a4"], "SITE-105": ["a5"]}
LINE = """\
-- ---
-- about = "Logs by night."
-- grain = ["cluster", "night"]
-- reads = ["main.logs"]
-- [panel]
-- form = "line"
-- title = "Logs, as a line"
-- x = "night"
-- y = "log_count"
-- ---
SELECT cluster, night, count(*) AS log_count FROM main.logs GROUP BY ALL
"""
STATES = "SELECT code, log_id, state, reason FROM verdicts WHERE starts_with(code, 'SITE-') ORDER BY ALL"


def _rows() -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = {name: [] for name in ("log", "module", "posix_file", "stdio_file", "file_name")}
    zeros = dict.fromkeys((name for name in TABLES["posix_file"].columns if re.search("_count$|_bytes$|_seconds$", name)), 0)
    start = dt.datetime(2026, 1, 5, 10, tzinfo=dt.UTC)
    for number, (log_id, (user, nprocs, files)) in enumerate(LOGS.items()):
        seconds = sum(more.get("read_seconds", 0) + more.get("write_seconds", 0) for _, _, more in files)
        found["log"].append({
            "log_id": log_id, "user": user, "uid": number, "app": "solver", "application": "solver", "nprocs": nprocs,
            "start_at": start, "end_at": start + dt.timedelta(hours=5), "run_seconds": 18_000.0, "io_core_seconds": seconds,
            "is_partial": False, "lineage_id": log_id, "owner_uid": number, "name_uid": number,
        })  # fmt: skip
        found["module"] += [
            {"log_id": log_id, "module": module, "state": "read", "is_partial": False} for module in ("POSIX", "STDIO")
        ]
        for file_id, (path, mount, more) in enumerate(files):
            key = {"log_id": log_id, "file_id": file_id}
            found["file_name"].append(key | {"path": path, "mount": mount, "fs_type": "lustre"})
            counters = {name: value for name, value in more.items() if name != "stdio"}
            table = "stdio_file" if "stdio" in more else "posix_file"
            known = {name: 0 for name in zeros if name in TABLES[table].columns}
            found[table].append({**known, **key, "rank": 0, **counters})
    return found


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of a night, judged by the examples of the docs alone."""
    warehouse = Warehouse(tmp_path_factory.mktemp("swept"))
    for kind in ("triggers", "views"):
        shutil.copytree(EXAMPLES / kind, warehouse.root / kind, copy_function=shutil.copyfile)
    (warehouse.root / "views" / "log_nights.sql").write_text(LINE)
    (warehouse.root / "views" / "log_nights.toml").write_text("[[cases]]\nwhy = 'Nothing comes of nothing.'\n")
    for path in warehouse.root.rglob("*"):
        path.chmod(path.stat().st_mode & ~0o022)
    files = [staged(warehouse, table, of_table, "blue", NIGHT) for table, of_table in _rows().items() if of_table]
    judged = judge((), warehouse.staging, files, site_rules(warehouse).triggers).files
    committed(warehouse, [*files, *judged])
    return warehouse.root


@pytest.fixture
def again(swept: Path, tmp_path: Path) -> Warehouse:
    """The same in a copy of its own."""
    warehouse = Warehouse(shutil.copytree(swept, tmp_path / "warehouse"))
    publish(warehouse)
    return warehouse


def _fired(root: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows(root, STATES):
        if row["state"] == "fired":
            found.setdefault(row["code"], []).append(row["log_id"])
    return found


def test_each_example_fires_on_the_log_that_does_it(swept: Path):
    """And on no other; a log that did nothing on /scratch has no opinion on its blocks."""
    assert FIRED == _fired(swept)
    states = {(row["code"], row["log_id"]): row["state"] for row in rows(swept, STATES)}
    assert ("not applicable", "clear") == (states["SITE-103", "a6"], states["SITE-101", "a6"])


def test_own_costs_are_charged_once(swept: Path):
    """The largest of a log as far as it exceeds what others are charged with; never more than the log's I/O time."""
    found = rows(swept, "SELECT log_id, sum(charged_core_seconds) AS charged FROM findings GROUP BY ALL ORDER BY ALL")
    times = {row["log_id"]: row["io_core_seconds"] for row in rows(swept, "SELECT log_id, io_core_seconds FROM logs")}
    assert {"a1", "a2", "a3", "a4", "a5"} == {row["log_id"] for row in found}
    assert [] == [row for row in found if row["charged"] > times[row["log_id"]] * (1 + 1e-9)]
    assert 5400.0 == next(row["charged"] for row in found if row["log_id"] == "a1")


def test_findings_are_reported_with_their_numbers_and_escaped(swept: Path, tmp_path: Path):
    """A report says what a site's trigger found, with the words of its view, and a path is text."""
    (tmp_path / "reports").mkdir()
    _, faults = report_piece([Place("blue", NIGHT, "a1")], swept / "iomine.duckdb", tmp_path / "reports")
    assert [] == faults
    page = (tmp_path / "reports" / "a1.html").read_text()
    assert "Shared libraries below /home" in page
    assert "Shared libraries below /home that the log opened." in page
    assert "<script>alert" not in page


def test_findings_are_mailed(swept: Path, tmp_path: Path):
    """Each user gets what a site's trigger found, with its advice."""
    digest(Order(swept, outbox=tmp_path / "out", is_dry=True, since=NIGHT))
    mails = {path.name: path.read_text() for path in (tmp_path / "out").glob("*.eml")}
    ada = next(text for text in mails.values() if "To: ada" in text)
    assert "SITE-101" in ada
    assert "apptainer build" in ada


def test_judging_again_says_the_same_and_a_change_is_compared(again: Warehouse):
    """Without a change nothing changes; another threshold, and a trigger that left, are seen."""
    assert [] == compare(again, site_rules(again).triggers).to_pylist()
    (again.root / "thresholds.toml").write_text("[SITE-102]\nsite_folder_file_count = 400\n")
    rules = site_rules(again).triggers
    only = {code: trigger for code, trigger in site_triggers(again).items() if code in rules}
    changed = compare(again, only).to_pylist()
    assert [("SITE-102", "bob", 0, 1)] == [
        (row["code"], row["user"], row["now_fired_count"], row["no_longer_fired_count"]) for row in changed
    ]
    rejudge(again, only)
    assert {code: logs for code, logs in FIRED.items() if code != "SITE-102"} == _fired(again.root)
    trial = try_on_newest(again, only, site_rules(again))
    assert ({"fired": 1, "clear": 5}, {"ada": 1}) == (trial.states["SITE-101"], trial.findings["SITE-101"])


def test_features_that_another_definition_gave_are_worked_out_again(again: Warehouse):
    """What an earlier iomine kept is judged by no more, and stays neither; today's are not worked out twice."""
    triggers = site_rules(again).triggers
    asked, verdicts = "FROM core.log_activity ORDER BY log_id", rows(again.root, STATES)
    features = rows(again.root, asked)

    def kept() -> dict[str, list[Path]]:
        snapshot = again.lake.snapshot()
        return {table: [file.path for file in snapshot.of(table)] for table in ("log_activity", "cost_claim")}

    before = kept()
    rejudge(again, triggers)
    assert before == kept()
    with to_be_written(again) as (lake, staging):
        (file,) = lake.snapshot.of("log_activity")
        older = lake.snapshot.rows("log_activity").to_pylist()
        others = pa.Table.from_pylist([row | {"data_read_count": 0} for row in older], schema=arrow_schema("log_activity"))
        commit(lake, staging, [write_file(staging, "log_activity", others, *file.partition)])
    assert {("blue", NIGHT): {"log_activity"}} == stale_features(again.lake.snapshot().files, list(triggers.values()))
    assert [] == compare(again, triggers).to_pylist()
    rejudge(again, triggers)
    assert (features, verdicts) == (rows(again.root, asked), rows(again.root, STATES))
    assert before["cost_claim"] == kept()["cost_claim"]
    assert {} == stale_features(again.lake.snapshot().files, list(triggers.values()))


def test_a_definition_is_all_that_rows_come_from(monkeypatch: pytest.MonkeyPatch):
    """The query, queries that it reads, features that it reads, and the settings that one of these asks for."""
    before = feature_notes(list(TRIGGERS.values()))

    def changed(triggers: Mapping[str, Trigger] = TRIGGERS) -> set[str]:
        return {table for table, note in feature_notes(list(triggers.values())).items() if note != before[table]}

    under_another_setting = changed(with_thresholds(TRIGGERS, [SiteThreshold("POSIX-101", "small_read_bytes", 7)]))
    assert {"log_requests", "cost_claim"} <= under_another_setting
    assert {"drishti_posix", "log_phase_profile"}.isdisjoint(under_another_setting)
    for view, tables in {
        "feature.log_rank_profile": {"log_rank_profile", "cost_claim"},
        "feature.darshan_build": {"log_meta_profile", "log_weather_profile"},
        "core.file_time": {"io_part", "cost_claim"},
    }.items():
        with monkeypatch.context() as patch:
            patch.setattr(
                definitions,
                "needed_views",
                lambda names, view=view: [
                    replace(each, sql=f"{each.sql} ") if each.qualified == view else each for each in needed_views(names)
                ],
            )
            found = changed()
        assert tables <= found
        assert "drishti_posix" not in found


def test_a_view_that_fails_on_a_night_costs_its_own_triggers_alone(again: Warehouse):
    """Their verdicts are unknown, with the reason; all others stay."""
    view = again.root / "views" / "home_libraries.sql"
    text = view.read_text()
    broken = "(CASE WHEN library_count > 5 THEN error('broken') ELSE coalesce(library_count, 0) END)::BIGINT"
    view.write_text(text.replace("coalesce(library_count, 0)", broken))
    rejudge(again, site_rules(again).triggers)
    assert {code: logs for code, logs in FIRED.items() if code != "SITE-101"} == _fired(again.root)
    reasons = {row["reason"] for row in rows(again.root, STATES) if row["code"] == "SITE-101"}
    assert {"The view site.home_libraries failed: Invalid Input Error: broken."} == reasons

    twice = "FROM core.log\nJOIN (VALUES (1), (2)) AS twice (n) ON n = 1 OR nprocs > 100\n"
    view.write_text(text.replace("FROM core.log\n", twice))
    rejudge(again, site_rules(again).triggers)
    reasons = {row["reason"] for row in rows(again.root, STATES) if row["code"] == "SITE-101"}
    assert {"The view site.home_libraries failed: it has several rows for one log."} == reasons


def test_a_trigger_that_left_leaves_all_else_as_it_was(again: Warehouse):
    """Its verdicts leave when logs are judged again, and its view with the next publication."""
    before = [row for row in rows(again.root, STATES) if row["code"] != "SITE-101"]
    (again.root / "triggers" / "SITE-101.toml").unlink()
    for ending in ("sql", "toml"):
        (again.root / "views" / f"home_libraries.{ending}").unlink()
    rejudge(again, site_rules(again).triggers)
    assert before == rows(again.root, STATES)
    assert [] == rows(again.root, "SELECT * FROM view_dictionary WHERE table_name = 'site.home_libraries'")


def test_a_view_is_in_the_dictionaries_and_shows_each_their_own(swept: Path, tmp_path: Path):
    """Its words mean what its header says; whoever sees their own logs only sees only these of it."""
    (word,) = rows(swept, "SELECT unit, about FROM data_dictionary WHERE column_name = 'site_log_bytes'")
    assert {"unit": "bytes", "about": "Bytes of these."} == word
    restrict(swept / "iomine.duckdb", tmp_path / "own.duckdb", "own")
    with open_restricted(tmp_path / "own.duckdb", swept / "iomine.duckdb", Whose(frozenset({"bob"}))) as con:
        assert ["a2", "a3"] == answer_own(con, "SELECT log_id FROM site.scratch_requests ORDER BY log_id")["log_id"].to_pylist()


def test_panels_are_drawn_and_lead_to_rows_and_reports(swept: Path):
    """Bars, a table and a heat map stand in the dashboard, escaped as all else."""
    session = Session(swept / "iomine.duckdb", LIMITS)
    window = window_of(session, [])
    page = dashboard(session, window, FileLinks("", "tables", set(), takes_notes=True))
    for title in ("Directories with most small files", "Log files on /scratch", "Logs by hour and user", "Logs, as a line"):
        assert title in page
    assert 'polyline points="0.5,1.5"' in page
    assert 'class="l4"' in page
    assert "<script>alert" not in page
    session.close()


def test_an_export_has_the_views(swept: Path, tmp_path: Path):
    """With pseudonyms their rows go along, each column replaced as its class says, and nothing that the site wrote."""
    export(Warehouse(swept), tmp_path / "plain", Choice())
    assert 6 == len(rows(tmp_path / "plain", "FROM site.scratch_requests"))
    export(Warehouse(swept), tmp_path / "secret", Choice(), Pseudonyms(bytes(range(32))))
    with open_catalog(tmp_path / "secret" / "iomine.duckdb") as con:
        ask = partial(answer_own, con)
        assert 0 == ask("FROM _rule").num_rows
        (found,) = ask("SELECT finding FROM findings WHERE code = 'SITE-101'")["finding"].to_pylist()
        library = ask("FROM site.home_libraries WHERE site_library_count > 0").to_pylist()
    assert (1, 6) == (len(library), library[0]["site_library_count"])
    assert [] == [text for text in (found, library[0]["site_library_path"]) if "eve" in text or "lib0" in text]
