"""`iomine export`: a copy of the warehouse to give away."""
# ruff: noqa: PLC0415

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, OnlyCluster, Warehouse
from iomine.cli.terminal.text import say
from iomine.units import visible


def command(
    *,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write to; it must not be there yet.")],
    key: Annotated[
        Path | None,
        typer.Option(
            "--anonymise",
            metavar="KEYFILE",
            help="Give pseudonyms under this key to people, jobs, hosts and paths.",
            show_default="names as they are",
        ),
    ] = None,
    since: Annotated[
        dt.datetime | None,
        typer.Option(
            "--since", metavar="DATE", formats=["%Y-%m-%d"], help="Only this night (UTC) and later.", show_default="all"
        ),
    ] = None,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Copy the warehouse into a folder that can be given away.

    Any DuckDB client opens the copy; see docs/export.md, also for what a key is and what pseudonyms keep secret.
    """
    from iomine.cli.terminal.progress import progress_shown
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.export.export import Choice, export
    from iomine.pipeline.export.pseudonyms import Pseudonyms, read_key
    from iomine.units import human_bytes

    pseudonyms = None if key is None else Pseudonyms(read_key(key))
    choice = Choice(None if since is None else since.date(), cluster)
    with progress_shown():
        done = export(Folder(warehouse), out, choice, pseudonyms)
    text = f"{done.logs:,} logs of {done.nights:,} nights, {done.rows:,} rows in all, {human_bytes(done.size_bytes)}, in {out}"
    typer.echo(visible(text))
    if pseudonyms is None:
        say("Names are in it as they are: --anonymise KEYFILE gives pseudonyms.")
