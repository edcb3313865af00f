"""`iomine serve`: dashboard, tables and reports in a browser."""
# ruff: noqa: PLC0415

import sys
from contextlib import suppress
from typing import Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, Memory, Timeout, Warehouse, database_of, limits_of

_TIMEOUT_SECONDS: Final = 30
_MEMORY: Final = "1GiB"


def command(
    *,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port to listen on; 0 for any.")] = 8123,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME", help="Another name that browsers call the server by; may be given again."),
    ] = None,
    timeout: Timeout = _TIMEOUT_SECONDS,
    memory: Memory = _MEMORY,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Serve dashboard, tables and reports to browsers, until Ctrl-C.

    It listens on loopback, so only this machine reaches it, and has no login: docs/serve.md says how to put
    it behind a web server that does. Four questions are answered at a time.
    """
    from iomine.cli.terminal.text import say
    from iomine.views.query import open_catalog
    from iomine.web.server import address_of, bind, is_loopback, serve

    open_catalog(database_of(warehouse)).close()
    with bind(host, port) as listening, suppress(KeyboardInterrupt):
        if not is_loopback(listening):
            say("Anyone who can reach this machine can read everything here: see docs/serve.md.")
        typer.echo(address_of(listening))
        sys.stdout.flush()
        serve(listening, warehouse, tuple(names or ()), limits_of(timeout, memory))
