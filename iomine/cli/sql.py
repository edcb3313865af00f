"""`iomine sql`: questions to the warehouse."""
# ruff: noqa: PLC0415

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine import QUERY_MEMORY, QUERY_SECONDS
from iomine.cli.options import DEFAULT_WAREHOUSE, AsJson, Format, Memory, Timeout, Warehouse, database_of, limits_of
from iomine.errors import UsageError

if TYPE_CHECKING:
    from iomine.views.query import Limits


# Formats of spreadsheets, which would not open text under these names.
_SHEETS: Final = frozenset({"xlsx", "xls", "xlsm", "ods"})


def command(
    *,
    query: Annotated[
        str | None, typer.Argument(help="One SQL statement, or - to read it from stdin.", show_default="a prompt")
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="How to write the answer.", show_default="as --output ends, otherwise table"),
    ] = None,
    as_json: AsJson = False,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write the answer there.", show_default="stdout")
    ] = None,
    timeout: Timeout = QUERY_SECONDS,
    memory: Memory = QUERY_MEMORY,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Ask the warehouse a question in SQL.

    It reads views such as logs, files, findings and worst_offenders; the table data_dictionary describes their columns. At
    the prompt a statement ends with a semicolon or an empty line; .tables lists the views, .schema VIEW explains one, and
    .help says more.
    """
    from iomine.cli.terminal.formats import write
    from iomine.cli.terminal.questions import ask

    form = Format.JSON if as_json else form
    limits = limits_of(timeout, memory)
    if query is None and sys.stdin.isatty():
        _prompt(warehouse, form or Format.TABLE, output, limits)
        return
    # Before the query is asked, which may take minutes.
    form = form or _form_of(output)
    write(ask(database_of(warehouse), _whole(query), limits=limits), form, output)


def _prompt(warehouse: Path, form: Format, output: Path | None, limits: "Limits") -> None:
    from iomine.cli.terminal.prompt import converse

    if output is not None:
        raise UsageError("--output needs a query: give one, or leave --output out to get the prompt.")
    converse(database_of(warehouse), form, limits)


def _form_of(output: Path | None) -> Format:
    if output is None:
        return Format.TABLE
    ending = output.suffix.removeprefix(".").lower()
    if ending in _SHEETS:
        raise UsageError(
            f".{ending} is not a format of answers: name the file {output.with_suffix('.csv').name}, which a spreadsheet opens."
        )
    return Format(ending) if ending in set(Format) else Format.TABLE


def _whole(query: str | None) -> str:
    try:
        text = sys.stdin.read() if query in {None, "-"} else str(query)
        text.encode()
    except UnicodeError as error:
        raise UsageError("The query is not UTF-8 text: encode it as UTF-8.") from error
    if not text.strip():
        raise UsageError('The query is empty: give one, such as `iomine sql "SELECT * FROM logs LIMIT 5"`.')
    return text
