"""Answers to questions: who gives them, and their rows for people's pages."""

from math import isfinite
from typing import Any, Protocol

import pyarrow as pa

from iomine.views.questions import Parameters

Row = dict[str, Any]
Rows = list[Row]


class Ask(Protocol):
    """Answers a question to the warehouse."""

    def __call__(self, sql: str, parameters: Parameters | None = None) -> pa.Table:
        """The answer to one query with values for its parameters."""


def rows_of(answer: pa.Table) -> Rows:
    """Rows of an answer; what is no number is None."""
    columns = [_plain(column) for column in answer.columns]
    return [dict(zip(answer.column_names, values, strict=True)) for values in zip(*columns, strict=True)]


def _plain(column: pa.ChunkedArray) -> list[Any]:
    values = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [value if value is not None and isfinite(value) else None for value in values]
    return list(values)
