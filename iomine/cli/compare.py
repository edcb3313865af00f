"""`iomine compare`: what changed between two runs, two nights, or two stretches of nights."""
# ruff: noqa: PLC0415

import datetime as dt
import re
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.meant import meant
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
from iomine.errors import UsageError, as_output_errors

if TYPE_CHECKING:
    import pyarrow as pa

    from iomine.report.facts import Place

Nights = tuple[dt.date, dt.date]
# Logs, jobs and files hardly have such names.
_NIGHTS: Final = re.compile(r"\d{4}-\d{2}-\d{2}(\.\..*)?")
_LISTED: Final = 5


class Grouping(StrEnum):
    """How findings are grouped for the comparison."""

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
# Columns that a narrow terminal shows first.
_IMPORTANT: Final = (
    *("first_night", "change", "user", "app", "code", "cost_core_seconds", "finding_count", "cost_core_seconds_before"),
    *("finding_count_before", "io_ratio", "log_count", "last_night"),
)


def command(
    *,
    before: Annotated[
        str | None,
        typer.Argument(metavar="RUN_OR_NIGHT", help="A log, a job, a night, or a range such as 2026-11-01..2026-11-07."),
    ] = None,
    after: Annotated[str | None, typer.Argument(metavar="RUN_OR_NIGHT", help="The same, to compare with it.")] = None,
    lineage: Annotated[
        str | None, typer.Option("--lineage", metavar="ID", help="Compare the newest run of a lineage with its usual one.")
    ] = None,
    standalone: Annotated[
        Path | None,
        typer.Option("--standalone", metavar="FILE", help="Write the page of two runs, as one file, to send or to keep."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write the page of two runs there, beside their reports.")
    ] = None,
    by: Annotated[
        Grouping | None,
        typer.Option(
            "--by", help="Group findings by user, program and trigger, or by one of these alone.", show_default="finding"
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Show only the largest changes between nights.", show_default="all"),
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
    """Show what changed between two runs, or between two nights.

    For two runs it shows how much longer the second took, what explains that, and which findings are gone, new or the same; with
    --standalone or --out it draws both on one page. For two nights it shows which findings are new, gone, more or less. Findings
    of users and programs that did not run (not run), or that could not be assessed any more (unknown), are listed apart from
    those that are gone. Ranges are compared by their means per night with such logs. --user, --app, --account, --since and
    --until select the logs of the nights, or the runs of the lineage, that are compared.
    """
    if lineage is None and (before is None or after is None):
        raise UsageError("Name two runs, or two nights, or one lineage with --lineage ID.")
    if lineage is not None and before is not None:
        raise UsageError("--lineage chooses both runs: name no others, or leave it out.")
    narrowing, form = Narrowing(since, until, user, app, account, cluster), Format.JSON if as_json else form
    if before is not None and after is not None and (_is_night(before) or _is_night(after)):
        if standalone or out:
            raise UsageError("Nights have no page: --standalone and --out are for two runs.")
        _compare_nights(before, after, warehouse, by=by or Grouping.FINDING, limit=limit, form=form, narrowing=narrowing)
        return
    if by or limit:
        raise UsageError("--by and --limit are for two nights: leave them out.")
    if standalone and out:
        raise UsageError("--out is for a folder and --standalone for one file: leave one of them out.")
    database, run_count = database_of(warehouse), 0
    if lineage is not None:
        first, second, run_count = _usual_and_newest(database, lineage, narrowing)
    else:
        if narrowing != Narrowing(cluster=cluster):
            raise UsageError("--user, --app, --account, --since and --until are for two nights or a lineage: leave them out.")
        first, second = (_run(database, str(what), cluster) for what in (before, after))
    _compare_runs(warehouse, first, second, form=form, standalone=standalone, out=out, run_count=run_count)


def _is_night(text: str) -> bool:
    return bool(_NIGHTS.fullmatch(text))


def _run(database: Path, what: str, cluster: str | None) -> "Place":
    places = meant(database, what, cluster).places(database)
    if not places:
        raise UsageError(f"No log of job {what} was swept: there is nothing to compare.")
    if len(places) > 1:
        listed = ", ".join(place.log_id for place in places[:_LISTED]) + (", …" if len(places) > _LISTED else "")
        raise UsageError(f"Job {what} has {len(places):,} logs, and two are compared: name one of {listed}.")
    return places[0]


def _usual_and_newest(database: Path, lineage: str, narrowing: Narrowing) -> "tuple[Place, Place, int]":
    from iomine.cli.terminal.questions import ask, ask_own
    from iomine.report.facts import Place
    from iomine.views.meanings import NEAREST_LINEAGE
    from iomine.views.questions import question

    narrowing.check(database)
    among = " among the logs that the options select" if narrowing != Narrowing() else ""
    found = ask_own(database, question("compare/usual"), narrowing.parameters() | {"lineage_id": lineage}).to_pylist()
    if not found:
        near = [] if among else ask(database, NEAREST_LINEAGE, [lineage])["lineage_id"].to_pylist()
        hint = f"did you mean {near[0]}?" if near else "`iomine sql 'FROM lineages'` lists them."
        raise UsageError(f"There is no lineage {lineage}{among}: {hint}")
    if len(found) > 1:
        raise UsageError(f"Lineage {lineage} has runs on {len(found)} machines: name one with --cluster.")
    (row,) = found
    if row["usual_log_id"] is None:
        raise UsageError(f"Lineage {lineage} has a single run{among}, {row['log_id']}: there is nothing to compare it with.")
    usual = Place(row["cluster"], row["usual_night"], row["usual_log_id"])
    return usual, Place(row["cluster"], row["night"], row["log_id"]), row["run_count"]


def _compare_runs(
    warehouse: Path,
    first: "Place",
    second: "Place",
    *,
    form: Format,
    standalone: Path | None,
    out: Path | None,
    run_count: int,
) -> None:
    from iomine.cli.terminal.formats import write
    from iomine.cli.terminal.pairs import as_table, pair_page
    from iomine.report.pair import gather_pair
    from iomine.report.write import write_pair, write_shared
    from iomine.triggers.site import with_published
    from iomine.views.query import answer_own, open_catalog

    file = standalone or (out and out / f"{first.log_id}-{second.log_id}.html")
    with open_catalog(database_of(warehouse)) as con, with_published(ask := partial(answer_own, con)):
        pair = gather_pair(ask, first, second)
        if file is not None:
            with as_output_errors(file):
                if out is not None:
                    write_shared(out)
                write_pair(ask, pair, file, standalone=standalone is not None, run_count=run_count)
    if file is not None:
        typer.echo(file)
    elif form is Format.TABLE:
        typer.echo("\n".join(pair_page(pair, run_count)))
    else:
        write(as_table(pair), form)


def _compare_nights(
    before: str, after: str, warehouse: Path, *, by: Grouping, limit: int | None, form: Format, narrowing: Narrowing
) -> None:
    from iomine.cli.terminal.formats import write_for_people
    from iomine.cli.terminal.questions import ask_own
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.site.views import site_views
    from iomine.views.questions import question

    same_ratio = site_views(Folder(warehouse)).compare_same_ratio
    nights = [_nights(before), _nights(after)]
    _check_apart(*nights)
    narrowing.check(database_of(warehouse))
    _check_within(nights, narrowing)
    (first_before, last_before), (first_after, last_after) = nights
    parameters = narrowing.parameters() | {
        "first_before": first_before,
        "last_before": last_before,
        "first_after": first_after,
        "last_after": last_after,
    }
    totals = ask_own(database_of(warehouse), question("compare/totals"), parameters)
    for first, last in nights:
        _check_there(database_of(warehouse), totals["first_night"].to_pylist(), first, last, narrowing)
    keys = {f"by_{key}": key in _KEYS[by] for key in ("user", "app", "code")}
    changes = ask_own(database_of(warehouse), question("compare/changes"), parameters | keys | {"same_ratio": same_ratio})
    changes = changes.drop_columns([key for key in _KEYS[Grouping.FINDING] if key not in _KEYS[by]])
    if form is Format.TABLE:
        write_for_people(totals, form, _important(totals))
        typer.echo("" if changes.num_rows else f"\nNothing changed by more than {same_ratio:.0%}.")
    if changes.num_rows or form is not Format.TABLE:
        write_for_people(changes.slice(0, limit), form, _important(changes))


def _important(answer: "pa.Table") -> list[str]:
    return [name for name in _IMPORTANT if name in answer.column_names]


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
        raise UsageError("The nights to compare overlap: give nights, or ranges, that do not overlap.")


def _check_within(nights: list[Nights], narrowing: Narrowing) -> None:
    since, until = narrowing.first_night, narrowing.last_night
    for first, last in nights:
        if since and last < since:
            raise UsageError(f"{last} is before --since {since}: change one of them.")
        if until and first > until:
            raise UsageError(f"{first} is after --until {until}: change one of them.")


def _check_there(database: Path, there: list[dt.date], first: dt.date, last: dt.date, narrowing: Narrowing) -> None:
    from iomine.cli.terminal.questions import ask_own
    from iomine.views.questions import question

    if any(first <= night <= last for night in there):
        return
    near = ask_own(database, question("compare/nearest_night"), narrowing.parameters() | {"night": first})["night"].to_pylist()
    hint = f"the nearest that has some is {near[0]}." if near else "no other night has any."
    asked = f"{first}" if first == last else f"{first} to {last}"
    of_whom = f" of {narrowing.of_whom()}" if narrowing.names() else ""
    raise UsageError(f"There are no logs{of_whom} of {asked}: {hint}")
