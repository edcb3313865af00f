"""What mails list, against adding up the rows one by one."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mail_rows import all_mails, database, since

from iomine.digest.causes import causes_of
from iomine.digest.known import Known, Scope, gather
from iomine.post.model import Subject
from iomine.triggers import TRIGGERS
from iomine.triggers.inputs import NEW_FILES

FIRST = date(2024, 4, 1)
NIGHTS = [FIRST + timedelta(days=number) for number in range(4)]
CODES = ("POSIX-101", "POSIX-102", "RANK-201", "LUSTRE-101")
Row = dict[str, Any]

_costs = st.one_of(st.none(), st.integers(0, 50).map(lambda count: 3600.0 * count))
_runs = st.lists(
    st.fixed_dictionaries(
        {
            "cluster": st.sampled_from(["blue", "green"]),
            "night": st.sampled_from(NIGHTS),
            "user": st.sampled_from(["ada", "bob", "", None]),
            "application": st.sampled_from(["solve", "post", None]),
            "lineage_id": st.sampled_from(["a", "b", None]),
            "job_id": st.sampled_from(["1", "2", "3"]),
            "run_seconds": st.sampled_from([None, 0.0, 900.0]),
            "nprocs": st.sampled_from([None, 0, 4]),
            "io_core_seconds": st.sampled_from([None, 36_000.0, 360_000.0]),
            "system_state": st.sampled_from([None, "application", "system", "neighbour", "unexplained"]),
            "is_slow_run": st.sampled_from([None, False, True]),
            "fired": st.dictionaries(st.sampled_from(CODES), _costs, max_size=4),
        }
    ),
    max_size=12,
)
_outcomes = st.lists(
    st.tuples(
        st.sampled_from(["ada", "bob"]), st.sampled_from(["a", "b"]), st.sampled_from(CODES), st.sampled_from(["gone", "worse"])
    ),
    max_size=3,
    unique_by=lambda each: each[1:3],
)
JOBS = [
    {"cluster": cluster, "night": FIRST, "job_id": job_id, "account": account}
    for cluster in ("blue", "green")
    for job_id, account in (("1", "chem"), ("2", "bio"))
]
_scopes = st.builds(
    Scope,
    whose=st.sampled_from(["user", "project"]),
    since=st.dictionaries(st.sampled_from(["ada", "chem"]), st.sampled_from(NIGHTS)),
    usual_since=st.sampled_from(NIGHTS),
    until=st.sampled_from(NIGHTS),
    only=st.sampled_from([None, None, "ada", "bio"]),
    without=st.sampled_from([[], [], ["bio"]]),
)


def tables(runs: list[Row], outcomes: list[tuple[str, str, str, str]]) -> dict[str, list[Row]]:
    """The rows of the views."""
    logs = [{**run, "log_id": f"{number:016x}", "app": "x", "exe": "x"} for number, run in enumerate(runs)]
    findings = [
        {name: log[name] for name in ("cluster", "night", "log_id")}
        | {"code": code, "level": "warn", "cost_core_seconds": cost, "finding": "f", "advice": "a"}
        | {"charged_core_seconds": charged(code, cost), "cause_code": cause(code)}
        for log in logs
        for code, cost in log["fired"].items()
    ]
    slowdowns = {"weather_slowdown_ratio": 2.0, "run_slowdown_ratio": 4.0}
    system_state = [
        log | {"weather_verdict": log["system_state"], "is_excused": _is_excused(log)} | slowdowns
        for log in logs
        if log["system_state"]
    ]
    reported = [
        {
            **dict(zip(("user", "lineage_id", "code", "outcome"), each, strict=True)),
            "cluster": "blue",
            "application": "solve",
            "told_night": FIRST,
            "clear_night": NIGHTS[1],
            "is_over": True,
            "saved_core_seconds": 7200.0,
            "later_count": 5,
            "later_fired_count": 0,
            "clear_since_count": 5,
        }
        for each in outcomes
    ]
    return {"logs": logs, "findings": findings, "job_weather": system_state, "advice_outcomes": reported, "core.job": JOBS}


def charged(code: str, cost: float | None) -> float | None:
    """What a finding adds to the sum; of large files all the requests are other findings' too."""
    return None if cost is None or code == "LUSTRE-101" else cost


