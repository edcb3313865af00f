"""The mail to operators: what needs attention, the most urgent first, and how sweeps went."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from iomine.digest.notices import METRICS, Notice, notices
from iomine.digest.parts import MOST_TEXT_LINES, html_part, line_count, text_part
from iomine.digest.sentences import facility_core_seconds
from iomine.digest.words import day, listed, name, nights, one_line, span
from iomine.post.model import Entry, Mail, Subject
from iomine.post.settings import Limit
from iomine.units import core_hours, counted, human_seconds, percent, target_name
from iomine.views.answers import Ask, Row, rows_of
from iomine.views.questions import find_question, question

RECIPIENT: Final = "operator"
# Of a section, and no more than fit into a mail's lines.
_MOST_LINES: Final = 10
_MOST_REASON: Final = 200
_MOST_LINK: Final = 120
_TEMPLATE: Final = "operator"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the mail.

    Attributes:
        title: of the part.
        lines: its sentences, the first of many.
        count: how many there are in all.
        news: what one of them is about, for the mail's subject to count them; empty where it does not.
        is_alarm: whether it is highlighted.
    """

    title: str
    lines: tuple[str, ...]
    count: int
    news: str = ""
    is_alarm: bool = False

    def cut(self, most: int) -> "Section":
        """The same with so many of its sentences; where these are not all, its title says so."""
        shown = self.lines[:most]
        part = f" ({len(shown):,} of {self.count:,})" if len(shown) < self.count else ""
        return replace(self, title=f"{self.title}{part}", lines=shown)


@dataclass(frozen=True, slots=True)
class Trouble:
    """What the post could not do.

    Attributes:
        title: its kind.
        names: of users or accounts, each with a reason that may be empty.
    """

    title: str
    names: Sequence[tuple[str, str]]


def operator_mail(ask: Ask, first: date, last: date, thresholds: Mapping[str, Limit], troubles: Sequence[Trouble]) -> Mail | None:
    """The mail, None where nothing was swept and nothing went wrong.

    Args:
        ask: answers queries over the published views.
        first: the first night, and the day from which sweeps count.
        last: the last night.
        thresholds: of notices.
        troubles: what the post could not do.
    """
    found = notices(ask, thresholds, last)
    sweeps = rows_of(ask(question("operator/sweeps"), {"first_day": first}))
    # What is to be acted on comes first, what is good to know last.
    sections = [
        _noticed(found),
        *(_listed(ask, each, first, last) for each in _INCIDENTS),
        _of_sweeps(sweeps),
        _listed(ask, _REJECTS, first, last),
        *map(_troubled, troubles),
        *(_listed(ask, each, first, last) for each in _REST),
    ]
    filled = [section for section in sections if section.lines]
    if not filled:
        return None
    rejected = sum(row["rejected_count"] + row["readings_rejected"] for row in sweeps)
    news = [counted(section.count, section.news) for section in filled if section.news]
    news += [counted(sum(row["sweep_count"] for row in sweeps), "sweep"), counted(rejected, "reject")]
    subject = one_line(f"{listed(news)}: I/O of {span(first, last)}", _MOST_REASON)
    view = _fitting(
        {
            "subject": subject,
            "opening": f"This is about {nights(first, last)}, and about sweeps since {day(first)}.",
        },
        filled,
    )
    return Mail(
        kind="operator",
        recipient=RECIPIENT,
        entries=(),
        first_night=first,
        last_night=last,
        subject=subject,
        text=text_part(_TEMPLATE, view),
        html=html_part(_TEMPLATE, view),
        pictures={},
    )


def notice_mail(found: Sequence[Notice], night: date) -> Mail:
    """The mail about what was noticed in a night that is not over, or just now.

    Args:
        found: at least one, with no links but those that are to be reported.
        night: the night.
    """
    subject = one_line(f"{listed([each.name for each in found])}: I/O of {day(night)}", _MOST_REASON)
    opening = f"These are the notices for the night of {day(night)}."
    view = {"subject": subject, "opening": opening, "sections": [_noticed(found)], "rest": []}
    return Mail(
        kind="notice",
        recipient=RECIPIENT,
        entries=tuple(
            Entry(Subject("", "", link, each.name), METRICS[each.name], None, night)
            for each in found
            for link in each.links or ("",)
        ),
        first_night=night,
        last_night=night,
        subject=subject,
        text=text_part(_TEMPLATE, view),
        html=html_part(_TEMPLATE, view),
        pictures={},
    )


def _fitting(view: Mapping[str, Any], sections: Sequence[Section]) -> Mapping[str, Any]:
    """The view with as many lines of each section as fit above the signature line of the plain part.

    Where one of each is still too much, the last sections stand below that line; the first always stands above.
    """
    count, longest = len(sections), [section.cut(_MOST_LINES) for section in sections]
    choices = [*((most, count) for most in range(_MOST_LINES, 1, -1)), *((1, above) for above in range(count, 0, -1))]
    views = [
        {**view, "sections": [section.cut(most) for section in sections[:above]], "rest": longest[above:]}
        for most, above in choices
    ]
    return next((each for each in views if line_count(text_part(_TEMPLATE, each)) <= MOST_TEXT_LINES), views[-1])


def _noticed(found: Sequence[Notice]) -> Section:
    return Section("Notices", tuple(map(_notice_line, found)), len(found), "notice", is_alarm=True)


