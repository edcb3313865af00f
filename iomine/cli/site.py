"""`iomine site`: dashboard, tables and reports as files for any web server."""
# ruff: noqa: PLC0415

import datetime as dt
from pathlib import Path
from typing import Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, OnlyCluster, Since, Warehouse, database_of
from iomine.units import visible

_ROWS: Final = 1000


def command(
    *,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write to: new, empty, or a site of before.")],
    since: Since = None,
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=1, help="Rows of a table at most.")] = _ROWS,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Write dashboard, tables and reports as files for any web server.

    The dashboard is about the last 30 nights, or those from --since on. With --since or --cluster, other logs' reports are
    left out. Readers see the old site until the new one is whole.
    """
    write_pages(warehouse, out, since=since, cluster=cluster, rows=rows)


def write_pages(
    warehouse: Path, out: Path, *, since: dt.date | None = None, cluster: str | None = None, rows: int = _ROWS
) -> None:
    """Writes the site, as the command does.

    Raises:
        IomineError: it cannot be written, or there is nothing to ask.
    """
    from iomine.sharing import group_of
    from iomine.views.query import NO_LIMITS
    from iomine.web.sessions import Session
    from iomine.web.site import write_site
    from iomine.web.window import window_of

    asked = {"since": "" if since is None else since.isoformat(), "cluster": cluster or ""}
    session = Session(database_of(warehouse), NO_LIMITS)
    window = window_of(session, list(asked.items()))
    only_window = since is not None or cluster is not None
    site = write_site(session, window, out, warehouse / "reports", group=group_of(warehouse), most=rows, only_window=only_window)
    typer.echo(
        visible(
            f"{out / 'index.html'}: {site.tables:,} tables, {site.subjects:,} pages of users and others, {site.reports:,} reports"
        )
    )
