"""`iomine sweep`: the main job, from log files to answers in SQL."""
# ruff: noqa: PLC0415

from pathlib import Path
from typing import Annotated

import typer

from iomine.cli.options import DEFAULT_CLUSTER, DEFAULT_WAREHOUSE, AllowEmpty, Cluster, Scheduler, Slurm, Warehouse, Workers
from iomine.errors import UsageError


def command(
    *,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH...", readable=False, help="Folders and files to look through for Darshan logs."),
    ] = None,
    stats: Annotated[
        list[Path] | None,
        typer.Option(
            "--stats",
            metavar="PATH",
            readable=False,
            help="Folder or file of Lustre statistics, accounting or IOR outputs: all its files are read; may be given again.",
        ),
    ] = None,
    notify: Annotated[
        bool,
        typer.Option("--notify", help="Report to operators afterwards what crosses a threshold of digest.toml, each event once."),
    ] = False,
    recheck: Annotated[
        bool, typer.Option("--recheck", help="Open also files that have not changed since a sweep read them.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    cluster: Cluster = DEFAULT_CLUSTER,
    scheduler: Scheduler = None,
    workers: Workers = None,
    slurm: Slurm = False,
    allow_empty: AllowEmpty = False,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Find logs, read them, judge them and publish what they say.

    Running it again reads only what is new. If it is killed, the next run finishes the work.
    """
    if not paths and not stats:
        raise UsageError("There is nothing to sweep: name folders of Darshan logs, or of statistics with --stats.")
    from iomine.cli.terminal.sweeps import check_found, send_notices, show, status_of, swept
    from iomine.pipeline.sweep import Settings

    if notify:
        from iomine.pipeline.notices import check_notices

        check_notices(warehouse)
    settings = Settings(
        tuple(paths or ()), warehouse, cluster, scheduler, workers, slurm=slurm, stats=tuple(stats or ()), recheck=recheck
    )
    summary = swept(settings)
    show(summary, warehouse, as_json=json)
    if notify:
        send_notices(warehouse)
    if not allow_empty:
        check_found(settings, summary)
    if status := status_of(summary, summary.statistics):
        raise typer.Exit(status)
