"""Columns as a reader gives them, from rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from iomine.schema.registry import arrow_schema

Rows = Sequence[Mapping[str, Any]]


def columns(table: str, rows: Rows) -> dict[str, pa.Array]:
    """All columns of a table but `log_id`; a key left out is 0, or NULL where that is no number."""
    return {
        field.name: pa.array([row.get(field.name, _nothing(field.type)) for row in rows], field.type)
        for field in arrow_schema(table)
        if field.name != "log_id"
    }


def _nothing(kind: pa.DataType) -> int | None:
    return 0 if pa.types.is_integer(kind) or pa.types.is_floating(kind) else None


def rows_of(columns: Mapping[str, pa.Array]) -> list[dict[str, Any]]:
    """Rows of columns, none where there are no columns."""
    return pa.table(dict(columns)).to_pylist() if columns else []
