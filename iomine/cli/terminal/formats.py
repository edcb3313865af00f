"""Answers in the formats that `--format` offers."""

import datetime as dt
import io
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Final

import pyarrow as pa

from iomine.cli.options import Format
from iomine.cli.terminal.grids import draw, lay_out
from iomine.errors import IomineError, UsageError
from iomine.units import human_bytes, human_core_seconds, human_seconds, visible
from iomine.views.encode import as_text, plain, tuples_of, write_csv, write_json, write_parquet

# From this number on, one decimal is enough for readers.
_LARGE: Final = 1000


def write(answer: pa.Table, form: Format, output: Path | None = None, *, whole: str = "--format csv") -> None:
    """Write an answer to a file or to stdout.

    Args:
        answer: its rows.
        form: how they are written.
        output: the file.
        whole: the option of the command that gives what a narrow terminal does not show.

    Raises:
        UsageError: Parquet would go to a terminal, or JSON would lose one of two columns of one name.
        IomineError: the file cannot be written.
    """
    if output is None:
        _write_stdout(answer, form, whole)
        return
    try:
        with output.open("wb") as file:
            _WRITERS[form](answer, file)
    except OSError as error:
        raise IomineError(f"{output} cannot be written ({error.strerror or error}): name another file with --output.") from error


def write_for_people(answer: pa.Table, form: Format, important: Sequence[str], *, whole: str = "--format csv") -> None:
    """Write an answer to stdout; a table on a terminal has numbers with units, and of its columns those that matter most.

    Args:
        answer: its columns have their units in their names.
        form: formats for programs, and a table in a file, have values as they are.
        important: names of columns, the most important first; all others follow in their order.
        whole: the option of the command that gives what a narrow terminal does not show.
    """
    if form is not Format.TABLE or not sys.stdout.isatty():
        write(answer, form)
        return
    names = answer.column_names
    rows = [tuple(_human(name, value) for name, value in zip(names, row, strict=True)) for row in tuples_of(answer)]
    draw(names, rows, _numeric(answer), list(dict.fromkeys((*important, *names))), whole)


def _write_stdout(answer: pa.Table, form: Format, whole: str) -> None:
    is_terminal = sys.stdout.isatty()
    if is_terminal and form is Format.PARQUET:
        raise UsageError("Parquet cannot be shown on a terminal: add --output FILE, or write to a pipe.")
    if is_terminal and form is Format.TABLE:
        draw(answer.column_names, _shown_rows(answer), _numeric(answer), whole=whole)
    elif is_terminal and form is Format.CSV:
        # A file must get the values as they are, a terminal must not.
        text = io.BytesIO()
        write_csv(answer, text)
        sys.stdout.writelines(visible(line) + "\n" for line in text.getvalue().decode().split("\n")[:-1])
    else:
        sys.stdout.flush()
        _WRITERS[form](answer, sys.stdout.buffer)


def _shown_rows(answer: pa.Table) -> list[tuple[str, ...]]:
    return [tuple(_shown(value) for value in row) for row in tuples_of(answer)]


def _numeric(answer: pa.Table) -> list[bool]:
    kinds = [field.type for field in answer.schema]
    return [bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)) for kind in kinds]


def _write_table(answer: pa.Table, file: BinaryIO) -> None:
    lines = lay_out(answer.column_names, _shown_rows(answer), _numeric(answer))
    file.writelines(line.encode() + b"\n" for line in lines)


_WRITERS: Final[dict[Format, Callable[[pa.Table, BinaryIO], None]]] = {
    Format.TABLE: _write_table,
    Format.CSV: write_csv,
    Format.JSON: write_json,
    Format.PARQUET: write_parquet,
}


def _shown(value: object) -> str:
    """The value for people: numbers with about four digits, times without their constant parts."""
    if value is None:
        return "NULL"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.1f}" if abs(value) >= _LARGE else f"{value:.4g}"
    if isinstance(value, float):
        return str(value)
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    return visible(as_text(plain(value)))


# By how a column's name ends; the first that fits.
_HUMAN: Final[tuple[tuple[str, Callable[[float], str]], ...]] = (
    ("_bytes", human_bytes),
    ("_core_seconds", human_core_seconds),
    ("_seconds", human_seconds),
    ("_ratio", "{:.1%}".format),
    ("_count", "{:,}".format),
)


def _human(name: str, value: object) -> str:
    """The value with its unit, as its column's name says it; a dash where it is not known."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, dt.datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, int | float) and math.isfinite(value):
        for ending, shown in _HUMAN:
            if name.removesuffix("_before").endswith(ending):
                return shown(value)
    return _shown(value)
