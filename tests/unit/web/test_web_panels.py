"""The dashboard's numbers against rows added up by hand, and against the rows that they lead to."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pytest
from facility import FIRST, NIGHTS, Facility
from outline import HOSTILE
from rows_in import BY_NAME, stage

from iomine.errors import LimitError
from iomine.units import core_hours, counted
from iomine.web.about import about_of, sentence_of
from iomine.web.links import ServedLinks
from iomine.web.pages import dashboard
from iomine.web.panel import Panel
from iomine.web.panels import PANELS
from iomine.web.question import Question, Statement
from iomine.web.sessions import Session
from iomine.web.window import GROUPS, Window, window_of

PANEL = {panel.name: panel for panel in PANELS}
WINDOWS = (
    [],
    [("cluster", "green")],
    [("since", "2024-04-03"), ("until", "2024-04-08")],
    [("since", "2024-04-05"), ("until", "2024-04-05"), ("cluster", "blue")],
    [("since", "2030-01-01"), ("until", "2030-01-05")],
)
Row = dict[str, Any]


@pytest.fixture(params=WINDOWS, ids=lambda parameters: "&".join(f"{name}={value}" for name, value in parameters) or "all")
def window(request, session: Session) -> Window:
    return window_of(session, request.param)


def reported(session: Session, panel: Panel, window: Window) -> list[Row]:
    return session.answer(panel.statement(window)).to_pylist()


def within(rows: Iterable[Row], window: Window) -> list[Row]:
    return [row for row in rows if window.since <= row["night"] <= window.until and window.cluster in {None, row["cluster"]}]


def costs(facility: Facility, *, facilitys: bool = False) -> dict[str, float | None]:
    """What findings are charged of each log that has some, or the facility's part of it."""
    found: dict[str, list[float]] = defaultdict(list)
    for each in facility.findings:
        charge = each["charged_core_seconds"]
        found[each["log_id"]] += [] if charge is None else [charge if each["is_facility_cause"] or not facilitys else 0.0]
    return {log_id: sum(parts) if parts else None for log_id, parts in found.items()}


