"""Sweeps as commands run them: checked beforehand, with progress, and summed up in a few lines."""

import atexit
import os
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE
from iomine.cli.terminal.progress import progress_shown
from iomine.cli.terminal.rules import say_left_out
from iomine.cli.terminal.text import is_json, say, write_event
from iomine.errors import InputError
from iomine.flows import api
from iomine.lake import Warehouse, check_cluster
from iomine.pipeline.emptiness import emptiness
from iomine.pipeline.ingest.find import check
from iomine.pipeline.site.triggers import site_triggers
from iomine.pipeline.site.zones import site_zone
from iomine.pipeline.sweep import Counts, Settings, Summary, run
from iomine.pipeline.workers.slurm import check as check_slurm
from iomine.pipeline.workers.slurm import check_choice, site_of
from iomine.units import counted, human_seconds, json_line, visible

_DONE_WITH_REJECTS: Final = 3
_SHOWN_REASONS: Final = 5
_STDERR: Final = 2


def swept(settings: Settings) -> Summary:
    """Sweeps, as a flow where Prefect has an API, with progress on stderr.

    Raises:
        IomineError: it cannot be done.
    """
    folder = Warehouse(settings.warehouse)
    _check(folder, settings)
    with progress_shown():
        if (url := api.api_url()) is None:
            return run(settings)
        api.prepare(url)
        # Registered first, so run last: when all is said, DuckDB's binding lists what Prefect's threads still hold as leaks.
        atexit.register(_close_stderr)
        from iomine.flows.sweep import run as run_as_flow  # noqa: PLC0415  its import takes seconds

        summary: Summary = run_as_flow(settings, say)
        return summary


def check_found(settings: Settings, summary: Summary) -> None:
    """Makes sure that a sweep found logs where most do.

    Raises:
        InputError: it did not.
    """
    if sentence := emptiness(settings, summary):
        raise InputError(sentence)


def status_of(*counts: Summary | Counts) -> int:
    """The exit status of a sweep that did this with its logs, statistics and accounting."""
    return _DONE_WITH_REJECTS if any(each.rejected for each in counts) else 0


def send_notices(warehouse: Path) -> None:
    """Sends the notices that are due, and says what became of them."""
    from iomine.pipeline.notices import notify  # noqa: PLC0415  loads all of mail

    post = notify(warehouse)
    for who, why in [*post.refused, *post.deferred, *post.in_doubt]:
        say(f"Notices for {who}: {why}")
    if post.sent:
        say(f"{counted(len(post.sent), 'notice')} sent")


def show(summary: Summary, warehouse: Path, *, as_json: bool) -> None:
    """Writes what a sweep did."""
    if is_json():
        write_event("sweep", **asdict(summary))
    if as_json:
        typer.echo(json_line(asdict(summary)))
        return
    typer.echo(f"{_counted(summary)}, in {human_seconds(summary.seconds)}")
    for cluster, count in summary.elsewhere.items():
        typer.echo(f"  {count:,} known: in cluster {cluster} (see iomine move)")
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
        say("Nothing here looks like a log: names contain .darshan, end in .gz, .pfw or .otf2, or are _metadata or recorder.mt.")
    where = "" if warehouse == DEFAULT_WAREHOUSE else f" --warehouse {shlex.quote(str(warehouse))}"
    say(f"Next: iomine worst{where}")


def _counted(counts: Summary | Counts) -> str:
    return f"{counts.found:,} found = {counts.ingested:,} ingested + {counts.known:,} known + {counts.rejected:,} rejected"


def _check(folder: Warehouse, settings: Settings) -> None:
    """Checks at once what need not wait for workers."""
    check_cluster(settings.cluster)
    check([*settings.paths, *settings.stats])
    site_triggers(folder)
    say_left_out(folder.root)
    site_zone(folder, settings.cluster)
    with folder.locked():
        pass
    check_choice(slurm=settings.slurm, scheduler=settings.scheduler, workers=settings.workers)
    if settings.scheduler is not None:
        from iomine.pipeline.workers.cluster import check as check_scheduler  # noqa: PLC0415  loads Dask

        check_scheduler(settings.scheduler)
    if settings.slurm:
        check_slurm(site_of(folder.root))


def _close_stderr() -> None:
    sys.stderr.flush()
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), _STDERR)
