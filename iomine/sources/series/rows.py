"""Rows of counters and rates, put together from columns."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.schema.registry import arrow_schema, field
from iomine.sources.darshan.decoded import labels

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
# One text or number stands for all rows.
Column: TypeAlias = pa.Array | npt.NDArray[Any] | str | float

COUNTER: Final = "lustre_counter"
RATE: Final = "lustre_rate"
_NIGHT: Final = field("night")
# Numbers up to here are whole numbers when they are floats.
_MOST_WHOLE: Final = 2**53
_TARGET: Final = re.compile(r"(?<![A-Za-z0-9])(OST|MDT)[0-9A-Fa-f]{4}(?![A-Za-z0-9])")


def rows(name: str, length: int, columns: Mapping[str, Column | None]) -> pa.Table:
    """Rows of a table whose first column is their time, with the night they belong to.

    Args:
        name: the table's name.
        length: number of rows.
        columns: values by column; numbers that are not finite, and columns that are not given, are NULL.
    """
    schema = arrow_schema(name)
    arrays = [_column(columns.get(each.name), length, each.type) for each in schema]
    return pa.Table.from_arrays([*arrays, arrays[0].cast(_NIGHT.type)], schema=schema.append(pa.field(_NIGHT.name, _NIGHT.type)))


def _column(values: Column | None, length: int, type_: pa.DataType) -> pa.Array:
    if values is None:
        return pa.nulls(length, type_)
    if isinstance(values, str) and pa.types.is_dictionary(type_):
        return labels(0, [values], length)
    if isinstance(values, str | float):
        return pa.repeat(pa.scalar(values, type_), length)
    if isinstance(values, np.ndarray) and np.issubdtype(values.dtype, np.floating):
        return pa.array(values, type_, mask=~np.isfinite(values))
    return values.cast(type_) if isinstance(values, pa.Array) else pa.array(values, type_)


def rate_rows(
    kind: str,
    begin: Integers,
    interval_seconds: float,
    rates: Floats,
    *,
    target: Sequence[str] | str | None,
    counter: Sequence[str] | str,
    unit: str,
    of: str | None = None,
) -> pa.Table:
    """Rows of a grid of rates, one row an interval and one column a series.

    Args:
        kind: kind of the source.
        begin: start of each interval, in microseconds since the epoch.
        interval_seconds: length of the intervals.
        rates: units a second; not known where they are not a number, below zero or without end.
        target: target of each column, or of all; None where it is not known.
        counter: counter of each column, or of all.
        unit: what the counters count.
        of: kind of the targets, None to take it from their names.
    """
    intervals, series = rates.shape
    kinds = None if of or target is None or isinstance(target, str) else [target_kind(name) for name in target]
    columns = {
        "begin_at": np.repeat(begin, series),
        "interval_seconds": interval_seconds,
        "source_kind": kind,
        "target": _repeated(target, intervals),
        "target_kind": of or _repeated(kinds, intervals),
        "counter": _repeated(counter, intervals),
        "counter_unit": unit,
        "rate": np.where((rates >= 0) & (rates < np.inf), rates, np.nan).ravel(),
    }
    return rows(RATE, rates.size, columns)


def _repeated(names: Sequence[str | None] | str | None, times: int) -> Column | None:
    """Names of a grid's columns as a column of its rows."""
    if names is None or isinstance(names, str):
        return names
    distinct = list(dict.fromkeys(names))
    place = {name: index for index, name in enumerate(distinct)}
    column: pa.Array = labels(np.tile(np.array([place[name] for name in names], np.int32), times), distinct)
    return column


def target_kind(target: str) -> str | None:
    """Whether a target is an OST or an MDT, None where its name does not say."""
    match = _TARGET.search(target)
    return match[1].lower() if match else None


def whole(values: Floats) -> pa.Array:
    """Counts that were read as floats; what cannot be one is NULL."""
    is_count = (values >= 0) & (values <= _MOST_WHOLE) & (values == np.floor(values))
    return pa.array(np.where(is_count, values, 0).astype(np.int64), mask=~is_count)
