"""Shows readers a committed sweep: one file of views, swapped in whole."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from iomine.lake import Snapshot, Warehouse
from iomine.pipeline.site.rules import site_rules
from iomine.pipeline.site.views import ViewSettings, site_views
from iomine.triggers.judge import settings
from iomine.triggers.model import Trigger
from iomine.triggers.site import NO_RULES, SiteRules
from iomine.views.catalog import build_catalog

# Views over fewer logs are computed when they are queried: that is as fast as reading a kept answer.
_KEPT_FROM_LOGS: Final = 10_000


def publish(warehouse: Warehouse, triggers: Iterable[Trigger] = (), snapshot: Snapshot | None = None) -> None:
    """Rebuilds the database of views over the files of a committed sweep, and swaps it in.

    Args:
        warehouse: where the files lie.
        triggers: what was judged by; views use their settings too.
        snapshot: the lake after that sweep, if it has been read already.

    Raises:
        UsageError: the site's settings of views are not fit.
    """
    rules = site_rules(warehouse)
    snapshot = snapshot or warehouse.lake.snapshot()
    keeps = sum(file.row_count for file in snapshot.of("log")) >= _KEPT_FROM_LOGS
    build_views(snapshot, warehouse.database, triggers, site_views(warehouse), rules, keeps=keeps)


def build_views(
    snapshot: Snapshot,
    target: Path,
    triggers: Iterable[Trigger] = (),
    views: ViewSettings | None = None,
    rules: SiteRules = NO_RULES,
    *,
    keeps: bool = False,
) -> None:
    """Builds a database of views over the files of a committed sweep, as `publish` does."""
    files: dict[str, list[str]] = {}
    for file in snapshot.files:
        files.setdefault(file.table, []).append(str(file.path))
    meta = {f"version.{table}": str(version) for table, version in snapshot.versions.items()}
    numbers = settings(tuple(triggers)) | dict(views or ViewSettings())
    build_catalog(target, files, rules.reference(), meta, settings=numbers, site=rules.views, keeps=keeps)
