"""Writes the pages of this folder that follow from the program: `python docs/make.py` after a command or trigger changed."""

from pathlib import Path
from typing import Final

from typer.testing import CliRunner

from iomine.cli.app import build_app, commands
from iomine.cli.explain import page_text
from iomine.triggers import MANUALS

_HERE: Final = Path(__file__).parent
_MADE: Final = "<!-- Written by docs/make.py: change the program, then run that. -->"
# Help is laid out for the terminal that asks; a page must not depend on whose that is.
_TERMINAL: Final = {"COLUMNS": "80", "IOMINE_WAREHOUSE": None}


def pages() -> dict[Path, str]:
    """The text of every page that is written here, by its path."""
    return {_HERE / "cli.md": _cli_page(), _HERE / "triggers.md": _triggers_page()}


def _cli_page() -> str:
    intro = "What `--help` says, command by command. Options of the same name mean the same everywhere."
    sections = [_help(), *(_help(name) for name in commands())]
    return "\n".join(("# The command line", "", _MADE, "", intro, "", *sections))


def _help(*command: str) -> str:
    answer = CliRunner().invoke(build_app(), [*command, "--help"], env=_TERMINAL, prog_name="iomine")
    title = " ".join(("iomine", *command))
    lines = [line.rstrip() for line in answer.stdout.strip().splitlines()]
    return "\n".join((f"## {title}", "", "```console", f"$ {title} --help", *lines, "```", ""))


def _triggers_page() -> str:
    intro = "What `iomine explain CODE` says, trigger by trigger."
    return "\n".join((_MADE, "", intro, "", *(page_text(page) for page in MANUALS.values())))


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
