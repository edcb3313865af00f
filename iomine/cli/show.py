"""`iomine show`: one log, or one job with its logs, as a page on the terminal."""
# ruff: noqa: PLC0415

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.meant import LogOrJob, meant
from iomine.cli.options import DEFAULT_WAREHOUSE, OnlyCluster, Warehouse, database_of

if TYPE_CHECKING:
    from iomine.report.facts import Place

# $1 job id, $2 cluster.
_JOB: Final = "SELECT * FROM jobs WHERE job_id = $1 AND cluster = $2 ORDER BY start_at NULLS LAST"
_LOGS: Final = """
SELECT
    job_id, log_id, app, nprocs, start_at, run_seconds, io_ratio, read_bytes, write_bytes,
    coalesce(finding_count, 0) AS finding_count
FROM (SELECT * FROM logs WHERE job_id = $1 AND cluster = $2) AS log
LEFT JOIN (
    SELECT night, log_id, count(*) AS finding_count FROM findings WHERE job_id = $1 AND cluster = $2 GROUP BY ALL
) AS told USING (night, log_id)
ORDER BY start_at, log_id
"""


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
        _show_job(database, [one.id, one.cluster], as_json=as_json)


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


def _show_job(database: Path, parameters: list[object], *, as_json: bool) -> None:
    from iomine.cli.terminal.pages import draw, job_page
    from iomine.cli.terminal.questions import ask
    from iomine.views.encode import records

    job, logs = (ask(database, query, parameters) for query in (_JOB, _LOGS))
    if as_json:
        typer.echo(json.dumps({"job": list(records(job)), "logs": list(records(logs))}))
    else:
        draw(job_page(job.to_pylist(), logs.to_pylist()))
