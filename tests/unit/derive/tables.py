"""Columns as a reader gives them, from rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from iomine.derive.batch import LOG
from iomine.schema.column import as_arrow
from iomine.schema.registry import arrow_schema

Rows = Sequence[Mapping[str, Any]]

_OF_RUNS = ("layer", "file_id", "rank", "host", "op")


def columns(table: str, rows: Rows) -> dict[str, pa.Array]:
    """All columns of a table but `log_id`; a key left out is 0, or NULL where that is no number."""
    found = {
        field.name: pa.array([row.get(field.name, _nothing(field.type)) for row in rows], field.type)
        for field in arrow_schema(table)
        if field.name != "log_id"
    }
    return found | in_runs({name: found[name] for name in _OF_RUNS}) if table == "segment" else found


def in_runs(found: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Columns that say equal neighbours once, where all of the columns have them."""
    rows = list(zip(*(column.to_pylist() for column in found.values()), strict=True))
    firsts = [index for index, row in enumerate(rows) if index == 0 or row != rows[index - 1]]
    ends = pa.array([*firsts[1:], len(rows)][: len(firsts)], pa.int64())
    return {
        name: pa.RunEndEncodedArray.from_arrays(ends, column.take(pa.array(firsts, pa.int64()))) for name, column in found.items()
    }


def repeated(column: pa.Array, count: int) -> pa.Array:
    """A column of a single row, so many times."""
    if isinstance(column, pa.RunEndEncodedArray):
        return pa.RunEndEncodedArray.from_arrays(pa.array([count], pa.int64()), column.values)
    return column.take(pa.array([0] * count))


def _nothing(kind: pa.DataType) -> int | None:
    return 0 if pa.types.is_integer(kind) or pa.types.is_floating(kind) else None


def rows_of(columns: Mapping[str, pa.Array]) -> list[dict[str, Any]]:
    """Rows of columns, none where there are no columns."""
    return pa.table({name: column for name, column in columns.items() if name != LOG}).to_pylist() if columns else []


def types_of(table: str, found: Mapping[str, Any]) -> dict[str, pa.DataType]:
    """The type of each column, labels as texts where the table has these; lists have the table's."""
    schema = arrow_schema(table)
    types = {}
    for name, column in found.items():
        if name == LOG:
            continue
        wanted = schema.field(name).type
        given = (pa.array(column, wanted) if isinstance(column, list) else as_arrow(column)).type
        types[name] = given.value_type if pa.types.is_dictionary(given) and not pa.types.is_dictionary(wanted) else given
    return types
