"""What operators are mailed, against rows added up one by one."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from functools import partial

import pytest
from facility import FIRST, NIGHTS, Facility
from mail_rows import plain_lines, read_html

from iomine.digest.notices import METRICS, notices
from iomine.digest.operator import operator_mail
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
    found = operator_mail(ask, FIRST, LAST, {}, [])
    assert found is not None
    return found


def section(mail: Mail, title: str) -> list[str]:
    """Lines of a section, each in one."""
    text = mail.text.split(f"\n{title}\n\n", 1)[1].split("\n\n", 1)[0]
    return [" ".join(line.split()) for line in text.removeprefix("- ").split("\n- ")]


def costs(facility: Facility) -> dict[str, float]:
    """What findings are charged with, of each log."""
    found: dict[str, float] = defaultdict(float)
    for each in facility.findings:
        found[each["log_id"]] += each["charged_core_seconds"] or 0.0
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
    """Ten programs with what they cost, the costliest first, and how many more there are."""
    cost = costs(facility)
    sums: dict[tuple[object, object, object], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for log in facility.logs:
        of_one = sums[log["user"], log["uid"], log["app"]]
        of_one[0] += cost.get(log["log_id"], 0.0)
        of_one[1] += 1
    worst = sorted((each for each in sums.items() if each[1][0] > 0), key=lambda item: -item[1][0])
    lines = section(mail, "Worst offenders")
    assert f"And {len(worst) - 10} more programs." == lines[-1]
    for line, ((user, uid, app), (core_seconds, runs)) in zip(lines[:-1], worst, strict=False):
        who = unmarked(name(user)) if user else f"uid {uid}"
        assert line.startswith(
            " ".join(f"{who}, {unmarked(name(app))}: {core_hours(core_seconds)}, ".replace("None", "unknown").split())
        )
        assert line.endswith(f" in {runs:,.0f} run{'' if runs == 1 else 's'}.")


def test_rejects_are_counted_by_reason(facility: Facility, mail: Mail):
    """Reasons with how many files, the commonest first."""
    counts = Counter((each["reason"], each["stage"]) for each in facility.rejects if each["at"].date() >= FIRST)
    reported = [int(line.split()[0]) for line in section(mail, "Rejects") if not line.startswith("And ")]
    assert sorted(counts.values(), reverse=True)[: len(reported)] == reported


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
    for line in (line for title in rich.headings for line in section(mail, title)):
        assert "".join(line.split()) in "".join(rich.text.split())
    assert [] == [line for line in plain_lines(mail.text) if len(line) > COLUMNS]


def test_nothing_to_say_is_no_mail(ask: Ask):
    """Of nights and days on which nothing was, there is no mail."""
    assert operator_mail(ask, date(2030, 1, 1), date(2030, 1, 2), {}, []) is None
