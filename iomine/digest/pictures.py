"""Small pictures in mails, which say what stands beside them in words too."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Final

import numpy as np

from iomine.report.pictures import png

NIGHTS_PICTURE: Final = "nights"
_WIDTH: Final = 560
_HEIGHT: Final = 56
_GAP: Final = 2
# More columns could not be distinguished.
_MOST_NIGHTS: Final = 120
# Nothing, a night's column and the ground; seen on a light page and a dark one.
_PALETTE: Final = np.array([[255, 255, 255], [47, 127, 181], [128, 138, 148]], np.uint8)


def first_shown(first: date, last: date) -> date:
    """The first night of the picture of nights, which are the newest of a very long time."""
    return max(first, last - timedelta(days=_MOST_NIGHTS - 1))


def nights_picture(costs: Mapping[date, float], first: date, last: date) -> bytes:
    """A column for each night, as high as its cost is of the largest.

    Args:
        costs: by night; nights that are missing cost nothing.
        first: the first night, not before `first_shown`.
        last: the last night.
    """
    nights = (last - first).days + 1
    most = max(costs.values(), default=0) or 1.0
    edges = np.linspace(0, _WIDTH, nights + 1).astype(int)
    cells = np.zeros((_HEIGHT, _WIDTH), np.uint8)
    for number in range(nights):
        cost = costs.get(first + timedelta(days=number), 0.0)
        height = max(1, round((_HEIGHT - 1) * cost / most)) if cost > 0 else 0
        cells[_HEIGHT - 1 - height : _HEIGHT - 1, edges[number] : edges[number + 1] - _GAP] = 1
    cells[-1] = 2
    return png(cells, _PALETTE, is_clear=True)
