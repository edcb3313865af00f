"""`iomine trigger`: a site's own triggers, begun and tried."""
# ruff: noqa: PLC0415

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, Warehouse, database_of
from iomine.cli.terminal.failures import refuse
from iomine.errors import OutputError, UsageError
from iomine.units import counted, visible

if TYPE_CHECKING:
    from iomine.pipeline.judging.rejudge import Trial
    from iomine.triggers import Trigger
    from iomine.triggers.site import SiteRules

_MOST_USERS: Final = 10
_SKELETON: Final = """\
code = "{code}"
title = "Many small files"
about = "Why that matters, and what it costs, in a few sentences."
blind_spots = "What it does not see, and what it takes for one by mistake."
level = "warn"
view = "log_file_profile"
finding = "{{small_file_count}} of {{file_count}} files were small; they took {{small_file_core_seconds}}."
advice = "What to change."
cost = "small_file_core_seconds"

[[all_of]]
metric = "small_file_count"
above = 500
why = "Where this number comes from."

[[cases]]
name = "more than enough"
metrics = {{ small_file_count = 5000 }}
state = "fired"

[[cases]]
name = "exactly on the threshold; change this case, which is wrong, and the trigger counts"
metrics = {{ small_file_count = 500 }}
state = "fired"

[[cases]]
name = "few"
metrics = {{ small_file_count = 5 }}
state = "clear"
"""


class Action(StrEnum):
    """What is done with triggers."""

    NEW = "new"
    CHECK = "check"


def command(
    action: Annotated[Action, typer.Argument(help="What to do.", show_default=False)],
    what: Annotated[
        str | None, typer.Argument(metavar="[CODE|FILE]", help="For new: a code. For check: a file.", show_default="all")
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Start a trigger of the site, or check its triggers and views.

    "new" writes a trigger's file to fill in, with one wrong case. "check" lists the faults of a file, or of all the site's
    files, and shows on how many logs of the newest night each trigger would have fired, and whose logs these are.
    """
    if action is Action.NEW:
        _new(what, warehouse)
    else:
        _check(what, warehouse)


def _new(code: str | None, warehouse: Path) -> None:
    from iomine.pipeline.site.rules import folders
    from iomine.triggers.site import CODE

    if code is None or not CODE.fullmatch(code):
        raise UsageError("The code of a site's trigger is SITE- and three digits: `iomine trigger new SITE-101`.")
    file = folders(warehouse)[0] / "triggers" / f"{code}.toml"
    try:
        # Whatever the umask: a folder that others can write is not read.
        file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(_SKELETON.format(code=code))
        file.chmod(0o644)
    except FileExistsError as error:
        raise UsageError(f"{file} is there already: take another code.") from error
    except OSError as error:
        raise OutputError(f"{file} cannot be written ({error.strerror}): run it as the owner of the folder.") from error
    typer.echo(visible(str(file)))
    typer.echo(f"Next: change it, then iomine trigger check {shlex.quote(str(file))}", err=True)


def _check(what: str | None, warehouse: Path) -> None:
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.judging.rejudge import try_on_newest
    from iomine.pipeline.site.rules import site_rules, with_file
    from iomine.pipeline.site.triggers import site_triggers

    folder = Folder(warehouse)
    rules, name = with_file(folder, Path(what)) if what else (site_rules(folder), "")
    faults = [fault for each, fault in rules.left_out.items() if name in {"", each}]
    triggers = {code: each for code, each in site_triggers(folder, rules=rules).items() if _is_asked(code, name, rules)}
    trial = try_on_newest(folder, triggers, rules) if triggers and database_of(warehouse).exists() else None
    for view in rules.views:
        if name in {"", view.name}:
            typer.echo(f"site.{view.name}: its form and cases are right.")
    for code, trigger in triggers.items():
        typer.echo(
            visible(f"{code}: its form and {counted(len(trigger.cases), 'case')} are right. {_tried(trigger, trial)}".strip())
        )
    if faults:
        refuse(faults)
    if not rules.files:
        typer.echo("The site has no triggers and views of its own: iomine trigger new SITE-101 begins one.", err=True)


def _is_asked(code: str, name: str, rules: "SiteRules") -> bool:
    """Whether a trigger is the one that was named, is of the site, or asks the view that was named."""
    page = rules.manuals.get(code)
    if page is None:
        return False
    return not name or name == code or any(view.name == name for view in page.trigger.site_views)


def _tried(trigger: "Trigger", trial: "Trial | None") -> str:
    if trial is None:
        return ""
    states = trial.states[trigger.code]
    others = ", ".join(f"{state} {count:,}" for state, count in sorted(states.items()) if state != "fired")
    said = f"On {trial.night} it would have fired on {states.get('fired', 0):,} of {counted(sum(states.values()), 'log')}"
    whose = sorted(trial.findings[trigger.code].items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{user} ({count:,})" for user, count in whose[:_MOST_USERS])
    more = f" and {len(whose) - _MOST_USERS:,} more" if len(whose) > _MOST_USERS else ""
    return f"{said} ({others or 'all'}). " + (f"Its findings would go to {shown}{more}." if whose else "Nobody would get a mail.")
