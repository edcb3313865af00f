"""The order of rows is that of NumPy's own sort, whatever keys there are."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from iomine.derive import sorting
from iomine.derive.sorting import order_by

_LOWEST, _HIGHEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_ELEMENTS = {
    "few": (np.int64, st.integers(-2, 2)),
    "whole": (np.int64, st.integers(0, 1 << 40)),
    "ends": (np.int64, st.sampled_from([_LOWEST, -1, 0, 1, _HIGHEST])),
    "flags": (np.bool_, st.booleans()),
    "short": (np.uint16, st.integers(0, 9)),
    "times": (np.float64, st.floats(0, 1000)),
    "floats": (np.float64, st.sampled_from([0.0, -0.0, 1.5, -1.5, 5e-324, -5e-324, np.inf, -np.inf])),
    "odd": (np.float64, st.sampled_from([0.0, -0.0, 1.0, np.nan, -np.inf])),
}


@st.composite
def _keys(draw: st.DrawFn) -> list[npt.NDArray[np.generic]]:
    length = draw(st.integers(1, 40))
    kinds = draw(st.lists(st.sampled_from(sorted(_ELEMENTS)), min_size=1, max_size=4))
    return [draw(nps.arrays(_ELEMENTS[kind][0], length, elements=_ELEMENTS[kind][1])) for kind in kinds]


@given(_keys())
def test_the_order_is_that_of_lexsort(keys: list[npt.NDArray[np.generic]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "_FEW", 0)
        assert order_by(*keys).tolist() == np.lexsort(keys[::-1]).tolist()


def test_many_rows_of_wide_keys() -> None:
    random = np.random.default_rng(0)
    keys = random.integers(0, 3, 20_000), random.normal(size=20_000).round(2), random.integers(0, 1 << 60, 20_000)
    assert order_by(*keys).tolist() == np.lexsort(keys[::-1]).tolist()
