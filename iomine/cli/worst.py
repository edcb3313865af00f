"""`iomine worst`: who makes the machine's file systems work the most, or in vain."""
# ruff: noqa: PLC0415

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.narrowing import Narrowing
from iomine.cli.options import (
    DEFAULT_WAREHOUSE,
    Account,
    AnswerFormat,
    App,
    AsJson,
    Format,
    OnlyCluster,
    Since,
    Until,
    User,
    Warehouse,
    database_of,
)
from iomine.cli.terminal.text import say

if TYPE_CHECKING:
    import pyarrow as pa

# What a narrow terminal shows first.
_IMPORTANT: Final = (
    *("user", "app", "cost_core_seconds", "facility_cost_core_seconds", "finding_count", "io_core_seconds", "io_ratio"),
    "log_count",
)


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
    until: Until = None,
    user: User = None,
    app: App = None,
    account: Account = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many to name.")] = 20,
    form: AnswerFormat = Format.TABLE,
    as_json: AsJson = False,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Name the worst offenders, by user and program.

    --by cost ranks by the core-seconds in requests that findings are about, without those that the facility is to blame for;
    --by io by all core-seconds in I/O.
    """
    from iomine.cli.terminal.formats import write_for_people

    narrowing = Narrowing(since, until, user, app, account, cluster)
    answer = worst_offenders(database_of(warehouse), narrowing, by, limit)
    write_for_people(answer, Format.JSON if as_json else form, _IMPORTANT)
    if not answer.num_rows:
        say(narrowing.why_empty(database_of(warehouse)))


def worst_offenders(database: Path, narrowing: Narrowing, by: Order, limit: int) -> "pa.Table":
    """Sums of users and programs, the worst first.

    Raises:
        UsageError: the warehouse knows no such user, program, account or cluster.
    """
    from iomine.cli.terminal.questions import ask_own
    from iomine.views.questions import question

    narrowing.check(database)
    parameters = {"worst_by": by.value, "most_rows": limit}
    return ask_own(database, question("cli/worst"), narrowing.parameters() | parameters)
