"""What every decoder gives back, and how words of a record become Arrow columns."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.schema.registry import arrow_schema

Words = npt.NDArray[np.int64]
Columns = Mapping[str, pa.Array]

WORD_BYTES = 8
# Struct code of this machine's byte order, in which libdarshan-util gives records.
NATIVE = "<" if sys.byteorder == "little" else ">"


@dataclass(frozen=True, slots=True)
class Decoded:
    """Records of one module.

    Attributes:
        tables: columns by table and name, without `log_id`.
        record_count: records that Darshan wrote, as far as they could be read.
        damage: why the module is not to be trusted, empty where it is sound.
    """

    tables: Mapping[str, Columns] = field(default_factory=dict)
    record_count: int = 0
    damage: str = ""


def native_words(data: bytes, order: str) -> Words:
    """The bytes as 64-bit integers of this machine's order; a rest shorter than a word is left out."""
    words = np.frombuffer(data, dtype=f"{order}i8", count=len(data) // WORD_BYTES)
    return words.astype(np.int64, copy=False)


@cache
def _shape(table: str) -> tuple[tuple[str, ...], tuple[pa.DataType, ...]]:
    """Names and types of a table's columns; asking Arrow's schema for them costs more than decoding a small log."""
    schema = arrow_schema(table)
    return tuple(schema.names), tuple(schema.types)


@cache
def _are_floats(table: str, names: tuple[str, ...]) -> tuple[bool, ...]:
    schema = arrow_schema(table)
    return tuple(pa.types.is_floating(schema.field(name).type) for name in names)


def columns_from(matrix: Words, names: tuple[str, ...], table: str) -> dict[str, pa.Array]:
    """Columns out of records of equal width, the bits of float columns read as such.

    Args:
        matrix: one record a row, one 64-bit word a column.
        names: fields of the leading words.
        table: the table whose schema tells which fields are floats.
    """
    length = len(matrix)
    flat = np.ascontiguousarray(matrix[:, : len(names)].T).ravel()
    # Two Arrow arrays over all columns and a slice for each: an array of its own for each would take three times as long.
    integers, floats = pa.array(flat), pa.array(flat.view(np.float64))
    return {
        name: (floats if is_float else integers).slice(index * length, length)
        for index, (name, is_float) in enumerate(zip(names, _are_floats(table, names), strict=True))
    }


def record_batch(table: str, log_id: str, columns: Columns) -> pa.RecordBatch:
    """A batch in the table's schema; columns that the log does not give are NULL."""
    names, types = _shape(table)
    length = len(next(iter(columns.values())))
    arrays = [
        columns[name] if name in columns else pa.repeat(log_id, length) if name == "log_id" else pa.nulls(length, type_)
        for name, type_ in zip(names, types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(table))


def labels(codes: npt.NDArray[np.integer[Any]] | int, names: Sequence[str | None], length: int | None = None) -> pa.Array:
    """A label column.

    Args:
        codes: index into the names for each row, or one index for all rows.
        names: the texts, in any order; None is NULL.
        length: number of rows, where one index stands for all.
    """
    indices = np.full(length or 0, codes, np.int32) if isinstance(codes, int) else codes.astype(np.int32, copy=False)
    unknown = [index for index, name in enumerate(names) if name is None]
    # Parquet knows no NULL among the texts, only among the indices.
    mask = np.isin(indices, unknown) if unknown else None
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=mask), pa.array([name or "" for name in names]))


def texts(data: bytes, starts: Words, width: int) -> tuple[npt.NDArray[np.int64], list[str]]:
    """NUL-terminated texts of a fixed width at the given offsets: an index for each, and the distinct texts."""
    raw = np.frombuffer(data, np.uint8)[starts[:, None] + np.arange(width)]
    values, codes = np.unique(np.ascontiguousarray(raw).view(f"S{width}").ravel(), return_inverse=True)
    return codes, [value.split(b"\0")[0].decode("utf-8", "backslashreplace") for value in values.tolist()]
