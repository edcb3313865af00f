"""The sentences of a fired trigger, its finding and its advice, with the log's own numbers and names in them.

A template is text with places such as `{read_count}`, written as in Python:

    {metric}        whole numbers with thousands separators, others with about three digits, texts as they are; of an OST
                    index and name, such as `19 (OST0013)`; bytes, durations and core-seconds with a unit, such as `16 GiB`,
                    `16 min 14 s` and `1.7 core-hours`, or `90 core-seconds` in a log whose run took less than a core-hour, as
                    its page has it
    {metric:s}      core-seconds of one rank alone as a duration
    {metric:file}   a path as a word of a shell
    {metric:folder} its directory, likewise
    {metric:,}      thousands separators, all digits, no unit
    {metric:.1f}    a fixed number of decimals, `{metric:,.1f}` with separators
    {metric:.0%}    a ratio in percent

A count with its share, such as `{small_read_count} of {read_count} reads ({small_read_ratio:.0%})`, is said as people say it
where the share is 100%: `all 1,268 reads`, or `1,267 of 1,268 reads (nearly all)` where rounding alone makes it so.
"""

import re
import shlex
import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

import pyarrow as pa

from iomine.schema import Kind, field
from iomine.sqltext import quoted

_SPEC: Final = re.compile(r"s|file|folder|,?(\.\d[f%])?")
# How many things, of how many if that is known, what they are, and which share that is.
_SHARE: Final = re.compile(
    r"(?<!\{)\{(?P<count>\w+)\} (?P<of>of \{(?P<whole>\w+)\} )?(?P<what>[^{}()]+) \((?P<percent>\{(?P<ratio>\w+):\.\d%\})\)"
)
_NEARLY_ALL: Final = "nearly all"
# Shown instead of a text that is NULL.
_UNKNOWN: Final = "unknown"
_DURATION: Final = r"\d+ (?:d \d\d h|h \d\d min|min \d\d s)|-?(?:inf|nan) d -?(?:inf|nan) h"
# Earlier versions wrote core-minutes.
_NUMBER: Final = (
    rf"(?:{_DURATION}|(?:less than )?(?:[-+0-9.,e]+%?|-?(?:inf|nan)%?|\?)"
    r"(?: [KMGTPE]iB| bytes?| s| core-(?:hour|minute|second)s?| \(OST[-0-9a-f]+\))?)"
)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a template for a metric.

    Attributes:
        metric: the column to show.
        spec: how to show it, as Python's format specification; empty for the usual way.
    """

    metric: str
    spec: str


@cache
def parts(template: str) -> tuple[str | Slot, ...]:
    """The template cut into texts and slots.

    Raises:
        ValueError: a brace stands alone, or a slot asks for what cannot be done in SQL.
    """
    found: list[str | Slot] = []
    try:
        pieces = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ValueError(f"The braces of {template!r} do not close: {error}.") from error
    for text, metric, spec, conversion in pieces:
        if text:
            found.append(text)
        if metric is None:
            continue
        if not metric.isidentifier() or conversion or not _SPEC.fullmatch(spec or ""):
            raise ValueError(f"The slot {{{metric}}} of {template!r} must be a metric with one of the formats of {__name__}.")
        found.append(Slot(metric, spec or ""))
    return tuple(found)


def named(template: str) -> str:
    """The template with the names of the metrics that it shows, for a page that is about no log."""
    return "".join(
        part if isinstance(part, str) else f"[{part.metric} in %]" if part.spec.endswith("%") else f"[{part.metric}]"
        for part in parts(template)
    )


def filled_sql(template: str) -> str:
    """A DuckDB expression of type VARCHAR that fills in the template; a number that is NULL shows as `?`, a text as `unknown`.

    Beside its metrics it needs `whole_core_seconds`, what the run took in all: it decides on the unit of times summed over ranks.
    """
    pieces, end = [], 0
    for share in _SHARE.finditer(template):
        pieces += [*map(_part_sql, parts(template[end : share.start()])), _share_sql(share)]
        end = share.end()
    return " || ".join((*pieces, *map(_part_sql, parts(template[end:]))))


def _part_sql(part: str | Slot) -> str:
    return quoted(part) if isinstance(part, str) else _shown_sql(part)


def _share_sql(share: re.Match[str]) -> str:
    count, what, ratio, percent = share["count"], share["what"], share["ratio"], filled_sql(share["percent"])
    is_all = f"{count} = {share['whole']}" if share["of"] else f"{ratio} = 1"
    before = share.string[: share.start()]
    every = "All" if not before or before.endswith(". ") else "all"
    usual = filled_sql(f"{{{count}}} {share['of'] or ''}{what} (")
    return (
        f"CASE WHEN {is_all} AND {count} > 1 THEN {filled_sql(f'{every} {{{count}}} {what}')} "
        f"ELSE {usual} || CASE WHEN {ratio} < 1 AND {percent} LIKE '100%' THEN '{_NEARLY_ALL}' ELSE {percent} END || ')' END"
    )


def renamed(templates: Iterable[str], text: str, name_for: Callable[[Slot, str], str]) -> str | None:
    """A text that was filled in, with other names in it; None if no template gives such a text.

    Args:
        templates: what it may have been filled into.
        text: what came of it.
        name_for: gives another name for one in its place, such as for that of `reread_path`; where the place is in a shell's
            line, both are words of the shell.
    """
    # A template that goes on after a name is tried before one that ends with it, which would take the rest for part of the name.
    longest_first = sorted(templates, key=_own_length, reverse=True)
    return next((found for template in longest_first if (found := _renamed(template, text, name_for)) is not None), None)


@cache
def _own_length(template: str) -> int:
    return sum(len(part) for part in parts(template) if isinstance(part, str))


def _renamed(template: str, text: str, name_for: Callable[[Slot, str], str]) -> str | None:
    first, *_ = parts(template)
    # Compiling a pattern takes longer than using it.
    if isinstance(first, str) and not text.startswith(first):
        return None
    if not (match := _pattern(template).fullmatch(text)):
        return None
    slots = [part for part in parts(template) if isinstance(part, Slot) and _is_text(part)]
    pieces, end = [], 0
    for group, slot in enumerate(slots, start=1):
        name = match[group]
        pieces += [text[end : match.start(group)], name if name == _UNKNOWN else name_for(slot, name)]
        end = match.end(group)
    return "".join((*pieces, text[end:]))


@cache
def _pattern(template: str) -> re.Pattern[str]:
    pieces, end = [], 0
    for share in _SHARE.finditer(template):
        what = re.escape(share["what"])
        of = f"of {_NUMBER} " if share["of"] else ""
        pieces += [*map(_part_pattern, parts(template[end : share.start()]))]
        pieces += [f"(?:[Aa]ll {_NUMBER} {what}|{_NUMBER} {of}{what} \\((?:{_NEARLY_ALL}|{_NUMBER})\\))"]
        end = share.end()
    return re.compile("".join((*pieces, *map(_part_pattern, parts(template[end:])))), re.DOTALL)


def _part_pattern(part: str | Slot) -> str:
    if isinstance(part, str):
        return re.escape(part)
    return "(.*)" if _is_text(part) else _NUMBER


def _is_text(slot: Slot) -> bool:
    return bool(pa.types.is_string(field(slot.metric).type))


def shell_word(path: str) -> str:
    """A path as one word of a shell, which no command takes for an option."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def _shell_word_sql(path: str) -> str:
    """A DuckDB expression for the same."""
    named = f"CASE WHEN starts_with({path}, '-') THEN './' ELSE '' END || {path}"
    held = f"replace({named}, {quoted(_QUOTE)}, {quoted(shlex.quote(_QUOTE)[1:-1])})"
    return (
        f"CASE WHEN regexp_full_match({path}, '[a-zA-Z0-9@%+=:,./_-]+') THEN {named} "
        f"ELSE {quoted(_QUOTE)} || {held} || {quoted(_QUOTE)} END"
    )


