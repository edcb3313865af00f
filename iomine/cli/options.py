"""Options that mean the same wherever they appear."""

# ruff: noqa: PLC0415

import datetime as dt
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.errors import UsageError

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
_DAYS_AGO: Final = re.compile(r"([0-9]{1,9})d")

Warehouse = Annotated[
    Path,
    # Commands say what to do about a folder that cannot be read.
    typer.Option(
        "--warehouse", envvar="IOMINE_WAREHOUSE", metavar="DIR", readable=False, help="The warehouse: tables, views and reports."
    ),
]
Cluster = Annotated[str, typer.Option("--cluster", metavar="NAME", help="The machine that the logs came from.")]
OnlyCluster = Annotated[str | None, typer.Option("--cluster", metavar="NAME", help="Only this machine.", show_default="all")]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDR", help="Address of a Dask scheduler.", show_default="a cluster of its own"),
]
Workers = Annotated[
    int | None, typer.Option("--workers", metavar="N", min=1, help="Worker processes.", show_default="one per core")
]
Slurm = Annotated[bool, typer.Option("--slurm", help="Workers as Slurm jobs, as slurm.toml in the warehouse describes them.")]

AllowEmpty = Annotated[bool, typer.Option("--allow-empty", help="Do not fail if no log is found although most sweeps find some.")]


def night_of(text: str) -> dt.date:
    """A night (UTC) as people write it: 2026-11-01, `yesterday`, `today`, or `7d` for seven days ago.

    Raises:
        ValueError: it is written otherwise.
    """
    today = dt.datetime.now(dt.UTC).date()
    days = {"today": 0, "yesterday": 1}.get(text)
    if days is None and (match := _DAYS_AGO.fullmatch(text)):
        days = int(match[1])
    try:
        return dt.date.fromisoformat(text) if days is None else today - dt.timedelta(days)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text} is not a night: write 2026-11-01, yesterday, or 7d for seven days ago.") from error


def as_night(text: str) -> dt.date:
    """As `night_of`, for an option.

    Raises:
        BadParameter: it is written otherwise.
    """
    try:
        return night_of(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


Since = Annotated[
    dt.date | None,
    typer.Option(
        "--since",
        metavar="DATE",
        parser=as_night,
        help="Only logs of this night (UTC) and later: a date, yesterday, or 7d for seven days ago.",
        show_default="all",
    ),
]
Until = Annotated[
    dt.date | None,
    typer.Option(
        "--until", metavar="DATE", parser=as_night, help="Only logs of this night (UTC) and earlier.", show_default="all"
    ),
]
User = Annotated[
    str | None, typer.Option("--user", metavar="NAME", help="Only logs of this user: a login, or a uid.", show_default="all")
]
App = Annotated[str | None, typer.Option("--app", metavar="NAME", help="Only logs of this program.", show_default="all")]
Account = Annotated[
    str | None, typer.Option("--account", metavar="NAME", help="Only logs charged to this account.", show_default="all")
]
Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=0, help="Stop a query after this time; 0 for never.")]
Memory = Annotated[str, typer.Option("--memory", metavar="SIZE", help="Limit for a query's memory, disk space and answer, each.")]
AnswerFormat = Annotated[Format, typer.Option("--format", help="How to write the answer.")]
AsJson = Annotated[bool, typer.Option("--json", help="The same as --format json.")]


def database_of(warehouse: Path) -> Path:
    """The file of views that answers queries."""
    return warehouse / "iomine.duckdb"


def limits_of(timeout: float, memory: str) -> "Limits":
    """What queries may take, as options say it.

    Raises:
        UsageError: the memory is no number of bytes.
    """
    from iomine.views.query import limits_for_people

    try:
        return limits_for_people(timeout, memory)
    except ValueError as error:
        raise UsageError(f"--memory: {error}") from error
