"""Triggers with the thresholds of a site."""

from pathlib import Path
from typing import Final

from iomine.config import Toml, parse_toml
from iomine.errors import UsageError
from iomine.lake import Warehouse
from iomine.pipeline.site.rules import site_rules
from iomine.settings import read_site_file
from iomine.triggers.model import Trigger
from iomine.triggers.registry import TRIGGERS
from iomine.triggers.site import SiteRules
from iomine.triggers.thresholds import SiteThreshold, parse_thresholds, with_thresholds

THRESHOLDS_FILE: Final = "thresholds.toml"
# Its name until 0.2, read for one release more.
OLD_FILE: Final = "bars.toml"


def site_triggers(warehouse: Warehouse, thresholds: Path | None = None, rules: SiteRules | None = None) -> dict[str, Trigger]:
    """All triggers, those of the site among them, with the thresholds of the site.

    Args:
        warehouse: its `thresholds.toml` is the site's standing choice, if there is one.
        thresholds: a file of thresholds to take instead.
        rules: the site's rules, where they are not those in force.

    Raises:
        UsageError: the file cannot be read, is there under its old name too, or something in it is not fit to be a threshold.
    """
    file = _standing(warehouse.root) if thresholds is None else thresholds
    rules = site_rules(warehouse) if rules is None else rules
    triggers = TRIGGERS | rules.triggers

    def parse(toml: Toml) -> tuple[SiteThreshold, ...]:
        # A trigger that is left out must not end the sweep.
        tables = {code: table for code, table in parse_toml(toml).items() if code not in rules.left_out}
        return parse_thresholds(tables, triggers)

    return with_thresholds(triggers, read_site_file(file, "thresholds", parse, is_needed=thresholds is not None))


def _standing(root: Path) -> Path:
    file, old = root / THRESHOLDS_FILE, root / OLD_FILE
    if not old.exists():
        return file
    if file.exists():
        raise UsageError(
            f"{root} has {THRESHOLDS_FILE} and {OLD_FILE}: put all thresholds in {THRESHOLDS_FILE}, delete {OLD_FILE}."
        )
    return old
