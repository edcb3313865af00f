"""Words to people. Whatever a log says may reach a terminal, so nothing in it may steer one."""

import os
import shutil
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

import typer

from iomine.units import json_line, visible

# Set by `iomine --log-format`, so that what a command starts writes alike.
LOG_FORMAT_VARIABLE: Final = "IOMINE_LOG_FORMAT"


class LogFormat(StrEnum):
    """How a command writes to stderr."""

    TEXT = "text"
    JSON = "json"


def width() -> int:
    """How many signs fit beside each other: on the terminal, or in a file that people will read."""
    return shutil.get_terminal_size((100, 24)).columns


def is_json() -> bool:
    """Whether stderr is for a program that gathers logs."""
    return os.environ.get(LOG_FORMAT_VARIABLE) == LogFormat.JSON


def say(message: str, *, level: str = "info") -> None:
    """Print a line for people on stderr, or an event with that message.

    Args:
        message: a sentence.
        level: `info`, or `error` where the command cannot go on.
    """
    if is_json():
        write_event("message", level=level, message=message)
    else:
        typer.echo(visible(message), err=True)


def write_event(event: str, *, level: str = "info", **values: object) -> None:
    """Print an event on stderr: one line of JSON, with the time of now (UTC)."""
    line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": level, "event": event}
    typer.echo(json_line(line | values), err=True)
