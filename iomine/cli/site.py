"""`iomine site`: dashboard, tables and reports as files for any web server."""
# ruff: noqa: PLC0415

import datetime as dt
from pathlib import Path
from typing import Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, OnlyCluster, Since, Warehouse
from iomine.units import visible

_ROWS: Final = 1000


def command(
    *,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write to: new, empty, or an earlier site.")],
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
    from iomine.web.site import site_of

    site = site_of(warehouse, out, since=since, cluster=cluster, most=rows)
    typer.echo(
        visible(
            f"{out / 'index.html'}: {site.tables:,} tables, {site.subjects:,} pages of users and others, {site.reports:,} reports"
        )
    )
