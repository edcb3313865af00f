"""`iomine forget`: takes a log, a night or a machine out of the warehouse."""
# ruff: noqa: PLC0415

import datetime as dt
from typing import Annotated

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, OnlyCluster, Warehouse, as_night
from iomine.errors import UsageError
from iomine.units import counted

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def command(
    *,
    log: Annotated[str | None, typer.Option("--log", metavar="ID", help="A log's id, or the beginning of one.")] = None,
    night: Annotated[
        dt.date | None, typer.Option("--night", metavar="DATE", parser=as_night, help="All logs of this night (UTC).")
    ] = None,
    cluster: OnlyCluster = None,
    yes: Yes = False,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Take a log, a night or a machine out of the warehouse.

    With --cluster alone, everything of a machine is forgotten, also its statistics and accounting. Files of logs stay where they
    are: a sweep that finds them reads them again.
    """
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.corrections import counted_logs, forget, matter_of

    if log is None and night is None and cluster is None:
        raise UsageError("Nothing to forget is named: give --log, --night or --cluster.")
    if log is not None and night is not None:
        raise UsageError("--log and --night are two things to forget: give one of them.")
    folder = Folder(warehouse)
    matter = matter_of(folder, cluster, night, log)
    confirm(f"Forget {counted(counted_logs(folder, matter), 'log')} of {', '.join(sorted(matter.clusters))}?", yes=yes)
    forget(folder, matter)


def confirm(asked: str, *, yes: bool) -> None:
    """Asks for confirmation, unless it is given already.

    Raises:
        UsageError: nobody is there to answer, or the answer is no.
    """
    try:
        is_meant = yes or typer.confirm(asked, err=True)
    except typer.Abort:
        raise UsageError(f"{asked} No answer was given: add --yes.") from None
    if not is_meant:
        raise UsageError("Nothing was changed.")
