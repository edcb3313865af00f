"""The table of docs/messages.md: each sentence with which a command can end, out of the places that raise it."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from iomine import errors

_REPO: Final = Path(__file__).parents[1]
_FOLDERS: Final = ("iomine", "flows")
# Of a single input, which becomes a row of `rejects` and ends no command.
_OF_INPUTS: Final = errors.UnreadableError
_ABOUT: Final = {0: "Done", 1: "Failed: status 1", 2: "Misused: status 2"}


def messages_page(made: str) -> str:
    """The page.

    Args:
        made: the line that says that it is made.
    """
    intro = (
        "Each sentence with which a command can end, by exit status, with … for what differs each time. A sentence says what is "
        "wrong and what to do. Status 0 is done, 3 done with rejects: `iomine status` counts these by reason. What is none of "
        "these is a fault of iomine: set IOMINE_DEBUG=1 and report what it prints."
    )
    found = sorted(set(_sentences()))
    sections = (
        line
        for status in sorted({status for status, _, _ in found})
        for line in (
            f"## {_ABOUT[status]}",
            "",
            *(f"- {sentence} (`{room}`)" for each, sentence, room in found if each == status),
            "",
        )
    )
    return "\n".join(("# What a command can end with", "", made, "", intro, "", *sections))


def _sentences() -> Iterator[tuple[int, str, str]]:
    """Exit status, sentence and room of each error that is raised with a sentence of its own."""
    for folder in _FOLDERS:
        for path in sorted((_REPO / folder).rglob("*.py")):
            parts = path.relative_to(_REPO).parts
            room = parts[1] if parts[0] == "iomine" else parts[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                    kind = getattr(errors, getattr(node.exc.func, "id", ""), None)
                    sentence = _sentence(node.exc.args[0])
                    if kind is not None and not issubclass(kind, _OF_INPUTS) and sentence:
                        yield kind.exit_code, sentence, room.removesuffix(".py")


def _sentence(node: ast.expr) -> str:
    """The text, with … for what is put in; empty where it is all put in."""
    match node:
        case ast.Constant(value=str() as text):
            return " ".join(text.split())
        case ast.JoinedStr(values=values):
            text = "".join(each.value if isinstance(each, ast.Constant) else "…" for each in values)
            return " ".join(text.split()) if text.strip("…: ") else ""
    return ""
