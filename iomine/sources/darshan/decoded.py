"""What every decoder gives back, and how words of a record become Arrow columns."""

import sys
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.schema.column import Column
from iomine.schema.registry import arrow_schema

Words = npt.NDArray[np.int64]
# A column is a list where it is short and many logs give one: Arrow's arrays cost too much to make for a handful of values.
Columns = Mapping[str, Column | pa.Array | list[Any]]

WORD_BYTES = 8
# An exbibyte, and as many calls: no run has moved or made so many.
TOO_MANY = 2**60
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
def are_floats(table: str, names: tuple[str, ...]) -> tuple[bool, ...]:
    """Which columns of a table are floats."""
    schema = arrow_schema(table)
    return tuple(pa.types.is_floating(schema.field(name).type) for name in names)


@cache
def _places(table: str, names: tuple[str, ...]) -> dict[str, tuple[int, bool]]:
    """Where each field lies, and whether it is a float."""
    return dict(zip(names, enumerate(are_floats(table, names)), strict=True))


class Packed(Mapping[str, pa.Array]):
    """Columns of records as a log has them, made when they are asked for: those of many logs cost hardly more than one's.

    Attributes:
        names: of the columns.
    """

    names: tuple[str, ...]

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    @abstractmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        """Records of one table, one part after the other."""

    @classmethod
    @abstractmethod
    def columns_of(cls, parts: Sequence[Self]) -> dict[str, pa.Array | pa.ChunkedArray]:
        """All columns of these."""

    @abstractmethod
    def taken(self, rows: Words) -> Self:
        """Some of the records, by their numbers in ascending order."""

    @property
    @abstractmethod
    def row_count(self) -> int:
        """Number of records."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Memory that they take."""


class Records(Packed):
    """Records of equal width.

    Attributes:
        table: the table; by its schema, fields that are floats are read as such.
        names: fields of the leading words.
        matrix: one record a row, one 64-bit word a column.
    """

    def __init__(self, table: str, names: tuple[str, ...], matrix: Words) -> None:
        self.table = table
        self.names = names
        self.matrix = matrix
        self._places = _places(table, names)

    @classmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        """Records of one table, one part after the other."""
        first = parts[0]
        return cls(first.table, first.names, np.concatenate([part.matrix for part in parts]))

    @classmethod
    def columns_of(cls, parts: Sequence[Self]) -> dict[str, pa.Array | pa.ChunkedArray]:
        """All columns of these."""
        first, length = parts[0], sum(part.row_count for part in parts)
        words = np.empty((len(first.names), length), np.int64)
        at = 0
        for part in parts:
            words[:, at : at + part.row_count] = part.matrix[:, : len(first.names)].T
            at += part.row_count
        flat = words.ravel()
        # Two Arrow arrays over all columns and a slice for each: an array of its own for each would take three times as long.
        integers, floats = pa.array(flat), pa.array(flat.view(np.float64))
        return {
            name: (floats if is_float else integers).slice(index * length, length)
            for index, (name, is_float) in enumerate(zip(first.names, are_floats(first.table, first.names), strict=True))
        }

    def taken(self, rows: Words) -> Self:
        """Some of the records."""
        return type(self)(self.table, self.names, self.matrix[rows])

    def __getitem__(self, name: str) -> pa.Array:
        index, is_float = self._places[name]
        words = np.ascontiguousarray(self.matrix[:, index])
        return pa.array(words.view(np.float64) if is_float else words)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    @property
    def row_count(self) -> int:
        """Number of records."""
        return len(self.matrix)

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return self.matrix.nbytes


class Owners(NamedTuple):
    """Whose the rows of a part are that several logs have rows in.

    Attributes:
        log_ids: ids of logs.
        of_rows: of each row, the index of its log among these.
    """

    log_ids: Sequence[str]
    of_rows: Words


