"""Mails to users and to project leads."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain
from typing import Final

from iomine.digest.causes import Cause
from iomine.digest.known import Better, Known, Scope, gather
from iomine.digest.parts import MOST_TEXT_LINES, html_part, line_count, text_part
from iomine.digest.pictures import NIGHTS_PICTURE, first_shown, nights_picture
from iomine.digest.sentences import (
    ABOUT_COSTS,
    ABOUT_UNEXPLAINED,
    MOST_LINES,
    MOST_SIGNS,
    SLOWED_TITLE,
    UNEXPLAINED_TITLE,
    Links,
    better_text,
    costs_by_night,
    entry_text,
    left_text,
    opening,
    picture_says,
    remind_text,
    slowed_texts,
    unexplained_texts,
    users_texts,
)
from iomine.digest.words import full_day, one_line, span
from iomine.post.model import Entry, Mail, Subject
from iomine.report.causes import is_facility_cause
from iomine.report.facts import Place, title_of
from iomine.units import core_hours, counted
from iomine.views.answers import Ask, Row, rows_of
from iomine.views.questions import question

MOST_ENTRIES: Final = 5
_MOST_SUBJECT: Final = 150
_TEMPLATES: Final = "mail"

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class MailPolicy:
    """What recipients may be mailed, and what they have been mailed.

    Attributes:
        is_reader: whether a recipient gets mails.
        is_quiet: whether an entry must not be mailed to a recipient.
        mailed_on: when a mail last listed a subject for a recipient, None where none has.
        is_praised: whether a mail has reported to a recipient that a subject got better.
        most_entries: of a mail.
        snooze_days: for how long an entry is not mailed, where its reader asks for that.
    """

    is_reader: Callable[[str], bool]
    is_quiet: Callable[[str, Entry], bool]
    mailed_on: Callable[[str, Subject], date | None]
    is_praised: Callable[[str, Subject], bool]
    most_entries: int = MOST_ENTRIES
    snooze_days: int = 30


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What a mail to a recipient lists.

    Attributes:
        known: what is known of the recipient.
        causes: those that it lists.
        left: those for which it has no room, the costliest first.
        better: what got better.
        attached: files that it brings, by name.
        most_slow: how many applications with runs that were slow for other reasons have a line of their own.
    """

    known: Known
    causes: tuple[Cause, ...]
    left: tuple[Cause, ...]
    better: tuple[Better, ...]
    attached: Mapping[str, bytes] = field(default_factory=dict)
    most_slow: int = MOST_LINES


def mails(ask: Ask, scope: Scope, policy: MailPolicy, links: Links, refuse: Callable[[str, Exception], object]) -> Iterator[Mail]:
    """The mails of all recipients with anything to report, the costliest first.

    What one hostile log holds must not keep others from their mails.

    Args:
        ask: answers queries over the published views.
        scope: which nights of whom.
        policy: what is mailed.
        links: where reports are.
        refuse: called with a recipient for whom no mail can be made, and why.
    """
    readers = (known for known in gather(ask, scope).values() if policy.is_reader(known.recipient))
    every = (_chosen(known, scope, policy) for known in readers)
    chosen = sorted((each for each in every if each.causes or each.better), key=_weight)
    details = _details(ask, chain.from_iterable(each.causes for each in chosen))
    for each in chosen:
        try:
            mail = _mail(each, scope, policy, links, details)
        except Exception as error:  # noqa: BLE001  whatever it is
            refuse(each.known.recipient, error)
        else:
            yield mail


def _chosen(known: Known, scope: Scope, policy: MailPolicy) -> _Chosen:
    due = [cause for cause in known.causes if not _is_quiet(known.recipient, cause, policy)]
    first = scope.first_night(known.recipient)
    better = [each for each in known.better if _is_news(known.recipient, each, first, policy)]
    return _Chosen(known, tuple(due[: policy.most_entries]), tuple(due[policy.most_entries :]), tuple(better[:MOST_LINES]))


def _is_quiet(recipient: str, cause: Cause, policy: MailPolicy) -> bool:
    entry = _entry(cause)
    return any(policy.is_quiet(recipient, replace(entry, subject=cause.subject_of(sign))) for sign in cause.could_lead())


def _is_news(recipient: str, better: Better, first_night: date, policy: MailPolicy) -> bool:
    """Whether an improvement is news: not reported yet, and recent unless a mail listed the finding before."""
    if any(policy.is_praised(recipient, subject) for subject in better.subjects):
        return False
    return _mailed(recipient, better, policy) is not None or (better.since_night or better.mailed_night) >= first_night


def _mailed(recipient: str, better: Better, policy: MailPolicy) -> date | None:
    dates = (policy.mailed_on(recipient, subject) for subject in better.subjects)
    return min((each for each in dates if each), default=None)


def _weight(chosen: _Chosen) -> tuple[float, str]:
    costs = [cause.lost_core_seconds for cause in chosen.causes]
    return -max(costs, default=0.0), chosen.known.recipient


def _details(ask: Ask, causes: Iterable[Cause]) -> Mapping[Key, Row]:
    """What was found in the costliest runs, by cluster, log and code."""
    wanted = sorted({(cause.cluster, cause.lead.night, cause.lead.log_id, cause.lead.code) for cause in causes})
    if not wanted:
        return {}
    clusters, nights, log_ids, codes = map(list, zip(*wanted, strict=True))
    parameters = {"clusters": clusters, "nights": nights, "log_ids": log_ids, "codes": codes}
    rows = rows_of(ask(question("digest/details"), parameters | {"first_night": min(nights), "last_night": max(nights)}))
    return {(row["cluster"], row["log_id"], row["code"]): row for row in rows}


