"""Answers in the formats that `--format` offers."""

import csv
import datetime as dt
import io
import json
import math
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from iomine.cli.options import Format
from iomine.cli.terminal.grids import draw, lay_out
from iomine.cli.terminal.text import json_line
from iomine.errors import IomineError, UsageError
from iomine.units import visible

# From here on, tenths are all that anyone reads.
_LARGE: Final = 1000


def write(answer: pa.Table, form: Format, output: Path | None = None) -> None:
    """Write an answer to a file or to stdout.

    Raises:
        UsageError: Parquet would go to a terminal, or JSON would lose one of two columns of one name.
        IomineError: the file cannot be written.
    """
    if output is None:
        _write_stdout(answer, form)
        return
    try:
        with output.open("wb") as file:
            _WRITERS[form](answer, file)
    except OSError as error:
        raise IomineError(f"{output} cannot be written ({error.strerror or error}): name another file with --output.") from error


def records(answer: pa.Table) -> Iterator[dict[str, object]]:
    """Its rows as JSON knows them: times in ISO 8601, bytes in hex, what is no number as None.

    Raises:
        UsageError: two columns have one name, so that one would be lost.
    """
    names = answer.column_names
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"Two columns are called {name}: give one another name with AS.")
    for row in _rows(answer):
        yield {name: _plain(value) for name, value in zip(names, row, strict=True)}


def _write_stdout(answer: pa.Table, form: Format) -> None:
    is_terminal = sys.stdout.isatty()
    if is_terminal and form is Format.PARQUET:
        raise UsageError("Parquet is not for reading on a terminal: add --output FILE, or send it down a pipe.")
    if is_terminal and form is Format.TABLE:
        draw(answer.column_names, _shown_rows(answer), _numeric(answer))
    elif is_terminal and form is Format.CSV:
        # A file must get the values as they are, a terminal must not.
        text = io.BytesIO()
        _write_csv(answer, text)
        sys.stdout.writelines(visible(line) + "\n" for line in text.getvalue().decode().split("\n")[:-1])
    else:
        sys.stdout.flush()
        _WRITERS[form](answer, sys.stdout.buffer)


def _rows(answer: pa.Table) -> Iterator[tuple[object, ...]]:
    for batch in answer.to_batches():
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _shown_rows(answer: pa.Table) -> list[tuple[str, ...]]:
    return [tuple(_shown(value) for value in row) for row in _rows(answer)]


def _numeric(answer: pa.Table) -> list[bool]:
    kinds = [field.type for field in answer.schema]
    return [bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)) for kind in kinds]


def _write_table(answer: pa.Table, file: BinaryIO) -> None:
    lines = lay_out(answer.column_names, _shown_rows(answer), _numeric(answer))
    file.writelines(line.encode() + b"\n" for line in lines)


def _write_csv(answer: pa.Table, file: BinaryIO) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(answer.column_names)
    for row in _rows(answer):
        writer.writerow(["" if value is None else _text(_plain(value)) for value in row])
    text.detach()


def _write_json(answer: pa.Table, file: BinaryIO) -> None:
    between = b"[\n"
    for record in records(answer):
        file.write(between + json_line(record).encode())
        between = b",\n"
    file.write(b"\n]\n" if between == b",\n" else b"[]\n")


def _write_parquet(answer: pa.Table, file: BinaryIO) -> None:
    # A pipe cannot tell its position, which the writer asks for.
    whole = io.BytesIO()
    pq.write_table(answer, whole)
    file.write(whole.getbuffer())


_WRITERS: Final[dict[Format, Callable[[pa.Table, BinaryIO], None]]] = {
    Format.TABLE: _write_table,
    Format.CSV: _write_csv,
    Format.JSON: _write_json,
    Format.PARQUET: _write_parquet,
}


def _plain(value: object) -> object:
    match value:
        case list() | tuple():
            return [_plain(item) for item in value]
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
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


def _text(plain: object) -> str:
    return plain if isinstance(plain, str) else json.dumps(plain)


def _shown(value: object) -> str:
    """The value for reading: numbers to about four digits, times without what is always the same."""
    if value is None:
        return "NULL"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.1f}" if abs(value) >= _LARGE else f"{value:.4g}"
    if isinstance(value, float):
        return str(value)
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    return visible(_text(_plain(value)))
