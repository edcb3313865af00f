"""A run of the post sends what an earlier run left, then new mails. The ledger notes each before and after it is sent.

Every mail in the ledger arrives at least once, or is listed as refused or given up. A mail can arrive twice only if the
connection or this process broke between the end of the mail and the server's answer. The site decides whether such a mail is
sent again, with the same bytes and the same Message-ID, or held.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from iomine.errors import OutputError
from iomine.post.addresses import is_address
from iomine.post.directory import Directory, Person, is_user
from iomine.post.ledger import Ledger, Posted, State, who_of
from iomine.post.message import Stamp, compose, message_id
from iomine.post.model import TO_OPERATORS, Kind, Mail
from iomine.post.policy import NotificationPolicy, Reason
from iomine.post.settings import Settings
from iomine.post.tokens import Signer
from iomine.post.transports import Message, Outcome, Transport
from iomine.post.webhook import is_url
from iomine.post.webhook import posted as as_json

_MOST_MISSES: Final = 3
_STATES: Final[dict[str, State]] = {"sent": "sent", "later": "deferred", "refused": "failed", "doubtful": "sending"}


@dataclass(frozen=True, slots=True)
class Office:
    """All that a run of the post needs.

    Attributes:
        settings: of the site.
        ledger: its ledger, locked by the caller.
        directory: addresses of users.
        signer: of links.
        transport: takes the mails.
        now: returns the current time, with a time zone.
        is_for_notices: whether it sends notices, which go to servers too, or all other mails.
    """

    settings: Settings
    ledger: Ledger
    directory: Directory
    signer: Signer
    transport: Transport
    now: Callable[[], datetime]
    is_for_notices: bool = False


@dataclass(slots=True)
class Summary:
    """What became of mails, by recipient (`user ada`, `project chem042`), with the reason where there is one.

    Attributes:
        sent: a mail server or the outbox accepted them.
        deferred: another run tries again.
        refused: not sent again, because the server refuses them for good or no mail can be made of them.
        held: they may have arrived, and wait for the operators' decision.
        in_doubt: they may have arrived, and another run sends them again.
        unknown: recipients without a known address.
        quiet: recipients who get no mail by the notification policy.
        waiting: mails over the limit of a run; composed anew in the next run.
        directory_faults: what is wrong with the directory, in sentences.
        fault: why the run ended early, empty where it did not.
    """

    sent: list[str] = field(default_factory=list)
    deferred: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    in_doubt: list[tuple[str, str]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    quiet: list[tuple[str, Reason]] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    directory_faults: list[str] = field(default_factory=list)
    fault: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether every recipient got their mail."""
        return not (self.deferred or self.refused or self.held or self.in_doubt or self.unknown or self.fault)


def deliver(mails: Iterable[Mail], office: Office, *, leftovers: bool = True) -> Summary:
    """Sends mails; the caller holds the ledger's lock.

    Args:
        mails: new ones; the iterator is first used when the mails of an earlier run have been sent.
        office: what the run works with.
        leftovers: whether mails of an earlier run are sent first.

    Raises:
        OutputError: the directory cannot be asked.
        WarehouseError: the ledger cannot be written.
    """
    run = _Run(office)
    with closing(office.transport):
        if leftovers:
            run.finish()
        run.send(mails)
    return run.summary


