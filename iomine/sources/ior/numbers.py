"""Numbers as IOR prints them: rounded, so that each stands for a span."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from iomine.units import KIB

_NUMBER: Final = re.compile(r"\d{1,15}(?:\.\d{1,6})?")
_INTEGER: Final = re.compile(r"\d{1,18}")
_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,2})?) (bytes|[KMGT]iB)")
_OPTION: Final = re.compile(r"(\d{1,15})([kmgt]?)", re.IGNORECASE)
_POWERS: Final = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4, "": 0}
# The most and the least that is printed with so many places.
_LARGEST: Final[Mapping[int, int]] = {6: 1, 2: 3600, 0: 10**15}
_SMALLEST: Final[Mapping[int, int]] = {6: 0, 2: 1, 0: 3600}
# Sums are of doubles, and of floats in one place.
_ROUNDING: Final = Decimal("1.0000002")
# What a column holds.
MOST: Final = 2**63 - 1


class Span(NamedTuple):
    """A number that was rounded when it was printed.

    Attributes:
        value: as it was printed.
        low: the least that it may have been.
        high: the most that it may have been.
    """

    value: Decimal
    low: Decimal
    high: Decimal

    def times(self, other: "Span | int") -> "Span":
        """The product with a number, which may be exact."""
        factor = exactly(other) if isinstance(other, int) else other
        return Span(self.value * factor.value, self.low * factor.low, self.high * factor.high)

    def meets(self, other: "Span | int") -> bool:
        """Whether both may stand for the same number."""
        one = exactly(other) if isinstance(other, int) else other
        return self.low <= one.high * _ROUNDING and one.low <= self.high * _ROUNDING

    def multiple(self, unit: int) -> int | None:
        """The multiple of a unit that it must have been; None where that may be several, or none."""
        count = int(self.high // unit)
        return count * unit if count * unit >= self.low > (count - 1) * unit else None


class Size(NamedTuple):
    """A size in bytes.

    Attributes:
        span: what it may be.
        exact: what it is, None where it was rounded.
    """

    span: Span
    exact: int | None


def exactly(number: int) -> Span:
    """A number that was not rounded."""
    value = Decimal(number)
    return Span(value, value, value)


def printed(text: str, places: int) -> Span:
    """A number that is printed with so many places.

    Raises:
        ValueError: it is none, has other places, or is out of range.
    """
    if not _NUMBER.fullmatch(text) or len(text.partition(".")[2]) != places:
        raise ValueError(f"{text[:40]!r} is no number as IOR prints it")
    value, half = Decimal(text), Decimal(5).scaleb(-places - 1)
    return Span(value, max(value - half, Decimal(0)), value + half)


def tabled(text: str) -> Span:
    """A number in IOR's text table, which has six places below 1, two below 3,600, and none from there on.

    Raises:
        ValueError: it is none, or out of range.
    """
    places = len(text.partition(".")[2])
    span = printed(text, places)
    if span.low > _LARGEST.get(places, 0) or span.high < _SMALLEST.get(places, 0):
        raise ValueError(f"{text[:40]!r} has other places than IOR prints")
    return span


def integer(text: str) -> int:
    """A whole number.

    Raises:
        ValueError: it is none, or out of range.
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no whole number")
    return int(text)


def size(text: str) -> Size:
    """A size with its unit, which IOR prints without places where it is exact.

    Raises:
        ValueError: it is none.
    """
    match = _SIZE.fullmatch(text)
    if not match:
        raise ValueError(f"{text[:40]!r} is no size as IOR prints it")
    unit = KIB ** _POWERS[match[2][0].lower()]
    span = printed(match[1], len(match[1].partition(".")[2])).times(unit)
    if span.high > MOST:
        raise ValueError(f"{text[:40]} is more than any file has")
    return Size(span, None) if "." in match[1] else Size(exactly(int(span.value)), int(span.value))


def asked_size(text: str) -> int | None:
    """A size as it is asked for on a command line, None where it is none."""
    match = _OPTION.fullmatch(text)
    return int(match[1]) * KIB ** _POWERS[match[2].lower()] if match else None
