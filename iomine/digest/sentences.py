"""What a mail says, sentence by sentence; both its parts are made of these."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final
from urllib.parse import quote

from iomine.digest.causes import Cause, Sign
from iomine.digest.known import Application, Better, Known, Whose
from iomine.digest.words import (
    advice_of,
    command_of,
    day,
    finding_of,
    listed,
    name,
    nights,
    span,
)
from iomine.post.model import Kind
from iomine.report.causes import first_sentence, own_load
from iomine.report.facts import Place, title_of
from iomine.report.job import job_page_name
from iomine.triggers.inputs import NEW_FILES
from iomine.units import core_hours, counted, of_seconds
from iomine.views.answers import Row

# Most signs of one cause that are named, and most lines of users, applications or improvements; further ones are counted.
MOST_SIGNS: Final = 6
MOST_LINES: Final = 2
_TWO: Final = 2
_SETS_LAYOUT: Final = "lfs setstripe"
_SPANS: Final = {7: "a week", 14: "two weeks", 30: "a month"}
# Runs that others slowed down by less are not mentioned with a factor.
_SLOWER: Final = 1.1
ABOUT_COSTS: Final = (
    "Core-hours are the time that ranks spent in these requests, summed over ranks. Time that several entries are about is "
    "counted once, so they add up, except for rounding; not all of it can be saved. "
    "Time in which other ranks stood idle comes on top."
)
SLOWED_TITLE: Final = "Slow runs, not caused by the program"
UNEXPLAINED_TITLE: Final = "Slow runs without a known cause"
ABOUT_UNEXPLAINED: Final = (
    "The servers' counters show the usual speed, and Darshan shows that the programs did what they did before. The network and "
    "the nodes are not checked. These runs are not counted above. If this goes on, ask the operators."
)


@dataclass(frozen=True, slots=True)
class Links:
    """Where reports lie.

    Attributes:
        site: the address below which they are, None where they are files only.
        reports: their folder.
        signed: a token for a user's log by which its report opens without a login; None where reports need one, or none do.
        attached: the report of a log as its reader may see it, as one file, or None where it is too large to mail; None where the
            site wants no attachments.
    """

    site: str | None
    reports: Path
    signed: Callable[[str, str], str] | None = None
    attached: Callable[[Whose, str, Place], bytes | None] | None = None

    def job(self, cluster: str, job_id: str | None) -> str | None:
        """The address of a job's page, None where it has none, or links open the reports of single logs only."""
        page = job_page_name(cluster, job_id)
        if page is None or self.signed:
            return None
        return f"{self.site.rstrip('/')}/reports/{page}" if self.site else f"{self.reports}/{page}"

    def report(self, user: str, log_id: str, code: str) -> str:
        """The address of a finding in the report of a user's log."""
        page = f"{quote(log_id, safe='')}.html#{quote(code, safe='')}"
        if not self.site:
            return f"{self.reports}/{page}"
        by = f"by/{self.signed(user, log_id)}/" if self.signed and user else ""
        return f"{self.site.rstrip('/')}/{by}reports/{page}"


@dataclass(frozen=True, slots=True)
class EntryText:
    """What a mail says of a cause; all else is in the report.

    Attributes:
        key: of its subject, for the post's links.
        title: application and what is wrong.
        cost: in core-hours.
        extent: in which runs, and how much of their time.
        finding: the first sentence of what was found in the costliest run, and that servers were slow under the user's load.
        advice: the first sentence of what to change, and which files a command for layouts applies to.
        command: a line of a shell for a file or node of that run, empty where the advice has none.
        more: what the report has besides.
        report: where the run's report is.
    """

    key: str
    title: str
    cost: str
    extent: str
    finding: str
    advice: str
    command: str
    more: str
    report: str


def entry_text(cause: Cause, application: Application, found: Row, links: Links, kind: Kind) -> EntryText:
    """What a mail says of a cause.

    Args:
        cause: the cause.
        application: how the runs of the application went.
        found: what was found in the costliest run.
        links: where reports are.
        kind: of the mail.
    """
    lead = cause.lead
    load_of = "this user's" if kind == "project" else "yours"
    advice = advice_of(lead.code, found["advice"])
    command = command_of(advice)
    return EntryText(
        key=cause.subject.key,
        title=_title(cause, kind),
        cost=_cost(cause) + _idle(cause),
        extent=_extent(cause, application),
        finding=" ".join((first_sentence(finding_of(lead.code, found["finding"])), *own_load(found, load_of))),
        advice=" ".join((first_sentence(advice), *([NEW_FILES] if _SETS_LAYOUT in command else []))),
        command=command,
        more=f"Details, and {counted(len(cause.others), 'more sign')}" if cause.others else "Details",
        report=(_is_one_job(lead) and links.job(cause.cluster, lead.job_id)) or links.report(cause.user, lead.log_id, lead.code),
    )


