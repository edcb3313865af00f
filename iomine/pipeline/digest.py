"""A run of the digest: mails are written out of the published views, and given to the post.

The mail to operators is written last, since it lists what the post could not deliver to the others.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from iomine.config import Toml
from iomine.digest.known import Scope, Whose
from iomine.digest.mails import MailPolicy, mails
from iomine.digest.notices import check_thresholds
from iomine.digest.operator import RECIPIENT, Trouble, operator_mail
from iomine.digest.sentences import Links
from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline.failures import error_line
from iomine.pipeline.mails import show_mails
from iomine.pipeline.site.triggers import site_triggers
from iomine.post.access import ACCESS_FILE, KEY_FILE, site_access
from iomine.post.deliver import Office, Summary, deliver
from iomine.post.directory import directory_of
from iomine.post.ledger import Ledger, only_digest
from iomine.post.model import Entry, Mail, Subject
from iomine.post.policy import NotificationPolicy
from iomine.post.replies import take
from iomine.post.settings import Settings
from iomine.post.tokens import (
    Pass,
    make_key,
    pass_signer_of,
    passing_pass_signer,
    passing_signer,
    signer_of,
    signer_with_key,
)
from iomine.post.transports import Outbox, Pace, Smtp, Transport
from iomine.report.facts import Place, gather
from iomine.report.write import standalone_report
from iomine.settings import read_site_file
from iomine.sharing import group_of
from iomine.triggers.site import with_published
from iomine.views.answers import Ask
from iomine.views.query import answer_own, open_catalog
from iomine.views.questions import question
from iomine.views.restricted import Whose as Seen
from iomine.views.restricted import open_restricted, restrict

FIRST_NIGHTS: Final = 14
# Of a file that a mail brings with it: a report without a trace has about 60 KB.
_MOST_ATTACHED: Final = 200_000

Attach = Callable[[Whose, str, Place], bytes | None]


@dataclass(frozen=True, slots=True)
class Order:
    """What a run is to do.

    Attributes:
        warehouse: its root.
        user: the only user to write to, None for all that are due.
        project: the only account to write about.
        is_operator: whether only operators are written to.
        since: the first night to report, None for what is new to each recipient.
        outbox: the folder that gets the mails instead of a mail server.
        smtp: host and port of a mail server instead of the site's.
        is_dry: whether mails are written to the outbox and nothing is noted.
    """

    warehouse: Path
    user: str | None = None
    project: str | None = None
    is_operator: bool = False
    since: date | None = None
    outbox: Path | None = None
    smtp: tuple[str, int] | None = None
    is_dry: bool = False

    @property
    def is_for_all(self) -> bool:
        """Whether the run mails everyone."""
        return self.user is None and self.project is None and not self.is_operator


@dataclass(slots=True)
class Done:
    """What a run did.

    Attributes:
        last_night: the last night that was reported, None without any night.
        post: what became of mails.
        quiet: how many findings were not mailed, by reason.
        is_shown: whether the views already show these mails; otherwise they do after the next digest.
    """

    last_night: date | None
    post: Summary
    quiet: Counter[str]
    is_shown: bool = False

    def as_json(self) -> dict[str, Any]:
        """All of it, for programs."""
        return {"last_night": self.last_night, **asdict(self.post), "quiet_findings": dict(self.quiet), "is_shown": self.is_shown}


def site_settings(root: Path) -> Settings:
    """A site's settings: what `digest.toml` in the warehouse says, and the defaults.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit.
    """
    return read_site_file(root / "digest.toml", "settings", _parse)


def _parse(toml: Toml) -> Settings:
    settings = Settings.parse(toml)
    check_thresholds(settings.notices)
    return settings


def digest(order: Order) -> Done:
    """Writes mails and gives them to the post.

    Raises:
        UsageError: a setting is wrong, or no transport is given.
        WarehouseError: there is no warehouse, or another digest is being sent.
        OutputError: the outbox cannot be written, or the directory of users not be asked.
    """
    warehouse = Warehouse(order.warehouse)
    settings, triggers = site_settings(order.warehouse), site_triggers(warehouse)
    _check_way(order, settings)
    with ExitStack() as stack:
        con = stack.enter_context(open_catalog(warehouse.database))
        ask = partial(answer_own, con)
        stack.enter_context(with_published(ask))
        until = _until(ask, order)
        stack.enter_context(nullcontext() if order.is_dry else only_digest(order.warehouse))
        office = stack.enter_context(_office(order, settings))
        if until is None:
            return Done(None, Summary(), Counter())
        run = _Run(ask, order, office, until, stack.enter_context(_attachments(warehouse.database, office.settings)))
        run.send()
        is_shown = not order.is_dry and show_mails(warehouse, office.ledger, triggers.values())
        return Done(until, run.post, run.quiet, is_shown)


def check_order(order: Order) -> None:
    """Makes sure that the mails have a way to go.

    Raises:
        UsageError: a setting is wrong, or no transport is given.
    """
    _check_way(order, site_settings(order.warehouse))


def take_mail(root: Path, mail: bytes) -> str:
    """Does what a reader's mail asks for, which one of our links has written, and returns a sentence about it.

    Raises:
        UsageError: the mail has no valid link.
        WarehouseError: the ledger cannot be written.
    """
    signer = signer_of(root / "digest.key")
    with Ledger(root / "digest.sqlite") as ledger:
        done: str = take(mail, signer, ledger, datetime.now(UTC).date())
        return done


def _until(ask: Ask, order: Order) -> date | None:
    """The last night to report, None without any night."""
    newest: date | None = ask(question("digest/newest_night"))["night"][0].as_py()
    if newest is None or order.since is not None:
        return newest
    # More logs of today will come. A reader who got a mail about today would not get them in another one.
    return min(newest, datetime.now(UTC).date() - timedelta(days=1))


def _check_way(order: Order, settings: Settings) -> None:
    if order.outbox is not None and order.smtp is not None:
        raise UsageError("--outbox and --smtp are two destinations for mails: leave one of them out.")
    if order.is_dry and order.outbox is None:
        raise UsageError("A dry run writes mails to a folder: name it with --outbox.")
    if order.outbox is None and order.smtp is None and not settings.smtp.host:
        raise UsageError("Mails have no destination: give --outbox DIR or --smtp HOST:PORT, or set smtp.host in digest.toml.")


@contextmanager
def _office(order: Order, settings: Settings) -> Iterator[Office]:
    root = order.warehouse
    directory = directory_of(settings.directory, root)
    transport = _transport(order, settings)
    signer = passing_signer() if order.is_dry else signer_with_key(root / "digest.key")
    file = root / "digest.sqlite"
    with Ledger(None if order.is_dry and not file.exists() else file) as ledger:
        kept = ledger.copy() if order.is_dry else ledger
        yield Office(settings, kept, directory, signer, transport, partial(datetime.now, UTC))


@contextmanager
def _attachments(database: Path, settings: Settings) -> Iterator[Attach | None]:
    """Makes reports that mails bring with them, of what their readers may see; None where the site wants links only."""
    if settings.reports == "link":
        yield None
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / database.name
        restrict(database, copy, "own")

        def attached(whose: Whose, recipient: str, place: Place) -> bytes | None:
            seen = Seen(frozenset({recipient}), frozenset()) if whose == "user" else Seen(frozenset(), frozenset({recipient}))
            with open_restricted(copy, database, seen) as con:
                ask = partial(answer_own, con)
                pages = [standalone_report(ask, facts) for facts in gather(ask, [place])]
            return pages[0] if pages and len(pages[0]) <= _MOST_ATTACHED else None

        yield attached


def _links(order: Order, office: Office, attach: Attach | None) -> Links:
    """Where reports are: behind signed links, if the site wants these."""
    root, site, reports = order.warehouse, office.settings.root, (order.warehouse / "reports").resolve()
    access = site_access(root)
    if access is None or not access.links.in_mails:
        return Links(site or None, reports, attached=attach)
    if not site:
        raise UsageError(f"links.in_mails in {ACCESS_FILE} signs links to a server: set site in digest.toml.")
    if not order.is_dry:
        make_key(root / KEY_FILE)
    signer = passing_pass_signer() if order.is_dry else pass_signer_of(root / KEY_FILE)
    until = int((office.now() + timedelta(days=access.links.days)).timestamp())
    return Links(site, reports, lambda user, log_id: signer.token(Pass(user, log_id, until)), attach)


def _transport(order: Order, settings: Settings) -> Transport:
    if order.outbox is not None:
        return Outbox(order.outbox, group_of(order.warehouse))
    server = settings.smtp
    if order.smtp is not None:
        host, port = order.smtp
        server = server.changed(host=host, port=port)
    return Smtp(server, order.warehouse, Pace(server.per_minute))


class _Run:
    """A run over a warehouse that has nights.

    Args:
        ask: answers queries over the published views.
        order: what is to be done.
        office: the post.
        until: the last night to report.
        attach: makes reports that mails bring with them, None where they bring none.
    """

    def __init__(self, ask: Ask, order: Order, office: Office, until: date, attach: Attach | None) -> None:
        self.post = Summary()
        self.quiet: Counter[str] = Counter()
        self._ask = ask
        self._order = order
        self._office = office
        self._settings = office.settings
        self._until = until
        self._unwritten: list[tuple[str, str]] = []
        self._links = _links(order, office, attach)

    def send(self) -> None:
        """Writes mails and gives them to the post."""
        order = self._order
        self.post = deliver(self._due(), self._office, leftovers=not order.is_dry)
        self.post.refused += self._unwritten
        if order.is_operator or (order.is_for_all and self._settings.operators):
            mail = self._to_operators()
            _add(self.post, deliver([mail] if mail else [], self._office, leftovers=False))

    def _due(self) -> Iterator[Mail]:
        """Mails to users and projects, made when the post asks for them, so that they include what the post has just given up."""
        order = self._order
        if order.is_for_all or order.user is not None:
            yield from self._written("user", order.user)
        if order.project is not None or (order.is_for_all and self._settings.investigators):
            yield from self._written("project", order.project)

    def _written(self, kind: Whose, only: str | None) -> Iterator[Mail]:
        order, ledger = self._order, self._office.ledger
        mailed = ledger.last_nights(kind) if order.since is None else {}
        since = {recipient: night + timedelta(days=1) for recipient, night in mailed.items()}
        first = min(order.since or self._until - timedelta(days=FIRST_NIGHTS - 1), self._until)
        scope = Scope(kind, since, first, self._until, only, self._settings.exclude.accounts)
        yield from mails(self._ask, scope, self._policy(kind), self._links, partial(self._refuse, kind))

    def _refuse(self, kind: Whose, recipient: str, error: Exception) -> None:
        self._unwritten.append((f"{kind} {recipient}", f"no mail can be made ({error_line(error)})"))

    def _policy(self, kind: Whose) -> MailPolicy:
        policy = NotificationPolicy(self._settings, self._office.ledger, self._office.now().date())
        mailed = cache(partial(self._office.ledger.mailed, kind))

        def is_reader(recipient: str) -> bool:
            is_named = kind == "user" or recipient in {self._order.project, *self._settings.investigators}
            return is_named and policy.quiet_recipient(kind, recipient) is None

        def is_quiet(recipient: str, entry: Entry) -> bool:
            reasons: list[str] = [reason for _, reason in policy.choose(kind, recipient, [entry]).quiet]
            self.quiet.update(reasons)
            return bool(reasons)

        def mailed_on(recipient: str, subject: Subject) -> date | None:
            days: Mapping[str, date] = mailed(recipient)
            return days.get(subject.key)

        return MailPolicy(
            is_reader,
            is_quiet,
            mailed_on,
            partial(policy.is_praised, kind),
            self._settings.most_entries,
            self._settings.snooze_days,
        )

    def _to_operators(self) -> Mail | None:
        last = self._until
        mailed = self._office.ledger.last_nights("operator").get(RECIPIENT)
        first = self._order.since or (last - timedelta(days=FIRST_NIGHTS - 1) if mailed is None else mailed + timedelta(days=1))
        return operator_mail(self._ask, min(first, last), last, self._settings.notices, _troubles(self.post))


def _troubles(post: Summary) -> Sequence[Trouble]:
    def named(names: Sequence[str]) -> list[tuple[str, str]]:
        return [(each, "") for each in names]

    return (
        Trouble("Mails end early", named([post.fault] if post.fault else [])),
        Trouble("Users without an address", named(post.unknown)),
        Trouble("Mails refused", post.refused),
        Trouble("Mails to be tried again", post.deferred),
        Trouble("Mails that may have arrived, and are tried again", post.in_doubt),
        Trouble("Mails that may have arrived, and are held", named(post.held)),
        Trouble("Faults of the directory of users", named(post.directory_faults)),
    )


def _add(post: Summary, other: Summary) -> None:
    """Adds what became of other mails."""
    post.sent += other.sent
    post.deferred += other.deferred
    post.refused += other.refused
    post.unknown += other.unknown
    post.quiet += other.quiet
    post.in_doubt += other.in_doubt
    post.fault = post.fault or other.fault
