"""`iomine compare`: what changed between two nights, or between two stretches of nights."""
# ruff: noqa: PLC0415

import datetime as dt
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, AnswerFormat, Format, OnlyCluster, Warehouse, database_of
from iomine.errors import UsageError

Nights = tuple[dt.date, dt.date]


class Grouping(StrEnum):
    """Whose findings are compared."""

    FINDING = "finding"
    USER = "user"
    APP = "app"
    CODE = "code"


# Columns that identify a finding in each grouping.
_KEYS: Final = {
    Grouping.FINDING: ("user", "uid", "app", "code"),
    Grouping.USER: ("user", "uid"),
    Grouping.APP: ("app",),
    Grouping.CODE: ("code",),
}


def command(
    *,
    before: Annotated[str, typer.Argument(metavar="NIGHT", help="A night, or a range such as 2026-11-01..2026-11-07.")],
    after: Annotated[str, typer.Argument(metavar="NIGHT", help="The same, to compare with it.")],
    by: Annotated[
        Grouping, typer.Option("--by", help="Compare each user's programs by trigger, or by one of these alone.")
    ] = Grouping.FINDING,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="The largest only.", show_default="all")
    ] = None,
    form: AnswerFormat = Format.TABLE,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show which findings are new, gone, more or less, from one night to another.

    Findings of users and programs that did not run (not run) are listed apart from those that are gone, and so are those that
    could not be assessed any more (unknown). Ranges are compared by their means for a night.
    """
    from iomine.cli.terminal.formats import write
    from iomine.cli.terminal.questions import ask
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.site.views import site_views
    from iomine.views.questions import question

    same_ratio = site_views(Folder(warehouse)).compare_same_ratio
    nights = [_nights(before), _nights(after)]
    _check_apart(*nights)
    (first_before, last_before), (first_after, last_after) = nights
    parameters: dict[str, object] = {
        "first_before": first_before,
        "last_before": last_before,
        "first_after": first_after,
        "last_after": last_after,
        "cluster": cluster,
    }
    totals = ask(database_of(warehouse), question("compare/totals"), parameters)
    for first, last in nights:
        _check_there(database_of(warehouse), totals["first_night"].to_pylist(), first, last, cluster)
    keys = {f"by_{key}": key in _KEYS[by] for key in ("user", "app", "code")}
    changes = ask(database_of(warehouse), question("compare/changes"), parameters | keys | {"same_ratio": same_ratio})
    changes = changes.drop_columns([key for key in _KEYS[Grouping.FINDING] if key not in _KEYS[by]])
    if form is Format.TABLE:
        write(totals, form)
        typer.echo("" if changes.num_rows else f"\nNothing changed by more than {same_ratio:.0%}.")
    if changes.num_rows or form is not Format.TABLE:
        write(changes.slice(0, limit), form)


def _nights(text: str) -> Nights:
    first, dots, last = text.partition("..")
    try:
        nights = dt.date.fromisoformat(first), dt.date.fromisoformat(last if dots else first)
    except ValueError as error:
        raise UsageError(f"{text} is not a night: write 2026-11-01, or 2026-11-01..2026-11-07 for a range.") from error
    if nights[0] > nights[1]:
        raise UsageError(f"{text} ends before it begins: write {last}..{first}.")
    return nights


def _check_apart(before: Nights, after: Nights) -> None:
    if before[0] <= after[1] and after[0] <= before[1]:
        raise UsageError("The nights to compare overlap: give nights, or ranges, that lie apart.")


def _check_there(database: Path, there: list[dt.date], first: dt.date, last: dt.date, cluster: str | None) -> None:
    from iomine.cli.terminal.questions import ask
    from iomine.views.questions import question

    if any(first <= night <= last for night in there):
        return
    near = ask(database, question("compare/nearest_night"), {"night": first, "cluster": cluster})["night"].to_pylist()
    hint = f"the nearest that has some is {near[0]}." if near else "the warehouse has none at all."
    asked = f"{first}" if first == last else f"{first} to {last}"
    raise UsageError(f"There are no logs of {asked}: {hint}")
