"""The sentences of a fired trigger, its finding and its advice, with the log's own numbers and names in them.

A template is text with places such as `{read_count}`, written as in Python:

    {metric}        whole numbers with thousands separators, others with about three digits, texts as they are; of an OST
                    index and name, such as `19 (OST0013)`; bytes and core-seconds with a unit, such as `16 GiB` and
                    `1.7 core-hours`, or `90 core-seconds` in a log whose run took less than a core-hour, as its page has it
    {metric:,}      thousands separators, all digits, no unit
    {metric:.1f}    a fixed number of decimals, `{metric:,.1f}` with separators
    {metric:.0%}    a ratio in percent
"""

import re
import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

import pyarrow as pa

from iomine.schema import Kind, field
from iomine.sqltext import quoted

_SPEC: Final = re.compile(r",?(\.\d[f%])?")
# What stands in place of a text that is NULL.
_UNKNOWN: Final = "unknown"
_NUMBER: Final = (
    r"(?:less than )?(?:[-+0-9.,e]+%?|-?(?:inf|nan)%?|\?)(?: [KMGTPE]iB| bytes?| core-(?:hour|second)s?| \(OST[-0-9a-f]+\))?"
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


def parts(template: str) -> tuple[str | Slot, ...]:
    """The template cut into texts and slots.

    Raises:
        ValueError: a brace stands alone, or a slot asks for what cannot be done in SQL.
    """
    found: list[str | Slot] = []
    for text, metric, spec, conversion in string.Formatter().parse(template):
        if text:
            found.append(text)
        if metric is None:
            continue
        if not metric.isidentifier() or conversion or not _SPEC.fullmatch(spec or ""):
            raise ValueError(f"The slot {{{metric}}} of {template!r} must be a metric with one of the formats of {__name__}.")
        found.append(Slot(metric, spec or ""))
    return tuple(found)


def filled_sql(template: str) -> str:
    """A DuckDB expression of type VARCHAR that fills in the template; a number that is NULL shows as `?`, a text as `unknown`.

    Beside its metrics it needs `whole_core_seconds`, what the run took in all: it decides on the unit of times summed over ranks.
    """
    return " || ".join(quoted(part) if isinstance(part, str) else _shown_sql(part) for part in parts(template))


def renamed(templates: Iterable[str], text: str, name_for: Callable[[str, str], str]) -> str | None:
    """A text that was filled in, with other names in it; None where no template gives such a text.

    Args:
        templates: what it may have been filled into.
        text: what came of it.
        name_for: gives another name for a metric's, such as for that of `reread_path`.
    """
    # One that goes on after a name comes before one that ends with it, to which the rest would be part of the name.
    longest_first = sorted(templates, key=_own_length, reverse=True)
    return next((found for template in longest_first if (found := _renamed(template, text, name_for)) is not None), None)


@cache
def _own_length(template: str) -> int:
    return sum(len(part) for part in parts(template) if isinstance(part, str))


def _renamed(template: str, text: str, name_for: Callable[[str, str], str]) -> str | None:
    slots = [part for part in parts(template) if isinstance(part, Slot) and _is_text(part)]
    if not (match := _pattern(template).fullmatch(text)):
        return None
    pieces, end = [], 0
    for group, slot in enumerate(slots, start=1):
        name = match[group]
        pieces += [text[end : match.start(group)], name if name == _UNKNOWN else name_for(slot.metric, name)]
        end = match.end(group)
    return "".join((*pieces, text[end:]))


@cache
def _pattern(template: str) -> re.Pattern[str]:
    slot_patterns = {True: "(.*)", False: _NUMBER}
    found = (re.escape(part) if isinstance(part, str) else slot_patterns[_is_text(part)] for part in parts(template))
    return re.compile("".join(found), re.DOTALL)


def _is_text(slot: Slot) -> bool:
    return bool(pa.types.is_string(field(slot.metric).type))


def _shown_sql(slot: Slot) -> str:
    if _is_text(slot):
        return f"coalesce({slot.metric}, {quoted(_UNKNOWN)})"
    return f"coalesce({_slot_sql(slot)}, '?')"


# As `iomine.units` and `iomine.report.causes.core_time` write them.
_IN_UNITS: Final = {
    Kind.BYTES: "replace(format_bytes(try_cast({metric} AS BIGINT)), '.0 ', ' ')",
    Kind.CORE_SECONDS: (
        "CASE WHEN whole_core_seconds >= 3600 THEN CASE WHEN {metric} < 36 THEN 'less than 0.01 core-hours' "
        "WHEN {metric} >= 360000 THEN format('{{:,.0f}} core-hours', {metric} / 3600) "
        "ELSE format('{{:.3g}} core-hours', {metric} / 3600) END "
        "WHEN {metric} >= 10 OR {metric} = 0 THEN format('{{:,.0f}} core-seconds', {metric}::DOUBLE) "
        "ELSE format('{{:.2g}} core-seconds', {metric}::DOUBLE) END"
    ),
}


def ost_name_sql(column: str) -> str:
    """A DuckDB expression that names an OST by its index, as `iomine.units.ost_name` does."""
    return f"format('{{}} (OST{{:04x}})', {column}, {column})"


def _slot_sql(slot: Slot) -> str:
    if field(slot.metric).kind is Kind.OST:
        return ost_name_sql(slot.metric)
    if field(slot.metric).kind in _IN_UNITS and not slot.spec:
        return _IN_UNITS[field(slot.metric).kind].format(metric=slot.metric)
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
