"""Limits idle, slow and too many connections, at the cost of those who open them.

A request must arrive whole and soon, and its answer must be taken. If there are too many connections, the server closes the one
that has kept it waiting longest, of the address that has most waiting ones. So idle clients shut nobody out.
"""

import asyncio
import socket
import struct
from collections import Counter
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from iomine.web.access import SOCKET

MOST_CONNECTIONS: Final = 512
REQUEST_SECONDS: Final = 10.0
# Each 64 KiB of an answer must be taken within so many seconds.
TAKING_SECONDS: Final = 30.0
_TAKEN_BYTES: Final = 64 * 1024
# Bytes in the system's send buffer do not show that the client takes them, so the buffer is small.
_SEND_BUFFER_BYTES: Final = 256 * 1024
_LOOK_SECONDS: Final = 1.0


class Connection(H11Protocol):
    """A connection that is looked after.

    Attributes:
        waits_since: when it began to wait for a request, by the loop's clock; None while a request is answered.
    """

    waits_since: float | None = None
    _unsent_bytes = 0
    _unsent_since = 0.0
    _look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Takes the connection, and closes another one if there are too many."""
        super().connection_made(transport)
        if (connected := transport.get_extra_info("socket")) is not None:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
            if connected.family == socket.AF_UNIX:
                self.client = (f"{SOCKET}{_uid_at(connected)}", 0)
        self.waits_since = self.loop.time()
        if len(self.connections) > MOST_CONNECTIONS:
            self._make_room()
        self._look = self.loop.call_later(_LOOK_SECONDS, self._look_after)

    def connection_lost(self, exc: Exception | None) -> None:
        """Lets the connection go."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Reads what has arrived; after a whole request, the client waits for the server."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self.waits_since = None

    def on_response_complete(self) -> None:
        """Waits for the next request."""
        self.waits_since = self.loop.time()
        super().on_response_complete()

    def _look_after(self) -> None:
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if not unsent or unsent <= self._unsent_bytes - _TAKEN_BYTES or unsent > self._unsent_bytes:
            self._unsent_bytes, self._unsent_since = unsent, now
        is_idle = not unsent and self.waits_since is not None and now - self.waits_since >= REQUEST_SECONDS
        if is_idle or (unsent and now - self._unsent_since >= TAKING_SECONDS):
            # `close` would wait until the other side has taken everything.
            self.transport.abort()
        else:
            self._look = self.loop.call_later(_LOOK_SECONDS, self._look_after)

    def _make_room(self) -> None:
        waiting = [each for each in self.connections if isinstance(each, Connection) and each.waits_since is not None]
        counts = Counter(each.address for each in waiting)
        oldest = min(waiting, key=lambda each: (-counts[each.address], each.waits_since), default=self)
        oldest.transport.abort()

    @property
    def address(self) -> str:
        """Whence it comes."""
        return self.client[0] if self.client else ""


def _uid_at(connected: socket.socket) -> int:
    """Who is at the other end of a local socket, as the kernel says: pid, uid and gid of who connected."""
    _, uid, _ = struct.unpack("iII", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("iII")))
    return int(uid)
