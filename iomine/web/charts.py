"""Bars by night: SVG without text, which a page stretches to its width; what it says in words stands around it."""

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from markupsafe import Markup

_HEIGHT: Final = 100
_GAP: Final = 0.12
# What is there can be seen.
_LEAST: Final = 1.5


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


def _bar(place: int, share: float, title: str) -> Markup:
    height = max(_LEAST, _HEIGHT * share)
    return Markup('<rect x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>').format(
        f"{place + _GAP:.2f}", f"{_HEIGHT - height:.1f}", f"{1 - 2 * _GAP:.2f}", f"{height:.1f}", title
    )