def row_count(columns: Columns) -> int:
    """Rows that the columns have."""
    return columns.row_count if isinstance(columns, Packed) else len(next(iter(columns.values())))


def size_bytes(columns: Columns) -> int:
    """Memory that the columns take, those that are lists not counted."""
    if isinstance(columns, Packed):
        return columns.nbytes
    return sum(column.nbytes for column in columns.values() if not isinstance(column, list))


def spread(column: pa.Array) -> pa.Array:
    """A column whose equal neighbours are said once, with a value for each row."""
    if not isinstance(column, pa.RunEndEncodedArray):
        return column
    ends = np.minimum(column.run_ends.to_numpy(), column.offset + len(column)) - column.offset
    return column.values.take(pa.array(np.repeat(np.arange(len(ends)), np.diff(np.maximum(ends, 0), prepend=0))))


def assembled(table: str, parts: Sequence[tuple[str | Owners, Columns]]) -> pa.Table:
    """Rows of many logs as one Arrow table in the table's schema; columns that a log does not give are NULL.

    Args:
        table: the table's name.
        parts: id of the log, or that of each row, and columns, in the order in which the rows are wanted.

    Raises:
        ValueError: the table has no such column.
    """
    schema = arrow_schema(table)
    columns = [columns for _, columns in parts]
    if unknown := set().union(*columns).difference(schema.names):
        raise ValueError(f"The table {table} has no column {', '.join(sorted(unknown))}.")
    counts = [row_count(part) for part in columns]
    packed = [part for part in columns if isinstance(part, Packed)]
    if len(packed) == len(columns) > 0:
        columns, lengths = [packed[0].columns_of(packed)], [sum(counts)]
    else:
        lengths = counts
    ids = _ids([owners for owners, _ in parts], counts)
    arrays = [
        ids if field.name == "log_id" else _column([part.get(field.name) for part in columns], lengths, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _ids(parts: Sequence[str | Owners], counts: Sequence[int]) -> pa.Array:
    ids: list[str] = []
    codes = []
    for part, count in zip(parts, counts, strict=True):
        own = part if isinstance(part, Owners) else Owners((part,), np.zeros(count, np.int64))
        codes.append(own.of_rows + len(ids))
        ids += own.log_ids
    return pa.array(ids, pa.string()).take(pa.array(np.concatenate([*codes, np.empty(0, np.int64)])))


def _column(
    parts: Sequence[Column | pa.Array | pa.ChunkedArray | list[Any] | None], lengths: Sequence[int], type_: pa.DataType
) -> pa.ChunkedArray | pa.Array:
    if all(isinstance(part, list) for part in parts):
        return pa.array(list(chain.from_iterable(parts)), type_)  # type: ignore[arg-type]  # lists all
    if all(isinstance(part, Column) for part in parts):
        return Column.joined(parts).arrow(type_)  # type: ignore[arg-type]  # columns all
    if all(part is None for part in parts):
        return pa.nulls(sum(lengths), type_)
    # What is packed comes as one part.
    if isinstance(first := parts[0], pa.ChunkedArray):
        return first
    chunks = [
        pa.nulls(length, type_) if part is None else pa.array(part, type_) if isinstance(part, list | Column) else spread(part)
        for part, length in zip(parts, lengths, strict=True)
    ]
    return pa.chunked_array(chunks, type_)


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
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=mask), pa.array([name or "" for name in names], pa.string()))


def texts(data: bytes, starts: Words, width: int) -> tuple[npt.NDArray[np.int64], list[str]]:
    """NUL-terminated texts of a fixed width at the given offsets: an index for each, and the distinct texts."""
    raw = np.frombuffer(data, np.uint8)[starts[:, None] + np.arange(width)]
    values, codes = np.unique(np.ascontiguousarray(raw).view(f"S{width}").ravel(), return_inverse=True)
    return codes, [value.split(b"\0")[0].decode("utf-8", "backslashreplace") for value in values.tolist()]
