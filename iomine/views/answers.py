"""Answers to questions: who gives them, and their rows for people's pages."""

from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Protocol

from iomine.views.questions import Parameters

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
Rows = list[Row]
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Ask(Protocol):
    """Answers a question to the warehouse."""

    def __call__(self, sql: str, parameters: Parameters | None = None) -> "pa.Table":
        """The answer to one query with values for its parameters."""


class AskRows(Protocol):
    """Answers a question to the warehouse with rows, as `rows_of` has them."""

    def __call__(self, sql: str, parameters: Parameters | None = None) -> Rows:
        """The rows that answer one query with values for its parameters."""


def rows_of(answer: "pa.Table") -> Rows:
    """Rows of an answer; NaN becomes None."""
    # Arrow works out the names each time it is asked for them.
    names, columns = answer.column_names, [_plain(column) for column in answer.columns]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def number(value: float | None) -> float | None:
    """A number for pages; NaN becomes None."""
    return value if value is not None and isfinite(value) else None


def _plain(column: "pa.ChunkedArray") -> list[Any]:
    import pyarrow as pa  # noqa: PLC0415  answers may come as rows

    if pa.types.is_timestamp(column.type):
        # Arrow would load pandas first, and to cast times all of its functions: each takes as long as many answers.
        if column.type.unit != "us":
            column = column.cast(pa.timestamp("us", column.type.tz))
        since = [microseconds for chunk in column.chunks for microseconds in chunk.view(pa.int64()).to_pylist()]
        epoch = _EPOCH if column.type.tz else _EPOCH.replace(tzinfo=None)
        return [None if microseconds is None else epoch + timedelta(microseconds=microseconds) for microseconds in since]
    values = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [number(value) for value in values]
    return list(values)
