"""`iomine show`: one log, or one job with its logs, as a page on the terminal; or a list of logs to choose from."""
# ruff: noqa: PLC0415

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.meant import Meant, meant
from iomine.cli.narrowing import Narrowing
from iomine.cli.options import (
    DEFAULT_WAREHOUSE,
    Account,
    App,
    Format,
    OnlyCluster,
    Since,
    Until,
    User,
    Warehouse,
    database_of,
)
from iomine.cli.terminal.text import say
from iomine.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import pyarrow as pa
    from rich.console import RenderableType

    from iomine.report.facts import Facts

# What a narrow terminal shows first of a list.
_IMPORTANT: Final = (
    "log_id",
    "user",
    "app",
    "start_at",
    "run_seconds",
    "cost_core_seconds",
    "finding_count",
    "io_ratio",
    "job_id",
)


def command(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="LOG_OR_JOB",
            help="A log's id or the beginning of one, a job's id, or a log file.",
            show_default="list the newest logs",
        ),
    ] = None,
    *,
    since: Since = None,
    until: Until = None,
    user: User = None,
    app: App = None,
    account: Account = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many logs to list.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, for machines: an object, or an array of logs.")] = False,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show all that is known of one log, or the logs of a job.

    For a job it shows what the scheduler says, and the job's logs. Without a log or job it lists logs, the newest first, as
    --user, --app, --account, --since and --until select them.
    """
    database = database_of(warehouse)
    narrowing = Narrowing(since, until, user, app, account, cluster)
    if what is None:
        _list(database, narrowing, limit, as_json=as_json)
        return
    if narrowing != Narrowing(cluster=cluster):
        raise UsageError("--user, --app, --account, --since and --until are for a list of logs: leave them out here.")
    from iomine.cli.terminal.pages import draw

    one = meant(database, what, cluster)
    if as_json:
        typer.echo(_json_of(database, one))
    else:
        draw(page_of(database, one))


def page_of(database: Path, one: Meant) -> "Iterator[RenderableType]":
    """The page of a log or a job, piece by piece."""
    from iomine.cli.terminal.pages import SHOWN, job_page, log_page

    if one.kind == "log":
        return log_page(_facts(database, one, SHOWN))
    job, logs = _job(database, one)
    return job_page(job.to_pylist(), logs.to_pylist())


def _json_of(database: Path, one: Meant) -> str:
    from iomine.report import page
    from iomine.views.encode import records

    if one.kind == "log":
        return page.as_json(_all_facts(database, one)).decode()
    job, logs = _job(database, one)
    return json.dumps({"job": list(records(job)), "logs": list(records(logs))})


def _all_facts(database: Path, one: Meant) -> "Facts":
    from iomine.cli.terminal.questions import ask_own
    from iomine.report.facts import gather

    (facts,) = gather(partial(ask_own, database), one.places(database))
    return facts


def _facts(database: Path, one: Meant, lists: "Collection[str]") -> "Facts":
    from iomine.cli.terminal.questions import ask_rows
    from iomine.report.facts import gather_lists

    (facts,) = gather_lists(partial(ask_rows, database), one.places(database), lists)
    return facts


def _job(database: Path, one: Meant) -> "tuple[pa.Table, pa.Table]":
    """What is known of a job, and its logs."""
    from iomine.cli.terminal.questions import ask_own
    from iomine.views.questions import question

    parameters = {"job_id": one.id, "cluster": one.cluster}
    return ask_own(database, question("show/job"), parameters), ask_own(database, question("show/logs"), parameters)


def _list(database: Path, narrowing: Narrowing, limit: int, *, as_json: bool) -> None:
    from iomine.cli.terminal.formats import write_for_people
    from iomine.cli.terminal.questions import ask_own
    from iomine.views.questions import question

    narrowing.check(database)
    answer = ask_own(database, question("cli/logs"), narrowing.parameters() | {"most_rows": limit})
    write_for_people(answer, Format.JSON if as_json else Format.TABLE, _IMPORTANT, whole="--json")
    if not answer.num_rows:
        say(narrowing.why_empty(database))
