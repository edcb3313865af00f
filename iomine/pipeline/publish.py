"""Shows readers the last committed sweep: one file of views, swapped in whole."""

from iomine.lake import Warehouse
from iomine.triggers.registry import reference_table
from iomine.views.catalog import build_catalog


def publish(warehouse: Warehouse) -> None:
    """Rebuilds the database of views over the files of the last committed sweep, and swaps it in."""
    lake = warehouse.lake
    pins = lake.pins()
    files: dict[str, list[str]] = {}
    for file in lake.files(pins):
        files.setdefault(file.table, []).append(str(file.path))
    meta = {f"version.{table}": str(version) for table, version in pins.items()}
    build_catalog(warehouse.database, files, {"triggers": reference_table()}, meta)
