"""Words and numbers of mails, the same in both parts.

Names that logs give stand between two private marks until a part is written, which HTML takes as the bounds of a `bdi`
and plain text leaves out. Nothing in a name can pass for a mark, for a place of the post's, or for more than one line.
"""

import re
import textwrap
from collections.abc import Iterable
from datetime import date
from typing import Final, Literal

from markupsafe import Markup, escape

from iomine.report.page import plain
from iomine.triggers import find_trigger
from iomine.triggers.finding import Slot, renamed
from iomine.units import core_hours

COLUMNS: Final = 72
# Holds together what belongs in one line.
HARD_SPACE: Final = "\N{NO-BREAK SPACE}"
# Private signs: `visible` makes escapes of those that a name holds.
_OPEN, _CLOSE = "\ue000", "\ue001"
_NAME: Final = f"{_OPEN}[^{_CLOSE}]*{_CLOSE}"
_CODE: Final = re.compile(f"`((?:{_NAME}|[^`{_OPEN}])*)`")
# Sums of a mail are in core-hours, a run below one core-hour says its own in core-seconds, as its page does; earlier versions
# wrote core-minutes.
_SMALL: Final = re.compile(rf"({_NAME})|(less than )?([0-9.,]+) core-(minute|second)s?")
_MOST_NAME: Final = 60
# In a shell's line, what is cut cannot be used.
_MOST_COMMAND: Final = 300
_MOST_SENTENCE: Final = 300
# Longer ones are hostile, and to look for names in them takes its time.
_MOST_SEARCHED: Final = 20_000


def name(text: object, most: int = _MOST_NAME) -> str:
    """A name that a log gives, between marks, in one line; cut in the middle where it is long."""
    shown = re.sub(r"([{}])(?=[{}])", r"\1 ", plain("" if text is None else text, most))
    return f"{_OPEN}{shown or 'unnamed'}{_CLOSE}"


def sentence(templates: Iterable[str], text: str | None) -> str:
    """A sentence with names of a log in it, each cut and between marks.

    Args:
        templates: what the sentence may have been filled into, none where that is not known.
        text: the sentence.
    """
    whole = text or ""
    named = renamed(templates, whole, _named) if len(whole) <= _MOST_SEARCHED else None
    return name(whole, _MOST_SENTENCE) if named is None else _SMALL.sub(_in_hours, named)


def _in_hours(found: re.Match[str]) -> str:
    if found[1]:
        return found[0]
    hours = core_hours(float(found[3].replace(",", "")) * (60 if found[4] == "minute" else 1))
    return hours if hours.startswith("less") else f"{found[2] or ''}{hours}"


def _named(slot: Slot, found: str) -> str:
    return name(found, _MOST_COMMAND if slot.spec else _MOST_NAME)


def finding_of(code: str, text: str | None) -> str:
    """What a finding says, as `sentence`."""
    return sentence(_templates(code, "finding"), text)


def advice_of(code: str, text: str | None) -> str:
    """What a finding advises, as `sentence`."""
    return sentence(_templates(code, "advice"), text)


def _templates(code: str, part: Literal["finding", "advice"]) -> tuple[str, ...]:
    return trigger.templates(part) if (trigger := find_trigger(code)) else ()


def command_of(advice: str) -> str:
    """The first line of a shell in an advice that has a name of the run's own in it, empty where none has."""
    return next((each for each in _CODE.findall(advice) if _OPEN in each), "")


def marked(text: str) -> Markup:
    """The text for HTML, in which names stand apart whatever direction they are written in, and code looks like it."""
    html = _CODE.sub(r"<code>\1</code>", str(escape(text)))
    return Markup(html.replace(_OPEN, "<bdi>").replace(_CLOSE, "</bdi>"))  # noqa: S704  what is escaped, and tags of ours


def unmarked(text: str) -> str:
    """The text without marks."""
    return text.replace(_OPEN, "").replace(_CLOSE, "")


def wrapped(text: str, first: str = "", indent: str | None = None) -> str:
    """The text in lines of the plain part.

    Args:
        text: with marks or without.
        first: what the first line begins with.
        indent: what the others begin with, as many blanks where None.
    """
    rest = " " * len(first) if indent is None else indent
    return textwrap.fill(
        unmarked(text), COLUMNS, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False, break_long_words=True
    )


def day(night: date) -> str:
    """`5 January`."""
    return f"{night.day} {night:%B}"


def full_day(night: date) -> str:
    """`5 January 2026`."""
    return f"{day(night)} {night.year}"


def span(first: date, last: date) -> str:
    """`5 to 12 January 2026`, no more of the first day than is needed."""
    if first == last:
        return full_day(last)
    begin = full_day(first) if first.year != last.year else day(first) if first.month != last.month else str(first.day)
    return f"{begin} to {full_day(last)}"


def nights(first: date, last: date) -> str:
    """`the nights of 5 to 12 January 2026`, or `the night of 5 January 2026`."""
    return f"the {'night' if first == last else 'nights'} of {span(first, last)}"


def listed(parts: Iterable[str]) -> str:
    """`one, two and three`."""
    *rest, last = parts
    return f"{', '.join(rest)} and {last}" if rest else last


def one_line(text: str, most: int) -> str:
    """The text as a subject of a mail."""
    return plain(unmarked(text), most)
