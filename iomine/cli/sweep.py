"""`iomine sweep`: the main job, from log files to answers in SQL."""
# ruff: noqa: PLC0415

import atexit
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.options import DEFAULT_CLUSTER, DEFAULT_WAREHOUSE, Cluster, Scheduler, Slurm, Warehouse, Workers
from iomine.cli.terminal.text import say
from iomine.errors import UsageError
from iomine.units import counted, json_line, visible

if TYPE_CHECKING:
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.sweep import Counts, Summary

_DONE_WITH_REJECTS: Final = 3
_SHOWN_REASONS: Final = 5
_STDERR: Final = 2


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
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Find logs, read them, judge them and publish what they say.

    Running it again reads only what is new; killed anywhere, the next run finishes the work.
    """
    if not paths and not stats:
        raise UsageError("There is nothing to sweep: name folders of Darshan logs, or of statistics with --stats.")
    if notify:
        from iomine.pipeline.notices import check_notices

        check_notices(warehouse)
    summary = _run(
        paths or [], stats or [], warehouse, cluster, scheduler=scheduler, workers=workers, slurm=slurm, recheck=recheck
    )
    _show(summary, warehouse, as_json=json)
    if notify:
        _notify(warehouse)
    if summary.rejected or summary.statistics.rejected:
        raise typer.Exit(_DONE_WITH_REJECTS)


def _notify(warehouse: Path) -> None:
    from iomine.pipeline.notices import notify

    post = notify(warehouse)
    for who, why in [*post.refused, *post.deferred, *post.in_doubt]:
        say(f"Notices for {who}: {why}")
    if post.sent:
        typer.echo(f"{counted(len(post.sent), 'notice')} sent", err=True)


def _close_stderr() -> None:
    sys.stderr.flush()
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), _STDERR)


def _run(
    paths: list[Path],
    stats: list[Path],
    warehouse: Path,
    cluster: str,
    *,
    scheduler: str | None,
    workers: int | None,
    slurm: bool,
    recheck: bool,
) -> "Summary":
    from iomine.cli.terminal.progress import progress_shown
    from iomine.flows import api
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.sweep import Settings, run

    folder = Folder(warehouse)
    _check([*paths, *stats], folder, cluster)
    _check_workers(folder, scheduler=scheduler, workers=workers, slurm=slurm)
    settings = Settings(tuple(paths), warehouse, cluster, scheduler, workers, slurm=slurm, stats=tuple(stats), recheck=recheck)
    with progress_shown():
        if (url := api.api_url()) is None:
            return run(settings)
        api.prepare(url)
        # Registered first, so run last: when all is said, DuckDB's binding lists what Prefect's threads still hold as leaks.
        atexit.register(_close_stderr)
        from iomine.flows.sweep import run as run_as_flow

        summary: Summary = run_as_flow(settings, say)
        return summary


def _check(paths: list[Path], folder: "Folder", cluster: str) -> None:
    """Checks at once what need not wait for workers."""
    from iomine.lake import check_cluster
    from iomine.pipeline.ingest.find import check
    from iomine.pipeline.site.triggers import site_triggers
    from iomine.pipeline.site.zones import site_zone

    check_cluster(cluster)
    check(paths)
    site_triggers(folder)
    site_zone(folder, cluster)
    with folder.locked():
        pass


def _check_workers(folder: "Folder", *, scheduler: str | None, workers: int | None, slurm: bool) -> None:
    if scheduler is None and not slurm:
        return
    from iomine.pipeline.workers.cluster import check as check_scheduler
    from iomine.pipeline.workers.slurm import check as check_slurm
    from iomine.pipeline.workers.slurm import check_choice, site_of

    check_choice(slurm=slurm, scheduler=scheduler, workers=workers)
    if scheduler is not None:
        check_scheduler(scheduler)
    if slurm:
        check_slurm(site_of(folder.root))


def _counted(counts: "Summary | Counts") -> str:
    return f"{counts.found:,} found = {counts.ingested:,} ingested + {counts.known:,} known + {counts.rejected:,} rejected"


def _show(summary: "Summary", warehouse: Path, *, as_json: bool) -> None:
    from iomine.units import human_seconds

    if as_json:
        typer.echo(json_line(asdict(summary)))
        return
    typer.echo(f"{_counted(summary)}, in {human_seconds(summary.seconds)}")
    if summary.statistics.found:
        typer.echo(f"statistics and accounting: {_counted(summary.statistics)}")
    if summary.nights:
        typer.echo(
            f"{counted(len(summary.nights), 'night')} from {summary.nights[0]} to {summary.nights[-1]}, "
            f"{counted(summary.findings, 'finding')}"
        )
    for reason, count in list(summary.reasons.items())[:_SHOWN_REASONS]:
        typer.echo(visible(f"  {count:,} rejected: {reason}"))
    if summary.packed or summary.removed:
        typer.echo(f"{counted(summary.packed, 'old log')} packed, {counted(summary.removed, 'file')} of theirs removed")
    for fault in (*summary.unreported[:_SHOWN_REASONS], *summary.unpacked[:_SHOWN_REASONS]):
        say(fault)
    if not summary.found and not summary.statistics.found:
        typer.echo("Nothing here looks like a Darshan log: their names contain .darshan or end in .gz.", err=True)
    where = "" if warehouse == DEFAULT_WAREHOUSE else f" --warehouse {warehouse}"
    typer.echo(f"Next: iomine worst{where}", err=True)
