"""What operators are mailed, against rows added up one by one."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import date, timedelta
from functools import partial

import pyarrow as pa
import pytest
from facility import FIRST, NIGHTS, Facility
from mail_rows import plain_lines, read_html

from iomine.digest import operator as operator_room
from iomine.digest.notices import METRICS, notices
from iomine.digest.operator import Trouble, operator_mail
from iomine.digest.parts import SIGNATURE
from iomine.digest.words import COLUMNS, name, unmarked
from iomine.post.model import Mail
from iomine.post.settings import Limit
from iomine.units import core_hours
from iomine.views.answers import Ask
from iomine.views.query import answer, open_catalog
from iomine.views.questions import question

LAST = FIRST + timedelta(days=NIGHTS - 1)
DAYS = [FIRST + timedelta(days=number) for number in range(NIGHTS)]


@pytest.fixture(scope="module")
def facility(tmp_path_factory: pytest.TempPathFactory) -> Facility:
    return Facility(tmp_path_factory.mktemp("facility"))


@pytest.fixture(scope="module")
def ask(facility: Facility) -> Iterator[Ask]:
    with open_catalog(facility.root / "iomine.duckdb") as con:
        yield partial(answer, con)


@pytest.fixture(scope="module")
def mail(ask: Ask) -> Mail:
    """One with room for all that it may list."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operator_room, "MOST_TEXT_LINES", 1000)
        found = operator_mail(ask, FIRST, LAST, {}, [])
    assert found is not None
    return found


def section(mail: Mail, title: str) -> list[str]:
    """Lines of a section, each in one."""
    text = re.split(rf"\n{re.escape(title)}(?: \([\d,]+ of [\d,]+\))?\n", mail.text, maxsplit=1)[1].split("\n\n", 1)[0]
    return [" ".join(line.split()) for line in text.removeprefix("- ").split("\n- ")]


def costs(facility: Facility, whose: Collection[bool] = (True, False)) -> dict[str, float]:
    """What findings are charged with, of each log: those that are the facility's, those that are not, or all."""
    found: dict[str, float] = defaultdict(float)
    for each in facility.findings:
        found[each["log_id"]] += each["charged_core_seconds"] or 0.0 if each["is_facility_cause"] in whose else 0.0
    return found


def values(facility: Facility) -> dict[str, dict[date, float]]:
    """Metrics by night, by counting."""
    cost = costs(facility)
    ill = {each["log_id"] for each in facility.findings}
    by_night = {night: [log for log in facility.logs if log["night"] == night] for night in DAYS}
    sweeps = {each["start_at"].date(): each["rejected_count"] / each["found_count"] for each in facility.sweeps}
    hours = Counter(_slow_hours(facility, "ost"))
    storms = Counter(_slow_hours(facility, "mdt"))
    machines = {log["cluster"] for log in facility.logs}
    return {
        "findings_core_hours": {
            night: sum(cost.get(log["log_id"], 0.0) for log in logs) / 3600 for night, logs in by_night.items()
        },
        "finding_log_ratio": {night: sum(log["log_id"] in ill for log in logs) / len(logs) for night, logs in by_night.items()},
        "hot_ost_hours": {night: float(hours[night]) for night in DAYS},
        "mdt_storm_hours": {night: float(storms[night]) for night in DAYS},
        "rejected_ratio": {night: sweeps.get(night, 0.0) for night in DAYS},
        "unread_clusters": {night: float(len(machines - {log["cluster"] for log in logs})) for night, logs in by_night.items()},
    }


