"""A Prefect server for as long as a command runs: `python -m iomine.flows.server COMMAND...`.

A site has a server of its own. `make demo` and tests have none, and see sweeps run as flows by this one.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from iomine.cache import cached
from iomine.errors import IomineError
from iomine.flows.api import POLL_SECONDS, answers

_LOOPBACK: Final = "127.0.0.1"
_DATABASE: Final = "prefect.db"
# Pages of version 2, the default otherwise, have the browser call a service that counts visits.
_QUIET: Final = {"PREFECT_SERVER_ANALYTICS_ENABLED": "false", "PREFECT_SERVER_UI_V2_ENABLED": "false", "DO_NOT_TRACK": "1"}
_STOP_SECONDS: Final = 30.0


@contextmanager
def server() -> Iterator[tuple[str, Path]]:
    """A server on loopback that answers; it ends with the context.

    Yields:
        The address of its API, and its SQLite database, which goes with it.

    Raises:
        IomineError: it cannot be started.
    """
    with TemporaryDirectory(prefix="iomine-prefect-") as folder:
        database = Path(folder) / _DATABASE
        # A new database goes through all of Prefect's migrations, which takes longer than a sweep of a few logs.
        database.write_bytes(cached(f"prefect-{version('prefect')}.db", _new_database))
        with closing(socket.socket()) as probe:
            probe.bind((_LOOPBACK, 0))
            port = probe.getsockname()[1]
        url = f"http://{_LOOPBACK}:{port}/api"
        process = subprocess.Popen(  # noqa: S603  a program of ours
            [*_prefect("server", "start"), "--host", _LOOPBACK, "--port", str(port)],
            # Its pages ask the port that Prefect has by default otherwise.
            env=_environment(folder) | {"PREFECT_SERVER_UI_API_URL": url},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for the command, which must not lose its server before it has ended.
            start_new_session=True,
        )
        try:
            while not answers(url):
                if process.poll() is not None:
                    raise IomineError("Prefect's server ended before it answered: run `prefect server start` to see why.")
                time.sleep(POLL_SECONDS)
            yield url, database
        finally:
            process.terminate()
            process.wait(_STOP_SECONDS)


def _new_database() -> bytes:
    with TemporaryDirectory(prefix="iomine-prefect-") as folder:
        command = _prefect("server", "database", "upgrade", "--yes")
        subprocess.run(command, env=_environment(folder), check=True, stdout=subprocess.DEVNULL)  # noqa: S603  a program of ours
        return (Path(folder) / _DATABASE).read_bytes()


def _prefect(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "prefect", *arguments]


def _environment(home: str) -> dict[str, str]:
    # Settings of the user's profiles are for their own server.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return kept | _QUIET | {"PREFECT_HOME": home}


def _run(command: list[str]) -> int:
    with server() as (url, _):
        process = subprocess.Popen(command, env=os.environ | {"PREFECT_API_URL": url})  # noqa: S603  what the caller named
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                # The command was interrupted too, and says so.
                continue


if __name__ == "__main__":
    raise SystemExit(_run(sys.argv[1:]))
