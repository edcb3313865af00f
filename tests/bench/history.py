"""A history that is as long as is wanted: one night's files, linked under the names of many nights.

Rows of different nights are alike except for the night, which is their only difference: a log is known by its cluster,
night and id wherever views join. A year so takes the place of a night on the disk, and after a first run lies in memory.
"""

from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from night import CLUSTER

from iomine.lake import LakeFile
from iomine.lake.files import partition_folder
from iomine.triggers import reference_table
from iomine.views.catalog import build_catalog

_FIRST_NIGHT: Final = date(2026, 1, 1)


def nights(count: int) -> list[tuple[str, date]]:
    """Clusters and nights of a history."""
    return [(CLUSTER, _FIRST_NIGHT + timedelta(days=number)) for number in range(count)]


def make_history(night_count: int, files: Iterable[LakeFile], folder: Path) -> Path:
    """Links the files of a night under all nights of a history, and makes the views over them.

    Args:
        night_count: how many nights.
        files: of one night.
        folder: where everything goes; must be on the file system that the files are on.

    Returns:
        The database of views.
    """
    found: dict[str, list[str]] = {}
    for file in files:
        for _, night in nights(night_count):
            place = partition_folder(folder / "lake", file.table, CLUSTER, night) / file.path.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.hardlink_to(file.path)
            found.setdefault(file.table, []).append(str(place))
    database = folder / "history.duckdb"
    build_catalog(database, found, {"triggers": reference_table()}, {}, keeps=True)
    return database
