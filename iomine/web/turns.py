"""Requests are answered in turn: a few at a time, and of several addresses one after the other.

A reader who cannot be answered soon is asked to try again later. Pages that were asked for since the last sweep are cached, so
that many readers of the same page do not wait for each other.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iomine.units import KIB, MIB

TURN_SECONDS: Final = 2.0
RETRY_SECONDS: Final = 5
_MOST_WAITING: Final = 500
_KEPT_BYTES: Final = 32 * MIB
_LARGEST_KEPT: Final = 4 * MIB
# What a page takes beside its body, its address above all; a redirect has no body.
_KEY_BYTES: Final = 8 * KIB
# A large answer stays in memory until it is taken.
_LARGE_BYTES: Final = 1 * MIB
_LARGE_AT_ONCE: Final = 16
_PIECE_BYTES: Final = 64 * KIB
# Statuses that are cached: pages and redirects.
_KEPT: Final = frozenset({200, 303})

_Page = tuple[Message, Message]


class Turns:
    """Lets requests through in turn.

    Args:
        app: what answers them.
        busy: answers those whose turn does not come.
        at_once: how many are worked on at a time.
        key: says for the scope of a request by what its page is kept; None where it is to be made each time.
        is_free: whether a path costs nothing, and needs no turn.
    """

    def __init__(
        self,
        app: ASGIApp,
        busy: ASGIApp,
        at_once: int,
        key: Callable[[Scope], Hashable | None],
        is_free: Callable[[str], bool],
    ) -> None:
        self._app = app
        self._busy = busy
        self._free = at_once
        self._key = key
        self._is_free = is_free
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._kept: OrderedDict[Hashable, _Page] = OrderedDict()
        self._kept_bytes = 0
        self._large = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http" or self._is_free(scope["path"]):
            await self._app(scope, receive, send)
            return
        key = self._key(scope) if scope["method"] == "GET" else None
        if await self._answered(key, send):
            return
        client = scope.get("client")
        if not await self._turn_came(client[0] if client else ""):
            await self._busy(scope, receive, send)
            return
        turn = _Turn(self._give_on)
        try:
            # The same page may have been made for somebody else meanwhile.
            if not await self._answered(key, send) and not await _is_gone(scope, receive):
                await self._worked_on(key, turn, (scope, receive, send))
        finally:
            turn.end()

    async def _worked_on(self, key: Hashable | None, turn: "_Turn", asked: tuple[Scope, Receive, Send]) -> None:
        scope, receive, send = asked
        start: Message | None = None
        is_begun = is_large = is_refused = False

        async def passed_on(message: Message) -> None:
            nonlocal start, is_begun, is_large, is_refused
            # The work ends before the answer is sent, because a client may take it slowly.
            turn.end()
            if message["type"] == "http.response.start":
                start = message
                return
            if not is_begun and start is not None:
                is_begun = True
                is_refused = len(message.get("body", b"")) > _LARGE_BYTES and self._large >= _LARGE_AT_ONCE
                is_large = len(message.get("body", b"")) > _LARGE_BYTES and not is_refused
                self._large += is_large
                if key is not None and start["status"] in _KEPT and not message.get("more_body"):
                    self._keep(key, (start, message))
                if not is_refused:
                    await send(start)
            if not is_refused:
                await _sent_in_pieces(message, send)

        try:
            await self._app(scope, receive, passed_on)
        finally:
            self._large -= is_large
        if is_refused:
            await self._busy(scope, receive, send)

    async def _answered(self, key: Hashable | None, send: Send) -> bool:
        page = self._kept.get(key)
        if page is None:
            return False
        self._kept.move_to_end(key)
        start, body = page
        await send(start)
        await _sent_in_pieces(body, send)
        return True

    def _keep(self, key: Hashable, page: _Page) -> None:
        if (size := _size(page)) > _LARGEST_KEPT or key in self._kept:
            return
        self._kept[key] = page
        self._kept_bytes += size
        while self._kept_bytes > _KEPT_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= _size(oldest)

    async def _turn_came(self, address: str) -> bool:
        if self._free:
            self._free -= 1
            return True
        if sum(map(len, self._waiting.values())) >= _MOST_WAITING:
            return False
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(address, deque()).append(turn)
        try:
            await asyncio.wait_for(turn, TURN_SECONDS)
        except TimeoutError:
            return False
        return True

    def _give_on(self) -> None:
        """Gives a turn to the address that has waited longest since its last."""
        while self._waiting:
            address, queue = self._waiting.popitem(last=False)
            turn = queue.popleft()
            if queue:
                self._waiting[address] = queue
            # A request that timed out is no longer in the queue.
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


def _size(page: _Page) -> int:
    return len(page[1].get("body", b"")) + _KEY_BYTES


class _Turn:
    """A turn, which ends once."""

    def __init__(self, give_on: Callable[[], None]) -> None:
        self._give_on: Callable[[], None] | None = give_on

    def end(self) -> None:
        """Ends it, if it has not ended."""
        if self._give_on is not None:
            give_on, self._give_on = self._give_on, None
            give_on()


async def _is_gone(scope: Scope, receive: Receive) -> bool:
    """Whether the client has left; the request's body, which no page reads, comes before that message."""
    request = Request(scope, receive)
    return await request.is_disconnected() or await request.is_disconnected()


async def _sent_in_pieces(message: Message, send: Send) -> None:
    """Sends a part of a body, as fast as it is taken."""
    body = message.get("body", b"")
    last = max(0, len(body) - 1) // _PIECE_BYTES * _PIECE_BYTES
    for at in range(0, last, _PIECE_BYTES):
        await send({**message, "body": body[at : at + _PIECE_BYTES], "more_body": True})
    await send({**message, "body": body[last:]})