class _Run:
    def __init__(self, office: Office) -> None:
        self.summary = Summary(directory_faults=list(office.directory.faults))
        self._office = office
        self._count = 0
        self._misses = 0

    def finish(self) -> None:
        """Sends what an earlier run left."""
        settings, policy = self._office.settings, self._policy()
        patience = timedelta(days=settings.give_up_days)
        last_at = self._office.ledger.last_at(is_of_notices=self._office.is_for_notices)
        # If the last run is longer ago, the clock may be wrong, and no mail was tried in between: nothing is given up yet.
        gives_up = last_at is not None and self._office.now() - last_at <= patience
        for posted in self._office.ledger.unfinished():
            if (posted.kind == "notice") != self._office.is_for_notices:
                continue
            if reason := policy.quiet_recipient(posted.kind, posted.recipient):
                # The reader opted out after the mail was written and before it was sent.
                self._mark(posted, "failed", reason)
                self.summary.quiet.append((posted.who, reason))
            elif posted.state == "sending" and settings.in_doubt == "hold":
                self.summary.held.append(posted.who)
            elif gives_up and self._office.now() - posted.composed_at > patience:
                self._mark(posted, "failed", posted.reply)
                self.summary.refused.append((posted.who, f"given up after {settings.give_up_days} days: {posted.reply}"))
            elif self._is_full(posted.kind):
                self.summary.deferred.append((posted.who, "more than a run sends"))
            else:
                self._count += posted.kind not in TO_OPERATORS
                self._carry(posted)

    def send(self, mails: Iterable[Mail]) -> None:
        """Sends new mails, to operators first, then by cost. All are in the ledger before the first is sent."""
        for posted in [each for mail in sorted(mails, key=_dearest_first) for each in self._booked(mail)]:
            self._carry(posted)

    def _booked(self, mail: Mail) -> Iterator[Posted]:
        """The mail as the ledger has it, for each recipient. Recipients who get none are noted in the summary."""
        who = who_of(mail.kind, mail.recipient)
        if not is_user(mail.recipient):
            self.summary.unknown.append(who)
        elif reason := self._policy().quiet_recipient(mail.kind, mail.recipient):
            self.summary.quiet.append((who, reason))
        elif people := self._people(mail):
            for person in people:
                yield from self._written(mail, person, who)
        else:
            self.summary.unknown.append(who)

    def _people(self, mail: Mail) -> Sequence[Person]:
        if mail.kind in TO_OPERATORS:
            servers = [self._office.settings.webhook.url] if mail.kind == "notice" else []
            return [Person(address) for address in (*self._office.settings.operators, *filter(None, servers))]
        named = mail.recipient if mail.kind == "user" else self._office.settings.investigators.get(mail.recipient, "")
        if is_address(named) and mail.kind == "project":
            return [Person(named)]
        found = self._office.directory.find(named) if is_user(named) else None
        return [] if found is None else [found]

    def _written(self, mail: Mail, person: Person, who: str) -> Iterator[Posted]:
        settings, ledger = self._office.settings, self._office.ledger
        name = message_id(mail, person.address, settings)
        if ledger.state_of(name) not in {None, "failed"}:
            self.summary.quiet.append((who, "mailed before"))
        elif reason := self._policy().quiet_mail(mail):
            self.summary.quiet.append((who, reason))
        elif self._is_full(mail.kind):
            self.summary.waiting.append(who)
        else:
            stamp = Stamp(name, ledger.first_of(mail.kind, mail.recipient), self._office.now())
            try:
                content = (
                    as_json(mail, name) if is_url(person.address) else compose(mail, person, settings, self._office.signer, stamp)
                )
            except OutputError as error:
                self.summary.refused.append((who, str(error.args[0])))
                return
            posted = Posted(name, mail.kind, mail.recipient, person.address, "pending", content, "", stamp.at)
            ledger.add(mail, posted)
            self._count += mail.kind not in TO_OPERATORS
            yield posted

    def _carry(self, posted: Posted) -> None:
        if self.summary.fault:
            self.summary.deferred.append((posted.who, "not tried"))
            return
        self._mark(posted, "sending", posted.reply)
        message = Message(posted.message_id, self._office.settings.returns_to, posted.address, posted.mail)
        try:
            outcome = self._office.transport.send(message)
        except OutputError as error:
            outcome = Outcome("later", str(error.args[0]))
            self.summary.fault = outcome.reply
        # A mail in doubt stays in doubt until a server accepts or refuses it.
        is_in_doubt = posted.state == "sending" and outcome.end == "later"
        self._mark(posted, "sending" if is_in_doubt else _STATES[outcome.end], outcome.reply)
        self._note(posted.who, outcome)

    def _note(self, who: str, outcome: Outcome) -> None:
        match outcome.end:
            case "sent":
                self.summary.sent.append(who)
            case "later":
                self.summary.deferred.append((who, outcome.reply))
            case "refused":
                self.summary.refused.append((who, outcome.reply))
            case "doubtful":
                self.summary.in_doubt.append((who, outcome.reply))
        self._misses = 0 if outcome.is_reached else self._misses + 1
        if self._misses == _MOST_MISSES:
            self.summary.fault = outcome.reply

    def _policy(self) -> NotificationPolicy:
        """The notification policy as of now: each mail in the ledger changes it."""
        return NotificationPolicy(self._office.settings, self._office.ledger, self._office.now().date())

    def _is_full(self, kind: Kind) -> bool:
        return kind not in TO_OPERATORS and self._count >= self._office.settings.most_mails

    def _mark(self, posted: Posted, state: State, reply: str) -> None:
        self._office.ledger.mark(posted.message_id, state, self._office.now(), reply)


def _dearest_first(mail: Mail) -> tuple[bool, float, str]:
    cost = sum(entry.cost_core_seconds or 0 for entry in mail.entries)
    return mail.kind not in TO_OPERATORS, -cost, mail.recipient