def _slow_hours(facility: Facility, kind: str) -> Iterable[date]:
    """The night of each hour in which a target took at least twice as long as usual."""
    sums: dict[tuple[date, str, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for slot in facility.slots:
        if slot["target_kind"] == kind:
            both = sums[slot["night"], slot["target"], slot["begin_at"].hour]
            both[0] += slot["service_seconds"]
            both[1] += slot["usual_service_seconds"]
    return [night for (night, _, _), (took, usual) in sums.items() if took >= 2 * usual]


@pytest.mark.parametrize("night", DAYS[1:], ids=str)
def test_notices_are_metrics_above_their_bar_and_the_night_before(facility: Facility, ask: Ask, night: date):
    """A metric is reported above its threshold and above the night before, with its numbers; exactly on it it is not."""
    expected = values(facility)
    thresholds = {metric: by_night[night] for metric, by_night in expected.items()}
    # Sums that are equal may differ in their last digit.
    assert [] == notices(ask, {metric: Limit("above", threshold * (1 + 1e-9)) for metric, threshold in thresholds.items()}, night)
    got = {
        each.name: each
        for each in notices(
            ask, {metric: Limit("above", threshold * 0.999 - 1e-9) for metric, threshold in thresholds.items()}, night
        )
    }
    before = night - timedelta(days=1)
    assert {metric for metric, by_night in expected.items() if by_night[night] > by_night[before]} == got.keys()
    for metric, each in got.items():
        assert (pytest.approx(expected[metric][night]), pytest.approx(expected[metric][before])) == (each.value, each.before)


def test_every_metric_can_be_asked_for(ask: Ask):
    """Each metric answers with at most a row a night, of numbers that are not negative."""
    for metric in METRICS:
        rows = ask(question(f"notices/{metric}"), {"night": DAYS[3], "night_before": DAYS[2]}).to_pylist()
        assert len({row["night"] for row in rows}) == len(rows) <= 2
        assert all((row["value"] or 0) >= 0 for row in rows)


def test_sweeps_are_added_up(facility: Facility, mail: Mail):
    """Counts of each machine's sweeps since the first day."""
    sums = [sum(sweep[f"{what}_count"] for sweep in facility.sweeps) for what in ("found", "ingested", "known", "rejected")]
    expected = "blue: 3 sweeps; {} found = {} ingested + {} known + {} rejected.".format(*sums)
    assert [expected] == section(mail, "Sweeps")
    assert "3 sweeps and 18 rejects" in mail.subject


def test_offenders_come_by_cost(facility: Facility, mail: Mail):
    """Ten programs with what they cost, the costliest first, and of how many; the facility's part is apart."""
    cost, part = costs(facility, [False]), costs(facility, [True])
    sums: dict[tuple[object, object, object], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for log in facility.logs:
        of_one = sums[log["user"], log["uid"], log["app"]]
        of_one[0] += cost.get(log["log_id"], 0.0)
        of_one[1] += 1
        of_one[2] += part.get(log["log_id"], 0.0)
    worst = sorted((each for each in sums.items() if each[1][0] > 0), key=lambda item: -item[1][0])
    lines = section(mail, "Worst offenders")
    assert 10 == len(lines)
    assert f"\nWorst offenders (10 of {len(worst)})\n" in mail.text
    for line, ((user, uid, app), (core_seconds, runs, facilitys)) in zip(lines, worst, strict=False):
        apart = f" (and {core_hours(facilitys)} for the facility to fix)" if facilitys else ""
        who = unmarked(name(user)) if user else f"uid {uid}"
        assert line.startswith(
            " ".join(f"{who}, {unmarked(name(app))}: {core_hours(core_seconds)}{apart}, ".replace("None", "unknown").split())
        )
        assert line.endswith(f" in {runs:,.0f} run{'' if runs == 1 else 's'}.")


def test_rejects_are_counted_by_reason(facility: Facility, mail: Mail):
    """Reasons with how many files, the commonest first."""
    counts = Counter((each["reason"], each["stage"]) for each in facility.rejects if each["at"].date() >= FIRST)
    reported = [int(line.split()[0]) for line in section(mail, "Rejects")]
    assert sorted(counts.values(), reverse=True)[: len(reported)] == reported


@pytest.mark.parametrize(("title", "kind"), [("Hot OSTs", "ost"), ("Metadata storms", "mdt")])
def test_slow_targets_are_counted_in_hours(facility: Facility, mail: Mail, title: str, kind: str):
    """Each target with the hours in which it was slow."""
    sums: dict[tuple[str, object], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for slot in (slot for slot in facility.slots if slot["target_kind"] == kind):
        both = sums[slot["target"], slot["begin_at"].replace(minute=0)]
        both[0] += slot["service_seconds"]
        both[1] += slot["usual_service_seconds"]
    hours = Counter(target for (target, _), (took, usual) in sums.items() if took >= 2 * usual)
    found = {}
    for line in section(mail, title):
        match = re.search(r"(scratch-\w+)\)? of blue: (\d+) hours?, up to 6\.0 times as slow, most load from ", line)
        assert match is not None
        found[match[1]] = int(match[2])
    assert hours == found


ORDER = [
    "Notices", "Hot OSTs", "Metadata storms", "Regressions", "Worst offenders", "Sweeps", "Rejects", "Users without an address",
    "Coverage", "Logs without a user's name",
]  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 30])
@pytest.mark.parametrize("nights", [1, NIGHTS])
def test_what_is_urgent_comes_first_within_25_lines(facility: Facility, ask: Ask, nights: int, count: int):
    """Incidents, regressions, offenders, sweeps and rejects, in this order; the subject counts what is urgent.

    What does not fit above the signature line stands below, and nothing that is cut goes uncounted.
    """
    limits = {"hot_ost_hours": Limit("above", 0.0), "mdt_storm_hours": Limit("above", 0.0)}
    troubles = [Trouble("Users without an address", [(f"user{number}", "") for number in range(count)])]
    for last in DAYS[nights - 1 :]:
        found = operator_mail(ask, last - timedelta(days=nights - 1), last, limits, troubles)
        assert found is not None
        assert len(found.text.partition(SIGNATURE)[0].splitlines()) <= 25
        titles = [re.sub(r" \(.* of .*\)", "", title) for title in read_html(found.html).headings]
        assert [title for title in ORDER if title in titles] == titles
        for title in read_html(found.html).headings:
            of_all = re.search(r"\((\d+) of (\d+)\)$", title)
            lines = section(found, title.partition(" (")[0])
            assert of_all is None or len(lines) == int(of_all[1]) < int(of_all[2])
        kinds = {"hot OST": "Hot OSTs", "slow metadata target": "Metadata storms", "regression": "Regressions"}
        assert [title in titles for title in kinds.values()] == [what in found.subject for what in kinds]


@pytest.mark.parametrize(
    ("ratio", "jobless", "said"),
    [
        (0.99, 0, "blue: 4,000 logs; 99% of the node-hours are of jobs with a log."),
        (
            0.99,
            3,
            "blue: 4,000 logs; 99% of the node-hours are of jobs with a log; 3 logs of jobs that the accounting does not have.",
        ),
        (None, 4000, "blue: 4,000 logs; accounting is not known."),
    ],
)
def test_coverage_says_what_is_counted(ask: Ask, ratio: float | None, jobless: int, said: str):
    """The share is of node-hours, and logs without a job are counted where accounting could have had it."""
    row = {"cluster": "blue", "log_count": 4000, "logged_ratio": ratio, "jobless_log_count": jobless}
    assert said == unmarked(operator_room._coverage_line(row))


def test_faulty_links_are_named(ask: Ask):
    """A faulty link is named with what was wrong and for how long, among what comes first; others' words do no harm."""
    row = {
        "cluster": "blue",
        "link_name": "leaf<b>\u202e port 1 - spine port 9",
        "trouble": "down once",
        "faulty_seconds": 5400.0,
    }

    def with_link(sql: str, parameters: object = None) -> pa.Table:
        return pa.Table.from_pylist([row]) if sql == question("operator/faulty_links") else ask(sql, parameters)

    mail = operator_mail(with_link, LAST, LAST, {}, [])
    assert mail is not None
    (line,) = section(mail, "Faulty links")
    assert r"leaf<b>\u202e port 1 - spine port 9 of blue: down once, faulty for 1 h 30 min." == line
    assert "<b>" not in mail.html
    assert "1 faulty link" in mail.subject


def test_logs_without_a_name_are_counted(facility: Facility, mail: Mail):
    """Logs whose user is not known, by uid."""
    counts = Counter(log["uid"] for log in facility.logs if not log["user"])
    expected = {
        f"uid {'unknown' if uid is None else uid}: {count} log{'' if count == 1 else 's'}." for uid, count in counts.items()
    }
    assert expected == set(section(mail, "Logs without a user's name"))


def test_both_parts_say_the_same(mail: Mail):
    """The HTML has the sections and lines of the plain part, which fits into its columns."""
    rich = read_html(mail.html)
    for line in (line for title in rich.headings for line in section(mail, title.partition(" (")[0])):
        assert "".join(line.split()) in "".join(rich.text.split())
    assert [] == [line for line in plain_lines(mail.text) if len(line) > COLUMNS]


def test_nothing_to_say_is_no_mail(ask: Ask):
    """Of nights and days on which nothing was, there is no mail."""
    assert operator_mail(ask, date(2030, 1, 1), date(2030, 1, 2), {}, []) is None
