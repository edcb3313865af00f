"""Words to people. Whatever a log says may reach a terminal, so nothing in it may steer one."""

import shutil

import typer

from iomine.units import visible


def width() -> int:
    """How many signs fit beside each other: on the terminal, or in a file that people will read."""
    return shutil.get_terminal_size((100, 24)).columns


def say(message: str) -> None:
    """Print a line for people on stderr."""
    typer.echo(visible(message), err=True)
