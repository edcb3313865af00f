"""`iomine upgrade`: a warehouse that an older iomine wrote becomes one of today's."""
# ruff: noqa: PLC0415

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, Scheduler, Slurm, Warehouse, Workers
from iomine.cli.terminal.text import say
from iomine.units import counted, json_line

if TYPE_CHECKING:
    from iomine.pipeline.upgrade.upgrade import Outcome

_DONE_WITH_REJECTS: Final = 3


def command(
    *,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH...]", readable=False, help="Folders, files and archives to which logs have moved."),
    ] = None,
    stats: Annotated[
        list[Path] | None,
        typer.Option(
            "--stats",
            metavar="PATH",
            readable=False,
            help="Folder or file to which statistics or accounting have moved; may be given again.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    scheduler: Scheduler = None,
    workers: Workers = None,
    slurm: Slurm = False,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Upgrade a warehouse that an older iomine wrote.

    Logs are read again from their files. For logs whose files are gone, everything
    that follows from their kept rows is derived again. Readers see the old warehouse
    until all is done. If it is killed, the next run finishes the work.
    """
    from iomine.cli.terminal.progress import progress_shown
    from iomine.cli.terminal.rules import say_left_out
    from iomine.pipeline.upgrade.upgrade import Settings, upgrade

    settings = Settings(warehouse, tuple(paths or ()), tuple(stats or ()), scheduler, workers, slurm=slurm)
    with progress_shown():
        outcome = upgrade(settings)
    say_left_out(warehouse)
    _show(outcome, as_json=json)
    if outcome.rejected:
        raise typer.Exit(_DONE_WITH_REJECTS)


def _show(outcome: "Outcome", *, as_json: bool) -> None:
    from iomine.units import human_seconds

    if as_json:
        typer.echo(json_line(asdict(outcome)))
        return
    if outcome.version_before == outcome.version:
        typer.echo(f"The warehouse has schema version {outcome.version} already.")
        return
    logs = counted(outcome.read + outcome.rebuilt + outcome.rejected, "log")
    parts = f"{outcome.read:,} read again + {outcome.rebuilt:,} from kept rows + {outcome.rejected:,} rejected"
    typer.echo(
        f"Schema version {outcome.version_before} became {outcome.version}: {logs} = {parts}, in {human_seconds(outcome.seconds)}"
    )
    if outcome.statistics_read or outcome.statistics_kept:
        typer.echo(f"statistics and accounting: {outcome.statistics_read:,} read again + {outcome.statistics_kept:,} kept")
    if outcome.incomplete:
        say(
            f"Files and some rows of {counted(outcome.incomplete, 'log')} are gone: what follows from these rows is unknown. "
            "If the logs have moved, a sweep into a new warehouse restores everything."
        )
    if outcome.closed_nights:
        say(f"Logs of {counted(outcome.closed_nights, 'night')} had left: their sums are kept if they still mean the same.")
    say("The next sweep writes the reports that changed.")
