"""`iomine trend`: is the machine's I/O getting better or worse, night by night."""
# ruff: noqa: PLC0415

import datetime as dt
from typing import TYPE_CHECKING, Annotated

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, AnswerFormat, Format, OnlyCluster, Since, Warehouse, database_of

if TYPE_CHECKING:
    import pyarrow as pa


def command(
    *,
    code: Annotated[
        str | None, typer.Option("--code", metavar="CODE", help="Only verdicts of this trigger.", show_default="all findings")
    ] = None,
    since: Since = None,
    form: AnswerFormat = Format.TABLE,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show what nights were like, one after the other.

    Of one trigger it shows on how many logs it fired, was clear, did not apply or could not be assessed. Below a table
    stand its columns as bars, from zero to the highest; a night without logs is a gap.
    """
    from iomine.cli.terminal.formats import write
    from iomine.cli.terminal.questions import ask
    from iomine.triggers import known
    from iomine.views.questions import question

    parameters = {"first_night": None if since is None else since.date(), "cluster": cluster}
    if code is None:
        answer = ask(database_of(warehouse), question("cli/trend"), parameters)
    else:
        answer = ask(database_of(warehouse), question("cli/trend_of_code"), parameters | {"code": known(code)})
    write(answer, form)
    if form is Format.TABLE and answer.num_rows:
        _draw(answer)


def _draw(answer: "pa.Table") -> None:
    from iomine.cli.terminal.sparks import spark
    from iomine.cli.terminal.text import width

    nights: list[dt.date] = answer["night"].to_pylist()
    days = [nights[0] + dt.timedelta(days=n) for n in range((nights[-1] - nights[0]).days + 1)]
    typer.echo(f"\n{nights[0]} to {nights[-1]}")
    for name in answer.column_names[1:]:
        values = dict(zip(nights, answer[name].to_pylist(), strict=True))
        typer.echo(f"{name:<18} {spark([values.get(day) for day in days], width() - 19)}".rstrip())
