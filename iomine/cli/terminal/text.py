"""Words to people. Whatever a log says may reach a terminal, so nothing in it may steer one."""

import json

import typer


def visible(text: str) -> str:
    """The text in one line: control characters and other invisible ones become escapes, as in Python's source."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)


def json_line(value: object) -> str:
    """The value as JSON in one line; the one control character that JSON leaves as it is becomes an escape too."""
    return json.dumps(value, allow_nan=False, default=str).replace("\x7f", "\\u007f")


def say(message: str) -> None:
    """Tell people something: a line on stderr."""
    typer.echo(visible(message), err=True)
