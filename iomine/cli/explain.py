"""`iomine explain`: the manual pages of the triggers."""
# ruff: noqa: PLC0415

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, Format, Warehouse

if TYPE_CHECKING:
    from iomine.triggers import Manual, Snippet, Trigger

_WIDTH = 100


def command(
    code: Annotated[str | None, typer.Argument(help="Code of a trigger, such as POSIX-101.", show_default="list all")] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, for machines: an object, or an array of triggers.")] = False,
) -> None:
    """Show a trigger's manual page.

    It says what the trigger finds, why, against which thresholds, and what to change, with programs that do it. Where the
    warehouse has thresholds of its own, it says those. Without a code, all triggers are listed.
    """
    from iomine.cli.terminal.formats import write
    from iomine.triggers import reference_table

    if code is None:
        shown = reference_table() if as_json else reference_table().select(["code", "level", "title", "ruleset"])
        write(shown, Format.JSON if as_json else Format.TABLE)
    elif as_json:
        typer.echo(_json_of(code, warehouse))
    else:
        typer.echo(explained(code, warehouse), nl=False)


def _json_of(code: str, warehouse: Path) -> str:
    """What the trigger is, its thresholds in force, and its manual page."""
    from iomine.triggers import known, reference_table

    manual = explained(code, warehouse)
    (row,) = (row for row in reference_table().to_pylist() if row["code"] == known(code))
    trigger = _in_force(row["code"], warehouse)
    thresholds = [
        {"holds": holds, "metric": each.metric, "side": each.side, "value": each.value, "why": each.why}
        for holds, group in (("all of", trigger.all_of), ("unless", trigger.unless), ("high", filter(None, [trigger.high])))
        for each in group
    ]
    return json.dumps({**row, "thresholds": thresholds, "manual": manual})


def explained(code: str, warehouse: Path) -> str:
    """The manual page of a trigger with the thresholds of the warehouse's site, as `page_text` gives it.

    Raises:
        UsageError: no trigger has this code.
    """
    from iomine.triggers import MANUALS, known

    page = MANUALS[known(code)]
    return page_text(page, _in_force(page.trigger.code, warehouse))


def _in_force(code: str, warehouse: Path) -> "Trigger":
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.site.triggers import site_triggers

    return site_triggers(Folder(warehouse))[code]


def page_text(page: "Manual", site: "Trigger | None" = None) -> str:
    """The manual page as plain text that is Markdown too, ending in a newline.

    Args:
        page: the trigger's own.
        site: the trigger with the thresholds of a site, None for those that it ships with.
    """
    from iomine.schema import field
    from iomine.triggers.model import whole

    trigger = site or page.trigger
    all_of, unless, high = (
        [
            f"`{each.metric}` {each.side} {_value(each.value, shipped.value)}: {field(each.metric).about} {each.why}"
            for each, shipped in zip(thresholds, shipped_thresholds, strict=True)
        ]
        for thresholds, shipped_thresholds in (
            (trigger.all_of, page.trigger.all_of),
            (trigger.unless, page.trigger.unless),
            (filter(None, [trigger.high]), filter(None, [page.trigger.high])),
        )
    )
    settings = [
        f"`{each.name}` is {_value(each.default, shipped.default)}: {field(each.name).about} {each.why}"
        for each, shipped in zip(trigger.settings, page.trigger.settings, strict=True)
    ]
    cases = [f"{case.state}: {case.name}" for case in trigger.cases]
    return "\n".join(
        (
            *_head(f"{trigger.code}: {page.title}", "="),
            f"Level {trigger.level}, ruleset {trigger.ruleset}, version {trigger.version}. Metrics: view `{trigger.view}`.",
            "",
            page.text,
            "",
            *_section("Fires when all of these hold", _items(all_of)),
            *_section("Unless all of these hold", _items(unless)),
            *_section("Its level is high when this holds", _items(high)),
            *_section("Applies to logs where all of these hold", _items(_asked(trigger))),
            *_section("With these settings", _items(settings)),
            *_section("Says", [f"    {_named(trigger.finding)}"]),
            *_section("What to change", [_wrapped(_named(whole(trigger.advice)))]),
            *_section("Says where more is known", _instead(trigger)),
            *_section("How it is done", _programs(trigger.snippets)),
            *_section("What it is known from", _items(_sources(trigger))),
            *_section("Cases that it is held to", _items(cases)),
            *_section("Ask the warehouse", [f"    {_question(trigger)}"]),
        )
    )


