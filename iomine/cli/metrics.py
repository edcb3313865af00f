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
    from iomine.views.metrics import openmetrics, write_textfile

    if out is not None:
        write_textfile(out, database_of(warehouse))
        return
    sys.stdout.buffer.write(openmetrics(database_of(warehouse), datetime.now(UTC)))
