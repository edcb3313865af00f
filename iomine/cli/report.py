"""`iomine report`: the page of a log, or of a job and each of its logs."""
# ruff: noqa: PLC0415

from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from iomine.cli.meant import LogOrJob, meant
from iomine.cli.options import DEFAULT_WAREHOUSE, OnlyCluster, Warehouse, database_of
from iomine.errors import UsageError, as_output_errors


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
    """Write the report of a log, or of a job and each of its logs.

    The report shows what is wrong, what that cost and what to change. Its path is printed. A job of several logs has a page of
    its own, whose path is printed first. Sweeps write the reports of all logs and jobs with findings. With --out, the page
    index.html in the folder lists all reports there.
    """
    if out is not None and standalone is not None:
        raise UsageError("--out is for a folder and --standalone for one file: leave one of them out.")
    from iomine.report.facts import gather, which
    from iomine.report.job import JobPlace, jobs_of
    from iomine.report.write import (
        write_jobs,
        write_reports,
        write_shared,
        write_standalone,
        write_standalone_job,
        write_whole_index,
    )
    from iomine.triggers.site import with_published
    from iomine.views.of_logs import open_for_logs
    from iomine.views.query import answer_own, open_catalog

    database = database_of(warehouse)
    asked = meant(database, what, cluster)
    places = asked.places(database)
    if not places:
        raise UsageError(f"No log of job {what} was swept: there is nothing to report.")
    nights = [place.night for place in places]
    jobs = [JobPlace(asked.cluster, asked.id, min(nights), max(nights))] if len(places) > 1 else []
    folder = out or warehouse / "reports"
    with (
        open_for_logs(database, which(places)) as con,
        as_output_errors(standalone or folder),
        with_published(ask := partial(answer_own, con)),
    ):
        if standalone is not None:
            if jobs:
                write_standalone_job(next(jobs_of(ask, jobs)), standalone)
            else:
                write_standalone(ask, next(gather(ask, places)), standalone)
            typer.echo(standalone)
            return
        write_shared(folder)
        for written in chain(write_jobs(ask, jobs, folder), write_reports(ask, places, folder)):
            typer.echo(written.page)
    # Sweeps write the list of the warehouse's own reports.
    if out is not None:
        with open_catalog(database) as con, as_output_errors(out):
            write_whole_index(partial(answer_own, con), out)