def left_text(causes: Sequence[Cause], kind: Kind) -> str:
    """What a mail says of the causes for which it has no room; empty if there are none.

    Args:
        causes: the costliest first.
        kind: of the mail.
    """
    if not causes:
        return ""
    first = _title(causes[0], kind)
    if len(causes) == 1:
        return f"One more is in the reports: {first} ({_cost(causes[0])})."
    known = [cause.own_core_seconds for cause in causes if cause.own_core_seconds]
    costs = f", {core_hours(sum(known))} in all" if known else ""
    return f"{len(causes)} more are in the reports{costs}, first {first} ({_cost(causes[0])})."


def _title(cause: Cause, kind: Kind) -> str:
    whose = f"{name(cause.user)}: " if kind == "project" else ""
    return f"{whose}{name(cause.application)}: {title_of(cause.lead.code)}"


def _is_one_job(sign: Sign) -> bool:
    return sign.run_count > 1 and sign.job_count == 1 and bool(sign.job_id)


def _cost(cause: Cause) -> str:
    """The cost that the user can change, with the facility's part in brackets; the whole where all of it is the facility's."""
    own, whole = cause.own_core_seconds, cause.cost_core_seconds
    if not own or whole is None or own == whole:
        return core_hours(whole)
    return f"{core_hours(own)} (and {core_hours(whole - own)} for the facility to fix)"


def _idle(cause: Cause) -> str:
    return f", and other ranks stood idle for {core_hours(cause.idle_core_seconds)}" if cause.idle_core_seconds else ""


def _extent(cause: Cause, application: Application) -> str:
    where = f"in {_runs(cause.lead, application)} on {name(application.cluster)}"
    if cause.seconds_of_run is None:
        return where
    return f"{where}: {of_seconds(*cause.seconds_of_run)}{' of a run on average' if cause.lead.timed_run_count > 1 else ''}"


def _runs(lead: Sign, application: Application) -> str:
    """`all 6 runs of 7 January`, `3 of 28 runs of 2 nights`, or of a job."""
    if _is_one_job(lead):
        when = f"of job {name(lead.job_id)}"
    elif lead.night_count == 1:
        when = f"of {day(lead.last_night)}"
    else:
        when = f"of {counted(lead.night_count, 'night')}"
    if lead.run_count < application.run_count:
        return f"{lead.run_count:,} of {counted(application.run_count, 'run')} {when}"
    return (
        f"the run {when}"
        if lead.run_count == 1
        else f"{'both' if lead.run_count == _TWO else f'all {lead.run_count:,}'} runs {when}"
    )


def _and_more(count: int, what: str) -> list[str]:
    return [f"And {counted(count, f'more {what}')}."] if count > 0 else []


def better_text(better: Better, mailed: date | None, kind: Kind) -> str:
    """A sentence of praise.

    Args:
        better: what got better.
        mailed: when a mail listed it, None where none has.
        kind: of the mail.
    """
    whose = f"{name(better.user)}: " if kind == "project" else ""
    what = listed([f"“{title_of(code)}”" for code in better.codes[:MOST_SIGNS]])
    since = f"since {_your_mail(kind)} of {day(mailed)}" if mailed else f"since {day(better.since_night or better.mailed_night)}"
    became = f"{'is' if len(better.codes) == 1 else 'are'} {'gone' if better.is_gone else 'less than before'}"
    saved = f", {core_hours(better.saved_core_seconds)} saved" if better.saved_core_seconds > 0 else ""
    return f"{whose}{name(better.application)}: {what} {became} {since}, in {counted(better.run_count, 'run')}{saved}."


def _your_mail(kind: Kind) -> str:
    return "our mail to you" if kind == "user" else "our mail"


def slowed_texts(applications: Sequence[Application], kind: Kind, most: int = MOST_LINES) -> list[str]:
    """What others made slow, an application a line, those with most runs first; all in one line where none is to have its own."""
    slowed = sorted((each for each in applications if _slowed_count(each)), key=lambda each: -_slowed_count(each))
    if slowed and not most:
        count = sum(map(_slowed_count, slowed))
        return [f"{_runs_of(count, slowed)} {'was' if count == 1 else 'were'} slowed."]
    lines = [_slowed_line(each, kind) for each in slowed[:most]]
    return lines + _and_more(len(slowed) - len(lines), "application")


def _runs_of(count: int, applications: Sequence[Application]) -> str:
    return f"{counted(count, 'run')} of {counted(len(applications), 'application')}"


def _slowed_count(each: Application) -> int:
    return each.system_count + each.neighbour_count + each.fabric_count


