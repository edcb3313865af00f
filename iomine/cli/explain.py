"""`iomine explain`: the manual pages of the triggers."""
# ruff: noqa: PLC0415

import textwrap
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from iomine.cli.options import Format
from iomine.errors import UsageError

if TYPE_CHECKING:
    from iomine.triggers import Manual, Trigger

_WIDTH = 100


def command(
    code: Annotated[str | None, typer.Argument(help="Code of a trigger, such as POSIX-101.", show_default="list all")] = None,
) -> None:
    """Show a trigger's manual page.

    It says what the trigger finds, why, against which bars, and what to change. Without a code, all triggers are listed.
    """
    from iomine.cli.terminal.formats import write
    from iomine.triggers import MANUALS, reference_table

    if code is None:
        write(reference_table().select(["code", "level", "title", "ruleset"]), Format.TABLE)
        return
    page = MANUALS.get(code.upper())
    if page is None:
        near = get_close_matches(code.upper(), MANUALS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "`iomine explain` lists them all."
        raise UsageError(f"There is no trigger {code}: {hint}")
    typer.echo(page_text(page), nl=False)


def page_text(page: "Manual") -> str:
    """The manual page as plain text that is Markdown too, ending in a newline."""
    from iomine.schema import field

    trigger = page.trigger
    all_of, unless = (
        [f"`{above.metric}` above {above.bar:g}: {field(above.metric).about} {above.why}" for above in bars]
        for bars in (trigger.all_of, trigger.unless)
    )
    cases = [f"{case.state}: {case.name}" for case in trigger.cases]
    return "\n".join(
        (
            *_head(f"{trigger.code}: {page.title}", "="),
            f"Level {trigger.level}, ruleset {trigger.ruleset}, version {trigger.version}. Metrics: view `{trigger.view}`.",
            "",
            page.text,
            "",
            *_head("Fires when all of these hold", "-"),
            *_items(all_of),
            "",
            *((*_head("Unless all of these hold", "-"), *_items(unless), "") if unless else ()),
            *_head("Says", "-"),
            f"    {trigger.finding}",
            "",
            *_head("What to change", "-"),
            _wrapped(trigger.advice),
            "",
            *_head("Cases that it is held to", "-"),
            *_items(cases),
            "",
            *_head("Ask the warehouse", "-"),
            f"    {_question(trigger)}",
            "",
        )
    )


def _head(title: str, line: str) -> tuple[str, str, str]:
    return title, line * len(title), ""


def _items(texts: list[str]) -> list[str]:
    return [_wrapped(f"- {text}", indent="  ") for text in texts]


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def _question(trigger: "Trigger") -> str:
    # Only the default ruleset makes findings. Ruleset and code are ours.
    if trigger.ruleset == "iomine":
        columns, source, order = "log_id, user, app, finding, cost_core_seconds", "findings WHERE", "cost_core_seconds"
    else:
        columns, source, order = "log_id, value, bar", "verdicts WHERE state = 'fired' AND", "value"
    query = f"SELECT {columns} FROM {source} code = '{trigger.code}' ORDER BY {order} DESC LIMIT 20"  # noqa: S608
    return f'iomine sql "{query}"'
