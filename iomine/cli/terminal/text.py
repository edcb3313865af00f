"""Words to people. Whatever a log says may reach a terminal, so nothing in it may steer one."""

import typer

from iomine.units import visible


def say(message: str) -> None:
    """Tell people something: a line on stderr."""
    typer.echo(visible(message), err=True)