def cause(code: str) -> str:
    """What is about reads has a cause of its own."""
    return "POSIX-101" if code == "POSIX-101" else "POSIX-102"


def recipient_of(run: Row, scope: Scope) -> str | None:
    account = {"1": "chem", "2": "bio"}.get(run["job_id"])
    if not run["user"] or account in scope.without:
        return None
    return run["user"] if scope.whose == "user" else account


def counted(runs: list[Row], scope: Scope) -> dict[str, list[Row]]:
    """The runs that are reported to each recipient."""
    found: dict[str, list[Row]] = defaultdict(list)
    for run in runs:
        recipient = recipient_of(run, scope)
        if recipient and scope.only in {None, recipient} and scope.first_night(recipient) <= run["night"] <= scope.until:
            found[recipient].append(run)
    return found


def added(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


# Each example makes a database.
@settings(max_examples=60)
@given(_runs, _outcomes, _scopes)
@pytest.mark.proof
def test_sums_are_those_of_the_rows(runs: list[Row], outcomes: list[tuple[str, str, str, str]], scope: Scope):
    """Runs, nights, costs, shares and causes of each recipient are what counting the rows gives."""
    gone = {(lineage, code) for _, lineage, code, outcome in outcomes if outcome == "gone"}
    got = gather(database(tables(runs, outcomes)), scope)
    expected = counted(runs, scope)
    assert expected.keys() == got.keys()
    for recipient, of_one in expected.items():
        _hold(got[recipient], of_one, gone)


def _hold(got: Known, runs: list[Row], gone: set[tuple[str, str]]) -> None:
    loud = [run for run in runs if not _is_excused(run) and not _is_unexplained(run)]
    fired: dict[tuple[str, str, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for run in loud:
        for code in run["fired"]:
            if run["cluster"] != "blue" or (run["lineage_id"], code) not in gone:
                fired[run["cluster"], run["user"], run["application"] or ""][code].append(run)
    signs = {
        ((cause.cluster, cause.user, cause.application), each.code): each
        for cause in got.causes
        for each in (cause.lead, *cause.others)
    }
    assert {(what, code) for what, codes in fired.items() for code in codes} == signs.keys()
    for (what, code), sign in signs.items():
        of_code = fired[what][code]
        assert len(of_code) == sign.run_count
        assert len({run["night"] for run in of_code}) == sign.night_count
        assert min(run["night"] for run in of_code) == sign.first_night
        assert max(run["night"] for run in of_code) == sign.last_night
        assert added(run["fired"][code] for run in of_code) == sign.cost_core_seconds
        assert added(charged(code, run["fired"][code]) for run in of_code) == sign.charged_core_seconds
        known = [run["run_seconds"] for run in of_code if run["fired"][code] is not None]
        assert (added(known), len(known) - known.count(None)) == (sign.run_seconds, sign.timed_run_count)
        ranks = [(charged(code, run["fired"][code]), run["nprocs"]) for run in of_code]
        shares = [cost / count if cost is not None and count else None for cost, count in ranks]
        assert added(shares) == pytest.approx(sign.charged_rank_seconds)
    for what, codes in fired.items():
        together = {
            (one, other): len([run for run in codes[one] if run in codes[other]])
            for one in codes
            for other in codes
            if one != other and cause(one) == cause(other)
        }
        mine = [cause for cause in got.causes if (cause.cluster, cause.user, cause.application) == what]
        parted = causes_of(*what, [signs[what, code] for code in codes], together)
        assert mine == sorted(parted, key=lambda cause: -cause.lost_core_seconds)
    _hold_counts(got, runs, loud, gone)


def _hold_counts(got: Known, runs: list[Row], loud: list[Row], gone: set[tuple[str, str]]) -> None:
    for (cluster, user, name), application in got.applications.items():
        mine = [run for run in runs if (run["cluster"], run["user"], run["application"] or "") == (cluster, user, name)]
        unexplained = [run for run in mine if _is_unexplained(run)]
        slowed = [run for run in mine if run not in loud and run not in unexplained]
        assert len(mine) - len(slowed) - len(unexplained) == application.run_count
        assert len(unexplained) == application.unexplained_count
        assert len({run["night"] for run in unexplained}) == application.unexplained_night_count
        assert application.unexplained_slowdown_ratio == (4.0 if unexplained else None)
        assert len(slowed) == application.system_count + application.neighbour_count + application.fabric_count
        assert len({run["night"] for run in slowed}) == application.night_count
    total = 0.0
    for run in loud:
        reported = [code for code in run["fired"] if run["cluster"] != "blue" or (run["lineage_id"], code) not in gone]
        total += added(charged(code, run["fired"][code]) for code in reported) or 0.0
    assert total == pytest.approx(sum(row["cost_core_seconds"] or 0 for row in got.nights))
    assert total == pytest.approx(sum(cause.cost_core_seconds or 0 for cause in got.causes))


def _is_excused(run: Row) -> bool:
    return run["system_state"] in {"system", "neighbour"} and run["is_slow_run"] is not False


def _is_unexplained(run: Row) -> bool:
    return run["system_state"] == "unexplained" and bool(run["is_slow_run"])


def run_of(number: int, **given: Any) -> Row:
    """A run of ada's on a night, in which small writes cost an hour."""
    return {
        "cluster": "blue",
        "night": NIGHTS[0],
        "user": "ada",
        "application": "solve",
        "lineage_id": "a",
        "job_id": str(number),
        "run_seconds": 9000.0,
        "nprocs": 4,
        "io_core_seconds": 7200.0,
        "system_state": None,
        "is_slow_run": None,
        "fired": {"POSIX-102": 3600.0},
        **given,
    }


def test_as_many_as_fit_are_listed_and_the_rest_counted():
    """Of seven causes three fit into 25 lines, the costliest first; the subject counts all, and the rest is summed up."""
    runs = [run_of(1, application=f"app{number}", fired={"POSIX-102": 3600.0 * number}) for number in range(1, 8)]
    mail = all_mails(database(tables(runs, [])), since(FIRST, NIGHTS[-1]))["ada"]
    assert ["app7", "app6", "app5"] == [entry.subject.application for entry in mail.entries]
    assert len(mail.text.split("\n-- \n")[0].splitlines()) <= 25
    assert mail.subject.startswith("7 things to change, the costliest 7 core-hours:")
    left = "4 more are in the reports, 10 core-hours in all, first app4: Small writes take time (4 core-hours)."
    assert left in " ".join(mail.text.split())
    assert left in re.sub("<[^>]*>", "", mail.html)


def test_what_the_facility_has_to_mend_is_apart():
    """The first sentence, the subject, the picture and the lines of users count what can be changed, and name the rest apart."""
    slow_ost = {"LUSTRE-203": 7200.0, "RANK-201": 1800.0}
    runs = [
        run_of(1),
        # The same program, on a slow OST in another night, and a program that has no other cause.
        run_of(1, night=NIGHTS[1], fired=slow_ost | {"POSIX-102": 900.0}),
        run_of(1, night=NIGHTS[1], application="other", fired=slow_ost),
    ]
    reported = tables(runs, [])
    for row in reported["findings"]:
        row["is_facility_cause"] = row["night"] == NIGHTS[1]
        row["cause_code"] = "LUSTRE-203" if row["is_facility_cause"] else row["code"]
    mail = all_mails(database(reported), since(FIRST, NIGHTS[-1]))["ada"]
    said = " ".join(mail.text.split())
    assert "what was found in your runs cost 1 core-hour, most of it on 1 April. " in said
    assert "April. What the facility has to fix cost another 5.25 core-hours." in said
    assert mail.subject.startswith("1 thing to change, 1 core-hour:")
    assert "at most 1 core-hour, on 1 April" in mail.html
    # What the facility caused brings no entry near the site's threshold, nor before others.
    small = next(entry.subject.code for entry in mail.entries)
    assert [(small, 3600.0), ("LUSTRE-203", 0.0), ("LUSTRE-203", 0.0)] == [
        (entry.subject.code, entry.cost_core_seconds) for entry in mail.entries
    ]
    project = all_mails(database(reported), replace(since(FIRST, NIGHTS[-1]), whose="project"))["chem"]
    assert "- ada: 1 core-hour in 3 runs" in project.text

    reported["findings"] = [row for row in reported["findings"] if row["is_facility_cause"]]
    mail = all_mails(database(reported), since(FIRST, NIGHTS[-1]))["ada"]
    said = " ".join(mail.text.split())
    assert "in the nights of 1 to 4 April 2024. What the facility has to fix cost 5.25 core-hours." in said
    assert mail.subject.startswith("2 things for the operators:")
    assert {} == mail.pictures


def test_slow_runs_are_summed_up_where_one_cause_leaves_no_room():
    """A mail of one long cause and of many other slow runs says of these how many there were, in 25 lines."""
    runs = [run_of(1)]
    for state in ("system", "neighbour", "unexplained"):
        runs += [run_of(2, application=f"{state}{each}", system_state=state, is_slow_run=True) for each in range(3)]
    reported = tables(runs, [])
    long = {"finding": f"Writes are small{', and small' * 60}.", "advice": f"Write more{' and more' * 20} at once."}
    reported["findings"] = [row | long for row in reported["findings"]]
    (mail,) = all_mails(database(reported), since(FIRST, NIGHTS[-1])).values()
    lines = mail.text.split("\n-- \n")[0].splitlines()
    assert len(lines) <= 25
    assert "- 6 runs of 6 applications were slowed." in lines
    assert "- I/O of 3 runs of 3 applications took longer than in nights before." in lines
    assert 1 == len(mail.entries)


def test_nothing_to_say_is_no_mail():
    """Who has no findings, or is to be mailed none, gets no mail; nor does a run without a user's name."""
    runs = [run_of(1, fired={}), run_of(2, user="bob"), run_of(3, user="")]
    ask = database(tables(runs, []))
    assert {"bob"} == all_mails(ask, since(FIRST, NIGHTS[-1])).keys()
    assert {} == all_mails(ask, since(FIRST, NIGHTS[-1]), is_quiet=lambda *_: True)
    assert {} == all_mails(ask, since(FIRST, NIGHTS[-1]), is_reader=lambda _: False)
    assert {} == all_mails(ask, since(NIGHTS[2], NIGHTS[-1]))


def test_what_could_lead_is_asked_for_too():
    """A cause is quiet where a sign that may have led it last time is; a much cheaper sign silences nothing."""
    runs = [run_of(1, fired={"POSIX-102": 3600.0, "LUSTRE-101": 2000.0, "RANK-201": 100.0})]
    ask = database(tables(runs, []))
    for code, reported in (("LUSTRE-101", {}), ("POSIX-102", {}), ("RANK-201", {"ada"})):
        got = all_mails(ask, since(FIRST, NIGHTS[-1]), is_quiet=lambda _, entry, code=code: entry.subject.code == code)
        assert set(reported) == got.keys()


def test_idle_ranks_are_reported_beside_the_cost():
    """The time of idle ranks is given beside the cost, once for signs of one cause, and count for what is worth a mail."""
    reported = tables([run_of(1, fired={"RANK-303": 3600.0, "RANK-302": 1800.0})], [])
    for row in reported["findings"]:
        row |= {"charged_core_seconds": row["cost_core_seconds"], "idle_core_seconds": 2 * row["cost_core_seconds"]}
    (mail,) = all_mails(database(reported), since(FIRST, NIGHTS[-1])).values()
    assert ["RANK-303"] == [entry.subject.code for entry in mail.entries]
    assert ("RANK-302",) == mail.entries[0].signs
    assert 3600.0 + 1800.0 + 7200.0 == mail.entries[0].cost_core_seconds
    assert "1.5 core-hours, and other ranks stood idle for 2 core-hours" in " ".join(mail.text.split())


def test_a_command_for_layouts_says_which_files_get_them():
    """The folder of a run that has ended may get no more files, so a mail does not show the command alone."""
    template = TRIGGERS["LUSTRE-101"].templates("advice")[0]
    reported = tables([run_of(1, fired={"LUSTRE-101": 3600.0, "POSIX-102": 7200.0})], [])
    for row in reported["findings"]:
        row["cause_code"] = "LUSTRE-101"
        row["advice"] = re.sub(r"\{\w+(:\w+)?\}", "/scratch/run", template)
    (mail,) = all_mails(database(reported), since(FIRST, NIGHTS[-1])).values()
    assert "$ lfs setstripe -c 16 -S 4M /scratch/run" in mail.text
    assert NEW_FILES in " ".join(mail.text.split())


def test_a_mail_leads_with_what_the_report_of_its_run_leads_with():
    """The lead, and the run that is shown for it, are those of which the verdicts say so, though another code cost more."""
    runs = [
        run_of(0, fired={"POSIX-102": 7200.0, "RANK-201": 5000.0}),
        run_of(1, fired={"POSIX-102": 3600.0, "RANK-201": 6000.0}),
    ]
    reported = tables(runs, [])
    first = "0" * 16
    for row in reported["findings"]:
        row["cause_code"] = "RANK-201" if row["log_id"] == first else "POSIX-102"
    (mail,) = all_mails(database(reported), since(FIRST, NIGHTS[-1])).values()
    assert ["RANK-201"] == [entry.subject.code for entry in mail.entries]
    assert f"{first}.html#RANK-201" in mail.text


def test_what_is_gone_is_praised_once():
    """What is gone is reported as gone and not as wrong: if it went in these nights, or since a mail listed it; once."""
    runs = [run_of(1)]
    ask = database(tables(runs, [("ada", "a", "POSIX-102", "gone")]))
    subject = Subject("blue", "ada", "solve", "POSIX-102")
    (mail,) = all_mails(ask, since(FIRST, NIGHTS[-1])).values()
    assert ((), (subject,)) == (mail.entries, mail.better)
    assert "is gone since 2 April" in " ".join(mail.text.split())
    assert "2 core-hours saved" in mail.subject
    assert {} == all_mails(ask, since(NIGHTS[2], NIGHTS[-1]))
    assert {} == all_mails(ask, since(FIRST, NIGHTS[-1]), is_praised=lambda *_: True)


def test_praise_names_the_mail_that_listed_it():
    """Where a mail listed what is gone now, it is praised however long ago that was, with the mail's date."""
    ask = database(tables([run_of(1, night=NIGHTS[-1], fired={})], [("ada", "a", "POSIX-102", "gone")]))
    (mail,) = all_mails(ask, since(NIGHTS[-1], NIGHTS[-1]), mailed_on=lambda *_: date(2024, 3, 28)).values()
    assert "is gone since our mail to you of 28 March" in " ".join(mail.text.split())


def test_what_is_over_without_a_mail_is_not_mailed():
    """What is over although no mail listed it is no finding any more and no praise, and keeps no other praise back."""
    reported = tables([run_of(1)], [("ada", "a", "POSIX-102", "not told")])
    assert {} == all_mails(database(reported), since(FIRST, NIGHTS[-1]))
    reported["advice_outcomes"][0]["is_over"] = False
    (mail,) = all_mails(database(reported), since(FIRST, NIGHTS[-1])).values()
    assert ["POSIX-102"] == [entry.subject.code for entry in mail.entries]
    both = tables([run_of(1)], [("ada", "a", "POSIX-102", "not told"), ("ada", "b", "POSIX-102", "gone")])
    (mail,) = all_mails(database(both), since(FIRST, NIGHTS[-1])).values()
    assert ((), 1) == (mail.entries, len(mail.better))


def test_what_is_worse_elsewhere_is_no_praise():
    """A finding that is gone in one lineage of an application and worse in another did not get better."""
    outcomes = [("ada", "a", "POSIX-102", "gone"), ("ada", "b", "POSIX-102", "worse")]
    assert {} == all_mails(database(tables([run_of(1)], outcomes)), since(FIRST, NIGHTS[-1]))


def test_others_faults_have_their_own_part():
    """Runs that others made slow are in no entry; a mail with other entries says how many, and never who slowed them."""
    runs = [run_of(1), run_of(2, system_state="neighbour"), run_of(3, system_state="system"), run_of(4, system_state="system")]
    (mail,) = all_mails(database(tables(runs, [])), since(FIRST, NIGHTS[-1])).values()
    assert 3600.0 == mail.entries[0].cost_core_seconds
    text = " ".join(mail.text.split())
    assert (
        "Slow runs, not caused by the program - solve: 3 runs in 1 night were slowed, "
        "2 by the file system itself and 1 by another user's jobs" in text
    )
    assert "1 core-hour, in the run of 1 April on blue: 15 of the 150 minutes." in text


def test_unexplained_runs_have_their_own_part():
    """Slow runs that are unexplained are in no entry, and what was ruled out is said; of those that were not slow nothing is."""
    unexplained = {"system_state": "unexplained", "is_slow_run": True}
    runs = [run_of(1), run_of(2, **unexplained), run_of(3, **unexplained)]
    runs.append(run_of(4, system_state="unexplained", is_slow_run=False))
    (mail,) = all_mails(database(tables(runs, [])), since(FIRST, NIGHTS[-1])).values()
    assert 7200.0 == mail.entries[0].cost_core_seconds
    text = " ".join(mail.text.split())
    assert "Slow runs without a known cause - solve: I/O of 2 runs in 1 night took 4.0 times as long as in nights before." in text
    assert "The servers' counters show the usual speed" in text
    assert "2 core-hours, in both runs of 1 April on blue: 15 of the 150 minutes of a run on average." in text


def test_projects_are_mailed_by_user():
    """A project's mail sums up by user, names whose application is meant, and blames nobody."""
    runs = [run_of(1), run_of(1, user="bob", fired={"POSIX-101": 7200.0}), run_of(2, user="eve")]
    got = all_mails(database(tables(runs, [])), Scope("project", {}, FIRST, NIGHTS[-1]))
    assert {"chem", "bio"} == got.keys()
    text = " ".join(got["chem"].text.split())
    assert "By user: - bob: 2 core-hours in 1 run - ada: 1 core-hour in 1 run" in text
    assert "1. bob: solve: Small reads take time" in text
    assert not [
        word for word in ("fault", "blame", "wrong", "offender") if word in (got["chem"].text + got["chem"].subject).lower()
    ]


@pytest.mark.parametrize(
    ("hours", "says"),
    [
        ((3, 2, 0.5), "what was found in your runs cost 5.5 core-hours, most of it on 1 April (3 core-hours)."),
        (
            (1, 1.5, 1),
            "what was found in your runs cost 3.5 core-hours, the largest part of it on 2 April (1.5 core-hours).",
        ),
        ((9000, 0.1, 0.1), "what was found in your runs cost 9,000 core-hours, most of it on 1 April."),
    ],
)
def test_the_costliest_night_is_called_what_it_is(hours: tuple[float, ...], says: str):
    """A night with more than half of the cost has most of it; a number that would stand there twice stands there once."""
    runs = [run_of(1, night=night, fired={"POSIX-102": 3600.0 * each}) for night, each in zip(NIGHTS, hours, strict=False)]
    (mail,) = all_mails(database(tables(runs, [])), since(FIRST, NIGHTS[-1])).values()
    assert says in " ".join(mail.text.split())
