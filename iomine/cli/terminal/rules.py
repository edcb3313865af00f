"""Reports the site's own rules that are left out, once in each command that goes on without them."""

from pathlib import Path

from iomine.cli.terminal.text import say
from iomine.lake import Warehouse
from iomine.pipeline.site.rules import site_rules


def say_left_out(warehouse: Path) -> None:
    """Says which triggers and views of the site are left out, and why."""
    for fault in site_rules(Warehouse(warehouse)).left_out.values():
        say(f"Left out: {fault}")
