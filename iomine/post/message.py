"""Composes a mail: two parts that say the same, pictures, signed links, and headers that cannot be read as others."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.header import Header
from email.headerregistry import Address, BaseHeader, HeaderRegistry
from email.message import EmailMessage, MIMEPart
from email.policy import SMTP, EmailPolicy, Policy
from hashlib import sha256
from html import escape
from textwrap import wrap
from typing import Any, Final, cast
from urllib.parse import quote

from iomine.errors import OutputError
from iomine.post.addresses import domain_of, plain_name
from iomine.post.directory import Person
from iomine.post.model import TO_OPERATORS, Mail
from iomine.post.settings import Settings
from iomine.post.tokens import Action, Signer, Verb
from iomine.units import visible

MOST_BYTES: Final = 100_000
_LONGEST_SUBJECT: Final = 200
_PLACE: Final = re.compile(r"\{\{(link|mailto):(stop|undo|(acknowledge|snooze|undo):([0-9a-f]{32}))\}\}")
_MOST_COLUMNS: Final = 78
_FILE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class _Whole(BaseHeader):
    """A header of addresses in angle brackets, folded only between them.

    Python folds an address that is longer than a line by encoding it, and mail programs then do not know it as an address.
    """

    max_count = 1

    @staticmethod
    def parse(value: str, kwds: dict[str, Any]) -> None:
        """Takes the value as it is, as `BaseHeader` asks for."""
        kwds["decoded"], kwds["parse_tree"] = value, None

    def fold(self, *, policy: Policy) -> str:
        """The header's lines."""
        joint = f",{policy.linesep} "
        return f"{self.name}: {joint.join(self.split(', '))}{policy.linesep}"


class _Subject(_Whole):
    """A subject that begins on the line of its header's name, and goes on between words.

    Python leaves that line empty where the subject fits into the next one alone, and some mail programs then show none.
    """

    def fold(self, *, policy: Policy) -> str:
        """The header's lines; all in encoded words where a sign is not ASCII."""
        first = f"{self.name}: "
        if self.isascii():
            lines = wrap(
                self, _MOST_COLUMNS, initial_indent=first, subsequent_indent=" ", break_long_words=False, break_on_hyphens=False
            )
            return policy.linesep.join((*lines, ""))
        return first + Header(self, "utf-8", _MOST_COLUMNS, self.name).encode(linesep=policy.linesep) + policy.linesep


@dataclass(frozen=True, slots=True)
class Stamp:
    """Headers that differ from mail to mail.

    Attributes:
        message_id: in angle brackets.
        first_id: of the first mail of its kind to the same person, which this one replies to; None for the first.
        at: its date, with a time zone.
    """

    message_id: str
    first_id: str | None
    at: datetime


def _policy() -> "EmailPolicy[Any]":
    headers = HeaderRegistry()
    headers.map_to_type("subject", _Subject)
    for name in ("list-unsubscribe", "message-id", "references", "in-reply-to", "list-id"):
        headers.map_to_type(name, _Whole)
    return SMTP.clone(header_factory=headers)


_POLICY: Final = _policy()


def message_id(mail: Mail, address: str, settings: Settings) -> str:
    """The id of a mail, the same however often the mail is composed.

    Mails to users and projects are the same if they end on the same night and list the same subjects; summaries for
    operators, if they end on the same night and go to the same address; notices, if both.
    """
    parts = [mail.kind, mail.recipient, mail.last_night.isoformat()]
    if mail.kind in TO_OPERATORS:
        parts.append(address)
    if mail.kind != "operator":
        parts += sorted(entry.subject.key for entry in mail.entries)
        parts += sorted(f"better {subject.key}" for subject in mail.better)
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return f"<{sha256(text.encode()).hexdigest()[:32]}@{domain_of(settings.from_address)}>"


