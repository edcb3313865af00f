"""`iomine config`: the settings of a site, checked, shown, explained, and put into one file."""
# ruff: noqa: PLC0415

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, Warehouse
from iomine.cli.terminal.failures import refuse
from iomine.errors import OutputError, UsageError
from iomine.units import visible

if TYPE_CHECKING:
    from iomine.pipeline.site.config import Known


class Action(StrEnum):
    """What is done with the settings."""

    CHECK = "check"
    SHOW = "show"
    EXPLAIN = "explain"
    MIGRATE = "migrate"


def command(
    action: Annotated[Action, typer.Argument(help="What to do with the settings.", show_default=False)],
    key: Annotated[
        str | None, typer.Argument(metavar="[KEY]", help="For explain: a setting, such as digest.smtp.host.", show_default="all")
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Check, show, explain or merge a site's settings.

    "check" lists all faults, and exits with status 2 if there are any. "show" prints the settings in effect. "explain"
    describes a setting. "migrate" merges the files of a warehouse, such as digest.toml, into its iomine.toml, and keeps each
    as digest.toml.merged.
    """
    if key is not None and action is not Action.EXPLAIN:
        raise UsageError(f"`iomine config {action}` takes no key: `iomine config explain {key}` explains one.")
    if action is Action.CHECK:
        _check(warehouse)
    elif action is Action.SHOW:
        _show(warehouse)
    elif action is Action.EXPLAIN:
        _explain(key)
    else:
        _migrate(warehouse)


def _check(warehouse: Path) -> None:
    from iomine.config import config_of, named_config
    from iomine.pipeline.site.config import problems

    found = list(problems(warehouse))
    if found:
        refuse(found)
    # As in a container that sees the warehouse under another path than its settings say.
    other = f", and is not the warehouse of {named}" if (named := named_config()) else ""
    typer.echo(visible(f"{config_of(warehouse) or f'{warehouse}, which has no iomine.toml{other}'}: nothing is wrong."))


def _show(warehouse: Path) -> None:
    from iomine.pipeline.site.config import settings_said

    for key, value, where in settings_said(warehouse):
        typer.echo(visible(f"{key} = {json.dumps(value)}  # {where}"))


def _explain(key: str | None) -> None:
    from iomine.pipeline.site.config import known_settings, setting_named

    for each in [setting_named(key)] if key else known_settings():
        typer.echo(_explained(each))


def _explained(known: "Known") -> str:
    default = "a table" if known.default is None else f"default {json.dumps(known.default)}"
    return f"{known.key}: {known.about} ({default})"


def _migrate(warehouse: Path) -> None:
    from iomine.config import CONFIG_FILE
    from iomine.pipeline.site.config import merged

    text, files = merged(warehouse)
    if not files:
        typer.echo(f"{warehouse} has no files to merge.")
        return
    made = warehouse / CONFIG_FILE
    try:
        made.with_suffix(".new").write_text(text, encoding="utf-8")
        for file in files:
            file.rename(file.with_name(f"{file.name}.merged"))
        made.with_suffix(".new").replace(made)
    except OSError as error:
        raise OutputError(
            f"{error.filename or made} cannot be written ({error.strerror}): run it as the warehouse's owner."
        ) from error
    typer.echo(f"{made} has the settings of these files, kept as NAME.merged: {', '.join(file.name for file in files)}")
