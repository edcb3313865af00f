"""What the post is given: mails, complete except for the links and headers that the post adds.

Links that only the post can make are places in a mail's text and HTML: `{{link:ACTION:KEY}}` with the action
`acknowledge`, `snooze` or `undo` and the key of a subject, `{{link:stop}}` for no more mails at all, `{{link:undo}}` for mails
after all, and each also as `{{mailto:…}}`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Literal

Kind = Literal["user", "project", "operator", "notice"]
# Kinds of mails to operators: the nightly summary, and what is noticed meanwhile.
TO_OPERATORS: Final = ("operator", "notice")


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """What an entry of a mail is about; it is mailed again only when its cooldown is over.

    All are texts as views give them, and must be escaped before they are shown.

    Attributes:
        cluster: the machine.
        user: who ran it.
        application: what was run.
        code: of the trigger that leads the entry.
    """

    cluster: str
    user: str
    application: str
    code: str

    @property
    def key(self) -> str:
        """Hex digits: a hash of the four fields."""
        # Lengths separate the fields, whatever characters they hold.
        text = "".join(f"{len(part)}:{part}" for part in (self.cluster, self.user, self.application, self.code))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Entry:
    """One finding that a mail lists.

    Attributes:
        subject: what it is about.
        title: in a few words.
        cost_core_seconds: its cost, None where that is not known.
        last_night: its newest night.
        signs: other codes that it lists, as signs of the same cause.
    """

    subject: Subject
    title: str
    cost_core_seconds: float | None
    last_night: date
    signs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail before it is composed.

    Attributes:
        kind: to a user, to the lead of a project, or to operators: the nightly summary, or notices as they arise.
        recipient: a user's name, an account, or `operator`.
        entries: at most five, the costliest first; empty in a summary for operators, and in a mail of good news only. Of notices,
            each event: the notice as code, the link as application.
        first_night: the first night that it reports.
        last_night: the last.
        subject: its header, one line.
        text: its plain part, with places for links.
        html: its HTML part, with places for links.
        pictures: PNGs by content id, as the HTML names them with `cid:`.
        attached: HTML files by name.
        better: subjects that it reports as gone or less; each is reported once, whatever the cooldown.
    """

    kind: Kind
    recipient: str
    entries: tuple[Entry, ...]
    first_night: date
    last_night: date
    subject: str
    text: str
    html: str
    pictures: Mapping[str, bytes]
    better: tuple[Subject, ...] = ()
    attached: Mapping[str, bytes] = field(default_factory=dict)
