"""A Prefect server for one sweep: nobody has to start one by hand, and the sweep does not wait for it alone.

Prefect would start a server by itself, but only once the flow begins, and with a database that it migrates through
every release since 2021. Here the server starts while the rest of the program is loaded, and finds its database as the
last of those migrations would leave it (`prefect_schema.sql`, made by `python -m iomine.flows.server`). Together that
takes a sweep's fixed cost from 20 to 10 seconds on two cores.
"""

import ctypes
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from iomine.errors import IomineError
from iomine.units import MIB

_SCHEMA: Final = Path(__file__).with_name("prefect_schema.sql")
_START_SECONDS: Final = 120.0
_POLL_SECONDS: Final = 0.05
_STOP_SECONDS: Final = 10.0
_PR_SET_PDEATHSIG: Final = 1
_LEAST_FREE_BYTES: Final = 2 * MIB


@contextmanager
def local_server(home: Path) -> Iterator["Server"]:
    """A server on loopback, or the site's own where `PREFECT_API_URL` names one.

    Must be entered before Prefect is imported, which reads the environment then.

    Args:
        home: folder for Prefect's settings and database.
    """
    for name, value in {
        "PREFECT_HOME": str(home),
        # No telemetry, neither from the client nor from the server.
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        # What fails is told by the command, in a sentence.
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    }.items():
        os.environ.setdefault(name, value)
    if "PREFECT_API_URL" in os.environ:
        yield Server(None, os.environ["PREFECT_API_URL"], home)
        return
    _create_database(home)
    port = _free_port()
    server = Server(_start(port), f"http://127.0.0.1:{port}/api", home)
    os.environ["PREFECT_API_URL"] = server.url
    os.environ.setdefault("PREFECT_LOGGING_TO_API_ENABLED", "false")
    try:
        yield server
    except IomineError:
        raise
    except Exception as error:
        # Prefect tells of a full disk as of any fault of its server.
        raise _disk_full(home) or error from error
    finally:
        del os.environ["PREFECT_API_URL"]
        server.stop()


class Server:
    """A Prefect server.

    Args:
        process: the server, None where it is not ours.
        url: its address.
        home: folder of its database, if it is ours.
    """

    def __init__(self, process: subprocess.Popen[bytes] | None, url: str, home: Path) -> None:
        self._process = process
        self.url = url
        self._home = home

    def wait(self) -> None:
        """Waits until the server answers.

        Raises:
            IomineError: it does not.
        """
        give_up_at = time.monotonic() + _START_SECONDS
        while time.monotonic() < give_up_at and (self._process is None or self._process.poll() is None):
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5):  # noqa: S310  our own or the site's http address
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(_POLL_SECONDS)
        silence = IomineError(f"No Prefect server answers at {self.url}: look at PREFECT_API_URL, or run `iomine doctor`.")
        raise (_disk_full(self._home) if self._process else None) or silence

    def stop(self) -> None:
        """Ends the server, if it is ours."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _start(port: int) -> subprocess.Popen[bytes]:
    libc = ctypes.CDLL(None)
    return subprocess.Popen(  # noqa: S603  this very Python
        [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A sweep that is killed takes its server with it.
        preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM),  # noqa: PLW1509  before there are threads
    )


def _create_database(home: Path) -> None:
    """Makes the database as the migrations would; made under another name, so that a crash leaves none or all of it."""
    database = home / "prefect.db"
    if database.exists():
        return
    unfinished = home / f"prefect.db.{os.getpid()}"
    try:
        home.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(unfinished)) as connection:
            connection.executescript(_SCHEMA.read_text())
        unfinished.replace(database)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            unfinished.unlink()
        raise _disk_full(home) or IomineError(f"Prefect's database cannot be made in {home}: {error}.") from error


def _disk_full(home: Path) -> IomineError | None:
    """What to tell of a fault that a full disk explains, None where there is room."""
    if shutil.disk_usage(home.parent).free >= _LEAST_FREE_BYTES:
        return None
    return IomineError(f"The disk that holds {home} is full: free some space and sweep again, what was published stays.")


def migrated_schema() -> str:
    """The schema that the installed Prefect's own migrations make, as SQL."""
    with tempfile.TemporaryDirectory() as home:
        subprocess.run(
            [sys.executable, "-m", "prefect", "server", "database", "upgrade", "--yes"],
            env=os.environ | {"PREFECT_HOME": home, "DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"},
            check=True,
            capture_output=True,
        )
        with closing(sqlite3.connect(Path(home) / "prefect.db")) as connection:
            return "\n".join(line.rstrip() for line in "\n".join(connection.iterdump()).splitlines()) + "\n"


if __name__ == "__main__":
    _SCHEMA.write_text(migrated_schema())
