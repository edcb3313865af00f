"""Notification policy: what is not mailed, and why. A digest that repeats itself every week is not read.

Reasons, in this order: the site excludes it; the reader opted out of such mails; the reader acknowledged the finding, which holds
for good; the reader snoozed it; it was mailed a short while ago; it costs too little. Operators are mailed everything.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Literal

from iomine.post.ledger import Ledger
from iomine.post.model import TO_OPERATORS, Entry, Kind, Mail, Subject
from iomine.post.settings import Settings
from iomine.post.tokens import Verb

Reason = Literal["excluded", "opted out", "acknowledged", "snoozed", "cooldown", "too cheap", "mailed before"]
_HOUR_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of many findings a mail lists.

    Attributes:
        entries: those that it lists, the costliest first.
        quiet: those that the policy leaves out, with the reason.
        more: those for which the mail has no room.
    """

    entries: tuple[Entry, ...]
    quiet: tuple[tuple[Entry, Reason], ...]
    more: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class _Past:
    mailed: Mapping[str, date]
    praised: Mapping[str, date]
    wishes: Mapping[tuple[Verb, str], date]


class NotificationPolicy:
    """What may be mailed on a day.

    Args:
        settings: of the site.
        ledger: what was mailed and asked for. It is read once for each recipient; later changes may be missed.
        today: the date in UTC.
    """

    def __init__(self, settings: Settings, ledger: Ledger, today: date) -> None:
        self._settings = settings
        self._today = today
        self._cooldown = timedelta(days=settings.cooldown_days)
        self._past = cache(lambda kind, who: _Past(ledger.mailed(kind, who), ledger.praised(kind, who), ledger.wishes(kind, who)))

    def choose(self, kind: Kind, recipient: str, entries: Iterable[Entry]) -> Choice:
        """Divides findings into those that a mail lists and those that it leaves out."""
        judged = [(entry, self._quiet_entry(kind, recipient, entry)) for entry in entries]
        loud = sorted((entry for entry, reason in judged if reason is None), key=_dearest_first)
        most = self._settings.most_entries
        quiet = tuple((entry, reason) for entry, reason in judged if reason)
        return Choice(tuple(loud[:most]), quiet, tuple(loud[most:]))

    def quiet(self, kind: Kind, recipient: str, subject: Subject) -> Reason | None:
        """Why a subject is not mailed to a recipient, None where it is."""
        excluded = self._settings.exclude
        if kind in TO_OPERATORS:
            return None
        if subject.user in excluded.users or subject.application in excluded.applications:
            return "excluded"
        if reason := self.quiet_recipient(kind, recipient):
            return reason
        past, key = self._past(kind, recipient), subject.key
        if ("acknowledge", key) in past.wishes:
            return "acknowledged"
        if self._today < past.wishes.get(("snooze", key), date.min):
            return "snoozed"
        return "cooldown" if key in past.mailed and self._today < past.mailed[key] + self._cooldown else None

    def quiet_recipient(self, kind: Kind, recipient: str) -> Reason | None:
        """Why a recipient gets no such mails at all, None where they do."""
        if kind in TO_OPERATORS:
            return None
        excluded = {"user": self._settings.exclude.users, "project": self._settings.exclude.accounts}.get(kind, ())
        if recipient in excluded:
            return "excluded"
        return "opted out" if ("stop", "") in self._past(kind, recipient).wishes else None

    def is_praised(self, kind: Kind, recipient: str, subject: Subject) -> bool:
        """Whether a mail has reported to a recipient that a subject got better, and none has listed the subject since."""
        past, key = self._past(kind, recipient), subject.key
        return key in past.praised and past.mailed.get(key, date.min) <= past.praised[key]

    def quiet_mail(self, mail: Mail) -> Reason | None:
        """Why a mail must not be sent, None where it may: the policy must allow each of its entries."""
        kind, recipient = mail.kind, mail.recipient
        if reason := self.quiet_recipient(kind, recipient):
            return reason
        if reasons := [reason for entry in mail.entries if (reason := self._quiet_entry(kind, recipient, entry))]:
            return reasons[0]
        return "mailed before" if any(self.is_praised(kind, recipient, subject) for subject in mail.better) else None

    def _quiet_entry(self, kind: Kind, recipient: str, entry: Entry) -> Reason | None:
        if reason := self.quiet(kind, recipient, entry.subject):
            return reason
        cheap = (entry.cost_core_seconds or 0) < self._settings.least_core_hours * _HOUR_SECONDS
        return "too cheap" if cheap and kind not in TO_OPERATORS else None


def _dearest_first(entry: Entry) -> tuple[float, Subject]:
    return -(entry.cost_core_seconds or 0), entry.subject