def _notice_line(each: Notice) -> str:
    side = "at" if each.limit.side == "equal" else each.limit.side
    threshold, before = _number(each.limit.value), _number(each.before)
    than = "after" if each.links or each.limit.side == "equal" else f"and {side}"
    line = f"{each.name} is {_number(each.value)}, {side} its threshold of {threshold} {than} {before} of the night before"
    line = f"{line}: {each.about}."
    if not each.links:
        return line
    shown = [name(link, _MOST_LINK) for link in each.links[:_MOST_LINES]]
    more = len(each.links) - len(shown)
    return f"{line} New: {'; '.join(shown)}{f'; and {more:,} more' if more else ''}."


def _number(value: float) -> str:
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"  # noqa: PLR2004  three digits


def _of_sweeps(sweeps: Sequence[Row]) -> Section:
    return Section("Sweeps", tuple(map(_sweeps_line, sweeps)), len(sweeps))


def _sweeps_line(row: Row) -> str:
    logs = (
        f"{name(row['cluster'])}: {counted(row['sweep_count'], 'sweep')}; {row['found_count']:,} found = "
        f"{row['ingested_count']:,} ingested + {row['known_count']:,} known + {row['rejected_count']:,} rejected."
    )
    if not row["readings_found"]:
        return logs
    return (
        f"{logs} Of statistics and accounting, {row['readings_found']:,} found = {row['readings_ingested']:,} ingested + "
        f"{row['readings_known']:,} known + {row['readings_rejected']:,} rejected."
    )


@dataclass(frozen=True, slots=True)
class _List:
    """A section that lists the rows of a question, the first of many.

    Attributes:
        title: of the section.
        question: under `sql/questions/operator`.
        line: a row in words.
        news: what a row is about, for the mail's subject to count them; empty where it does not.
        target_kind: `ost` or `mdt`, where its rows are about one of these.
        is_alarm: whether it is highlighted.
    """

    title: str
    question: str
    line: Callable[[Row], str]
    news: str = ""
    target_kind: str = ""
    is_alarm: bool = False


def _listed(ask: Ask, each: _List, first: date, last: date) -> Section:
    asked = find_question(f"operator/{each.question}")
    # Sweeps and rejects count by the day on which they were, and up to now.
    known = {"first_night": first, "last_night": last, "first_day": first, "target_kind": each.target_kind}
    rows = rows_of(ask(asked.sql, asked.values(known)))
    lines = tuple(map(each.line, rows[:_MOST_LINES]))
    return Section(each.title, lines, len(rows), each.news, is_alarm=each.is_alarm)


def _coverage_line(row: Row) -> str:
    ratio, jobless = row["logged_ratio"], row["jobless_log_count"]
    logged = "accounting is not known" if ratio is None else f"{percent(ratio)} of the node-hours are of jobs with a log"
    apart = f"; {counted(jobless, 'log')} of jobs that the accounting does not have" if jobless and ratio is not None else ""
    return f"{name(row['cluster'])}: {counted(row['log_count'], 'log')}; {logged}{apart}."


def _reject_line(row: Row) -> str:
    return f"{counted(row['file_count'], 'file')} ({name(row['stage'])}): {name(row['reason'], _MOST_REASON)}"


def _who(row: Row) -> str:
    return name(row["user"]) if row["user"] else _uid(row)


def _uid(row: Row) -> str:
    return f"uid {'unknown' if row['uid'] is None else row['uid']}"


def _worst_line(row: Row) -> str:
    cost, facilitys = row["cost_core_seconds"], facility_core_seconds(row)
    apart = f" (and {core_hours(facilitys)} for the facility to fix)" if facilitys else ""
    findings = f"{counted(row['finding_count'], 'finding')} in {counted(row['log_count'], 'run')}"
    return f"{_who(row)}, {name(row['app'])}: {core_hours(cost - facilitys)}{apart}, {findings}."


def _target_line(row: Row) -> str:
    hours, slow = counted(row["hour_count"], "hour"), f"{row['slowdown_ratio'] or 0:.1f}"
    target, cluster = name(target_name(row["target"])), name(row["cluster"])
    return f"{target} of {cluster}: {hours}, up to {slow} times as slow, most load from {name(row['user'])}."


def _link_line(row: Row) -> str:
    link, cluster = name(row["link_name"], _MOST_LINK), name(row["cluster"])
    return f"{link} of {cluster}: {row['trouble']}, faulty for {human_seconds(row['faulty_seconds'])}."


def _regression_line(row: Row) -> str:
    ratio = f"{row['io_slowdown_ratio'] or 0:.1f} times as long"
    if row["regression_kind"] == "step":
        return (
            f"{_who(row)}, {name(row['application'])}: {ratio} since {day(row['night'])}, in {counted(row['log_count'], 'run')}."
        )
    return f"{_who(row)}, {name(row['application'])}: {ratio} in a run of {day(row['night'])}."


def _nameless_line(row: Row) -> str:
    return f"{_uid(row)}: {counted(row['log_count'], 'log')}."


_INCIDENTS: Final = (
    _List("Hot OSTs", "slow_targets", _target_line, "hot OST", target_kind="ost", is_alarm=True),
    _List("Metadata storms", "slow_targets", _target_line, "slow metadata target", target_kind="mdt", is_alarm=True),
    _List("Faulty links", "faulty_links", _link_line, "faulty link", is_alarm=True),
    _List("Regressions", "regressions", _regression_line, "regression"),
    _List("Worst offenders", "worst_programs", _worst_line),
)
_REJECTS: Final = _List("Rejects", "rejects", _reject_line)
_REST: Final = (
    _List("Coverage", "coverage", _coverage_line),
    _List("Logs without a user's name", "nameless", _nameless_line),
)


def _troubled(trouble: Trouble) -> Section:
    shown = tuple(f"{name(who)}{f': {name(why, _MOST_REASON)}' if why else ''}" for who, why in trouble.names[:_MOST_LINES])
    return Section(trouble.title, shown, len(trouble.names))
