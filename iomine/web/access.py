"""Who asks, and what is noted of it: each request is somebody's before it reaches a page.

A reader is identified by a link's signature, by a proxy that knows the site's secret, or by the kernel at a local socket. What
they see is not decided here, but in the tables that their questions are asked of (`iomine.views.restricted`).
"""

import errno
import hmac
import json
import os
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iomine.errors import OutputError, UsageError
from iomine.post.access import EVERYONE, KEY_FILE, AccessSettings, Reader, Roles, login_of, proxy_secret
from iomine.post.tokens import pass_signer_of

READER: Final = "iomine.reader"
# Before the uid in the address of who is at a local socket; no network address begins so.
SOCKET: Final = "uid:"
# Scripts and styles, which are the same for all, and links in mails, which are signed themselves.
_FOR_ALL: Final = ("/healthz", "/assets/", "/mail/")
_BY_LINK: Final = re.compile("/by/([^/]*)(/.*)", re.DOTALL)
# Also where a path is no whole link, as one that a mail program has cut.
_TOKENS: Final = re.compile("/(by|mail)/+[^/]+")
_LOGIN: Final = re.compile("[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,127}")
_LONGEST_ROUTE: Final = 200
_NOBODY: Final = "Log in to see this: the server shows nothing to unknown users."
_FORGED: Final = "This request names a user without the proxy's secret: use the site's web server."
_ONE_LOG: Final = "This link is to one report: log in to see more."

Refuse = Callable[[str, Scope, Receive, Send], Awaitable[None]]


class RefusedError(UsageError):
    """Somebody who may not see what they ask for."""


class AccessLog:
    """A file of who asked for what, a line of JSON for each request, without what a question holds and links' secrets.

    Args:
        file: where it is.

    Raises:
        OutputError: it cannot be written.
    """

    def __init__(self, file: Path) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._file = os.open(file, flags, 0o600)
        except OSError as error:
            raise OutputError(f"The access log {file} cannot be written ({error.strerror}): set log in access.toml.") from error

    def note(self, line: dict[str, Any]) -> None:
        """Adds a line; if that fails it is an OSError, and the request is not answered."""
        text = f"{json.dumps(line)}\n".encode()
        # A disk that becomes full takes a part, which is no error of the system.
        if os.write(self._file, text) < len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def close(self) -> None:
        """Ends it."""
        os.close(self._file)


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    """What a site asks of those who come.

    Attributes:
        settings: the site's.
        warehouse: which has the key of links.
        roles: what logins are.
        secret: the proxy's, None where there is no proxy.
        log: None where nothing is noted.
    """

    settings: AccessSettings
    warehouse: Path
    roles: Roles
    secret: bytes | None
    log: AccessLog | None

    def reader(self, scope: Scope) -> Reader | None:
        """Who asks, None where that is not known.

        Raises:
            RefusedError: somebody pretends to be a proxy.
        """
        if self.settings.everyone:
            return EVERYONE
        headers = Headers(scope=scope)
        users, secrets = headers.getlist(self.settings.proxy.user_header), headers.getlist(self.settings.proxy.secret_header)
        if users or secrets:
            return self._by_proxy(users, secrets)
        address = (scope.get("client") or ("",))[0]
        if address.startswith(SOCKET) and (login := login_of(int(address.removeprefix(SOCKET)))):
            return self.roles.reader(login, "socket")
        return None

    def holder(self, token: str, path: str) -> Reader:
        """Who asks by a signed link.

        Raises:
            UsageError: the link is none of the site's, has expired, or is to something else.
        """
        given = pass_signer_of(self.warehouse / KEY_FILE).given(token, time.time())
        reader = replace(self.roles.reader(given.user, "link"), log_id=given.log_id or None)
        if reader.log_id and not _is_of_log(path, reader.log_id):
            raise RefusedError(_ONE_LOG)
        return reader

    def _by_proxy(self, users: list[str], secrets: list[str]) -> Reader | None:
        is_proxy = (
            self.secret is not None
            and len(secrets) == 1
            and hmac.compare_digest(secrets[0].encode("latin-1", "replace"), self.secret)
        )
        if not is_proxy or len(users) > 1:
            raise RefusedError(_FORGED)
        # An empty name is that of somebody whom the proxy lets through without a login.
        if not users or not users[0]:
            return None
        if not _LOGIN.fullmatch(users[0]):
            raise RefusedError("The proxy names a user by what is no login.")
        return self.roles.reader(users[0], "proxy")


