"""Files in the warehouse in which a site says what it wants otherwise."""

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from iomine.errors import UsageError


@contextmanager
def site_file(file: Path, what: str) -> Iterator[str]:
    """The text of a file; what is wrong with it, or found to be wrong in it meanwhile, is told with its name.

    Args:
        file: the file.
        what: what it holds, for people.

    Raises:
        UsageError: the file cannot be read, or something in it is not fit.
    """
    try:
        yield file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The {what} in {file} cannot be read ({error.strerror}): name a file that can.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"The {what} in {file} are not UTF-8 text: save the file as such.") from error
    except UsageError as error:
        raise UsageError(f"{file}: {error.args[0]}") from error


def only_table(text: str, name: str, example: str) -> dict[str, Any]:
    """The one table that a TOML file may have; empty where it has none.

    Args:
        text: the file.
        name: the table's name.
        example: a line of it, for people.

    Raises:
        UsageError: it is not TOML, or has something else.
    """
    try:
        tables = tomllib.loads(text)
    except ValueError as error:
        raise UsageError(f"This is not TOML: {error}.") from error
    table = tables.pop(name, {})
    if tables or not isinstance(table, dict):
        stray = next(iter(tables), name)
        raise UsageError(f"{stray} is not known here: write lines such as {example} under [{name}].")
    return table