_QUOTE: Final = "'"
_FOLDER_SQL: Final = (
    "(CASE WHEN NOT contains({metric}, '/') THEN '.' WHEN regexp_full_match({metric}, '/+[^/]*') THEN '/' "
    "ELSE regexp_replace({metric}, '/+[^/]*$', '') END)"
)
_TEXTS: Final = {"": "{metric}", "file": _shell_word_sql("{metric}"), "folder": _shell_word_sql(_FOLDER_SQL)}


def _shown_sql(slot: Slot) -> str:
    if _is_text(slot):
        return f"coalesce({_TEXTS[slot.spec].format(metric=slot.metric)}, {quoted(_UNKNOWN)})"
    return f"coalesce({_slot_sql(slot)}, '?')"


def _core_units_sql(seconds: int, unit: str) -> str:
    count = f"({{metric}} / {seconds})"
    shown = f"format('{{{{:g}}}}', format('{{{{:.2f}}}}', {count})::DOUBLE)"
    return (
        f"CASE WHEN {count} < 0.01 THEN 'less than 0.01 {unit}s' "
        f"WHEN {count} >= 100 THEN format('{{{{:,.0f}}}} {unit}s', {count}) "
        f"WHEN {count} >= 10 THEN format('{{{{:.3g}}}} {unit}s', {count}) "
        f"ELSE {shown} || ' {unit}' || CASE {shown} WHEN '1' THEN '' ELSE 's' END END"
    )


