"""`iomine worst`: who makes the machine's file systems work the most, or in vain."""
# ruff: noqa: PLC0415

from enum import StrEnum
from typing import Annotated

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, AnswerFormat, Format, OnlyCluster, Since, Warehouse, database_of


class Order(StrEnum):
    """What makes an offender worse than another."""

    COST = "cost"
    IO = "io"
    FINDINGS = "findings"
    BYTES = "bytes"


def command(
    *,
    by: Annotated[Order, typer.Option("--by", help="What to rank by.")] = Order.COST,
    since: Since = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many to name.")] = 20,
    form: AnswerFormat = Format.TABLE,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Name the worst offenders, by user and program.

    By cost ranks by the core-seconds in requests that findings are about, by io by all I/O core-seconds.
    """
    from iomine.cli.terminal.formats import write
    from iomine.cli.terminal.questions import ask
    from iomine.views.questions import question

    night = None if since is None else since.date()
    parameters = {"first_night": night, "cluster": cluster, "worst_by": by.value, "most_rows": limit}
    write(ask(database_of(warehouse), question("cli/worst"), parameters), form)
