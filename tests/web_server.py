"""A server of a warehouse for tests, and what it answers."""

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from iomine.views.query import Limits
from iomine.web.app import make_app
from iomine.web.guard import LOOPBACK
from iomine.web.server import address_of, bind, config_of

LIMITS = Limits(seconds=60, memory_bytes=2**30, threads=1)


@dataclass
class Reply:
    """What a server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body of a page."""
        return self.body.decode()


Get = Callable[..., Reply]


def ask_server(address: str, path: str, method: str = "GET", **headers: str) -> Reply:
    """What a server answers, asked for a path exactly as it is given."""
    host, _, port = address.removeprefix("http://").rstrip("/").rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=120)
    try:
        connection.putrequest(method, path, skip_host="host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


@contextmanager
def served(warehouse: Path) -> Iterator[str]:
    """A server in a thread, for as long as the context lasts; gives its address."""
    socket = bind("127.0.0.1", 0)
    server = uvicorn.Server(config_of(make_app(warehouse, LOOPBACK, LIMITS)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    yield address_of(socket)
    server.should_exit = True
    thread.join(30)
    socket.close()