def compose(mail: Mail, person: Person, settings: Settings, signer: Signer, stamp: Stamp) -> bytes:
    """The mail, with CRLF at the end of lines.

    Args:
        mail: its content.
        person: the recipient.
        settings: of the site.
        signer: of links.
        stamp: its id and date.

    Raises:
        OutputError: it is larger than 100 KB without what is attached.
    """
    message = EmailMessage(_POLICY)
    message["Date"] = stamp.at
    message["From"] = Address(plain_name(settings.from_name), addr_spec=settings.from_address)
    message["To"] = Address(plain_name(person.name), addr_spec=person.address)
    message["Reply-To"] = settings.answers_to
    message["Subject"] = _one_line(mail.subject)
    message["Message-ID"] = stamp.message_id
    if stamp.first_id:
        message["In-Reply-To"] = stamp.first_id
        message["References"] = stamp.first_id
    # RFC 3834, and the headers that vacation programs and Exchange check.
    message["Auto-Submitted"] = "auto-generated"
    message["Precedence"] = "bulk"
    message["X-Auto-Response-Suppress"] = "All"
    message["List-Id"] = f"<{mail.kind}.digest.iomine.{domain_of(settings.from_address)}>"
    links = _Links(mail, settings, signer)
    if mail.kind not in TO_OPERATORS:
        message["List-Unsubscribe"] = ", ".join(f"<{address}>" for address in links.all_of("stop"))
        if settings.root.startswith("https:"):
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    _fill(message, mail, links)
    size = len(message.as_bytes())
    if size > MOST_BYTES:
        raise OutputError(f"The mail is {size:,} bytes; the limit is {MOST_BYTES:,}: lower most_entries in digest.toml.")
    for name, page in mail.attached.items():
        if not _FILE.fullmatch(name):
            raise ValueError(f"{name!r} cannot name an attachment")
        message.add_attachment(page, "text", "html", filename=name, params={"charset": "utf-8"})
    return message.as_bytes()


def _one_line(subject: str) -> str:
    # Python takes an encoded word in a name for one of its own, and decodes it into the header, ends of lines and all.
    return visible(" ".join(subject.split())).replace("=?", "= ?")[:_LONGEST_SUBJECT]


def _fill(message: EmailMessage, mail: Mail, links: "_Links") -> None:
    message.set_content(links.put_into(mail.text, str))
    message.add_alternative(links.put_into(mail.html, escape), subtype="html")
    html = cast("list[MIMEPart]", message.get_payload())[1]
    for name, picture in mail.pictures.items():
        if not _FILE.fullmatch(name):
            raise ValueError(f"{name!r} cannot name a picture")
        html.add_related(picture, "image", "png", cid=f"<{name}>", disposition="inline", filename=f"{name}.png")


class _Links:
    """The links of a mail."""

    def __init__(self, mail: Mail, settings: Settings, signer: Signer) -> None:
        self._mail = mail
        self._settings = settings
        self._signer = signer
        self._keys = {entry.subject.key for entry in mail.entries}

    def put_into(self, text: str, escaped: Callable[[str], str]) -> str:
        """A text with links in their places."""
        return _PLACE.sub(lambda place: escaped(self._in_place(place)), text)

    def all_of(self, verb: Verb, key: str = "") -> list[str]:
        """The links of an action: to the site's server, if there is one, and one that opens a mail to send."""
        days = self._settings.snooze_days if verb == "snooze" else 0
        token = self._signer.token(Action(verb, self._mail.kind, self._mail.recipient, key, days))
        mailto = f"mailto:{quote(self._settings.actions_to, safe='@')}?subject=iomine%20{token}"
        return [f"{self._settings.root}mail/{token}", mailto] if self._settings.root else [mailto]

    def _in_place(self, place: re.Match[str]) -> str:
        way, whole, verb, key = place.groups()
        if key is not None and key not in self._keys:
            raise ValueError(f"a mail has a link about {key}, which is none of its entries")
        return self.all_of(cast("Verb", verb or whole), key or "")[0 if way == "link" else -1]
