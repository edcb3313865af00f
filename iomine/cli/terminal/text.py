"""Words to people. Whatever a log says may reach a terminal, so nothing in it may steer one."""

import json
import shutil

import typer

from iomine.units import visible


def width() -> int:
    """How many signs fit beside each other: on the terminal, or in a file that people will read."""
    return shutil.get_terminal_size((100, 24)).columns


def json_line(value: object) -> str:
    """The value as JSON in one line; the one control character that JSON leaves as it is becomes an escape too."""
    return json.dumps(value, allow_nan=False, default=str).replace("\x7f", "\\u007f")


def say(message: str) -> None:
    """Tell people something: a line on stderr."""
    typer.echo(visible(message), err=True)
