"""`iomine report`: the page of a log, or of each log of a job."""
# ruff: noqa: PLC0415

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iomine.cli.meant import LogOrJob, meant
from iomine.cli.options import DEFAULT_WAREHOUSE, OnlyCluster, Warehouse, database_of
from iomine.cli.terminal.failures import as_output_errors
from iomine.errors import UsageError

if TYPE_CHECKING:
    from iomine.report.facts import Place

_LISTED = 5


def command(
    what: LogOrJob,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write there.", show_default="reports in the warehouse")
    ] = None,
    standalone: Annotated[
        Path | None, typer.Option("--standalone", metavar="FILE", help="Write one file that needs no other, to send or to keep.")
    ] = None,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Write the report of a log, or of each log of a job.

    It says what is wrong, what that cost and what to change. Where it lies is printed. Sweeps write those of all logs with
    findings.
    """
    if out is not None and standalone is not None:
        raise UsageError("--out is for a folder and --standalone for one file: leave one of them out.")
    from iomine.report.facts import gather
    from iomine.report.write import write_reports, write_shared, write_standalone
    from iomine.views.query import answer, open_catalog

    database = database_of(warehouse)
    places = meant(database, what, cluster).places(database)
    if not places:
        raise UsageError(f"No log of job {what} was swept: there is nothing to report.")
    with open_catalog(database) as con, as_output_errors():
        ask = partial(answer, con)
        if standalone is not None:
            _check_alone(places, what)
            write_standalone(ask, next(gather(ask, places)), standalone)
            typer.echo(standalone)
            return
        folder = out or warehouse / "reports"
        write_shared(folder)
        for written in write_reports(ask, places, folder):
            typer.echo(written.page)


def _check_alone(places: "list[Place]", asked: str) -> None:
    if len(places) > 1:
        listed = ", ".join(place.log_id for place in places[:_LISTED]) + (", …" if len(places) > _LISTED else "")
        raise UsageError(f"Job {asked} has {len(places):,} logs, and one file holds one: name one of {listed}.")
