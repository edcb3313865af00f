"""`iomine judge`: the whole history again, under the same thresholds or others."""
# ruff: noqa: PLC0415

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, AsJson, Format, Warehouse
from iomine.cli.terminal.text import say
from iomine.errors import UsageError

if TYPE_CHECKING:
    from iomine.lake import Warehouse as Folder
    from iomine.triggers import Trigger


def command(
    *,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="CODE.metric=VALUE",
            help="Judge by this threshold; may be given again.",
            show_default="the site's thresholds",
        ),
    ] = None,
    thresholds: Annotated[
        Path | None,
        typer.Option(
            "--thresholds",
            "--bars",
            metavar="FILE",
            help="Thresholds of the site, in TOML.",
            show_default="thresholds.toml in the warehouse",
        ),
    ] = None,
    ruleset: Annotated[
        str | None, typer.Option("--ruleset", metavar="NAME", help="Judge by this ruleset only.", show_default="all")
    ] = None,
    is_comparison: Annotated[bool, typer.Option("--compare", help="Show what would change, and change nothing.")] = False,
    form: Annotated[Format | None, typer.Option("--format", help="How to write the comparison.", show_default="table")] = None,
    as_json: AsJson = False,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Judge the whole history again, without reading a log.

    A comparison counts the logs whose verdict changes: to fired, from fired, or between the other states.
    """
    from iomine.cli.terminal.rules import say_left_out
    from iomine.lake import Warehouse as Folder

    folder = Folder(warehouse)
    form = Format.JSON if as_json else form
    triggers = _triggers(folder, assignments or [], thresholds, ruleset)
    say_left_out(warehouse)
    if is_comparison:
        _compare(folder, triggers, ruleset, form or Format.TABLE)
        return
    if form is not None:
        raise UsageError("--format and --json are for a comparison: add --compare, or leave them out.")
    _judge(folder, triggers, ruleset)
    if assignments or thresholds is not None:
        say(f"Sweeps judge by {folder.root / 'thresholds.toml'}: write thresholds there to keep them.")


def _triggers(folder: "Folder", assignments: list[str], thresholds: Path | None, ruleset: str | None) -> dict[str, "Trigger"]:
    from iomine.pipeline.site.triggers import site_triggers
    from iomine.triggers.thresholds import parse_threshold, with_thresholds

    triggers = site_triggers(folder, thresholds)
    chosen = [parse_threshold(assignment, triggers) for assignment in assignments]
    for threshold in chosen:
        if ruleset not in {None, triggers[threshold.code].ruleset}:
            raise UsageError(
                f"{threshold.code} is of ruleset {triggers[threshold.code].ruleset}, which --ruleset {ruleset} leaves out."
            )
    return with_thresholds(triggers, chosen)


def _compare(folder: "Folder", triggers: dict[str, "Trigger"], ruleset: str | None, form: Format) -> None:
    from iomine.cli.terminal.formats import write
    from iomine.cli.terminal.progress import progress_shown
    from iomine.pipeline.judging.rejudge import compare

    with progress_shown():
        changes = compare(folder, triggers, ruleset)
    write(changes, form)


def _judge(folder: "Folder", triggers: dict[str, "Trigger"], ruleset: str | None) -> None:
    from iomine.cli.terminal.progress import progress_shown
    from iomine.pipeline.judging.rejudge import rejudge
    from iomine.units import human_seconds

    begun = time.monotonic()
    with progress_shown():
        outcome = rejudge(folder, triggers, ruleset)
    typer.echo(
        f"{outcome.changed:,} of {outcome.verdicts:,} verdicts changed, "
        f"on {outcome.logs:,} logs of {outcome.nights:,} nights, in {human_seconds(time.monotonic() - begun)}"
    )
    if outcome.changed:
        say("The next sweep writes the reports that changed.")
