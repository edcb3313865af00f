"""Mails, and an office to send them from."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from iomine.post.deliver import Office
from iomine.post.directory import TemplateDirectory
from iomine.post.ledger import Ledger
from iomine.post.model import Entry, Mail, Subject
from iomine.post.settings import Settings
from iomine.post.tokens import Signer
from iomine.post.transports import Message, Outcome, Transport

NIGHT = dt.date(2026, 11, 20)
NOW = dt.datetime(2026, 11, 21, 5, 30, tzinfo=dt.UTC)
SIGNER = Signer(b"a key that tests know, and no one else")
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def entry(user: str, code: str = "POSIX-101", application: str = "lmp", hours: float = 10.0, night: dt.date = NIGHT) -> Entry:
    return Entry(Subject("blue", user, application, code), f"Title of {code}", hours * 3600, night)


def mail_to(recipient: str = "ada", *entries: Entry, kind: str = "user", night: dt.date = NIGHT, **changes: Any) -> Mail:
    reported = entries or changes.pop("entries", () if kind == "operator" else (entry(recipient, night=night),))
    text = "".join(f"- {each.title}\n  {{{{link:acknowledge:{each.subject.key}}}}}\n" for each in reported)
    html = "".join(
        f'<p>{each.title} <a href="{{{{link:snooze:{each.subject.key}}}}}">Later</a> '
        f'<a href="{{{{mailto:snooze:{each.subject.key}}}}}">by mail</a></p>'
        for each in reported
    )
    values: dict[str, Any] = {
        "kind": kind,
        "recipient": recipient,
        "entries": reported,
        "first_night": night - dt.timedelta(days=6),
        "last_night": night,
        "subject": f"Your runs up to {night}",
        "text": f"What was found:\n\n{text}",
        "html": f'<!DOCTYPE html><html><body>{html}<img src="cid:cost" alt="Cost"></body></html>',
        "pictures": {"cost": PNG},
    }
    return Mail(**values | changes)


def parsed(content: bytes) -> EmailMessage:
    """A mail as Python reads it, without a defect anywhere."""
    message = message_from_bytes(content, policy=default)
    assert isinstance(message, EmailMessage)
    for part in message.walk():
        assert [] == part.defects
        assert [] == [(name, value.defects) for name, value in part.items() if value.defects]
    return message


@dataclass
class Books:
    """A transport that remembers, and answers as planned."""

    mails: list[Message] = field(default_factory=list)
    plan: Callable[[Message], Outcome] = lambda _message: Outcome("sent", "250 ok")

    def send(self, message: Message) -> Outcome:
        """Remembers."""
        self.mails.append(message)
        return self.plan(message)

    def close(self) -> None:
        """Nothing is open."""


def office(ledger: Ledger | None = None, transport: Transport | None = None, now: dt.datetime = NOW, **changes: Any) -> Office:
    """An office of a site with few settings; settings and parts of the office may differ."""
    parts = {name: changes.pop(name) for name in ("directory", "signer") if name in changes}
    return Office(
        **{
            "settings": Settings(**{"site": "https://iomine.site.test", "from_address": "iomine@site.test"} | changes),
            "ledger": ledger or Ledger(None),
            "directory": TemplateDirectory("{user}@site.test"),
            "signer": SIGNER,
            "transport": transport or Books(),
            "now": lambda: now,
        }
        | parts
    )
