"""`iomine sweep`: the main job, from log files to answers in SQL."""
# ruff: noqa: PLC0415

import atexit
import os
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.options import DEFAULT_CLUSTER, DEFAULT_WAREHOUSE, Cluster, Scheduler, Warehouse, Workers
from iomine.errors import UsageError

if TYPE_CHECKING:
    from iomine.pipeline.sweep import Summary

_DONE_WITH_REJECTS: Final = 3
_SHOWN_REASONS: Final = 5
_STDERR: Final = 2
# A cluster's name becomes the name of a folder, and part of links.
_CLUSTER_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def command(
    *,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Folders and files to look through for Darshan logs.")],
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    cluster: Cluster = DEFAULT_CLUSTER,
    scheduler: Scheduler = None,
    workers: Workers = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Find logs, read them, judge them and publish what they say.

    Running it again reads only what is new; killed anywhere, the next run finishes the work.
    """
    if not _CLUSTER_NAME.fullmatch(cluster):
        raise UsageError(f"{cluster!r} is no name for a cluster: use letters, digits, dots, dashes and underscores.")
    # Registered first, so run last: when all is said, DuckDB's binding lists what Prefect's threads still hold as leaks.
    atexit.register(_close_stderr)
    summary = _run(paths, warehouse, cluster, scheduler, workers)
    _show(summary, warehouse, as_json=json)
    if summary.rejected:
        raise typer.Exit(_DONE_WITH_REJECTS)


def _close_stderr() -> None:
    sys.stderr.flush()
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), _STDERR)


def _run(paths: list[Path], warehouse: Path, cluster: str, scheduler: str | None, workers: int | None) -> "Summary":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    from iomine.flows.server import local_server
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline import progress
    from iomine.pipeline.find import check

    # What can be told at once should not wait for a server.
    check(paths)
    folder = Folder(warehouse)
    folder.create()
    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with local_server(folder.prefect_home) as server, Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done)

        progress.listen(show)
        from iomine.flows.sweep import sweep

        server.wait()
        return sweep(paths, warehouse, cluster, scheduler, workers)


def _show(summary: "Summary", warehouse: Path, *, as_json: bool) -> None:
    from iomine.units import human_seconds

    if as_json:
        import json

        typer.echo(json.dumps(asdict(summary), default=str))
        return
    typer.echo(
        f"{summary.found:,} found = {summary.ingested:,} ingested + {summary.known:,} known + {summary.rejected:,} rejected, "
        f"in {human_seconds(summary.seconds)}"
    )
    if summary.nights:
        typer.echo(
            f"{len(summary.nights):,} nights from {summary.nights[0]} to {summary.nights[-1]}, {summary.findings:,} findings"
        )
    for reason, count in list(summary.reasons.items())[:_SHOWN_REASONS]:
        typer.echo(f"  {count:,} rejected: {reason}")
    if not summary.found:
        typer.echo("Nothing here looks like a Darshan log: their names contain .darshan or end in .gz.", err=True)
    where = "" if warehouse == DEFAULT_WAREHOUSE else f" --warehouse {warehouse}"
    typer.echo(f"Next: iomine worst{where}", err=True)
