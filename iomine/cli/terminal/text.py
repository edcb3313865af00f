"""Words to people. Whatever a log says may reach a terminal, so nothing in it may steer one."""

import json
import shutil

import typer


def visible(text: str) -> str:
    """The text in one line: control characters and other invisible ones become escapes, as in Python's source."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)


def width() -> int:
    """How many signs fit beside each other: on the terminal, or in a file that people will read."""
    return shutil.get_terminal_size((100, 24)).columns


def json_line(value: object) -> str:
    """The value as JSON in one line; the one control character that JSON leaves as it is becomes an escape too."""
    return json.dumps(value, allow_nan=False, default=str).replace("\x7f", "\\u007f")


def say(message: str) -> None:
    """Tell people something: a line on stderr."""
    typer.echo(visible(message), err=True)
