"""Shows readers a committed sweep: one file of views, swapped in whole."""

from collections.abc import Iterable
from pathlib import Path

from iomine.lake import Snapshot, Warehouse
from iomine.pipeline.site.views import ViewSettings, site_views
from iomine.triggers.judge import settings
from iomine.triggers.model import Trigger
from iomine.triggers.registry import reference_table
from iomine.views.catalog import build_catalog


def publish(warehouse: Warehouse, triggers: Iterable[Trigger] = (), snapshot: Snapshot | None = None) -> None:
    """Rebuilds the database of views over the files of a committed sweep, and swaps it in.

    Args:
        warehouse: where the files lie.
        triggers: what was judged by, whose settings views are to work with too.
        snapshot: the lake as of that sweep, where it has been read already.

    Raises:
        UsageError: the site's settings of views are not fit.
    """
    build_views(snapshot or warehouse.lake.snapshot(), warehouse.database, triggers, site_views(warehouse))


def build_views(snapshot: Snapshot, target: Path, triggers: Iterable[Trigger] = (), views: ViewSettings | None = None) -> None:
    """Builds a database of views over the files of a committed sweep, as `publish` does."""
    files: dict[str, list[str]] = {}
    for file in snapshot.files:
        files.setdefault(file.table, []).append(str(file.path))
    meta = {f"version.{table}": str(version) for table, version in snapshot.versions.items()}
    numbers = settings(tuple(triggers)) | dict(views or ViewSettings())
    build_catalog(target, files, {"triggers": reference_table()}, meta, settings=numbers)