def added(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def hours(seconds: float | None) -> Any:
    return seconds if seconds is None else pytest.approx(seconds / 3600)


def grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    found: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def test_usual_window_ends_with_the_newest_night(session: Session) -> None:
    """Where nothing is asked for, thirty nights are shown up to the last that has logs, of all machines."""
    window = window_of(session, [])
    assert (30, None, ("blue", "green")) == (len(window.nights), window.cluster, window.clusters)
    assert FIRST.replace(day=NIGHTS) == window.until


def test_totals(facility: Facility, session: Session, window: Window) -> None:
    """The tiles are sums over the logs and findings of the window, and the number of all rejects."""
    (row,) = reported(session, PANEL["totals"], window)
    logs, cost, part = within(facility.logs, window), costs(facility), costs(facility, facilitys=True)
    expected = {
        "night_count": len({log["night"] for log in logs}),
        "log_count": len(logs),
        "finding_count": len(within(facility.findings, window)),
        "cost_core_hours": hours(added(cost.get(log["log_id"]) for log in logs)),
        "facility_cost_core_hours": hours(added(part.get(log["log_id"]) for log in logs)),
        "io_core_hours": hours(added(log["io_core_seconds"] for log in logs)),
        "reject_count": len(facility.rejects),
    }
    assert expected == row


def test_nights(facility: Facility, session: Session, window: Window) -> None:
    """Each night has its logs, findings and core-hours, and what the last sweep of that date rejected; newest first."""
    rows = {row["night"]: row for row in reported(session, PANEL["nights"], window)}
    assert sorted(rows, reverse=True) == list(rows)
    cost, findings = costs(facility), grouped(within(facility.findings, window), lambda row: row["night"])
    sweeps = within([sweep | {"night": sweep["start_at"].date()} for sweep in facility.sweeps], window)
    rejected = {sweep["night"]: sweep["rejected_count"] for sweep in sweeps}
    logs = grouped(within(facility.logs, window), lambda row: row["night"])
    assert logs.keys() | rejected.keys() == rows.keys()
    for night, row in rows.items():
        assert len(logs[night]) == row["log_count"]
        assert len(findings[night]) == row["finding_count"]
        assert hours(added(cost.get(log["log_id"]) for log in logs[night])) == row["cost_core_hours"]
        assert hours(added(log["io_core_seconds"] for log in logs[night])) == row["io_core_hours"]
        assert rejected.get(night) == row["rejected_count"]


@pytest.mark.parametrize("by", GROUPS)
def test_offenders(facility: Facility, session: Session, by: str) -> None:
    """However offenders are grouped, their sums are those of their logs, and nobody who can change more is left out."""
    window = window_of(session, [("by", by), ("since", "2024-04-02")])
    accounts = {(job["cluster"], job["job_id"]): set() for job in facility.jobs}
    for job in facility.jobs:
        accounts[job["cluster"], job["job_id"]] |= {(job["night"], job["account"])} if job["account"] else set()
    keys, findings = GROUPS[by], grouped(facility.findings, lambda row: row["log_id"])
    cost, part = costs(facility), costs(facility, facilitys=True)

    def charged(log: Row) -> Row:
        of_job = accounts.get((log["cluster"], log["job_id"]), set())
        return log | {"account": max(of_job, key=lambda each: each[0])[1] if of_job else None}

    logs = [charged(log) for log in within(facility.logs, window)]
    groups = grouped(logs, lambda log: tuple(log[key] for key in keys))
    rows = {tuple(row[key] for key in keys): row for row in reported(session, PANEL["offenders"], window)}
    assert min(10, len(groups)) == len(rows)
    totals = {
        key: sum((cost.get(log["log_id"]) or 0.0) - (part.get(log["log_id"]) or 0.0) for log in of_key)
        for key, of_key in groups.items()
    }
    least = min(totals[key] for key in rows)
    assert not [key for key, total in totals.items() if total > least * (1 + 1e-9) and key not in rows]
    for key, row in rows.items():
        timed = [log for log in groups[key] if log["io_core_seconds"] is not None]
        run = sum(log["run_seconds"] * log["nprocs"] for log in timed)
        assert len(groups[key]) == row["log_count"]
        assert sum(len(findings[log["log_id"]]) for log in groups[key]) == row["finding_count"]
        assert hours(added(cost.get(log["log_id"]) for log in groups[key])) == row["cost_core_hours"]
        assert hours(added(part.get(log["log_id"]) for log in groups[key])) == row["facility_cost_core_hours"]
        assert (pytest.approx(added(log["io_core_seconds"] for log in timed) / run) if run else None) == row["io_ratio"]


def test_findings_by_trigger(facility: Facility, session: Session, window: Window) -> None:
    """Each code has its number of findings in all and by night, and their cost."""
    rows = {row["code"]: row for row in reported(session, PANEL["triggers"], window)}
    of_code = grouped(within(facility.findings, window), lambda row: row["code"])
    assert of_code.keys() == rows.keys()
    for code, row in rows.items():
        by_night = {night: len(found) for night, found in grouped(of_code[code], lambda each: each["night"]).items()}
        assert by_night == dict(zip(row["nights"], row["night_finding_counts"], strict=True))
        assert len(of_code[code]) == row["finding_count"]
        charges = [(each["charged_core_seconds"], each["is_facility_cause"]) for each in of_code[code]]
        assert hours(added(charge for charge, _ in charges)) == row["cost_core_hours"]
        assert hours(added(charge for charge, is_facilitys in charges if is_facilitys)) == row["facility_cost_core_hours"]


@pytest.mark.parametrize(("name", "kind"), [("osts", "ost"), ("mdts", "mdt")])
def test_slow_targets(facility: Facility, session: Session, window: Window, name: str, kind: str) -> None:
    """A target's hours are those in which requests took at least twice as long as usual, with the time lost in them."""
    slots = [slot for slot in within(facility.slots, window) if slot["target_kind"] == kind]
    expected: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (target, _), of_hour in grouped(slots, lambda slot: (slot["target"], slot["begin_at"])).items():
        spent, usual = (sum(slot[column] for slot in of_hour) for column in ("service_seconds", "usual_service_seconds"))
        if spent / usual >= 2:
            expected[target].append((spent / usual, spent - usual))
    rows = {row["target"]: row for row in reported(session, PANEL[name], window)}
    assert expected.keys() == rows.keys()
    for target, row in rows.items():
        assert len(expected[target]) == row["hour_count"]
        assert pytest.approx(max(ratio for ratio, _ in expected[target])) == row["server_slowdown_ratio"]
        assert pytest.approx(sum(lost for _, lost in expected[target])) == row["lost_service_seconds"]


def test_applications(facility: Facility, session: Session, window: Window) -> None:
    """An application has the logs, users and bytes of its logs."""
    groups = grouped(within(facility.logs, window), lambda log: log["application"])
    rows = reported(session, PANEL["applications"], window)
    assert min(10, len(groups)) == len(rows)
    for row in rows:
        logs = groups[row["application"]]
        assert len(logs) == row["log_count"]
        assert len({log["uid"] for log in logs} - {None}) == row["user_count"]
        assert sum(log["write_bytes"] for log in logs) == row["write_bytes"]
        assert hours(added(log["io_core_seconds"] for log in logs)) == row["io_core_hours"]


def test_applications_have_no_log_of_a_doubtful_owner() -> None:
    """A log that its owner may not have written is in no ranking."""
    log = {"cluster": "x", "night": FIRST, "log_id": "a", "uid": 1, "application": "ior", "io_core_seconds": 3600.0}
    forged = log | {"log_id": "b", "uid": 2, "io_core_seconds": 7200.0, "is_owner_confirmed": False}
    asked = PANEL["applications"].statement(Window(FIRST, FIRST, None, ("x",)))
    with stage(BY_NAME["main.applications"], {"main.logs": [log, forged]}) as con:
        (row,) = con.sql(asked.sql, params=asked.values).to_arrow_table().to_pylist()
    assert ("ior", 1, 1, 1.0) == (row["application"], row["log_count"], row["user_count"], row["io_core_hours"])


def test_file_systems(facility: Facility, session: Session, window: Window) -> None:
    """A mount has the sums of what programs did there, and the one that took most time comes first."""
    groups = grouped(within(facility.mounts, window), lambda row: row["mount"])
    rows = reported(session, PANEL["filesystems"], window)
    assert groups.keys() == {row["mount"] for row in rows}
    times = [row["io_core_hours"] for row in rows]
    assert sorted(times, reverse=True) == times
    for row in rows:
        parts = groups[row["mount"]]
        assert hours(sum(part["io_core_seconds"] for part in parts)) == row["io_core_hours"]
        assert hours(sum(part["meta_core_seconds"] for part in parts)) == row["meta_core_hours"]
        for column in ("read_bytes", "write_bytes", "file_count", "log_count"):
            assert sum(part[column] for part in parts) == row[column]


@pytest.mark.parametrize("name", ["/scratch", "scratch", "/lus/home", f"/{HOSTILE['tag']}"])
def test_page_of_a_file_system(facility: Facility, session: Session, name: str) -> None:
    """By its mount or its last part, a file system has its sums by night and by program, and the hours of its own servers."""
    about = about_of(session, "filesystem", [("name", name)])
    mounted = [row for row in within(facility.mounts, about.window) if name in {row["mount"], row["mount"].rpartition("/")[2]}]
    answers = {
        panel.name: session.answer(panel.statement(about.window, about.subject)).to_pylist()
        for panel in (about.first, *about.panels)
    }
    nights = grouped(mounted, lambda row: row["night"])
    assert sorted(nights, reverse=True) == [row["night"] for row in answers["nights"]]
    for row in answers["nights"]:
        parts = nights[row["night"]]
        assert hours(sum(part["io_core_seconds"] for part in parts)) == row["io_core_hours"]
        assert hours(sum(part["meta_core_seconds"] for part in parts)) == row["meta_core_hours"]
        assert sum(part["written_file_count"] for part in parts) == row["written_file_count"]
    users = grouped(mounted, lambda row: (row["user"], row["uid"], row["app"]))
    assert len(users) == len(answers["users"]) <= 20
    for row in answers["users"]:
        assert sum(part["read_bytes"] for part in users[row["user"], row["uid"], row["app"]]) == row["read_bytes"]
    targets = {slot["target"] for slot in within(facility.slots, about.window)} if name.endswith("scratch") else set()
    assert targets == {row["target"] for row in answers["strips"]}


def test_coverage(facility: Facility, session: Session, window: Window) -> None:
    """Of the jobs that ran in a night, those with a log are counted, and their node-hours."""
    logged = {(log["cluster"], log["job_id"]) for log in facility.logs}
    # The same job comes once a night.
    jobs = {(job["cluster"], job["night"], job["job_id"]): None for job in facility.jobs}
    rows = {row["night"]: row for row in reported(session, PANEL["coverage"], window)}
    shown = session.ask("SELECT cluster, night, job_id, node_hours FROM jobs WHERE run_seconds > 0 AND end_at IS NOT NULL")
    ran = grouped(within(shown.to_pylist(), window), lambda job: job["night"])
    assert ran.keys() == rows.keys()
    for night, row in rows.items():
        of_night = ran[night]
        assert all((job["cluster"], job["night"], job["job_id"]) in jobs for job in of_night)
        assert len(of_night) == row["job_count"]
        assert sum((job["cluster"], job["job_id"]) in logged for job in of_night) == row["logged_job_count"]
        assert pytest.approx(sum(job["node_hours"] for job in of_night)) == row["node_hours"]


def test_rejects_and_sweeps(facility: Facility, session: Session, window: Window) -> None:
    """Rejects are counted by reason, whatever the window; sweeps are listed as they were, the last first."""
    counts = {(row["stage"], row["reason"]): row["reject_count"] for row in reported(session, PANEL["rejects"], window)}
    groups = grouped(facility.rejects, lambda row: (row["stage"], row["reason"]))
    assert min(10, len(groups)) == len(counts)
    assert counts == {key: len(groups[key]) for key in counts}
    found = [row["found_count"] for row in reported(session, PANEL["sweeps"], window)]
    assert [sweep["found_count"] for sweep in reversed(facility.sweeps)] == found


COUNTED = {
    "totals": ("log_count", "finding_count", "reject_count"),
    "nights": ("log_count", "finding_count"),
    "offenders": ("log_count", "finding_count"),
    "triggers": ("finding_count",),
    "osts": ("hour_count",),
    "mdts": ("hour_count",),
    "applications": ("log_count",),
    "coverage": ("job_count", "logged_job_count"),
    "rejects": ("reject_count",),
}


@pytest.mark.proof
@pytest.mark.parametrize(("name", "by"), [*((name, "program") for name in COUNTED), ("offenders", "user"), ("offenders", "app")])
def test_every_count_leads_to_as_many_rows(session: Session, name: str, by: str) -> None:
    """The rows behind a count are as many as it says, whatever signs a name is made of."""
    window = window_of(session, [("since", "2024-04-02"), ("by", by)])
    rows = reported(session, PANEL[name], window)
    assert rows
    counted = [column for column in PANEL[name].columns if column.name in COUNTED[name]]
    assert [(row[column.name], column.name) for row in rows for column in counted] == [
        (session.count(column.drill(row, window)), column.name) for row in rows for column in counted if column.drill
    ]


def test_nights_lead_to_their_rows_of_trends(session: Session) -> None:
    """The number of nights leads to a row of each night and machine."""
    window = window_of(session, [])
    (row,) = reported(session, PANEL["totals"], window)
    drill = PANEL["totals"].columns[0].drill
    assert drill is not None
    trends = session.answer(drill(row, window).rows(10_000)).to_pylist()
    assert row["night_count"] == len({each["night"] for each in trends if each["log_count"]})


def test_findings_of_a_trigger_that_is_charged_nothing_come_by_their_own_cost(session: Session) -> None:
    """Their time is charged to other findings, so by charges alone they would stand in no order."""
    window = window_of(session, [])
    (row, *_) = reported(session, PANEL["triggers"], window)
    drill = next(column.drill for column in PANEL["triggers"].columns if column.name == "finding_count")
    assert drill is not None
    assert "-charged_core_seconds,-cost_core_seconds" == drill(row, window).order


def test_account_leads_to_the_sums_that_it_is_made_of(session: Session) -> None:
    """No log has an account, so its numbers lead to the sums of nights, which add up to them."""
    window = window_of(session, [("by", "account")])
    for row in reported(session, PANEL["offenders"], window):
        question = next(column.drill for column in PANEL["offenders"].columns if column.name == "log_count")(row, window)
        parts = session.answer(question.rows(10_000)).to_pylist()
        assert row["log_count"] == sum(part["log_count"] for part in parts)
        assert row["finding_count"] == sum(part["finding_count"] for part in parts)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.name)
