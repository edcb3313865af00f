"""`iomine metrics`: figures for monitoring."""
# ruff: noqa: PLC0415

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, Warehouse, database_of


def command(
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write them there, as node_exporter's textfile collector reads them."),
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Print figures for Prometheus, in OpenMetrics form.

    They are about the last sweep of each machine, its newest night, findings, mails and free space. `iomine serve` gives the
    same at /metrics, to those who see all runs.
    """
    if out is not None:
        write_textfile(out, database_of(warehouse))
        return
    from iomine.views.metrics import openmetrics

    sys.stdout.buffer.write(openmetrics(database_of(warehouse), datetime.now(UTC)))


def write_textfile(out: Path, database: Path) -> None:
    """Puts the figures into a file, whole at any moment: node_exporter may read it then.

    Raises:
        WarehouseError: there is no warehouse to ask.
        OutputError: the file cannot be written.
    """
    from iomine.cli.terminal.failures import as_output_errors
    from iomine.views.metrics import textfile

    content = textfile(database, datetime.now(UTC))
    # What does not end in .prom is not read.
    new = out.with_name(f".{out.name}.new")
    with as_output_errors():
        new.write_bytes(content)
        new.chmod(0o644)
        new.replace(out)
