"""A server that notices are posted to as JSON, and what carries each message by its address."""

import json
import ssl
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from iomine.errors import UsageError
from iomine.post.model import Mail
from iomine.post.settings import WebhookSettings
from iomine.post.transports import Message, Outcome, Transport
from iomine.settings import read_secret
from iomine.units import visible

_LONGEST_REPLY: Final = 300
_TRY_AGAIN: Final = (408, 425, 429)
_SERVER_ERRORS: Final = 500


def is_url(address: str) -> bool:
    """Whether an address is that of a server and not of a person."""
    return address.startswith(("https://", "http://"))


def posted(mail: Mail, message_id: str) -> bytes:
    """A mail of notices as JSON; chat servers show its `text`.

    Args:
        mail: whose entries are events: the notice is their code, the link their application.
        message_id: the same if it is sent again.
    """
    events = [{"notice": each.subject.code, "link": each.subject.application or None} for each in mail.entries]
    content = {
        "id": message_id,
        "subject": mail.subject,
        "night": mail.last_night.isoformat(),
        "text": mail.text,
        "events": events,
    }
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace")


class _Stay(HTTPRedirectHandler):
    """Follows no redirect: what is posted is for the server that the site names."""

    def redirect_request(self, *_: Any) -> None:  # noqa: ANN401  as urllib calls it
        """Gives no other request."""


class Webhook:
    """A server that takes notices.

    Args:
        settings: which, and how.
        folder: that relative paths start from.

    Raises:
        UsageError: the token cannot be read.
    """

    def __init__(self, settings: WebhookSettings, folder: Path) -> None:
        self._url = settings.url
        self._seconds = settings.timeout_seconds
        self._headers = {"Content-Type": "application/json; charset=utf-8", **_bearer(settings, folder)}
        self._opener = build_opener(_Stay(), HTTPSHandler(context=ssl.create_default_context()))

    def send(self, message: Message) -> Outcome:
        """Posts a message to its address, if that is still the one that the site names: the token is for no other."""
        if message.address != self._url:
            return Outcome("refused", "webhook.url in the settings is another one now")
        request = Request(message.address, message.content, dict(self._headers), method="POST")  # noqa: S310  the settings ask for https
        try:
            with self._opener.open(request, timeout=self._seconds) as answer:
                return Outcome("sent", str(answer.status))
        except HTTPError as error:
            with error:
                reply = visible(f"{error.code} {error.reason}")[:_LONGEST_REPLY]
            return Outcome("later" if error.code >= _SERVER_ERRORS or error.code in _TRY_AGAIN else "refused", reply)
        except URLError as error:
            return Outcome(
                "later", f"The webhook is not reached: {visible(str(error.reason))}"[:_LONGEST_REPLY], is_reached=False
            )
        except (OSError, HTTPException) as error:
            return Outcome("doubtful", visible(str(error) or type(error).__name__)[:_LONGEST_REPLY])

    def close(self) -> None:
        """Nothing stays open."""


class ByAddress:
    """Posts what goes to a server, and mails the rest.

    Args:
        mails: carries mails; None where none can be.
        webhook: the server.
    """

    def __init__(self, mails: Transport | None, webhook: Webhook) -> None:
        self._mails = mails
        self._webhook = webhook

    def send(self, message: Message) -> Outcome:
        """Carries a message."""
        if is_url(message.address):
            return self._webhook.send(message)
        return self._mails.send(message) if self._mails else Outcome("later", "no mail server is set", is_reached=False)

    def close(self) -> None:
        """Ends what is open."""
        if self._mails:
            self._mails.close()


def _bearer(settings: WebhookSettings, folder: Path) -> Mapping[str, str]:
    if not settings.token_file:
        return {}
    file = folder / settings.token_file
    try:
        token = read_secret(file, "token").decode("ascii").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"The token {file} is not ASCII text: write one line of it.") from error
    if not token.isprintable() or not token:
        raise UsageError(f"The token {file} is not one line of text: write one.")
    return {"Authorization": f"Bearer {token}"}