# As `iomine.units` writes them: `human_seconds`, `core_time`.
_DURATION_SQL: Final = (
    "CASE WHEN {metric} < 60 THEN format('{{:.1f}} s', {metric}::DOUBLE) "
    "WHEN {metric} < 3600 THEN format('{{:.0f}} min {{:02.0f}} s', floor({metric} / 60), floor({metric} % 60)) "
    "WHEN {metric} < 172800 THEN format('{{:.0f}} h {{:02.0f}} min', floor({metric} / 3600), floor({metric} % 3600 / 60)) "
    "ELSE format('{{:.0f}} d {{:02.0f}} h', floor({metric} / 86400), floor({metric} % 86400 / 3600)) END"
)
# As `iomine.units.human_bytes`, which rounds; DuckDB's `format_bytes` cuts digits off.
_BYTES_SQL: Final = (
    "CASE WHEN {metric} < 1024 THEN format_bytes(try_cast({metric} AS BIGINT)) "
    + " ".join(
        f"WHEN {{metric}} < {1024 ** (power + 1)} "
        f"THEN replace(format('{{{{:.1f}}}} {unit}', {{metric}} / {1024**power}.0), '.0 ', ' ')"
        for power, unit in enumerate(("KiB", "MiB", "GiB", "TiB", "PiB"), start=1)
    )
    + f" ELSE replace(format('{{{{:.1f}}}} EiB', {{metric}} / {1024**6}.0), '.0 ', ' ') END"
)
_IN_UNITS: Final = {
    Kind.BYTES: _BYTES_SQL,
    Kind.SECONDS: _DURATION_SQL,
    Kind.CORE_SECONDS: (
        f"CASE WHEN whole_core_seconds >= 3600 THEN {_core_units_sql(3600, 'core-hour')} "
        f"ELSE {_core_units_sql(1, 'core-second')} END"
    ),
}


def ost_name_sql(column: str) -> str:
    """A DuckDB expression that names an OST by its index, as `iomine.units.ost_name` does."""
    return f"format('{{}} (OST{{:04x}})', {column}, {column})"


def _slot_sql(slot: Slot) -> str:
    kind = field(slot.metric).kind
    if kind is Kind.OST:
        return ost_name_sql(slot.metric)
    if slot.spec == "s" or (kind in _IN_UNITS and not slot.spec):
        return _IN_UNITS[Kind.SECONDS if slot.spec else kind].format(metric=slot.metric)
    is_whole = pa.types.is_integer(field(slot.metric).type)
    if slot.spec.endswith("%"):
        return f"format('{{:{slot.spec[:-1]}f}}%', 100 * {slot.metric}::DOUBLE)"
    if slot.spec.endswith("f"):
        return f"format('{{:{slot.spec}}}', {slot.metric}::DOUBLE)"
    if slot.spec or is_whole:
        return f"format('{{:,}}', {slot.metric})"
    # Three digits of a large number would read 1.23e+06.
    return (
        f"CASE WHEN abs({slot.metric}) >= 100 THEN format('{{:,.0f}}', {slot.metric}) ELSE format('{{:.3g}}', {slot.metric}) END"
    )
