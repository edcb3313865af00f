"""What every answer is subject to: the name that the server was called by, and headers that keep browsers within bounds.

A page of another site may make a browser ask for a name of its own that leads here; such names are turned away.
"""

import re
from collections.abc import Collection
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iomine.web.access import parted

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")
_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    # What one reader sees is no other's.
    "cache-control": "private, no-cache",
}
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; img-src 'self' data:"
)
_SCRIPT_POLICY: Final = f"{_POLICY}; script-src 'self'; connect-src 'self'"
# Reports may carry the explorer, which is a file of ours, fetches what lies beside it, and saves what it draws as a picture.
_REPORTS_POLICY: Final = _SCRIPT_POLICY.replace("data:", "data: blob:")
_POLICIES: Final = {"/reports/": _REPORTS_POLICY, "/mail/": _POLICY}


class Guard:
    """Lets requests to known names through, and adds headers to the answers.

    Args:
        app: what is guarded.
        hosts: names that the server may be called by.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        _, path = parted(scope["path"])
        policy = next((policy for start, policy in _POLICIES.items() if path.startswith(start)), _SCRIPT_POLICY)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in (_HEADERS | {"content-security-policy": policy}).items():
                    headers.setdefault(name, value)
            await send(message)

        app = self._app if self._is_known(Headers(scope=scope).getlist("host")) else _TURNED_AWAY
        await app(scope, receive, send_guarded)

    def _is_known(self, hosts: list[str]) -> bool:
        match = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        return match is not None and match[1].lower() in self._hosts


_TURNED_AWAY: Final = PlainTextResponse("Unknown Host header: allow it with `iomine serve --name NAME`.\n", 421)
