"""`iomine backfill`: what the site's settings say for a range of nights, without what follows a night."""
# ruff: noqa: PLC0415

import datetime as dt
import re
import time
from typing import Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, OnlyCluster, Warehouse, as_night
from iomine.cli.terminal.text import say
from iomine.errors import IomineError, UsageError
from iomine.units import bytes_of, counted, human_seconds

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
            "--hours", metavar="FROM-TO", help="Begin a night in these hours of this host only, such as 20-6.", show_default="all"
        ),
    ] = None,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Sweep a range of nights of the clusters in iomine.toml.

    No mail is sent. Killed, it goes on where it was: logs that the warehouse has are not read again. At its end, nights that
    were swept before earlier ones are judged anew, as if all had come in order. A night that fails is named, and does not keep
    the others from being swept; the exit status is 1 then. Start it with `nice ionice -c 3` where others need the disks more.
    """
    from iomine.cli.terminal.sweeps import status_of, swept
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.corrections import settle
    from iomine.pipeline.nightly import Pace, clusters_of, nights, out_of_order, sweep_of
    from iomine.pipeline.site.config import site_config

    Folder(warehouse).lake.check_version()
    until = until or as_night("yesterday")
    if until < since:
        raise UsageError(f"--until {until} lies before --since {since}: swap them.")
    open_hours = hours_of(hours)
    pace = Pace(files_per_second, _size(bytes_per_second))
    config = site_config(warehouse)
    names = clusters_of(config, cluster)
    due = [(night, name) for night in nights(since, until, newest_first=newest_first) for name in names]
    statuses, began = [0], time.monotonic()
    unsettled = out_of_order(Folder(warehouse), names, since, newest_first=newest_first)
    for done, (night, name) in enumerate(due, start=1):
        _wait_for(open_hours)
        try:
            settings = sweep_of(config, warehouse, name, night, days=1)
            summary = swept(settings)
            statuses.append(status_of(summary))
            said = f"{summary.ingested:,} ingested, {summary.known:,} known, {summary.rejected:,} rejected"
        except IomineError as error:
            say(f"{name}, {night}: {error.args[0]}")
            statuses.append(1)
            continue
        time.sleep(max(0.0, pace.seconds(settings.paths, summary) - summary.seconds))
        left = (time.monotonic() - began) / done * (len(due) - done)
        typer.echo(f"{name}, {night}: {said}; {done:,} of {counted(len(due), 'night')}, about {human_seconds(left)} left")
    for name in unsettled:
        # Runs are held against those of nights before, some of which came after them.
        if settled := settle(Folder(warehouse), name, since, until):
            typer.echo(f"{name}: {counted(settled, 'night')} judged anew by the nights before")
    if status := 1 if 1 in statuses else max(statuses):
        raise typer.Exit(status)


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