def doorkeeper_of(settings: AccessSettings, warehouse: Path) -> Doorkeeper:
    """What a site asks of those who come.

    Raises:
        UsageError: a setting is not fit, or the proxy's secret cannot be read.
        OutputError: the access log cannot be written.
    """
    log = AccessLog(warehouse / settings.log) if settings.log else None
    return Doorkeeper(settings, warehouse, Roles(settings), proxy_secret(settings, warehouse), log)


class Access:
    """Finds out who asks, and lets nobody through whom the site does not know.

    Args:
        app: what answers.
        doorkeeper: what the site asks, None where it asks nothing.
        refuse: answers those who are not let through, with a sentence.
    """

    def __init__(self, app: ASGIApp, doorkeeper: Doorkeeper | None, refuse: Refuse) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http" or self._doorkeeper is None:
            await self._app({**scope, READER: EVERYONE}, receive, send)
            return
        token, path = parted(scope["path"])
        if token is not None:
            scope = {**scope, "path": path, "raw_path": path.encode()}
        reader, refusal = self._asked(self._doorkeeper, scope, token)
        noted = _noted(self._doorkeeper.log, scope, reader, send)
        if refusal:
            await self._refuse(refusal, scope, receive, noted)
        else:
            await self._app({**scope, READER: reader}, receive, noted)

    @staticmethod
    def _asked(doorkeeper: Doorkeeper, scope: Scope, token: str | None) -> tuple[Reader | None, str]:
        """Who asks, and why they are refused, empty where they are not."""
        try:
            reader = doorkeeper.reader(scope) if token is None else doorkeeper.holder(token, scope["path"])
        except UsageError as error:
            return None, str(error.args[0])
        is_known = reader is not None or scope["path"].startswith(_FOR_ALL)
        return reader, "" if is_known else _NOBODY


def parted(path: str) -> tuple[str | None, str]:
    """The token of the signed link that a path lies below, None for no link, and the path that it leads to.

    Links of pages are relative, so all that a page leads to lies below the same link.
    """
    by_link = _BY_LINK.fullmatch(path)
    return (by_link[1], by_link[2]) if by_link else (None, path)


def _is_of_log(path: str, log_id: str) -> bool:
    """Whether a path leads to a log's report, or to what that needs."""
    of_log = rf"/reports/{re.escape(log_id)}[.-][A-Za-z0-9._-]+|/traces/{re.escape(log_id)}[.]parquet"
    return re.fullmatch(rf"{of_log}|/reports/(assets/[^/]+|triggers[.]html)|/assets/[^/]+", path) is not None


def _noted(log: AccessLog | None, scope: Scope, reader: Reader | None, send: Send) -> Send:
    """Sends, and notes what is sent."""
    if log is None:
        return send

    async def noted(message: Message) -> None:
        if message["type"] == "http.response.start":
            log.note(
                {
                    "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                    "who": reader.name if reader else None,
                    "role": reader.role if reader else None,
                    "way": reader.way if reader else None,
                    "from": (scope.get("client") or (None,))[0],
                    "method": scope["method"],
                    "route": _route(scope["path"]),
                    "status": message["status"],
                }
            )
        await send(message)

    return noted


def _route(path: str) -> str:
    """A path without what it may hold of secrets: tokens of links, and what follows a question mark anyway."""
    path = _TOKENS.sub(r"/\1/…", path)
    return path if path.isprintable() and len(path) <= _LONGEST_ROUTE else f"{path[:_LONGEST_ROUTE]!a}"
