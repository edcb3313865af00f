"""`iomine explain`: the manual pages of the triggers."""
# ruff: noqa: PLC0415

import json
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, Format, Warehouse
from iomine.errors import UsageError

if TYPE_CHECKING:
    from iomine.triggers import Manual, Snippet, Trigger
    from iomine.triggers.site import SiteRules

_WIDTH = 100


def command(
    code: Annotated[str | None, typer.Argument(help="Code of a trigger, such as POSIX-101.", show_default="list all")] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, for machines: an object, or an array of triggers.")] = False,
    every: Annotated[bool, typer.Option("--all", help="The pages of all triggers.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="With --all: one page of documentation, with links.")] = False,
) -> None:
    """Show a trigger's manual page.

    It shows what the trigger finds, why that matters, its thresholds, and what to change, with programs that do it. Thresholds
    and triggers of the warehouse are shown if it has its own. Without a code, all triggers are listed.
    """
    from iomine.cli.terminal.formats import write
    from iomine.triggers import MANUALS, reference_table

    if every and (as_json or code is not None):
        raise UsageError("--all shows the pages of all triggers: leave out the code and --json.")
    if markdown and not every:
        raise UsageError("--markdown is for --all: the page of one trigger is Markdown anyway.")
    if every:
        typer.echo("\n".join(_all_pages(warehouse, with_links=markdown)), nl=False)
    elif code is None:
        listed = reference_table(MANUALS | dict(_rules(warehouse).manuals))
        shown = listed if as_json else listed.select(["code", "level", "title", "ruleset"])
        write(shown, Format.JSON if as_json else Format.TABLE, whole="--json")
    elif as_json:
        typer.echo(_json_of(code, warehouse))
    else:
        typer.echo(explained(code, warehouse), nl=False)


def _json_of(code: str, warehouse: Path) -> str:
    """What the trigger is, its thresholds in force, and its manual page."""
    from iomine.triggers import reference_table

    page = _page(code, warehouse)
    manual = explained(code, warehouse)
    (row,) = reference_table({page.trigger.code: page}).to_pylist()
    trigger = _in_force(warehouse)[page.trigger.code]
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
    page = _page(code, warehouse)
    return page_text(page, _in_force(warehouse)[page.trigger.code])


def _page(code: str, warehouse: Path) -> "Manual":
    from iomine.triggers import MANUALS, known

    rules = _rules(warehouse)
    if fault := rules.left_out.get(code.upper()):
        raise UsageError(fault)
    manuals = MANUALS | dict(rules.manuals)
    return manuals[known(code, manuals)]


def _all_pages(warehouse: Path, *, with_links: bool) -> Iterator[str]:
    """The pages of all triggers, those of the site first."""
    from iomine.triggers import MANUALS

    triggers, manuals = _in_force(warehouse), {**_rules(warehouse).manuals, **MANUALS}
    if with_links:
        yield from (*_head("Triggers of this site", "="), *_links(manuals.values()), "")
    yield from (page_text(page, triggers[code]) for code, page in manuals.items())


def _links(pages: "Iterable[Manual]") -> Iterator[str]:
    for page in pages:
        title = f"{page.trigger.code}: {page.title}"
        anchor = "".join(sign for sign in title.lower() if sign.isalnum() or sign in " -_").replace(" ", "-")
        yield f"- [{title}](#{anchor})"


def _rules(warehouse: Path) -> "SiteRules":
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.site.rules import site_rules

    return site_rules(Folder(warehouse))


def _in_force(warehouse: Path) -> "dict[str, Trigger]":
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.site.triggers import site_triggers

    return site_triggers(Folder(warehouse))


def page_text(page: "Manual", site: "Trigger | None" = None) -> str:
    """The manual page as plain text that is Markdown too, ending in a newline.

    Args:
        page: the trigger's own.
        site: the trigger with the thresholds of a site, None for those that it ships with.
    """
    from iomine.schema import field
    from iomine.triggers.finding import named
    from iomine.triggers.model import whole

    trigger = site or page.trigger
    all_of, unless, high = (
        [
            f"`{each.metric}` {each.side} {_value(each.value, shipped.value)}: {trigger.about(each.metric)} {each.why}"
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
            *_section("Text of the finding", [f"    {named(trigger.finding)}"]),
            *_section("What to change", [_wrapped(named(whole(trigger.advice)))]),
            *_section("Text where more is known", _instead(trigger)),
            *_section("Examples", _programs(trigger.snippets)),
            *_section("Data that it needs", _items(_sources(trigger))),
            *_section("Test cases", _items(cases)),
            *_section("Query", [f"    {_question(trigger)}"]),
        )
    )


def _asked(trigger: "Trigger") -> list[str]:
    asked = [f"`{each.metric}` above {each.value:,.12g}: {trigger.about(each.metric)} {each.why}" for each in trigger.applies_to]
    return asked and [
        *asked,
        "If one does not hold, the verdict is `not applicable`; if the log lacks the data for one, `unknown`.",
    ]


def _instead(trigger: "Trigger") -> list[str]:
    from iomine.schema import field
    from iomine.triggers.finding import named
    from iomine.triggers.model import whole

    blocks = [
        "\n\n".join(
            (
                _wrapped(f"Where `{instead.known}` is known: {field(instead.known).about}"),
                f"    {named(instead.finding)}",
                _wrapped(named(whole(instead.advice))),
            )
        )
        for instead in trigger.instead
    ]
    return ["\n\n".join(blocks)] if blocks else []


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
    from iomine.triggers.model import FINDING_CORE_SECONDS, FINDING_RUN_RATIO

    lines = [f"It needs {trigger.needs}."]
    if trigger.evidence:
        lines.append(f"`{trigger.evidence}` comes with each verdict: {trigger.about(trigger.evidence)}")
    if trigger.cost:
        lines.append(f"`{trigger.cost}` is its cost: {trigger.about(trigger.cost)}")
    if trigger.cost and trigger.level in ("high", "warn"):
        idle = f" with `{trigger.idle}`" if trigger.idle else ""
        lines.append(f"If its cost{idle} is less than {FINDING_CORE_SECONDS:g} core-second, its level is info.")
        if idle:
            lines.append(f"If only its cost is less, its level is info if both are less than {FINDING_RUN_RATIO:.1%} of the run.")
    return lines


def _head(title: str, line: str) -> tuple[str, str, str]:
    return title, line * len(title), ""


def _items(texts: list[str]) -> list[str]:
    return [_wrapped(f"- {text}", indent="  ") for text in texts]


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def _question(trigger: "Trigger") -> str:
    from iomine.sqltext import quoted

    # Only verdicts of level high or warn in the default ruleset are findings. Ruleset and code are strings of ours.
    if trigger.ruleset == "iomine" and trigger.level in ("high", "warn"):
        columns, source, order = "log_id, user, app, finding, cost_core_seconds", "findings WHERE", "cost_core_seconds DESC"
    else:
        # The furthest beyond its threshold comes first.
        order = "value ASC" if trigger.all_of[0].side == "below" else "value DESC"
        columns, source = "log_id, value, bar", "verdicts WHERE state = 'fired' AND"
    query = f"SELECT {columns} FROM {source} code = {quoted(trigger.code)} ORDER BY {order} LIMIT 20"  # noqa: S608
    return f'iomine sql "{query}"'
