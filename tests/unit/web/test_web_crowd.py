"""A server that many connect to, and some only to be in the way."""

import asyncio
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from operator import itemgetter
from typing import Any
from urllib.parse import urlsplit

import pytest
from facility import Facility
from starlette.types import Message, Receive, Scope, Send
from web_server import Get, ask_server, served

from iomine.units import MIB
from iomine.web import app as app_room
from iomine.web import connections, turns

SLOW = 110


@contextmanager
def connected(address: str, count: int, said: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connections that say so much and no more."""
    place = (urlsplit(address).hostname, urlsplit(address).port)
    with ExitStack() as stack:
        opened = [stack.enter_context(socket.create_connection(place)) for _ in range(count)]
        for each in opened:
            each.sendall(said)
        yield opened


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: "], ids=["idle", "line", "header"])
def test_connections_that_ask_for_nothing_keep_nobody_out(address: str, said: bytes) -> None:
    """However many are idle or half-sent, everybody else is answered at once."""
    with connected(address, SLOW, said):
        begun = time.monotonic()
        assert 200 == ask_server(address, "/views/").status
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "said", [b"", b"GET / HTTP/1.1\r\nX: y", b"POST /mail/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"]
)
def test_a_request_has_to_come_soon(address: str, said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not whole within its time is cut off, in the middle of a header or of a body."""
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.5)
    with connected(address, 1, said) as (connection,):
        connection.settimeout(10)
        _read_until_cut_off(connection)


def test_a_second_request_has_to_come_soon_too(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that has been answered once is not trusted for it."""
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 1.0)
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)
    connection.request("GET", "/views/")
    assert connection.getresponse().read()
    assert connection.sock is not None
    connection.sock.sendall(b"GET / HTTP/1.1\r\nX")
    _read_until_cut_off(connection.sock)
    connection.close()


def _read_until_cut_off(connection: socket.socket) -> int:
    """Bytes that come before the other side ends the connection."""
    got = 0
    try:
        while piece := connection.recv(1 << 20):
            got += len(piece)
    except ConnectionResetError:
        pass
    return got


def test_where_connections_are_too_many_the_longest_wait_ends(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest of those that wait is cut off, and no new one."""
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 5)
    with connected(address, 1) as (oldest,), connected(address, 9):
        oldest.settimeout(10)
        assert 0 == _read_until_cut_off(oldest)
        assert 200 == ask_server(address, "/views/").status


def test_who_cannot_be_answered_soon_is_asked_to_come_again(facility: Facility, monkeypatch: pytest.MonkeyPatch) -> None:
    """While all are at work, others wait in turn; whose turn does not come gets 503 with Retry-After, and a sentence."""
    at_work, go_on = threading.Semaphore(0), threading.Event()

    def slow(*_: Any) -> str:
        at_work.release()
        assert go_on.wait(60)
        return "<h1>made</h1>"

    monkeypatch.setattr(app_room.pages, "views_page", slow)
    monkeypatch.setattr(turns, "TURN_SECONDS", 1.0)
    with served(facility.root) as place, ThreadPoolExecutor(8) as clients:
        working = [clients.submit(ask_server, place, f"/views/?{number}") for number in range(app_room.SEATS)]
        for _ in working:
            assert at_work.acquire(timeout=30)
        late = ask_server(place, "/views/?late")
        assert (503, str(turns.RETRY_SECONDS)) == (late.status, late.headers["retry-after"])
        assert "Too many ask at this moment" in late.text
        go_on.set()
        assert [200] * app_room.SEATS == [each.result().status for each in working]
        assert 200 == ask_server(place, "/views/?late").status


def test_a_page_is_made_once_for_all_who_look_at_it(facility: Facility, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same address gives the same page until a sweep publishes; another address, another page."""
    made = []
    views_page = app_room.pages.views_page

    def counted(*arguments: Any) -> str:
        made.append(1)
        return views_page(*arguments)

    monkeypatch.setattr(app_room.pages, "views_page", counted)
    with served(facility.root) as place:
        pages = {ask_server(place, "/views/").body for _ in range(5)}
        assert (1, 1) == (len(pages), len(made))
        assert b"" == ask_server(place, "/views/", "HEAD").body
        ask_server(place, "/views/?x=1")
        assert 3 == len(made)
        # An address is kept with its page, and may be far longer.
        for _ in range(2):
            ask_server(place, f"/views/?{'x' * 5000}")
        assert 5 == len(made)


def test_pages_without_a_body_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirect takes memory by its address, of which anybody can ask for any number."""
    made = []

    async def redirect(scope: Scope, _receive: Receive, send: Send) -> None:
        made.append(scope["query_string"])
        await send({"type": "http.response.start", "status": 303, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def say(_message: Message) -> None:
        """Nobody listens."""

    async def wait() -> Message:
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    monkeypatch.setattr(turns, "_KEPT_BYTES", 1 * MIB)
    turned = turns.Turns(redirect, redirect, 1, key=itemgetter("query_string"), is_free=lambda _path: False)

    async def ask(*questions: int) -> None:
        for number in questions:
            asked = {"type": "http", "method": "GET", "path": "/search", "query_string": number, "headers": []}
            await turned(asked, wait, say)

    asyncio.run(ask(0, 0))
    assert [0] == made
    asyncio.run(ask(*range(1000), 0))
    assert [*range(1000), 0] == made


@pytest.mark.proof
def test_an_answer_has_to_be_taken(facility: Facility, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for much and reads nothing of it is cut off, and holds no memory."""
    monkeypatch.setattr(connections, "TAKING_SECONDS", 1.0)
    reports = facility.root / "reports"
    reports.mkdir(exist_ok=True)
    written = reports / f"{11:016x}.html"
    written.write_bytes(bytes(32 * 2**20))
    try:
        with served(facility.root) as place, connected(place, 1, b"") as (connection,):
            connection.sendall(f"GET /reports/{written.name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            time.sleep(4)
            connection.settimeout(10)
            assert _read_until_cut_off(connection) < 32 * 2**20
    finally:
        written.unlink()


@pytest.mark.parametrize("name", ["a" * 5000, "a/" + "b" * 5000, "a" * 300 + ".html"], ids=["signs", "folder", "file"])
def test_a_name_longer_than_any_file_is_not_there(get: Get, name: str) -> None:
    """It is 404 as any other name that there is not."""
    assert 404 == get(f"/reports/{name}").status