def _mail(chosen: _Chosen, scope: Scope, policy: MailPolicy, links: Links, details: Mapping[Key, Row]) -> Mail:
    """A mail of as many causes as fit into its lines, and of one at least; it says what more the reports have.

    If one cause is still too much, the mail says less about runs that were slow for other reasons.
    """
    count = len(chosen.causes)
    chosen = replace(chosen, attached=_attached(chosen, scope, links))
    sizes = [(fewer, MOST_LINES) for fewer in range(count, 1, -1)] + [(min(count, 1), most) for most in range(MOST_LINES, -1, -1)]
    for fewer, most_slow in sizes:
        left = chosen.causes[fewer:] + chosen.left
        part = replace(chosen, causes=chosen.causes[:fewer], left=left, most_slow=most_slow)
        mail = _written(part, scope, policy, links, details)
        if line_count(mail.text) <= MOST_TEXT_LINES:
            break
    return mail


def _attached(chosen: _Chosen, scope: Scope, links: Links) -> dict[str, bytes]:
    """The report of the costliest run of the first cause, where the site wants it attached and it is not too large."""
    if not links.attached or not chosen.causes:
        return {}
    cause = chosen.causes[0]
    page = links.attached(scope.whose, chosen.known.recipient, Place(cause.cluster, cause.lead.night, cause.lead.log_id))
    return {} if page is None else {f"iomine-{cause.lead.log_id}.html": page}


def _written(chosen: _Chosen, scope: Scope, policy: MailPolicy, links: Links, details: Mapping[Key, Row]) -> Mail:
    known, recipient = chosen.known, chosen.known.recipient
    first, last = scope.first_night(recipient), scope.until
    shown = first_shown(first, last)
    costs = {night: cost for night, cost in costs_by_night(known.nights).items() if night >= shown}
    subject = _subject(chosen, first, last, scope.whose)
    view = {
        "kind": scope.whose,
        "recipient": recipient,
        "subject": subject,
        "opening": opening(known, first, last, scope.whose),
        "picture": NIGHTS_PICTURE if len(costs) > 1 and any(costs.values()) else "",
        "picture_says": picture_says(costs, shown, last) if costs else "",
        "picture_ends": (full_day(shown), full_day(last)),
        "users": users_texts(known.nights) if scope.whose == "project" else [],
        "entries": [
            entry_text(
                cause,
                known.applications[cause.cluster, cause.user, cause.application],
                details[cause.cluster, cause.lead.log_id, cause.lead.code],
                links,
                scope.whose,
            )
            for cause in chosen.causes
        ],
        "left": left_text(chosen.left, scope.whose),
        "better": [better_text(each, _mailed(recipient, each, policy), scope.whose) for each in chosen.better],
        "slowed": slowed_texts(list(known.applications.values()), scope.whose, chosen.most_slow),
        "slowed_title": SLOWED_TITLE,
        "unexplained": unexplained_texts(list(known.applications.values()), scope.whose, chosen.most_slow),
        "unexplained_title": UNEXPLAINED_TITLE,
        "about_unexplained": ABOUT_UNEXPLAINED,
        "about_costs": ABOUT_COSTS,
        "has_site": links.site is not None,
        "is_attached": bool(chosen.attached),
        "remind": remind_text(policy.snooze_days),
    }
    return Mail(
        kind=scope.whose,
        recipient=recipient,
        entries=tuple(map(_entry, chosen.causes)),
        first_night=first,
        last_night=last,
        subject=subject,
        text=text_part(_TEMPLATES, view),
        html=html_part(_TEMPLATES, view),
        pictures={NIGHTS_PICTURE: nights_picture(costs, shown, last)} if view["picture"] else {},
        attached=chosen.attached,
        better=tuple(subject for each in chosen.better for subject in each.subjects),
    )


def _entry(cause: Cause) -> Entry:
    cost = None if cause.cost_core_seconds is None else cause.lost_core_seconds
    signs = tuple(sign.code for sign in cause.others[:MOST_SIGNS])
    return Entry(cause.subject, title_of(cause.lead.code), cost, cause.lead.last_night, signs)


def _subject(chosen: _Chosen, first: date, last: date, kind: str) -> str:
    # What is new comes first: lists of mails show few words.
    whose = "your runs" if kind == "user" else f"project {chosen.known.recipient}"
    return one_line(f"{_news(chosen.causes + chosen.left, chosen.better)}: I/O of {whose}, {span(first, last)}", _MOST_SUBJECT)


def _news(causes: Sequence[Cause], better: Sequence[Better]) -> str:
    if own := [cause for cause in causes if not is_facility_cause(cause.lead.code)]:
        which = "" if len(own) == 1 else "the costliest "
        return f"{counted(len(own), 'thing')} to change, {which}{core_hours(own[0].own_core_seconds)}"
    if causes:
        return f"{counted(len(causes), 'thing')} for the operators"
    saved = max(each.saved_core_seconds for each in better)
    return f"A change that worked, {core_hours(saved)} saved"
