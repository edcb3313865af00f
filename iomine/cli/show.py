"""`iomine show`: one log, or one job with its logs, as a page on the terminal."""
# ruff: noqa: PLC0415

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iomine.cli.meant import LogOrJob, meant
from iomine.cli.options import DEFAULT_WAREHOUSE, OnlyCluster, Warehouse, database_of

if TYPE_CHECKING:
    from iomine.report.facts import Place
    from iomine.views.questions import Parameters


def command(
    what: LogOrJob,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")] = False,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show all that is known of one log, or the logs of a job.

    Of a job it shows what the scheduler says, and its logs.
    """
    database = database_of(warehouse)
    one = meant(database, what, cluster)
    if one.kind == "log":
        _show_log(database, one.places(database), as_json=as_json)
    else:
        _show_job(database, {"job_id": one.id, "cluster": one.cluster}, as_json=as_json)


def _show_log(database: Path, places: "list[Place]", *, as_json: bool) -> None:
    from iomine.cli.terminal.pages import draw, log_page
    from iomine.cli.terminal.questions import ask
    from iomine.report import page
    from iomine.report.facts import gather

    (facts,) = gather(partial(ask, database), places)
    if as_json:
        typer.echo(page.as_json(facts))
    else:
        draw(log_page(facts))


def _show_job(database: Path, parameters: "Parameters", *, as_json: bool) -> None:
    from iomine.cli.terminal.pages import draw, job_page
    from iomine.cli.terminal.questions import ask
    from iomine.views.encode import records
    from iomine.views.questions import question

    job, logs = (ask(database, question(f"show/{name}"), parameters) for name in ("job", "logs"))
    if as_json:
        typer.echo(json.dumps({"job": list(records(job)), "logs": list(records(logs))}))
    else:
        draw(job_page(job.to_pylist(), logs.to_pylist()))
