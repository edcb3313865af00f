"""Answers as bytes for other programs: CSV, JSON and Parquet."""

import csv
import datetime as dt
import io
import json
import math
from collections.abc import Iterator
from decimal import Decimal
from itertools import chain
from typing import BinaryIO, Final

import pyarrow as pa

from iomine.errors import UsageError
from iomine.units import json_line

# What texts begin with that a spreadsheet takes for a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def write_csv(answer: pa.Table, file: BinaryIO) -> None:
    """Writes names of columns, then rows; what is not known is empty.

    Texts that a spreadsheet would evaluate get an apostrophe: anyone who names a file could otherwise run a formula on the
    machine of those who open a list of files. JSON and Parquet have texts as they are.
    """
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    # A carriage return alone ends a line for readers, but the writer does not quote it.
    quoting = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    rows = (["" if value is None else _cell(value) for value in row] for row in tuples_of(answer))
    for cells in chain([answer.column_names], rows):
        (quoting if any("\r" in cell for cell in cells) else writer).writerow(cells)
    text.detach()


def _cell(value: object) -> str:
    is_formula = isinstance(value, str) and value.startswith(_FORMULA)
    return f"'{value}" if is_formula else as_text(plain(value))


def write_json(answer: pa.Table, file: BinaryIO) -> None:
    """Writes an array of objects, one in a line.

    Raises:
        UsageError: two columns have one name, so that one would be lost.
    """
    between = b"[\n"
    for record in records(answer):
        file.write(between + json_line(record).encode())
        between = b",\n"
    file.write(b"\n]\n" if between == b",\n" else b"[]\n")


def write_parquet(answer: pa.Table, file: BinaryIO) -> None:
    """Writes Parquet; the file may be a pipe."""
    # A pipe has no position, which the writer asks for.
    whole = io.BytesIO()
    from pyarrow import parquet  # noqa: PLC0415  few answers are asked for as Parquet

    parquet.write_table(answer, whole)
    file.write(whole.getbuffer())


def records(answer: pa.Table) -> Iterator[dict[str, object]]:
    """Its rows as JSON knows them: times in ISO 8601, bytes in hex, NaN as None.

    Raises:
        UsageError: two columns have one name, so that one would be lost.
    """
    names = answer.column_names
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"Two columns are called {name}: give one another name with AS.")
    for row in tuples_of(answer):
        yield {name: plain(value) for name, value in zip(names, row, strict=True)}


def tuples_of(answer: pa.Table) -> Iterator[tuple[object, ...]]:
    """Its rows as Python has them."""
    for batch in answer.to_batches():
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def plain(value: object) -> object:
    """A value as JSON knows it."""
    match value:
        case list() | tuple():
            return [plain(item) for item in value]
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case _:
            return _plain_scalar(value)


def _plain_scalar(value: object) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat().replace("+00:00", "Z")
        case bytes():
            return value.hex()
        case _:
            return str(value)


def as_text(value: object) -> str:
    """A value that `plain` gave as text: texts as they are, others as in JSON."""
    return value if isinstance(value, str) else json.dumps(value)
