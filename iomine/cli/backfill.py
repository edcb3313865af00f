"""`iomine backfill`: sweeps a range of nights as the site's settings say, without the steps that follow a night."""
# ruff: noqa: PLC0415

import datetime as dt
import re
import time
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, OnlyCluster, Warehouse, as_night
from iomine.cli.terminal.text import say
from iomine.errors import IomineError, UsageError
from iomine.units import bytes_of, counted, human_seconds

if TYPE_CHECKING:
    from iomine.pipeline.sweep import Counts, Summary

_HOURS: Final = re.compile(r"([01]?[0-9]|2[0-3])-([01]?[0-9]|2[0-3])")
_LOOK_SECONDS: Final = 60


def command(
    *,
    since: Annotated[dt.date, typer.Option("--since", metavar="DATE", parser=as_night, help="The first night (UTC).")],
    until: Annotated[
        dt.date | None,
        typer.Option("--until", metavar="DATE", parser=as_night, help="The last night (UTC).", show_default="yesterday"),
    ] = None,
    newest_first: Annotated[bool, typer.Option("--newest-first", help="Begin with the last night.")] = False,
    files_per_second: Annotated[
        float | None,
        typer.Option("--files-per-second", metavar="N", min=0.01, help="Read no faster than this.", show_default="any"),
    ] = None,
    bytes_per_second: Annotated[
        str | None,
        typer.Option("--bytes-per-second", metavar="SIZE", help="Read no faster than this, such as 200MiB.", show_default="any"),
    ] = None,
    hours: Annotated[
        str | None,
        typer.Option(
            "--hours", metavar="FROM-TO", help="Begin nights only in these hours of this host, such as 20-6.", show_default="all"
        ),
    ] = None,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Sweep a range of nights of the clusters in iomine.toml.

    No mail is sent. If it was killed, run it again: it skips the nights that are done. At its end it judges again the nights that
    were swept before earlier ones, as if all had come in order. If a night fails, it is named, the other nights are still swept,
    and the exit status is 1. Start it with `nice ionice -c 3` if others need the disks more.
    """
    from iomine.cli.terminal.sweeps import status_of, swept
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.backfill import Backfill, Pace, nights
    from iomine.pipeline.nightly import clusters_of, sweep_of
    from iomine.pipeline.site.config import site_config

    Folder(warehouse).lake.check_version()
    until = until or as_night("yesterday")
    if until < since:
        raise UsageError(f"--until {until} is before --since {since}: change one of them.")
    open_hours = hours_of(hours)
    pace = Pace(files_per_second, _size(bytes_per_second))
    config = site_config(warehouse)
    names = clusters_of(config, cluster)
    every = [(night, name) for night in nights(since, until, newest_first=newest_first) for name in names]
    backfill = Backfill(Folder(warehouse))
    statuses, seconds = [0], []
    for done, (night, name) in enumerate(every, start=1):
        began = time.monotonic()
        said, so_far = f"{name}, {night}", f"{done:,} of {counted(len(every), 'night')}"
        try:
            settings = sweep_of(config, warehouse, name, night, days=1)
            if counts := backfill.passed_over(settings, night):
                statuses.append(status_of(counts))
                typer.echo(f"{said}: {_counted(counts)}; {so_far}")
                continue
            _wait_for(open_hours)
            summary = swept(settings)
        except IomineError as error:
            say(f"{said}: {error.args[0]}")
            statuses.append(1)
            continue
        statuses.append(status_of(summary, summary.statistics))
        backfill.swept(settings, summary)
        time.sleep(max(0.0, pace.seconds(settings.paths, summary) - summary.seconds))
        seconds.append(time.monotonic() - began)
        left = human_seconds(sum(seconds) / len(seconds) * (len(every) - done))
        typer.echo(f"{said}: {_counted(summary)}; {so_far}, about {left} left")
    for name, settled in backfill.settled():
        typer.echo(f"{name}: {counted(settled, 'night')} judged again by the nights before")
    if status := 1 if 1 in statuses else max(statuses):
        raise typer.Exit(status)


def _counted(counts: "Counts | Summary") -> str:
    return f"{counts.ingested:,} ingested, {counts.known:,} known, {counts.rejected:,} rejected"


def _size(text: str | None) -> float | None:
    try:
        return None if text is None else float(bytes_of(text))
    except ValueError as error:
        raise UsageError(f"--bytes-per-second: {error}") from error


def hours_of(text: str | None) -> range | None:
    """The hours of `20-6` as numbers, those after midnight counted on from 24; None for all.

    Raises:
        UsageError: it is written otherwise.
    """
    if text is None:
        return None
    match = _HOURS.fullmatch(text)
    if match is None:
        raise UsageError(f"--hours {text} is not FROM-TO: write it as 20-6.")
    first, last = int(match[1]), int(match[2])
    return range(first, last if last > first else last + 24)


def is_open(hours: range | None, now: dt.datetime) -> bool:
    """Whether a night may be begun now."""
    return hours is None or now.hour in hours or now.hour + 24 in hours


def _wait_for(hours: range | None) -> None:
    if not is_open(hours, dt.datetime.now().astimezone()):
        say("Outside the hours: waiting.")
    while not is_open(hours, dt.datetime.now().astimezone()):
        time.sleep(_LOOK_SECONDS)
