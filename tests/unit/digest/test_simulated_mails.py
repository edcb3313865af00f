"""Who gets what of a simulated week, held against what was simulated."""

import json
from collections import defaultdict
from datetime import UTC, date, datetime
from functools import partial
from typing import NamedTuple

import lineage_truth
import pytest
from advice_truth import mailed_nightly
from catalogs import catalog_of
from mail_rows import all_mails, since

from iomine.digest import mails as mails_room
from iomine.digest.sentences import title_of
from iomine.post.model import Mail
from iomine.simulate.archetypes.model import PATTERNS
from iomine.triggers import TRIGGERS
from iomine.triggers.model import FINDING_LEVELS
from iomine.views.query import answer, ask, open_catalog

pytestmark = pytest.mark.site

FIRST, LAST = date(2026, 1, 1), date(2026, 1, 31)
LOGS, SEED = 700, 3
# What leads the entry about each kind of program; ones that do as they should have none.
LEADS = {
    "checkpoint": {"POSIX-102", "POSIX-121"},
    "file_per_process": {"FILE-101"},
    "hdf5_independent": {"POSIX-102"},
    "import_storm": {"POSIX-302", "POSIX-303"},
    "metadata_poll": {"POSIX-301"},
    "random_reads": {"POSIX-101"},
    "rank0_funnel": {"RANK-303"},
    "rewriter": {"POSIX-132"},
    "serial_postprocessing": {"STDIO-101"},
    "single_ost_output": {"LUSTRE-101"},
    "small_file_reads": {"LUSTRE-102", "POSIX-302"},
    # Some of its runs have all of a large file on one OST, which costs as much as the small requests to it.
    "strided_mpiio": {"LUSTRE-101", "POSIX-101", "POSIX-102"},
}


# What takes a time of its own beside that: small files are opened, and then read.
SECONDS = dict.fromkeys(("import_storm", "metadata_poll", "small_file_reads"), frozenset({"POSIX-101"}))


class Week(NamedTuple):
    """What was simulated, and the mails about it; applications as views name them."""

    logs: dict[tuple[str, str], list[dict]]
    incidents: dict[str, dict]
    mails: dict[str, Mail]
    outcomes: list[dict]
    unmailed: list[dict]


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Week:
    """A week of a facility with findings whatever they cost, since what its programs lose is little."""
    folder = tmp_path_factory.mktemp("week")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lineage_truth, "LOGS", LOGS)
        files = lineage_truth.files_of_facility(SEED, folder)
    truth = folder / "facility" / "truth"
    incidents = {each["kind"]: each for each in json.loads((truth / "incidents.json").read_text())["incidents"]}
    unmailed = ask(catalog_of(folder, files), "FROM advice_outcomes").to_pylist()
    database = catalog_of(folder, [*files, mailed_nightly(folder, files)])
    with open_catalog(database) as con:
        asked = partial(answer, con)
        names = {row["path"]: (row["user"], row["application"]) for row in asked("FROM logs").to_pylist()}
        # Here all causes are listed, not as many as fit into the lines of a mail.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mails_room, "MOST_TEXT_LINES", 1000)
            mails = all_mails(asked, since(FIRST, LAST))
        outcomes = asked("FROM advice_outcomes").to_pylist()
    logs = defaultdict(list)
    for log in map(json.loads, (truth / "logs.jsonl").open()):
        logs[names[log["log"]]].append(log)
    return Week(logs, incidents, mails, outcomes, unmailed)


def _ill(logs: list[dict]) -> set[str]:
    """Codes that the truth expects for some of the logs."""
    codes = {PATTERNS[pattern] for log in logs for pattern in log["patterns"]}
    return {code for code in codes if TRIGGERS[code].ruleset == "iomine" and TRIGGERS[code].level in FINDING_LEVELS}


def _is_open(logs: list[dict]) -> bool:
    """Whether the truth leaves open what mails list of an application."""
    return not _ill(logs) and any(log["open_questions"] for log in logs)


def _follower(week: Week) -> tuple[str, str]:
    lineage = week.incidents["advice_followed"]["lineage"]
    (what,) = {what for what, logs in week.logs.items() if any(log["lineage"] == lineage for log in logs)}
    return what


def test_who_gets_what_is_what_is_true(week: Week):
    """Each application that shows a pattern is in its user's mail, and no other that the truth makes claims about."""
    reported = {(name, entry.subject.application) for name, mail in week.mails.items() for entry in mail.entries}
    expected = {what for what, logs in week.logs.items() if _ill(logs)} - {_follower(week)}
    assert expected == {what for what in reported if not _is_open(week.logs[what])}


def test_each_kind_of_program_is_led_by_its_cause(week: Week):
    """The lead of an entry is what the table above says of the application's kind."""
    got = defaultdict(set)
    for name, mail in week.mails.items():
        for entry in mail.entries:
            logs = week.logs[name, entry.subject.application]
            if not _is_open(logs):
                (kind,) = {log["archetype"] for log in logs}
                got[kind].add(entry.subject.code)
    assert [] == [
        (kind, codes) for kind, codes in got.items() if not codes <= LEADS.get(kind, set()) | SECONDS.get(kind, frozenset())
    ]
    assert [] == [kind for kind, codes in got.items() if not codes & LEADS[kind]]
    assert len(got) >= len(LEADS) - 1


def test_who_followed_advice_is_praised(week: Week):
    """The follower's mail, and no other, reports that what was wrong is gone, since the night of the change or the next run."""
    user, application = _follower(week)
    assert {user} == {name for name, mail in week.mails.items() if mail.better}
    mail = week.mails[user]
    reported = {(application, code) for code in ("RANK-201", "RANK-301", "RANK-302", "RANK-303")}
    assert reported == {(subject.application, subject.code) for subject in mail.better}
    change = datetime.fromtimestamp(week.incidents["advice_followed"]["start"], UTC).date()
    clear = [log for log in week.logs[user, application] if not log["patterns"]]
    text = " ".join(mail.text.split())
    praise = text.partition(f"{application}: “")[2].partition(" saved.")[0]
    assert [] == [code for _, code in reported if title_of(code) not in praise]
    assert f"are gone since {change.day} January, in {len(clear)} runs" in text
    assert application not in [entry.subject.application for entry in mail.entries]


def test_outcomes_count_mails(week: Week):
    """After a mail each morning the follower's findings are gone, and no others are; without mails nothing was mailed."""
    assert {"not told"} == {row["outcome"] for row in week.unmailed}
    change = datetime.fromtimestamp(week.incidents["advice_followed"]["start"], UTC).date()
    gone = [row for row in week.outcomes if row["outcome"] == "gone"]
    assert {_follower(week)} == {(row["user"], row["application"]) for row in gone}
    assert {"RANK-201", "RANK-301", "RANK-302", "RANK-303"} == {row["code"] for row in gone}
    for row in gone:
        assert row["told_night"] <= change <= row["clear_night"]
        # As one for all it took longer; by the sum over ranks it did not.
        assert row["slowest_rank_pace_ratio"] < 1


def test_costs_are_listed_in_order(week: Week):
    """Mails come by what their costliest entry cost, and entries so within a mail."""
    costs = [[entry.cost_core_seconds or 0 for entry in mail.entries] for mail in week.mails.values() if mail.entries]
    assert sorted(costs, key=lambda each: -each[0]) == costs
    assert all(each == sorted(each, reverse=True) for each in costs)
