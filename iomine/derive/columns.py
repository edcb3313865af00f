"""NumPy's numbers as columns of a table."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from iomine.schema.column import Column

# No count of 64 bits is as high, and no time is as long.
TOO_MANY: Final = 2.0**63
# How far below 0 rounding can bring a time: a difference of two clock readings, which doubles hold to half a microsecond.
ROUNDING_SECONDS: Final = 1e-6


def counts(values: npt.NDArray[Any]) -> Column:
    """Whole numbers that were summed as floats, NULL where one is not known (NaN) or 64 bits do not hold it."""
    is_known = np.abs(values) < TOO_MANY
    if is_known.all():
        return Column(values.astype(np.int64))
    return Column(np.where(is_known, values, 0).astype(np.int64), ~is_known)


def finite(values: npt.NDArray[np.float64]) -> Column:
    """Numbers, NULL where one is not finite."""
    return Column(values, ~np.isfinite(values))


def known(values: npt.NDArray[np.float64]) -> Column:
    """Numbers, NULL for NaN."""
    return Column(values, np.isnan(values))


def labels(codes: npt.NDArray[np.int64], texts: Sequence[str]) -> Column:
    """A label column: for each row an index into the texts, negative for NULL."""
    return Column(codes, None, tuple(texts))


def coded(texts: Sequence[str | None]) -> tuple[npt.NDArray[np.int64], Sequence[str]]:
    """The index of each text among those that differ, negative for None; and these."""
    number_of: dict[str, int] = {}
    codes = [-1 if text is None else number_of.setdefault(text, len(number_of)) for text in texts]
    return np.array(codes, np.int64), tuple(number_of)


def label(text: str, count: int) -> Column:
    """A label column of so many rows with one text."""
    return Column(np.zeros(count, np.int64), None, (text,))


def stacked(parts: Sequence[Mapping[str, Column]]) -> dict[str, Column]:
    """Parts of a table one after the other; no columns where there are no rows."""
    filled = [part for part in parts if len(next(iter(part.values())))]
    return {name: Column.joined([part[name] for part in filled]) for name in filled[0]} if filled else {}
