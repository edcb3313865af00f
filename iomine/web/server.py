"""Serves on an address until a signal ends it."""

import resource
import socket
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette

from iomine.errors import UsageError
from iomine.views.query import Limits
from iomine.web.access import Doorkeeper
from iomine.web.app import make_app
from iomine.web.connections import MOST_CONNECTIONS, Connection
from iomine.web.guard import LOOPBACK

# An address may carry names of four thousand signs, each of which takes up to twelve.
_LONGEST_REQUEST: Final = 256 * 1024
# Sockets, files of the warehouse, and what Python itself holds open.
_OPEN_FILES: Final = 2 * MOST_CONNECTIONS


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Args:
        host: name or address of an interface of this machine.
        port: 0 for any that is free.

    Raises:
        UsageError: the address cannot be had.
    """
    try:
        # An empty name would be that of all addresses.
        family, *_, place = socket.getaddrinfo(host or "?", port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(place[:2], family=family)
    except (OSError, UnicodeError, OverflowError) as error:
        raise UsageError(f"Port {port} of {host} cannot be opened ({error}): give another with --port or --host.") from error


def bind_local(path: Path) -> socket.socket:
    """A local socket that listens, which all who reach its folder may connect to: the kernel says who they are.

    Raises:
        UsageError: it cannot be had.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # One that a server left behind when it was killed.
        if path.is_socket() and not _is_answered(path):
            path.unlink()
        listening.bind(str(path))
        path.chmod(0o666)
        listening.listen(MOST_CONNECTIONS)
    except (OSError, ValueError) as error:
        listening.close()
        raise UsageError(f"The socket {path} cannot be opened ({error}): give another with --socket.") from error
    return listening


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trying:
        try:
            trying.connect(str(path))
        except ConnectionRefusedError:
            return False
        return True


def address_of(listening: socket.socket) -> str:
    """The address under which a browser on this machine finds it, or the file of a local socket."""
    if listening.family == socket.AF_UNIX:
        return str(listening.getsockname())
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def is_loopback(listening: socket.socket) -> bool:
    """Whether no other machine can reach it."""
    if listening.family == socket.AF_UNIX:
        return True
    host = listening.getsockname()[0]
    return bool(host == "::1" or host.startswith("127."))


def serve(
    listening: socket.socket, warehouse: Path, names: tuple[str, ...], limits: Limits, doorkeeper: Doorkeeper | None
) -> None:
    """Serves a warehouse until a signal comes.

    Args:
        listening: from `bind`.
        warehouse: what to answer from.
        names: other names than those of loopback and its address that it may be called by.
        limits: for each question.
        doorkeeper: finds out who asks; None where everybody sees everything.
    """
    _allow_open_files()
    host = "localhost" if listening.family == socket.AF_UNIX else listening.getsockname()[0]
    app = make_app(warehouse, {*LOOPBACK, *names, f"[{host}]" if ":" in host else host}, limits, doorkeeper)
    uvicorn.Server(config_of(app)).run(sockets=[listening])


def _allow_open_files() -> None:
    """Lets this process open as many files as connections may need, where its limit lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, _OPEN_FILES), hard))


def config_of(app: Starlette) -> uvicorn.Config:
    """How an application is served."""
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=_LONGEST_REQUEST,
        timeout_graceful_shutdown=2,
    )
