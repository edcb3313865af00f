"""Numbers and texts as people read them."""

import json
import re
from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB

_MINUTE: Final = 60
# Less would be written with an exponent.
_FINE_SECONDS: Final = 1e-4
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_TIMES: Final = {"hours": _HOUR, "minutes": _MINUTE, "seconds": 1}

_TEN: Final = 10

_HUNDRED: Final = 100
_TENTH: Final = 0.1
# Less is said to be less.
_LEAST: Final = 0.01
_BYTE_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_OST: Final = re.compile(r"(?:^|-)OST([0-9a-fA-F]{4,8})$")
_SECONDS: Final = re.compile(r"([0-9]+(?:[.][0-9]+)?) ?(us|ms|s|min|h)")
_SECONDS_OF: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": _MINUTE, "h": _HOUR}
_BYTES: Final = re.compile(r"([0-9]+(?:[.][0-9]+)?) ?(?:([kmgt])(i?b)?|b)?", re.IGNORECASE)


def human_bytes(count: float) -> str:
    """Bytes with a binary unit: 1536 is `1.5 KiB`."""
    unit = 0
    while abs(count) >= KIB and unit < len(_BYTE_UNITS) - 1:
        count /= KIB
        unit += 1
    return f"{count:.0f} B" if unit == 0 else f"{count:.1f} {_BYTE_UNITS[unit]}"


def bytes_of(text: str) -> int:
    """Bytes as people write them: `512 MB` is 512,000,000, `4GiB` and `4G` are 4,294,967,296.

    Raises:
        ValueError: it is written otherwise.
    """
    match = _BYTES.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no number of bytes: write it as 512MB or 4GiB.")
    number, prefix, rest = match.groups()
    base = 1000 if rest and rest.casefold() == "b" else KIB
    return int(float(number) * base ** (" kmgt".index(prefix.casefold()) if prefix else 0))


def seconds_of(text: str) -> float:
    """Seconds as people write them, with a unit: `10ms` is 0.01, `2 min` is 120.

    Raises:
        ValueError: it is written otherwise.
    """
    match = _SECONDS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no time: write it as 10ms, 1s or 2min.")
    return float(match[1]) * _SECONDS_OF[match[2]]


def human_seconds(seconds: float) -> str:
    """A duration in its two largest units: 3723 is `1 h 02 min`."""
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    if seconds < _HOUR:
        return f"{int(seconds // _MINUTE)} min {int(seconds % _MINUTE):02d} s"
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR:.0f} h {seconds % _HOUR // _MINUTE:02.0f} min"
    return f"{seconds // _DAY:.0f} d {seconds % _DAY // _HOUR:02.0f} h"


def of_seconds(part: float, whole: float) -> str:
    """A part of a time and the time, in one unit: 720 of 1080 is `12 of the 18 minutes`."""
    unit, size = next((unit, size) for unit, size in _TIMES.items() if part >= size or size == 1)
    of, all_of = (f"{each / size:,.0f}" if each >= _TEN * size else f"{each / size:.2g}" for each in (part, whole))
    return f"{of} of the {all_of} {unit}"


def fine_seconds(seconds: float) -> str:
    """The same, with two digits of what is below a second: 0.0123 is `0.012 s`, and 0.0000123 is `12 µs`."""
    if abs(seconds) >= 1 or not seconds:
        return human_seconds(seconds)
    return f"{seconds:.2g} s" if abs(seconds) >= _FINE_SECONDS else f"{seconds * 1e6:.2g} µs"


def core_hours(core_seconds: float | None) -> str:
    """Core-hours in three digits and two decimals at most, with their unit."""
    return "a cost that is not known" if core_seconds is None else _core_units(core_seconds / _HOUR, "core-hour")


def core_time(core_seconds: float, whole_core_seconds: float | None) -> str:
    """Time summed over ranks, in core-hours, or core-seconds where the whole took less than a core-hour or an unknown time."""
    if (whole_core_seconds or 0.0) >= _HOUR:
        return core_hours(core_seconds)
    return _core_units(core_seconds, "core-second")


def core_digits(count: float) -> str:
    """A number of core-hours or core-seconds in three digits and two decimals at most, as all pages and mails have it."""
    if count < _LEAST:
        return f"less than {_LEAST}"
    return f"{count:,.0f}" if count >= _HUNDRED else f"{count:.3g}" if count >= _TEN else f"{round(count, 2):g}"


def _core_units(count: float, unit: str) -> str:
    shown = core_digits(count)
    return f"{shown} {unit}" if shown == "1" else f"{shown} {unit}s"


def percent(ratio: float) -> str:
    """A ratio in percent: two digits at least, and none where it is nothing; less than a hundredth of one is said to be less."""
    if 0 < ratio < _LEAST / _HUNDRED:
        return f"less than {_LEAST}%"
    return f"{ratio:.0%}" if ratio >= _TENTH or not ratio else f"{100 * ratio:.2g}%"


def human_core_seconds(seconds: float) -> str:
    """Cores' time: 90 is `90.0 core-s`, and 9000 is `2.5 core-h`."""
    return f"{seconds / _HOUR:,.1f} core-h" if seconds >= _HOUR else f"{seconds:,.1f} core-s"


def ost_name(ost_id: int) -> str:
    """An OST by its index and by the name that Lustre makes of it: 19 is `19 (OST0013)`; SQL's is `finding.ost_name_sql`."""
    return f"{ost_id} (OST{ost_id:04x})"


def target_name(target: str) -> str:
    """A storage target as its server names it, with the index of an OST: `scratch-OST0013` is `OST 19 (scratch-OST0013)`."""
    match = _OST.search(target)
    return f"OST {int(match[1], 16)} ({target})" if match else target


def counted(count: int, what: str) -> str:
    """A number of things whose plural ends in s: `1 run`, `1,234 runs`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def visible(text: str) -> str:
    """The text in one line: control characters and other invisible ones become escapes, as in Python's source."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)


def json_line(value: object) -> str:
    """The value as JSON in one line; the one control character that JSON leaves as it is becomes an escape too."""
    return json.dumps(value, allow_nan=False, default=str).replace("\x7f", "\\u007f")
