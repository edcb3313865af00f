"""What readers ask for, by a link or by a mail that a link has written."""

import re
from collections.abc import Iterator
from datetime import date
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32
from typing import Final

from iomine.errors import UsageError
from iomine.post.ledger import Ledger, who_of
from iomine.post.tokens import Action, Signer

_TOKEN: Final = re.compile(r"[A-Za-z0-9_.-]{40,2000}")
_MOST_BYTES: Final = 1 << 20
_MOST_TRIED: Final = 10


def described(action: Action, ledger: Ledger) -> str:
    """What an action does, as the rest of a sentence that begins with "From now on,"."""
    who = {"user": "you get", "project": f"the lead of {action.recipient} gets"}.get(action.kind, "operators get")
    if action.verb == "stop" or not action.key:
        return f"{who} no more digests." if action.verb == "stop" else f"{who} digests again."
    title, application = ledger.title(action) or ("this finding", "")
    about = f"“{title}”" + (f" in {application}" if application else "")
    if action.verb == "undo":
        return f"{who} word of {about} again."
    return f"{who} no word of {about}" + (f" for {action.days} days." if action.verb == "snooze" else ".")


def take(mail: bytes, signer: Signer, ledger: Ledger, today: date) -> str:
    """Does what a mail asks for, by a token in its subject.

    Args:
        mail: with its headers.
        signer: of links.
        ledger: that notes it.
        today: the date in UTC.

    Returns:
        A sentence that says what was done.

    Raises:
        UsageError: it asks for nothing that can be done.
    """
    headers = BytesHeaderParser(policy=compat32).parsebytes(mail[:_MOST_BYTES])
    # Programs that answer each other would never stop (RFC 3834).
    if _is_automatic(headers):
        return "This mail was sent by a program: nothing is done."
    fault = UsageError("The mail's subject has no token of a digest: use the link in the digest to write it.")
    for token in list(_tokens(headers))[:_MOST_TRIED]:
        try:
            action = signer.action(token)
        except UsageError as error:
            fault = error
            continue
        ledger.wish(action, today)
        return f"{who_of(action.kind, action.recipient)}: from now on, {described(action, ledger)}"
    raise fault


def _is_automatic(headers: Message) -> bool:
    submitted = str(headers.get("Auto-Submitted", "no")).partition(";")[0].strip().lower()
    precedence = str(headers.get("Precedence", "")).strip().lower()
    return submitted != "no" or precedence in {"bulk", "junk", "list"} or str(headers.get("Return-Path", "")).strip() == "<>"


def _tokens(headers: Message) -> Iterator[str]:
    subject = str(headers.get("Subject", ""))
    yield from _TOKEN.findall(subject)
    try:
        yield from _TOKEN.findall(str(make_header(decode_header(subject))))
    except (HeaderParseError, LookupError, ValueError):
        return
