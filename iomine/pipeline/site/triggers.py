"""Triggers with the thresholds of a site."""

from functools import partial
from pathlib import Path

from iomine.lake import Warehouse
from iomine.settings import read_site_file
from iomine.triggers.bars import parse_bars, with_bars
from iomine.triggers.model import Trigger
from iomine.triggers.registry import TRIGGERS


def site_triggers(warehouse: Warehouse, bars: Path | None = None) -> dict[str, Trigger]:
    """All triggers, with the bars of the site.

    Args:
        warehouse: its `bars.toml` is the site's standing choice, if there is one.
        bars: a file of bars to take instead.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit to be a bar.
    """
    file = warehouse.root / "bars.toml" if bars is None else bars
    site_bars = read_site_file(file, "bars", partial(parse_bars, triggers=TRIGGERS), is_needed=bars is not None)
    return with_bars(TRIGGERS, site_bars)
