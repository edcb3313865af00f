"""Reports at once what crosses a threshold of the site's: by mail, and to the server that it names. Each event once."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

from iomine.digest.notices import Notice, notices
from iomine.digest.operator import RECIPIENT, notice_mail
from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline.digest import site_settings
from iomine.post.deliver import Office, Summary, deliver
from iomine.post.directory import directory_of
from iomine.post.ledger import Ledger, only_digest
from iomine.post.settings import Settings
from iomine.post.tokens import signer_with_key
from iomine.post.transports import Pace, Smtp, Transport
from iomine.post.webhook import ByAddress, Webhook
from iomine.views.answers import Ask
from iomine.views.query import answer_own, open_catalog
from iomine.views.questions import question


def check_notices(root: Path) -> Settings:
    """The site's settings, with operators only where a mail server is set.

    Args:
        root: of the warehouse.

    Raises:
        UsageError: a setting is wrong, no threshold is set, or notices have no destination.
    """
    settings = site_settings(root)
    if not settings.smtp.host:
        settings = settings.changed(operators=())
    if not settings.notices:
        raise UsageError("No notices are set: set thresholds below [notices] in digest.toml.")
    if not settings.operators and not settings.webhook.url:
        raise UsageError("Notices have no destination: set webhook.url, or operators and smtp.host, in digest.toml.")
    return settings


def notify(root: Path, transport: Transport | None = None, now: Callable[[], datetime] | None = None) -> Summary:
    """Sends what is to be noticed in the newest night and was not sent before, and what could not be sent then.

    Args:
        root: of the warehouse, which has been swept.
        transport: carries notices; None for those that the site sets.
        now: returns the current time, with a time zone; None for the clock.

    Raises:
        UsageError: a setting is wrong, or notices have no destination.
        WarehouseError: there is no warehouse, or a digest is being sent.
    """
    settings, now = check_notices(root), now or partial(datetime.now, UTC)
    with ExitStack() as stack:
        con = stack.enter_context(open_catalog(Warehouse(root).database))
        stack.enter_context(only_digest(root))
        ledger = stack.enter_context(Ledger(root / "digest.sqlite"))
        carries = transport or _transport(settings, root)
        signer = signer_with_key(root / "digest.key")
        office = Office(settings, ledger, directory_of(settings.directory, root), signer, carries, now, is_for_notices=True)
        ask = partial(answer_own, con)
        night = _newest(ask, now().date())
        found = [] if night is None else _unreported(notices(ask, settings.notices, night), ledger, night)
        return deliver([notice_mail(found, night)] if found and night else [], office)


def _newest(ask: Ask, today: date) -> date | None:
    newest: date | None = ask(question("notices/newest_night"), {"today": today})["night"][0].as_py()
    return newest


def _unreported(found: Iterable[Notice], ledger: Ledger, night: date) -> Sequence[Notice]:
    """Notices without the links that a mail about this night has listed, and without notices that this leaves empty."""
    known = ledger.listed("notice", RECIPIENT, night)
    left = []
    for notice in found:
        keys = {entry.subject.application: entry.subject.key for entry in notice_mail([notice], night).entries}
        links = tuple(link for link in notice.links if keys[link] not in known)
        if links or (not notice.links and keys[""] not in known):
            left.append(replace(notice, links=links))
    return left


def _transport(settings: Settings, root: Path) -> Transport:
    mails = Smtp(settings.smtp, root, Pace(settings.smtp.per_minute)) if settings.smtp.host else None
    return ByAddress(mails, Webhook(settings.webhook, root))
