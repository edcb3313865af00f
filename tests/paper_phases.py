"""The rule of DXT Explorer (Bez et al., PDSW 2021), to compare ours with.

A gap parts phases if it is longer than the mean of all gaps and one standard deviation, whatever the direction of the requests
beside it, however short it is, and however long files took to open.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from iomine.derive.gaps import parted
from iomine.derive.trace import Floats, Integers, grouped


@contextmanager
def rule_of_the_paper() -> Iterator[None]:
    """Phases are parted by that rule within the context."""
    in_its_way = {"_FLOOR_SECONDS": 0.0, "with_opens": _without_opens, "_phases_of": _phases_of}
    with patch("iomine.derive.gaps._gap_thresholds", _thresholds), patch.multiple("iomine.derive.phases", **in_its_way):
        yield


def _thresholds(gaps: Floats, owners: Integers, _busy: Floats, _floor: float) -> Floats:
    counted = np.maximum(np.bincount(owners), 1)
    mean = np.bincount(owners, gaps) / counted
    deviation = np.sqrt(np.bincount(owners, (gaps - mean[owners]) ** 2) / counted)
    return (mean + deviation)[owners]


def _without_opens(stretches: Any, *_: object) -> tuple[Floats, Floats]:
    return stretches.starts, stretches.ends


def _phases_of(busy: Any, groups: Integers, floor: float) -> Integers:
    return grouped(parted(busy.begins, busy.finishes, groups, floor), busy.stretches.ops)[1]
