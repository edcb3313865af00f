"""Bars by night and strips of hours: SVG without text, which a page stretches to its width.

What they say in words stands around them.
"""

import datetime as dt
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from markupsafe import Markup

from iomine.report.page import plain
from iomine.views.answers import Row

_HEIGHT: Final = 100
_GAP: Final = 0.12
# What is there can be seen.
_LEAST: Final = 1.5
# Times as long as usual from which an hour has the next colour; from the second on it is slow, as in `ost_hotspots`.
_LEVELS: Final = (1.5, 2.0, 3.0, 5.0)
_SLOW: Final = 2
# What is slow can be seen in a strip, however long that is.
_LEAST_SHARE: Final = 0.008


def bars(
    nights: Sequence[dt.date], amounts: Mapping[dt.date, float | None], label: str, shown: Callable[[float], str], kind: str = ""
) -> Markup:
    """A bar for each night, up to the highest.

    Args:
        nights: all, in their order.
        amounts: those known; a night without any is a gap.
        label: what is shown, for those who do not see it.
        shown: an amount in words.
        kind: a class of the style sheet.
    """
    known = {night: amount for night, amount in amounts.items() if amount is not None and math.isfinite(amount) and amount > 0}
    most = max(known.values(), default=1.0)
    places = {night: place for place, night in enumerate(nights)}
    parts = (
        _bar(places[night], amount / most, f"{night}: {shown(amount)}") for night, amount in known.items() if night in places
    )
    return Markup(
        '<svg class="nights {}" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(kind, len(nights), _HEIGHT, label, Markup("").join(parts))


def _bar(place: int, share: float, title: str, kind: str = "whole") -> Markup:
    height = max(_LEAST, _HEIGHT * share)
    return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>').format(
        kind, f"{place + _GAP:.2f}", f"{_HEIGHT - height:.1f}", f"{1 - 2 * _GAP:.2f}", f"{height:.1f}", title
    )


def line(amounts: Sequence[tuple[str, float]], label: str, shown: Callable[[float], str]) -> Markup:
    """A line through amounts in their order, from zero to the highest.

    Args:
        amounts: those known, each with what its place is called.
        label: what is shown, for those who do not see it.
        shown: an amount in words.
    """
    most = max((amount for _, amount in amounts), default=0.0) or 1.0
    heights = [_HEIGHT - (_HEIGHT - _LEAST) * max(0.0, amount) / most for _, amount in amounts]
    points = " ".join(f"{place + 0.5:.1f},{height:.1f}" for place, height in enumerate(heights))
    titles = Markup("").join(
        Markup('<rect x="{}" y="0" width="1" height="{}"><title>{}: {}</title></rect>').format(
            place, _HEIGHT, name, shown(amount)
        )
        for place, (name, amount) in enumerate(amounts)
    )
    return Markup(
        '<svg class="nights line" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<polyline points="{}"/>{}</svg>'
    ).format(max(1, len(amounts)), _HEIGHT, label, points, titles)


def shades(
    places: Mapping[object, int], amounts: Mapping[object, float], most: float, label: str, words: Mapping[object, str]
) -> Markup:
    """A row of a heat map, from pale to dark; what is not known is left out.

    Args:
        places: where each value of the axis lies.
        amounts: by value of the axis.
        most: the highest of all rows.
        label: what is shown, for those who do not see it.
        words: each amount in words.
    """
    cells = Markup("").join(
        Markup('<rect class="l{}" x="{}" y="0" width="1" height="1"><title>{}</title></rect>').format(
            min(len(_LEVELS), int((len(_LEVELS) + 1) * max(0.0, amount) / (most or 1.0))), places[at], words[at]
        )
        for at, amount in amounts.items()
        if at in places and math.isfinite(amount)
    )
    return Markup('<svg class="strip" viewBox="0 0 {} 1" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>').format(
        max(1, len(places)), label, cells
    )


def stacked(
    nights: Sequence[dt.date], amounts: Sequence[tuple[float, float]], part_words: str, shown: Callable[[float], str]
) -> Markup:
    """A bar for each night for what went into I/O, with a part of it marked, such as what findings cost.

    Args:
        nights: those of which something is known, in their order.
        amounts: the whole and its part, by night.
        part_words: the part in words, such as "went into metadata calls".
        shown: an amount in words.
    """
    label = f"Core-hours in I/O by night, and what of them {part_words}; the table below has the numbers."
    most = max((max(pair) for pair in amounts), default=0.0) or 1.0
    bars_of = []
    for place, (night, (whole, part)) in enumerate(zip(nights, amounts, strict=True)):
        title = f"{night}: {shown(whole)} in I/O, of which {shown(part)} {part_words}"
        bars_of.append(
            Markup("<g>{}{}</g>").format(_bar(place, whole / most, title, "in-io"), _marked(place, part / most, title))
        )
    return Markup(
        '<svg class="nights tall" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(len(nights), _HEIGHT, label, Markup("").join(bars_of))


def _marked(place: int, share: float, title: str) -> Markup:
    return _bar(place, share, title, "lost") if share > 0 else Markup("")


def strip(hours: Mapping[dt.datetime, int], row: Row, label: str) -> Markup:
    """How slow a target was hour by hour, from pale to dark; what is not known is left out.

    Args:
        hours: places of the hours that a picture has.
        row: the target's hours, how many times as long as usual requests took in them, and who had most of them.
        label: what is shown, for those who do not see it.
    """
    parts = []
    # Hours of one level that follow each other are one rectangle.
    for (level, _), cells in groupby(enumerate(_cells(hours, row)), key=lambda each: (each[1].level, each[1].place - each[0])):
        run = [cell for _, cell in cells]
        width = max(float(len(run)), _LEAST_SHARE * len(hours)) if level >= _SLOW else float(len(run))
        title = Markup("<title>{}</title>").format(max(run, key=lambda cell: cell.ratio).words) if level >= _SLOW else ""
        rect = Markup('<rect class="l{}" x="{}" y="0" width="{}" height="1">{}</rect>')
        parts.append((level, rect.format(level, run[0].place, f"{width:.2f}", title)))
    # What is slow lies above what is wide.
    drawn = Markup("").join(each for _, each in sorted(parts, key=lambda part: part[0]))
    return Markup('<svg class="strip" viewBox="0 0 {} 1" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>').format(
        len(hours), label, drawn
    )


@dataclass(frozen=True, slots=True)
class _Cell:
    """An hour of a target: its colour, where it lies, how many times as long as usual requests took, and that in words."""

    level: int
    place: int
    ratio: float
    words: str


def _cells(hours: Mapping[dt.datetime, int], row: Row) -> Iterator[_Cell]:
    for hour, ratio, user in zip(row["hours"], row["hour_slowdown_ratios"], row["hour_users"], strict=True):
        if ratio is not None and math.isfinite(ratio):
            words = (
                f"{hour:%Y-%m-%d %H:%M} UTC: {ratio:.1f} times as long as usual, most load from {plain(user or 'nobody known')}"
            )
            yield _Cell(bisect_right(_LEVELS, ratio), hours[hour], ratio, words)