def test_shown_sql_is_what_was_asked(session: Session, panel: Panel) -> None:
    """The statement that is shown, pasted, gives the answer that the page has; float sums differ in the last digits."""
    window = window_of(session, [("cluster", "blue")])
    statement = panel.statement(window)
    shown, asked = session.ask(statement.text).to_pylist(), session.answer(statement).to_pylist()
    assert len(asked) == len(shown)
    for one, other in zip(asked, shown, strict=True):
        assert one == {name: pytest.approx(value) if isinstance(value, float) else value for name, value in other.items()}


@pytest.mark.proof
@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.name)
def test_every_number_leads_somewhere(session: Session, panel: Panel) -> None:
    """Each number of each row leads to rows of a view that is there, by columns that it has, or to the page of what it names."""
    window = window_of(session, [])
    alone = {"code", "title", "night_finding_counts", "cluster", "reason", "stage"}
    for row in reported(session, panel, window)[:3]:
        for column in panel.columns:
            if column.name in alone or (panel.sql.startswith("web/") and column.drill is None):
                continue
            assert column.drill is not None
            leads_to = column.drill(row, window)
            if isinstance(leads_to, Question):
                session.answer(leads_to.rows(1))
            elif leads_to is not None:
                about_of(session, leads_to.kind, [("name", leads_to.name)])


