"""`iomine trend`: is the machine's I/O getting better or worse, night by night."""
# ruff: noqa: PLC0415

import datetime as dt
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
_IMPORTANT: Final = ("night", "finding_count", "cost_core_seconds", "facility_cost_core_seconds", "io_ratio")


def command(
    *,
    code: Annotated[
        str | None, typer.Option("--code", metavar="CODE", help="Only verdicts of this trigger.", show_default="all findings")
    ] = None,
    since: Since = None,
    until: Until = None,
    user: User = None,
    app: App = None,
    account: Account = None,
    form: AnswerFormat = Format.TABLE,
    as_json: AsJson = False,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show the numbers of each night, one night after the other.

    For one trigger it shows on how many logs it fired, was clear, did not apply or could not be assessed. Below the table,
    its columns are drawn as bars, from zero to the highest; a night without logs is a gap.
    """
    from iomine.cli.terminal.formats import write_for_people
    from iomine.cli.terminal.questions import ask_own
    from iomine.triggers import known
    from iomine.views.questions import question

    database, form = database_of(warehouse), Format.JSON if as_json else form
    narrowing = Narrowing(since, until, user, app, account, cluster)
    narrowing.check(database)
    if code is None:
        answer = ask_own(database, question("cli/trend"), narrowing.parameters())
    else:
        code = known(code, ask_own(database, "SELECT code FROM triggers")["code"].to_pylist())
        answer = ask_own(database, question("cli/trend_of_code"), narrowing.parameters() | {"code": code})
    write_for_people(answer, form, _IMPORTANT if code is None else ("night",))
    if not answer.num_rows:
        say(f"{'' if code is None else f'No verdict of {code} is left. '}{narrowing.why_empty(database)}")
    elif form is Format.TABLE:
        _draw(answer)


def _draw(answer: "pa.Table") -> None:
    from iomine.cli.terminal.sparks import spark
    from iomine.cli.terminal.text import width

    nights: list[dt.date] = answer["night"].to_pylist()
    days = [nights[0] + dt.timedelta(days=n) for n in range((nights[-1] - nights[0]).days + 1)]
    typer.echo(f"\n{nights[0]} to {nights[-1]}")
    longest = max(map(len, answer.column_names))
    for name in answer.column_names[1:]:
        values = dict(zip(nights, answer[name].to_pylist(), strict=True))
        typer.echo(f"{name:<{longest}} {spark([values.get(day) for day in days], width() - longest - 1)}".rstrip())
