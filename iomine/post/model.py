"""What is handed to the post: mails, complete except for the links and headers that the post adds.

Links that only the post can make are places in a mail's text and HTML: `{{link:ACTION:KEY}}` with the action
`acknowledge` or `snooze` and the key of a subject, `{{link:stop}}` for no more mails at all, and each also as
`{{mailto:…}}`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

Kind = Literal["user", "project", "operator"]


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """What an entry of a mail is about; told again only when its cooldown is over.

    All are texts as views give them, never to be shown as they are.

    Attributes:
        cluster: the machine.
        user: whose runs.
        application: what was run.
        code: of the trigger that leads the entry.
    """

    cluster: str
    user: str
    application: str
    code: str

    @property
    def key(self) -> str:
        """Hex digits that stay the same for the same four."""
        # Lengths keep parts apart whatever is in them.
        told = "".join(f"{len(part)}:{part}" for part in (self.cluster, self.user, self.application, self.code))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a mail tells.

    Attributes:
        subject: what it is about.
        title: in a few words.
        cost_core_seconds: what it cost, None where that is not known.
        last_night: the newest night that it tells of.
        signs: codes that it tells of too, as signs of the same.
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
        kind: to a user, to whoever answers for a project, or to operators.
        recipient: a user's name, an account, or `operator`.
        entries: at most five, the costliest first; empty for operators, and where there is only good news.
        first_night: the first night that it tells of.
        last_night: the last.
        subject: of the mail, one line.
        text: its plain part, with places for links.
        html: its other part, with places for links.
        pictures: PNGs by content id, as the HTML names them with `cid:`.
        better: what it says is gone or less; told once, whatever the cooldown.
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