def test_a_panel_that_takes_too_much_leaves_the_others(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says why it has no numbers, and shows what was asked; the other panels have theirs."""
    true_answer = Session.answer

    def limited(self: Session, statement: Statement) -> pa.Table:
        if statement == PANEL["coverage"].statement(window):
            raise LimitError("That takes longer than it may.")
        return true_answer(self, statement)

    window = window_of(session, [])
    before = dashboard(session, window, ServedLinks("")).split("<section")
    monkeypatch.setattr(Session, "answer", limited)
    after = dashboard(session, window, ServedLinks("")).split("<section")
    (found,) = [(was, now) for was, now in zip(before, after, strict=True) if was != now]
    assert 'id="coverage"' in found[1]
    assert "That takes longer than it may." in found[1]
    assert "<table" in found[0]
    assert "<table" not in found[1]


def test_dashboard_begins_with_what_was_lost(window: Window, session: Session) -> None:
    """Its first sentences have the figures of the tiles, and those of the last and the worst night."""
    text = re.sub("<[^>]+>", "", dashboard(session, window, ServedLinks("")))
    (totals,) = reported(session, PANEL["totals"], window)
    nights = {
        row["night"]: row["cost_core_hours"] or 0.0 for row in reported(session, PANEL["nights"], window) if row["log_count"]
    }
    if not nights:
        assert "No log of these nights is known." in text
        return
    counts = counted(totals["log_count"], "run"), counted(totals["night_count"], "night")
    assert f"{counts[0]} in {counts[1]} spent {core_hours(3600 * totals['io_core_hours'])} in I/O;" in text
    last, worst = max(nights), max(nights, key=nights.__getitem__)
    said = core_hours(3600 * nights[worst])
    if len(nights) == 1:
        assert "last night" not in text
    elif last == worst:
        assert f"The last night, {last}, was the worst: {said}." in text
    else:
        assert f"The last night, {last}, lost " in text
        assert f"the worst, {worst}, lost {said}." in text


def test_time_that_is_not_known_is_not_said_to_be_small() -> None:
    """Of logs whose time in I/O is not known, the sentence counts runs and nights alone."""
    night = {"night": FIRST, "log_count": 2, "io_core_hours": None, "cost_core_hours": None, "facility_cost_core_hours": None}
    assert "2 runs in 1 night; how long their I/O took is not known." == sentence_of([night], ())
    assert "2 runs in 1 night spent 1 core-hour in I/O; no finding is about that time." == sentence_of(
        [night | {"io_core_hours": 1.0}], ()
    )