def _asked(trigger: "Trigger") -> list[str]:
    from iomine.schema import field

    asked = [f"`{each.metric}` above {each.value:,.12g}: {field(each.metric).about} {each.why}" for each in trigger.applies_to]
    return asked and [
        *asked,
        "Where one does not, the verdict is `not applicable`; where the log lacks the data for one, `unknown`.",
    ]


def _instead(trigger: "Trigger") -> list[str]:
    from iomine.schema import field
    from iomine.triggers.model import whole

    blocks = [
        "\n\n".join(
            (
                _wrapped(f"Where `{instead.known}` is known: {field(instead.known).about}"),
                f"    {_named(instead.finding)}",
                _wrapped(_named(whole(instead.advice))),
            )
        )
        for instead in trigger.instead
    ]
    return ["\n\n".join(blocks)] if blocks else []


def _named(template: str) -> str:
    """A template with the names of the metrics that it shows, for a page that is about no log."""
    from iomine.triggers.finding import parts

    named = (
        part if isinstance(part, str) else f"[{part.metric} in %]" if part.spec.endswith("%") else f"[{part.metric}]"
        for part in parts(template)
    )
    return "".join(named)


def _value(value: float, shipped: float) -> str:
    return f"{value:,.12g}" if value == shipped else f"{value:,.12g} (the site's; shipped with {shipped:,.12g})"


def _section(title: str, lines: list[str]) -> tuple[str, ...]:
    return (*_head(title, "-"), *lines, "") if lines else ()


def _programs(snippets: "tuple[Snippet, ...]") -> list[str]:
    # Indented text is code to Markdown, and apart from what stands before it by an empty line.
    blocks = [
        f"{each.language.capitalize()}: {each.title}.\n\n{textwrap.indent(each.code.rstrip(), '    ')}" for each in snippets
    ]
    return ["\n\n".join(blocks)] if blocks else []


def _sources(trigger: "Trigger") -> list[str]:
    from iomine.schema import field
    from iomine.triggers.model import FINDING_CORE_SECONDS

    lines = [f"It needs {trigger.needs}."]
    if trigger.evidence:
        lines.append(f"`{trigger.evidence}` comes with each verdict: {field(trigger.evidence).about}")
    if trigger.cost:
        lines.append(f"`{trigger.cost}` is its cost: {field(trigger.cost).about}")
    if trigger.cost and trigger.level in ("high", "warn"):
        lines.append(f"Where that is less than {FINDING_CORE_SECONDS:g} core-second, its level is info.")
    return lines


def _head(title: str, line: str) -> tuple[str, str, str]:
    return title, line * len(title), ""


def _items(texts: list[str]) -> list[str]:
    return [_wrapped(f"- {text}", indent="  ") for text in texts]


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def _question(trigger: "Trigger") -> str:
    from iomine.sqltext import quoted

    # Only what weighs much in the default ruleset becomes a finding. Ruleset and code are ours.
    if trigger.ruleset == "iomine" and trigger.level in ("high", "warn"):
        columns, source, order = "log_id, user, app, finding, cost_core_seconds", "findings WHERE", "cost_core_seconds DESC"
    else:
        # The furthest beyond its threshold comes first.
        order = "value ASC" if trigger.all_of[0].side == "below" else "value DESC"
        columns, source = "log_id, value, bar", "verdicts WHERE state = 'fired' AND"
    query = f"SELECT {columns} FROM {source} code = {quoted(trigger.code)} ORDER BY {order} LIMIT 20"  # noqa: S608
    return f'iomine sql "{query}"'
