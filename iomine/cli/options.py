"""Options that mean the same wherever they appear."""

# ruff: noqa: PLC0415

import datetime as dt
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.errors import UsageError
from iomine.units import bytes_of

if TYPE_CHECKING:
    from iomine.views.query import Limits


class Format(StrEnum):
    """How an answer is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


DEFAULT_WAREHOUSE: Final = Path("warehouse")
DEFAULT_CLUSTER: Final = "default"
# Other people work on a login node too.
_MOST_THREADS: Final = 8

Warehouse = Annotated[
    Path, typer.Option("--warehouse", envvar="IOMINE_WAREHOUSE", metavar="DIR", help="The warehouse: tables, views and reports.")
]
Cluster = Annotated[str, typer.Option("--cluster", metavar="NAME", help="The machine that the logs came from.")]
OnlyCluster = Annotated[
    str | None, typer.Option("--cluster", metavar="NAME", help="Only logs of this machine.", show_default="all")
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDR", help="Address of a Dask scheduler.", show_default="a cluster of its own"),
]
Workers = Annotated[
    int | None, typer.Option("--workers", metavar="N", min=1, help="Worker processes.", show_default="one per core")
]
Slurm = Annotated[bool, typer.Option("--slurm", help="Workers as Slurm jobs, as slurm.toml in the warehouse describes them.")]
Since = Annotated[
    dt.datetime | None,
    typer.Option(
        "--since", metavar="DATE", formats=["%Y-%m-%d"], help="Only logs of this night (UTC) and later.", show_default="all"
    ),
]
Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=0, help="Stop a query after so long; 0 for never.")]
Memory = Annotated[
    str, typer.Option("--memory", metavar="SIZE", help="What a query may hold in memory, as much on disk, and its answer again.")
]
AnswerFormat = Annotated[Format, typer.Option("--format", help="How to write the answer.")]


def database_of(warehouse: Path) -> Path:
    """The file of views that answers queries."""
    return warehouse / "iomine.duckdb"


def limits_of(timeout: float, memory: str) -> "Limits":
    """What queries may take, as options say it.

    Raises:
        UsageError: the memory is no number of bytes.
    """
    from iomine.views.query import Limits

    try:
        memory_bytes = bytes_of(memory)
    except ValueError as error:
        raise UsageError(f"--memory: {error}") from error
    return Limits(timeout or None, memory_bytes, min(_MOST_THREADS, len(os.sched_getaffinity(0))))
