"""The pages that follow from the program are as it is now."""

import runpy
from pathlib import Path

from iomine.cli.app import commands
from iomine.triggers import TRIGGERS

DOCS = Path(__file__).parents[3] / "docs"


def test_pages_are_up_to_date() -> None:
    """docs/cli.md and docs/triggers.md are what `make docs` would write, to be run after a command or trigger changed."""
    expected = runpy.run_path(str(DOCS / "make.py"))["pages"]()
    outdated = [str(path) for path, text in expected.items() if text != path.read_text(encoding="utf-8")]
    assert [] == outdated, "Run `make docs`, which writes them anew."


def test_every_command_and_trigger_has_its_place() -> None:
    """No command and no trigger is left out of the docs."""
    headings = set((DOCS / "cli.md").read_text(encoding="utf-8").splitlines())
    assert {f"## iomine {name}" for name in commands()} <= headings
    triggers = (DOCS / "triggers.md").read_text(encoding="utf-8")
    assert [code for code in TRIGGERS if f"\n{code}: " not in triggers] == []
