"""Files in which a site sets what is to differ for it."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from iomine.errors import UsageError

_Read = TypeVar("_Read")


def read_site_file(file: Path, what: str, parse: Callable[[str], _Read]) -> _Read:
    """What a site's file says.

    Args:
        file: its path.
        what: what it sets, for messages.
        parse: makes it of the file's text, and may raise UsageError.

    Raises:
        UsageError: the file cannot be read, or says what it may not.
    """
    try:
        return parse(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The {what} in {file} cannot be read ({error.strerror}): name a file that can.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"The {what} in {file} are not UTF-8 text: save the file as such.") from error
    except UsageError as error:
        raise UsageError(f"{file}: {error.args[0]}") from error
