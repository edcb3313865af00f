"""NumPy's numbers as Arrow columns of a table."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

# No count of 64 bits is as high, and no time is as long.
TOO_MANY: Final = 2.0**63
# What a time below 0 may be by rounding: one clock reading's less another's, which doubles hold to half a microsecond.
ROUNDING_SECONDS: Final = 1e-6


def counts(values: npt.NDArray[Any]) -> pa.Array:
    """Whole numbers that were summed as floats, NULL where one is not known (NaN) or 64 bits do not hold it."""
    is_known = np.abs(values) < TOO_MANY
    return pa.array(np.where(is_known, values, 0).astype(np.int64), mask=~is_known)


def labels(codes: npt.NDArray[np.int64], texts: Sequence[str]) -> pa.Array:
    """A label column: for each row an index into the texts, negative for NULL."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=codes < 0), pa.array(texts, pa.string()))


def stacked(parts: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """Parts of a table one after the other; no columns where there are no rows."""
    filled = [part for part in parts if len(next(iter(part.values())))]
    if not filled:
        return {}
    if len(filled) == 1:
        return dict(filled[0])
    return {name: pa.chunked_array([part[name] for part in filled]).combine_chunks() for name in filled[0]}
