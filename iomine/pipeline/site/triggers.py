"""Triggers with the thresholds of a site."""

from functools import partial
from pathlib import Path
from typing import Final

from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.settings import read_site_file
from iomine.triggers.model import Trigger
from iomine.triggers.registry import TRIGGERS
from iomine.triggers.thresholds import parse_thresholds, with_thresholds

THRESHOLDS_FILE: Final = "thresholds.toml"
# Its name until 0.2, read for one release more.
OLD_FILE: Final = "bars.toml"


def site_triggers(warehouse: Warehouse, thresholds: Path | None = None) -> dict[str, Trigger]:
    """All triggers, with the thresholds of the site.

    Args:
        warehouse: its `thresholds.toml` is the site's standing choice, if there is one.
        thresholds: a file of thresholds to take instead.

    Raises:
        UsageError: the file cannot be read, is there under its old name too, or something in it is not fit to be a threshold.
    """
    file = _standing(warehouse.root) if thresholds is None else thresholds
    parse = partial(parse_thresholds, triggers=TRIGGERS)
    return with_thresholds(TRIGGERS, read_site_file(file, "thresholds", parse, is_needed=thresholds is not None))


def _standing(root: Path) -> Path:
    file, old = root / THRESHOLDS_FILE, root / OLD_FILE
    if not old.exists():
        return file
    if file.exists():
        raise UsageError(
            f"{root} has {THRESHOLDS_FILE} and {OLD_FILE}: put all thresholds in {THRESHOLDS_FILE}, delete {OLD_FILE}."
        )
    return old
