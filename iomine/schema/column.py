"""Columns of a table's rows that become Arrow later, those of many logs at once.

To make an Arrow array takes some 20 µs however short it is, a hundred times as long as to keep NumPy's, and a log's tables have
hundreds of columns of a few rows.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class Column:
    """Numbers, or labels.

    Attributes:
        values: a value for each row, of labels an index into the texts, negative for NULL.
        mask: which rows are NULL; None where none is, and for labels.
        texts: of labels, in any order; None for numbers.
    """

    __slots__ = ("mask", "texts", "values")

    def __init__(
        self, values: npt.NDArray[Any], mask: npt.NDArray[np.bool_] | None = None, texts: tuple[str, ...] | None = None
    ) -> None:
        self.values = values
        self.mask = mask
        self.texts = texts

    def __len__(self) -> int:
        return len(self.values)

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array:  # noqa: A002  as Arrow calls it
        return self.arrow(type)

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return self.values.nbytes

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """One after the other, all of them numbers or all labels; at least one."""
        first = parts[0]
        if len(parts) == 1:
            return first
        if first.texts is None:
            mask = None
            if any(part.mask is not None for part in parts):
                mask = np.concatenate([np.zeros(len(part), bool) if part.mask is None else part.mask for part in parts])
            return cls(np.concatenate([part.values for part in parts]), mask)
        if all(part.texts == first.texts for part in parts):
            return cls(np.concatenate([part.values for part in parts]), None, first.texts)
        number_of: dict[str, int] = {}
        codes = []
        for part in parts:
            # A negative takes the last.
            own = np.array([*(number_of.setdefault(text, len(number_of)) for text in part.texts or ()), -1])
            codes.append(own[np.maximum(part.values, -1)])
        return cls(np.concatenate(codes), None, tuple(number_of))

    def taken(self, rows: npt.NDArray[Any] | slice) -> Self:
        """Some of the rows."""
        return type(self)(self.values[rows], None if self.mask is None else self.mask[rows], self.texts)

    def arrow(self, type_: pa.DataType | None = None) -> pa.Array:
        """The column as Arrow, of its own type unless another is given."""
        if self.texts is None:
            mask = self.mask if self.mask is not None and self.mask.any() else None
            return pa.array(self.values, type_, mask=mask)
        is_null = self.values < 0
        codes = pa.array(self.values.astype(np.int32), mask=is_null if is_null.any() else None)
        coded = pa.DictionaryArray.from_arrays(codes, pa.array(self.texts, pa.string()))
        return coded if type_ is None or pa.types.is_dictionary(type_) else coded.cast(type_)

    def codes(self) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
        """The index of each row's label, negative for NULL, and the texts."""
        return self.values, self.texts or ()

    def to_pylist(self) -> list[Any]:
        """The values, None for NULL."""
        if self.texts is not None:
            texts = (*self.texts, None)
            return [texts[max(code, -1)] for code in self.values.tolist()]
        if self.mask is None:
            listed: list[Any] = self.values.tolist()
            return listed
        return [None if is_null else value for value, is_null in zip(self.values.tolist(), self.mask.tolist(), strict=True)]

    def to_numpy(self, *, zero_copy_only: bool = True) -> npt.NDArray[Any]:
        """Numbers, as Arrow gives them: those with a NULL as floats, NaN for these.

        Raises:
            ValueError: there are NULLs, and the numbers are wanted without a copy.
        """
        if self.mask is None or not self.mask.any():
            return self.values
        if zero_copy_only:
            raise ValueError("Numbers with NULLs are not to be had as they lie.")
        return np.where(self.mask, np.nan, self.values)


def as_arrow(column: Any) -> pa.Array:  # noqa: ANN401  Arrow's columns are untyped
    """A column as Arrow, also if it is Arrow already."""
    return column.arrow() if isinstance(column, Column) else column
