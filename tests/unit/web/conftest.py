"""A facility with hostile names, and a server that tells of it."""

import http.client
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn
from facility import Facility

from iomine.views.catalog import build_catalog
from iomine.views.query import Limits
from iomine.web.app import make_app
from iomine.web.desk import Session
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


@pytest.fixture(scope="session")
def facility(tmp_path_factory: pytest.TempPathFactory) -> Facility:
    """The rows, and a warehouse that holds them."""
    return Facility(tmp_path_factory.mktemp("facility"))


@pytest.fixture(scope="session")
def empty_catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog with no view and no row."""
    target = tmp_path_factory.mktemp("empty") / "iomine.duckdb"
    build_catalog(target, {}, {}, {}, ())
    return target


@pytest.fixture
def session(facility: Facility) -> Iterator[Session]:
    """A connection to the warehouse."""
    opened = Session(facility.root / "iomine.duckdb", LIMITS)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def address(facility: Facility) -> Iterator[str]:
    """Where a server listens that answers from the warehouse."""
    with served(facility.root) as place:
        yield place


@pytest.fixture
def get(address: str) -> Get:
    """Asks the server, with the path exactly as it is given."""
    return lambda *arguments, **options: ask_server(address, *arguments, **options)


def ask_server(address: str, path: str, method: str = "GET", **headers: str) -> Reply:
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


class served:  # noqa: N801  used as a function
    """A server in a thread, for as long as the context lasts."""

    def __init__(self, warehouse: Path) -> None:
        self._socket = bind("127.0.0.1", 0)
        app = make_app(warehouse, LOOPBACK, LIMITS)
        self._server = uvicorn.Server(config_of(app))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    def __enter__(self) -> str:
        self._thread.start()
        return address_of(self._socket)

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        self._socket.close()
