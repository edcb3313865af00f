"""Options that mean the same wherever they appear."""

import datetime as dt
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer


class Format(StrEnum):
    """How an answer is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


DEFAULT_WAREHOUSE: Final = Path("warehouse")
DEFAULT_CLUSTER: Final = "default"

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
