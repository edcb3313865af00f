"""Shows readers the last committed sweep: one file of views, swapped in whole."""

from collections.abc import Iterable
from pathlib import Path

from iomine.lake import Warehouse
from iomine.schema import TABLES
from iomine.triggers.judge import settings
from iomine.triggers.model import Trigger
from iomine.triggers.registry import reference_table
from iomine.views.catalog import build_catalog


def publish(warehouse: Warehouse, triggers: Iterable[Trigger] = ()) -> None:
    """Rebuilds the database of views over the files of the last committed sweep, and swaps it in.

    Args:
        warehouse: where the files lie.
        triggers: what was judged by, whose settings views are to work with too.
    """
    build_views(warehouse, warehouse.database, triggers)


def build_views(warehouse: Warehouse, target: Path, triggers: Iterable[Trigger] = ()) -> None:
    """Builds a database of views over the files of the last committed sweep, as `publish` does."""
    lake = warehouse.lake
    pins = lake.pins()
    files: dict[str, list[str]] = {}
    for file in lake.files(pins):
        # Tables of older versions stay in the lake and out of sight.
        if file.table not in TABLES:
            continue
        files.setdefault(file.table, []).append(str(file.path))
    meta = {f"version.{table}": str(version) for table, version in pins.items()}
    build_catalog(target, files, {"triggers": reference_table()}, meta, settings=settings(tuple(triggers)))
