"""Transports take a mail and say what became of it: to a mail server, or into a folder."""

import os
import re
import smtplib
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from iomine.errors import OutputError, UsageError
from iomine.post.settings import SmtpSettings
from iomine.settings import read_secret
from iomine.sharing import kept_from_others, make_folder
from iomine.units import visible
from iomine.whole import clear_unfinished, written_whole

_MINUTE: Final = 60.0
_LONGEST_REPLY: Final = 300
_GOES_ON: Final = 354
_CLOSES: Final = 421
_NAME: Final = re.compile(r"[^A-Za-z0-9.-]")


@dataclass(frozen=True, slots=True)
class Message:
    """What is carried.

    Attributes:
        message_id: as in its content.
        sender: whom servers report to.
        address: who gets it.
        content: with CRLF at the end of lines.
    """

    message_id: str
    sender: str
    address: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mail.

    Attributes:
        end: `sent`; `later`, it has not arrived and may if it is tried again; `refused` for good; `doubtful`, nobody knows.
        reply: what the server said, or what happened.
        is_reached: whether there was a server at all.
    """

    end: Literal["sent", "later", "refused", "doubtful"]
    reply: str = ""
    is_reached: bool = True


class Transport(Protocol):
    """Takes mails, one at a time."""

    def send(self, message: Message) -> Outcome:
        """Carries a mail.

        Raises:
            OutputError: no mail can be carried as things are set; this one has not left.
        """

    def close(self) -> None:
        """Ends what is open."""


class Pace:
    """Keeps to a number of mails in a minute, evenly.

    Args:
        per_minute: how many, at most; 0 for any.
        clock: seconds that only grow.
        sleep: waits for seconds.
    """

    def __init__(
        self, per_minute: int, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._gap = _MINUTE / per_minute if per_minute else 0.0
        self._clock = clock
        self._sleep = sleep
        self._next = clock()

    def wait(self) -> None:
        """Waits until the next one may go."""
        if (left := self._next - self._clock()) > 0:
            self._sleep(left)
        self._next = self._clock() + self._gap


class Outbox:
    """A folder of mails, each in a file of its own that is there whole or not at all; the same mail has the same file.

    Owner and group read them, nobody else.

    Args:
        folder: made where there is none.
        group: whose the mails are, as its number; None for that of the folder or of who writes.

    Raises:
        OutputError: it cannot be made.
    """

    def __init__(self, folder: Path, group: int | None = None) -> None:
        self._folder = folder
        self._group = group
        try:
            make_folder(folder, group)
            clear_unfinished(folder)
        except OSError as error:
            raise self._fault(error) from error

    def send(self, message: Message) -> Outcome:
        """Writes a mail."""
        target = self._folder / f"{_NAME.sub('_', message.message_id.strip('<>'))}.eml"
        try:
            # A temporary name that can be guessed would allow a link there, in a folder that others may write to.
            with kept_from_others(), written_whole(target) as beside, beside.open("wb") as opened:
                if self._group is not None:
                    os.fchown(opened.fileno(), -1, self._group)
                opened.write(message.content)
                opened.flush()
                os.fsync(opened.fileno())
        except OSError as error:
            raise self._fault(error) from error
        return Outcome("sent", target.name)

    def close(self) -> None:
        """Nothing is open."""

    def _fault(self, error: OSError) -> OutputError:
        return OutputError(f"The outbox {self._folder} cannot be written ({error.strerror}): free some space, or name another.")


class Smtp:
    """A mail server, on one connection for as long as it lasts.

    Args:
        settings: which, and how.
        folder: that relative paths start from.
        pace: how fast.

    Raises:
        UsageError: no server is set, or the password or certificates cannot be read.
    """

    def __init__(self, settings: SmtpSettings, folder: Path, pace: Pace) -> None:
        if not settings.host:
            raise UsageError("No mail server is set: give --smtp HOST:PORT, or set smtp.host in digest.toml.")
        self._settings = settings
        self._pace = pace
        self._password = _password(folder / settings.password_file) if settings.user else ""
        self._context = _context(folder / settings.ca_file if settings.ca_file else None)
        self._server: smtplib.SMTP | None = None

    def send(self, message: Message) -> Outcome:
        """Hands a mail over; on a new connection, if the kept one turns out to be lost."""
        self._pace.wait()
        was_kept = self._server is not None
        outcome = self._tried(message)
        is_lost = outcome.end == "later" and self._server is None
        return self._tried(message) if is_lost and was_kept else outcome

    def _tried(self, message: Message) -> Outcome:
        try:
            # Exceptions of smtplib are OSErrors too.
            server = self._server = self._server or self._connected()
        except OSError as error:
            return Outcome("later", f"{self._name} is not reached: {_line(error)}", is_reached=False)
        try:
            outcome = self._hand_over(server, message)
        except OSError as error:
            self.close()
            return Outcome("later", _line(error))
        if outcome.end == "doubtful" or outcome.reply.startswith(str(_CLOSES)):
            self.close()
        elif outcome.end != "sent":
            self._reset()
        return outcome

    def close(self) -> None:
        """Takes leave of the server, if it is still there."""
        server, self._server = self._server, None
        if server is None:
            return
        try:
            server.quit()
        except OSError:
            server.close()

    @property
    def _name(self) -> str:
        return f"The mail server {self._settings.host}:{self._settings.port}"

    def _connected(self) -> smtplib.SMTP:
        settings = self._settings
        place, seconds = (settings.host, settings.port), settings.timeout_seconds
        try:
            if settings.tls == "implicit":
                server: smtplib.SMTP = smtplib.SMTP_SSL(*place, timeout=seconds, context=self._context)
            else:
                server = smtplib.SMTP(*place, timeout=seconds)
        except ssl.SSLError as error:
            raise OutputError(f"{self._name} failed to set up TLS ({_line(error)}): see smtp.tls and smtp.ca_file.") from error
        try:
            self._introduce(server)
        except BaseException:
            server.close()
            raise
        return server

    def _introduce(self, server: smtplib.SMTP) -> None:
        """Greets the server, with the encryption and the login that are set."""
        settings = self._settings
        try:
            server.ehlo_or_helo_if_needed()
            if settings.tls == "starttls":
                server.starttls(context=self._context)
                server.ehlo()
            if settings.user:
                server.login(settings.user, self._password)
        except smtplib.SMTPAuthenticationError as error:
            if _is_temporary(error.smtp_code):
                raise ConnectionError(_line(error)) from error
            raise OutputError(f"{self._name} refuses the login of {settings.user} ({_line(error)}): see smtp.user.") from error
        except (smtplib.SMTPNotSupportedError, smtplib.SMTPResponseException, ssl.SSLError) as error:
            if isinstance(error, smtplib.SMTPResponseException) and _is_temporary(error.smtp_code):
                raise ConnectionError(_line(error)) from error
            raise OutputError(f"{self._name} does not support what smtp.tls and smtp.user require ({_line(error)}).") from error

    def _hand_over(self, server: smtplib.SMTP, message: Message) -> Outcome:
        code, reply = server.mail(message.sender)
        if not _is_fine(code) and not _is_temporary(code):
            # Every mail would meet the same refusal.
            self._reset()
            raise OutputError(f"{self._name} refuses mail from {message.sender} ({_reply_text(code, reply)}): see from_address.")
        if _is_fine(code):
            code, reply = server.rcpt(message.address)
        if _is_fine(code):
            code, reply = server.docmd("data")
            if code == _GOES_ON:
                return _send_content(server, message.content)
        return Outcome("later" if _is_temporary(code) or _is_fine(code) else "refused", _reply_text(code, reply))

    def _reset(self) -> None:
        """Has the server forget what was begun."""
        if self._server is None:
            return
        try:
            self._server.rset()
        except OSError:
            self.close()


def _send_content(server: smtplib.SMTP, content: bytes) -> Outcome:
    """What becomes of a mail whose content goes over the line.

    If the connection is lost before the end of the content (a dot on a line) was sent, the mail has not arrived.
    """
    dots_doubled = re.sub(rb"(?m)^\.", b"..", content)
    server.send(dots_doubled if dots_doubled.endswith(b"\r\n") else dots_doubled + b"\r\n")
    server.send(b".\r\n")
    try:
        code, reply = server.getreply()
    except OSError as error:
        return Outcome("doubtful", _line(error))
    if _is_fine(code):
        return Outcome("sent", _reply_text(code, reply))
    # Text that is not a reply says nothing about the mail.
    if code < 0 or code == _GOES_ON:
        return Outcome("doubtful", _reply_text(code, reply))
    return Outcome("later" if _is_temporary(code) else "refused", _reply_text(code, reply))


def _is_fine(code: int) -> bool:
    return 200 <= code < 300  # noqa: PLR2004  RFC 5321


def _is_temporary(code: int) -> bool:
    # A reply that makes no sense is not caused by the mail.
    return not _is_fine(code) and not 500 <= code < 600  # noqa: PLR2004  RFC 5321


def _reply_text(code: int, reply: bytes) -> str:
    return _short(f"{code} {reply.decode('utf-8', 'replace')}")


def _line(error: Exception) -> str:
    match error:
        case smtplib.SMTPResponseException():
            reply = error.smtp_error
            return _reply_text(error.smtp_code, reply if isinstance(reply, bytes) else reply.encode())
        case OSError() if error.strerror:
            return _short(error.strerror)
        case _:
            return _short(str(error))


def _short(text: str) -> str:
    return visible(" ".join(text.split()))[:_LONGEST_REPLY]


def _password(file: Path) -> str:
    return read_secret(file, "password").decode("utf-8", "replace").rstrip("\r\n")


def _context(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise UsageError(f"The certificates in {ca_file} cannot be read: name a PEM file for smtp.ca_file.") from error
