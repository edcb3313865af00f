"""`iomine serve`: dashboard, tables and reports in a browser."""
# ruff: noqa: PLC0415

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, Memory, Timeout, Warehouse, database_of, limits_of
from iomine.errors import UsageError

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
    local: Annotated[
        Path | None,
        typer.Option("--socket", metavar="FILE", help="Listen on this local socket instead; it identifies users."),
    ] = None,
    timeout: Timeout = _TIMEOUT_SECONDS,
    memory: Memory = _MEMORY,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Serve dashboard, tables and reports to browsers, until Ctrl-C.

    It listens on loopback, so only this machine reaches it. Without access.toml in the warehouse it shows everything
    to everyone who reaches it; docs/access.md says how it identifies users. It answers four requests at a time.
    """
    from iomine.cli.terminal.text import say
    from iomine.post.access import ACCESS_FILE, site_access
    from iomine.views.query import open_catalog
    from iomine.web.access import doorkeeper_of
    from iomine.web.server import address_of, bind, bind_local, is_loopback, serve

    limits = limits_of(timeout, memory)
    open_catalog(database_of(warehouse)).close()
    access = site_access(warehouse)
    doorkeeper = None if access is None else doorkeeper_of(access, warehouse)
    with bind_local(local) if local else bind(host, port) as listening, suppress(KeyboardInterrupt):
        if access is None and (local or not is_loopback(listening)):
            raise UsageError(
                f"The access rules are missing: write {warehouse / ACCESS_FILE} as docs/access.md says, or serve loopback only."
            )
        if access is None:
            say(
                f"Every user of this host can read everything here. To close it, write {warehouse / ACCESS_FILE}: docs/access.md."
            )
        elif access.everyone:
            say("Anyone who can reach this machine can read everything here: see docs/access.md.")
        typer.echo(address_of(listening))
        sys.stdout.flush()
        serve(listening, warehouse, tuple(names or ()), limits, doorkeeper)
