"""The ledger: the state of every mail, the findings that it lists for whom, and what readers have asked for.

A mail enters the ledger as `pending`, with all of its bytes, before it is sent. It is `sending` while a mail server may
have it, and ends as `sent` or `failed`; `deferred` waits for another try. After a crash, mails in `pending` and `deferred` have
not arrived; those in `sending` may have. A finding counts as mailed from when the mail is in the ledger, unless the mail fails.

SQLite keeps it, with a sync for every change: a committed change survives a power cut. Ledgers of version 1 have no machine, user
and trigger of a finding, and no signs under an entry.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final, Literal, Self

from iomine.errors import WarehouseError
from iomine.locks import is_locked, lock_file
from iomine.post.model import Kind, Mail
from iomine.post.tokens import Action, Verb
from iomine.units import visible

State = Literal["pending", "sending", "deferred", "sent", "failed"]
Part = Literal["entry", "sign", "better"]
_VERSION: Final = 2
_BUSY_SECONDS: Final = 30
_TABLES: Final = """
CREATE TABLE letter (
    message_id TEXT PRIMARY KEY, kind TEXT NOT NULL, recipient TEXT NOT NULL, address TEXT NOT NULL, state TEXT NOT NULL,
    mail BLOB, last_night TEXT NOT NULL, composed_at TEXT NOT NULL, changed_at TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
    reply TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX letter_of ON letter (kind, recipient);
CREATE TABLE wish (
    kind TEXT NOT NULL, recipient TEXT NOT NULL, verb TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL, until TEXT NOT NULL,
    PRIMARY KEY (kind, recipient, verb, key)
) STRICT;
"""
# A part is an entry, a sign under one, or better.
_LISTED_TABLE: Final = """
CREATE TABLE told (
    message_id TEXT NOT NULL, part TEXT NOT NULL, key TEXT NOT NULL, cluster TEXT, user TEXT, application TEXT NOT NULL,
    code TEXT, title TEXT NOT NULL, PRIMARY KEY (message_id, part, key)
) STRICT;
"""
_TAKE_OVER: Final = """
INSERT INTO told
SELECT message_id, CASE WHEN is_better THEN 'better' ELSE 'entry' END, key, NULL, NULL, application, NULL, title FROM told_1;
DROP TABLE told_1;
"""
# SQL that migrates each older version to the current one; 0 is an empty file.
_MAKE: Final = {0: _TABLES + _LISTED_TABLE, 1: f"ALTER TABLE told RENAME TO told_1; {_LISTED_TABLE} {_TAKE_OVER}"}
_MAILED: Final = """
SELECT told.key, max(letter.composed_at) FROM told JOIN letter USING (message_id)
WHERE letter.kind = ? AND letter.recipient = ? AND letter.state <> 'failed' AND told.part = ? GROUP BY told.key
"""
# Only entries have links. `stop` answers every earlier mail.
_MAILS: Final = """
SELECT
    letter.message_id, letter.kind AS mail_kind, letter.recipient, letter.state AS mail_state, letter.reply AS mail_reply,
    letter.last_night, letter.composed_at, CASE letter.state WHEN 'sent' THEN letter.changed_at END AS sent_at,
    told.part AS mail_part, told.cluster, told.user, told.application, told.code,
    answer.verb AS answer, answer.day AS answer_night
FROM letter
LEFT JOIN told USING (message_id)
LEFT JOIN wish AS answer ON answer.rowid = (
    SELECT wish.rowid FROM wish
    WHERE wish.kind = letter.kind AND wish.recipient = letter.recipient AND wish.day >= date(letter.composed_at)
        AND (wish.verb = 'stop' OR (wish.key = told.key AND told.part = 'entry'))
    ORDER BY wish.verb = 'stop', wish.day DESC, wish.verb LIMIT 1
)
ORDER BY letter.rowid, told.rowid
"""
_ADD: Final = """
INSERT INTO letter (message_id, kind, recipient, address, state, mail, last_night, composed_at, changed_at)
VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?)
"""


@dataclass(frozen=True, slots=True)
class Posted:
    """A mail in the ledger.

    Attributes:
        message_id: its id, which is its Message-ID header too.
        kind: of the mail.
        recipient: of the mail.
        address: of the recipient.
        state: how far its delivery has come.
        mail: its bytes as sent.
        reply: what the mail server said last.
        composed_at: when it entered the ledger.
    """

    message_id: str
    kind: Kind
    recipient: str
    address: str
    state: State
    mail: bytes
    reply: str
    composed_at: datetime

    @property
    def who(self) -> str:
        """The recipient, for messages."""
        return who_of(self.kind, self.recipient)


class Ledger:
    """A ledger that is open; threads and processes may have it open at a time, but only one may send.

    Args:
        file: the ledger, made where there is none; None for one that nobody else sees and that is gone in the end.

    Raises:
        WarehouseError: the file cannot be read or written, or is another one.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        with _as_warehouse_errors(file):
            if file is not None:
                # Mails in it must stay private. Files that SQLite makes beside it get the same mode.
                os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            self._con = sqlite3.connect(file or ":memory:", timeout=_BUSY_SECONDS, isolation_level=None)
            self._con.execute("PRAGMA synchronous = EXTRA")
            self._make()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._con.close()

    def copy(self) -> "Ledger":
        """A private copy of the ledger in memory."""
        twin = Ledger(None)
        with _as_warehouse_errors(self._file):
            self._con.backup(twin._con)
        return twin

    def add(self, mail: Mail, posted: Posted) -> None:
        """Adds a mail; a failed one of the same id is deleted."""
        night, at = mail.last_night.isoformat(), posted.composed_at.isoformat()
        listed = [
            *(("entry", entry.subject, entry.title) for entry in mail.entries),
            *(("sign", replace(entry.subject, code=code), "") for entry in mail.entries for code in entry.signs),
            *(("better", subject, "") for subject in mail.better),
        ]
        with self._change() as con:
            con.execute("DELETE FROM told WHERE message_id = ?", (posted.message_id,))
            con.execute("DELETE FROM letter WHERE message_id = ? AND state = 'failed'", (posted.message_id,))
            row = (posted.message_id, posted.kind, posted.recipient, posted.address, posted.mail, night, at, at)
            con.execute(_ADD, row)
            con.executemany(
                "INSERT OR IGNORE INTO told VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(posted.message_id, part, subject.key, *astuple(subject), title) for part, subject, title in listed],
            )

    def mark(self, message_id: str, state: State, at: datetime, reply: str = "") -> None:
        """Notes the state of a mail. The bytes of a mail that is sent or failed are deleted."""
        with self._change() as con:
            con.execute(
                "UPDATE letter SET state = :state, changed_at = :at, reply = :reply, tries = tries + (:state = 'sending'), "
                "mail = CASE WHEN :state IN ('sent', 'failed') THEN NULL ELSE mail END WHERE message_id = :message_id",
                {"state": state, "at": at.isoformat(), "reply": reply, "message_id": message_id},
            )

    def unfinished(self) -> list[Posted]:
        """Mails that are neither sent nor failed, the oldest first."""
        rows = self._rows(
            "SELECT message_id, kind, recipient, address, state, mail, reply, composed_at FROM letter "
            "WHERE state IN ('pending', 'sending', 'deferred') ORDER BY composed_at, rowid"
        )
        return [Posted(*row[:-1], composed_at=datetime.fromisoformat(row[-1])) for row in rows]  # type: ignore[misc]

    def last_at(self, *, is_of_notices: bool) -> datetime | None:
        """When the state of a notice last changed, or that of any other mail; None where there is none."""
        ((at,),) = self._rows("SELECT max(changed_at) FROM letter WHERE (kind = 'notice') = ?", is_of_notices)
        return at and datetime.fromisoformat(at)

    def state_of(self, message_id: str) -> State | None:
        """The state of a mail, None where the ledger does not have it."""
        rows = self._rows("SELECT state FROM letter WHERE message_id = ?", message_id)
        return rows[0][0] if rows else None

    def first_of(self, kind: Kind, recipient: str) -> str | None:
        """The id of the first mail of its kind to a recipient, which all later ones reply to."""
        rows = self._rows(
            "SELECT message_id FROM letter WHERE kind = ? AND recipient = ? AND state <> 'failed' ORDER BY rowid LIMIT 1",
            kind,
            recipient,
        )
        return rows[0][0] if rows else None

    def last_nights(self, kind: Kind) -> dict[str, date]:
        """The newest night that a mail of this kind reported to each recipient."""
        rows = self._rows(
            "SELECT recipient, max(last_night) FROM letter WHERE kind = ? AND state <> 'failed' GROUP BY recipient", kind
        )
        return {recipient: date.fromisoformat(night) for recipient, night in rows}

    def mailed(self, kind: Kind, recipient: str) -> dict[str, date]:
        """The day on which a mail last listed each subject for a recipient, by its key."""
        return self._days(kind, recipient, "entry")

    def listed(self, kind: Kind, recipient: str, night: date) -> set[str]:
        """Keys of what mails of this kind that end on a night list for a recipient."""
        rows = self._rows(
            "SELECT told.key FROM told JOIN letter USING (message_id) "
            "WHERE letter.kind = ? AND letter.recipient = ? AND letter.last_night = ? AND letter.state <> 'failed'",
            kind,
            recipient,
            night.isoformat(),
        )
        return {key for (key,) in rows}

    def praised(self, kind: Kind, recipient: str) -> dict[str, date]:
        """The day on which a mail last reported to a recipient that a subject got better, by its key."""
        return self._days(kind, recipient, "better")

    def title(self, action: Action) -> tuple[str, str] | None:
        """Title and application that a mail gave for the subject of a link."""
        rows = self._rows(
            "SELECT told.title, told.application FROM told JOIN letter USING (message_id) "
            "WHERE kind = ? AND recipient = ? AND key = ? AND part = 'entry' ORDER BY composed_at DESC LIMIT 1",
            action.kind,
            action.recipient,
            action.key,
        )
        return (visible(rows[0][0]), visible(rows[0][1])) if rows else None

    def wish(self, action: Action, today: date) -> None:
        """Notes what a reader has asked for; asked for twice, the longer one holds. What is undone is forgotten."""
        if action.verb == "undo":
            with self._change() as con:
                con.execute(
                    "DELETE FROM wish WHERE (kind, recipient, key) = (?, ?, ?)", (action.kind, action.recipient, action.key)
                )
            return
        until = today + timedelta(days=action.days) if action.verb == "snooze" else date.max
        with self._change() as con:
            con.execute(
                "INSERT INTO wish VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
                "SET day = excluded.day, until = max(until, excluded.until)",
                (action.kind, action.recipient, action.verb, action.key, today.isoformat(), until.isoformat()),
            )

    def wishes(self, kind: Kind, recipient: str) -> dict[tuple[Verb, str], date]:
        """The day on which what somebody has asked for ends, by what it is and the subject's key."""
        rows = self._rows("SELECT verb, key, until FROM wish WHERE kind = ? AND recipient = ?", kind, recipient)
        return {(verb, key): date.fromisoformat(until) for verb, key, until in rows}

    def mails(self) -> list[dict[str, str | None]]:
        """What each mail lists, its state, and what its reader asked for since: columns of `mail`, as text."""
        with _as_warehouse_errors(self._file):
            rows = self._con.execute(_MAILS)
            names = [name for name, *_ in rows.description]
            return [dict(zip(names, row, strict=True)) for row in rows]

    def _days(self, kind: Kind, recipient: str, part: Part) -> dict[str, date]:
        return {key: datetime.fromisoformat(at).date() for key, at in self._rows(_MAILED, kind, recipient, part)}

    def _rows(self, sql: str, *values: object) -> list[tuple]:  # type: ignore[type-arg]  # as SQLite gives them
        with _as_warehouse_errors(self._file):
            return self._con.execute(sql, values).fetchall()

    def _make(self) -> None:
        if self._version() in _MAKE:
            with self._change() as con:
                # Another may have been faster.
                if (version := self._version()) in _MAKE:
                    for statement in filter(str.strip, _MAKE[version].split(";")):
                        con.execute(statement)
                    con.execute(f"PRAGMA user_version = {_VERSION}")
        if self._version() != _VERSION:
            raise WarehouseError(f"The ledger {self._file} was written by another version of iomine: use that version.")

    def _version(self) -> int:
        version: int = self._con.execute("PRAGMA user_version").fetchone()[0]
        return version

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all that is done in it is on the disk when it ends, or nothing."""
        with _as_warehouse_errors(self._file):
            self._con.execute("BEGIN IMMEDIATE")
            try:
                yield self._con
                self._con.execute("COMMIT")
            except BaseException:
                if self._con.in_transaction:
                    self._con.execute("ROLLBACK")
                raise


def who_of(kind: Kind, recipient: str) -> str:
    """The recipient of a mail, for messages."""
    return f"{kind} {visible(recipient)}"


@contextmanager
def only_digest(folder: Path) -> Iterator[None]:
    """Keeps other digests out for as long as the context lasts; the lock dies with the process that holds it.

    Args:
        folder: of the ledger.

    Raises:
        WarehouseError: another digest is being sent.
    """
    with _as_warehouse_errors(folder):
        descriptor = lock_file(folder / "digest.lock")
    try:
        if not is_locked(descriptor, folder):
            raise WarehouseError(f"Another digest is being sent from {folder}: wait until it has ended.")
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _as_warehouse_errors(place: Path | None) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise WarehouseError(f"The ledger {place} cannot be read or written ({error}): restore a copy.") from error
    except OSError as error:
        raise WarehouseError(
            f"{place} cannot be read or written ({error.strerror}): free some space, or ask its owner."
        ) from error
