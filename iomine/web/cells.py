"""Values as people read them, each with its exact value for programs."""

import datetime as dt
import json
import math
from collections.abc import Callable
from functools import cache
from typing import Final

from markupsafe import Markup, escape

from iomine.report.page import label, name
from iomine.schema import Kind, field, is_word
from iomine.units import core_digits, human_bytes, human_seconds, ost_name, target_name

NOTHING: Final = "\N{EN DASH}"
_HUNDRED: Final = 100
_TENTH: Final = 0.1
_LISTED: Final = 20
_NUMERIC: Final = frozenset(
    {
        *(Kind.COUNT, Kind.BYTES, Kind.SECONDS, Kind.CORE_SECONDS, Kind.NODE_HOURS, Kind.BYTE_RATE, Kind.COUNT_RATE),
        *(Kind.BYTES_PER_CORE_SECOND, Kind.CORE_SECONDS_PER_MIB, Kind.RATIO, Kind.NUMBER, Kind.INTEGER, Kind.OST, Kind.ID),
    }
)
_ENDINGS: Final = {"_count": Kind.COUNT, "_hours": Kind.NUMBER}
# Ratios of a part to its whole; others say how many times.
_SHARES: Final = frozenset(
    ("io_ratio", "cost_ratio", "logged_ratio", "finding_log_ratio", "user_ratio", "repeat_ratio", "neighbour_ratio")
)

_CORE_HOURS: Final = "core_hours"
_TARGETS: Final = frozenset({"target", "busiest_target"})


def kind_of(column: str) -> Kind | None:
    """What a column holds; where it is no field of the schema, its name decides."""
    if is_word(column):
        return field(column).kind
    return next((kind for ending, kind in _ENDINGS.items() if column.endswith(ending)), None)


@cache
def is_numeric(column: str) -> bool:
    """Whether its values stand below each other by their last digit."""
    return kind_of(column) in _NUMERIC


def cell(column: str, value: object) -> Markup:
    """A value of a column: for people, with the exact one for programs."""
    return _cell(column, value, name)


def linked(column: str, value: object, address: str | None) -> Markup:
    """A value of a column as a link, where there is an address."""
    if address is None:
        return cell(column, value)
    return Markup(f'<a href="{escape(address)}">{_cell(column, value, label)}</a>')  # noqa: S704  both escaped


def _cell(column: str, value: object, text: Callable[[object], Markup]) -> Markup:
    match value:
        case None | "":
            return escape(NOTHING)
        case bool():
            return escape("yes" if value else "no")
        case int() | float():
            return Markup(f'<data value="{value!r}">{shown(column, value)}</data>')  # noqa: S704  a number
        case list():
            return name(json.dumps(value[:_LISTED], default=str)[1:-1] + (", …" if len(value) > _LISTED else ""))
        case dt.date():
            return _moment(value)
        case _:
            return text(target_name(str(value)) if column in _TARGETS else value)


def _moment(at: dt.date) -> Markup:
    if not isinstance(at, dt.datetime):
        return Markup(f'<time datetime="{at}">{at}</time>')  # noqa: S704  a date
    shown_at = at.astimezone(dt.UTC).replace(tzinfo=None, microsecond=0)
    return Markup(f'<time datetime="{shown_at.isoformat()}Z">{shown_at}</time>')  # noqa: S704  a date


def shown(column: str, value: float) -> str:
    """A number for people."""
    if not math.isfinite(value):
        return str(value)
    if column in _SHARES:
        return _percent(value)
    if column.endswith(_CORE_HOURS) and value > 0:
        return core_digits(value)
    in_words = _IN_WORDS.get(kind_of(column))
    if in_words is not None:
        return in_words(value)
    return f"{value:,}" if isinstance(value, int) else _digits(value)


def _digits(value: float) -> str:
    """About three digits, without a power of ten if possible."""
    if abs(value) >= _HUNDRED:
        return f"{value:,.0f}"
    return f"{value:.3g}" if "e" not in f"{value:.3g}" else f"{value:.1e}"


def _percent(ratio: float) -> str:
    return f"{ratio:.0%}" if abs(ratio) >= _TENTH or not ratio else f"{100 * ratio:.2g}%"


def _seconds(seconds: float) -> str:
    return human_seconds(seconds) if seconds >= 1 or seconds == 0 else f"{seconds:.3g} s"


_IN_WORDS: Final[dict[Kind | None, Callable[[float], str]]] = {
    Kind.BYTES: human_bytes,
    Kind.SECONDS: _seconds,
    Kind.ID: str,
    Kind.INTEGER: str,
    Kind.OST: lambda value: ost_name(int(value)),
}
