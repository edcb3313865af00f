"""The pages that follow from the program are as it is now."""

import sys
from pathlib import Path

from iomine.cli.app import commands
from iomine.triggers import TRIGGERS

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
import make

DOCS = Path(make.__file__).parent


def test_pages_are_up_to_date() -> None:
    """Each page is what docs/make.py would write, and none is left that it no longer makes; if not, run `make docs`."""
    expected = make.pages()
    missing = [path for path in expected if not path.exists()]
    assert [] == missing, "Run `make docs`."
    outdated = [path for path, text in expected.items() if path.read_text(encoding="utf-8") != text]
    assert [] == outdated, "Run `make docs`."
    assert [] == make.stale(), "Run `make docs`."


def test_every_command_and_trigger_has_its_place() -> None:
    """No command and no trigger is left out of the docs."""
    headings = set((DOCS / "cli.md").read_text(encoding="utf-8").splitlines())
    assert {f"## iomine {name}" for name in commands()} <= headings
    index = (DOCS / "triggers.md").read_text(encoding="utf-8")
    assert [] == [code for code in TRIGGERS if f"[{code}](triggers/{code}.md)" not in index]


def test_pages_of_a_trigger_that_is_no_more_go(monkeypatch, tmp_path: Path) -> None:
    """What `make docs` once wrote for a trigger leaves with it; pages of other triggers stay."""
    monkeypatch.setattr(make, "_TRIGGERS", tmp_path)
    for code in ("POSIX-101", "POSIX-999"):
        (tmp_path / f"{code}.md").touch()
    assert [tmp_path / "POSIX-999.md"] == make.stale()


def test_every_page_that_another_program_writes_is_listed() -> None:
    """`make docs` names all programs that write a page and take minutes, and only such."""
    written = {
        page.name: command
        for page in (*DOCS.glob("*.md"), *DOCS.glob("*.ipynb"))
        for command in [page.read_text(encoding="utf-8").partition("Written by tests/")[2].partition(".py")[0]]
        if command
    }
    assert written == {page: command.removeprefix("tests/").partition(".py")[0] for page, command in make.SLOW.items()}
