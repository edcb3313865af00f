"""iomine reads the I/O logs of a computing centre every night and says what is wrong, what it cost and what to change."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from iomine.views.published import PublishedViews

    __version__: str

# What a query of people may take, until they say otherwise: other people work on a login node too.
QUERY_SECONDS: Final = 300.0
QUERY_MEMORY: Final = "4GiB"


def __getattr__(name: str) -> str:
    """The version, read when it is asked for: what reads it takes as long to load as the command line."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415

    return version("iomine")


def open(  # noqa: A001  read as iomine.open
    warehouse: str | os.PathLike[str] | None = None, *, timeout: float = QUERY_SECONDS, memory: str = QUERY_MEMORY
) -> "PublishedViews":
    """Opens the published views of a warehouse, to ask them from Python: `iomine.open("warehouse").pandas("FROM findings")`.

    Nothing can be changed through it. It imports DuckDB and what belongs to it, which `import iomine` does not.

    Args:
        warehouse: the folder; as on the command line it is the one that `IOMINE_WAREHOUSE` names, or `warehouse`, if left out.
        timeout: seconds after which a query is stopped, 0 for never.
        memory: what a query may hold in memory, as much on disk, and its answer again; such as `512MB` or `4GiB`.

    Raises:
        iomine.errors.WarehouseError: there is no warehouse, or it cannot be read.
        ValueError: the memory is no number of bytes.
    """
    from iomine.views.published import PublishedViews  # noqa: PLC0415  takes a second
    from iomine.views.query import limits_for_people  # noqa: PLC0415

    folder = Path(warehouse or os.environ.get("IOMINE_WAREHOUSE", "warehouse"))
    return PublishedViews(folder / "iomine.duckdb", limits_for_people(timeout, memory))