def _slowed_line(each: Application, kind: Kind) -> str:
    whose = f"{name(each.user)}: " if kind == "project" else ""
    by_whom = {
        "the file system itself": each.system_count,
        "another user's jobs": each.neighbour_count,
        "a link on the way to the file system": each.fabric_count,
    }
    reasons = [(count, who) for who, count in by_whom.items() if count]
    by = f" by {reasons[0][1]}" if len(reasons) == 1 else f", {listed(f'{count:,} by {who}' for count, who in reasons)}"
    count = _slowed_count(each)
    runs = f"{counted(count, 'run')} in {counted(each.night_count, 'night')} {'was' if count == 1 else 'were'} slowed"
    longer = f"; I/O took {each.slowdown_ratio:.1f} times as long as usual" if (each.slowdown_ratio or 0) >= _SLOWER else ""
    return f"{whose}{name(each.application)}: {runs}{by}{longer}."


def unexplained_texts(applications: Sequence[Application], kind: Kind, most: int = MOST_LINES) -> list[str]:
    """Slow runs that neither servers nor the runs' own I/O explain, by lines as in `slowed_texts`."""
    slow = sorted((each for each in applications if each.unexplained_count), key=lambda each: -each.unexplained_count)
    if slow and not most:
        return [f"I/O of {_runs_of(sum(each.unexplained_count for each in slow), slow)} took longer than in nights before."]
    lines = [_unexplained_line(each, kind) for each in slow[:most]]
    return lines + _and_more(len(slow) - len(lines), "application")


def _unexplained_line(each: Application, kind: Kind) -> str:
    whose = f"{name(each.user)}: " if kind == "project" else ""
    runs = f"{counted(each.unexplained_count, 'run')} in {counted(each.unexplained_night_count, 'night')}"
    longer = f"{each.unexplained_slowdown_ratio:.1f} times as long as in nights before"
    return f"{whose}{name(each.application)}: I/O of {runs} took {longer}."


def remind_text(days: int) -> str:
    """The button that snoozes an entry: `Remind me in a month`."""
    return f"Remind me in {_SPANS.get(days) or counted(days, 'day')}"


def opening(known: Known, first: date, last: date, kind: Kind) -> str:
    """The first sentence: which nights, what findings cost that can be changed, and when most of it; then the facility's part."""
    costs = costs_by_night(known.nights)
    when = nights(first, last)
    whose = "your runs" if kind == "user" else f"the runs of project {name(known.recipient)}"
    facilitys = sum(map(facility_core_seconds, known.nights))
    if not sum(costs.values()):
        apart = f" What the facility has to fix cost {core_hours(facilitys)}." if facilitys else ""
        return f"This is about the I/O of {whose} in {when}.{apart}"
    worst = max(costs, key=lambda night: (costs[night], night))
    whole, largest = core_hours(sum(costs.values())), core_hours(costs[worst])
    share = "most" if costs[worst] > sum(costs.values()) / _TWO else "the largest part"
    figure = "" if largest == whole else f" ({largest})"
    most = f", {share} of it on {day(worst)}{figure}" if len(costs) > 1 else ""
    apart = f" What the facility has to fix cost another {core_hours(facilitys)}." if facilitys else ""
    return f"In {when}, what was found in {whose} cost {whole}{most}.{apart}"


def picture_says(costs: Mapping[date, float], first: date, last: date) -> str:
    """The alternative text of the picture of nights."""
    worst = max(costs, key=lambda night: (costs[night], night))
    return f"Core-hours by night, {span(first, last)}: at most {core_hours(costs[worst])}, on {day(worst)}."


def costs_by_night(nights: Sequence[Row]) -> dict[date, float]:
    """Core-seconds by night, of all users, without the facility's part."""
    costs: dict[date, float] = {}
    for row in nights:
        costs[row["night"]] = costs.get(row["night"], 0.0) + _own_core_seconds(row)
    return costs


def _own_core_seconds(row: Row) -> float:
    return (row["cost_core_seconds"] or 0.0) - facility_core_seconds(row)


def facility_core_seconds(row: Row) -> float:
    """The facility's part of a cost, 0 where there is none."""
    return row["facility_cost_core_seconds"] or 0.0


def users_texts(nights: Sequence[Row]) -> list[str]:
    """What findings cost by user without the facility's part, a line each, the largest first."""
    costs: dict[str, float] = {}
    runs: dict[str, int] = {}
    for row in nights:
        costs[row["user"]] = costs.get(row["user"], 0.0) + _own_core_seconds(row)
        runs[row["user"]] = runs.get(row["user"], 0) + row["run_count"]
    users = sorted(costs, key=lambda user: (-costs[user], user))
    lines = [f"{name(user)}: {core_hours(costs[user])} in {counted(runs[user], 'run')}" for user in users[:MOST_LINES]]
    return lines + _and_more(len(users) - len(lines), "user")
