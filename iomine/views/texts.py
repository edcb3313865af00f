"""Files under `sql/`: where they are, and what each says of itself."""

import tomllib
from collections.abc import Collection, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

_FENCE: Final = "-- ---"


class ViewError(ValueError):
    """A file under `sql/` does not make a view."""


def sql_folder() -> Traversable:
    """The folder `sql/`: within the package in a wheel, beside it in a checkout."""
    within = files("iomine") / "sql"
    return within if within.is_dir() else Path(__file__).parents[2] / "sql"


def parsed_text(text: str, path: str, keys: Sequence[str], more: Collection[str] = ()) -> tuple[dict[str, Any], str]:
    """The header and the query of a file under `sql/`, or of a site's view.

    Args:
        text: of the file.
        path: of the file, for messages.
        keys: what the header must say, `about` among them.
        more: what it may say besides.

    Raises:
        ViewError: the header is missing or wrong.
    """
    start, _, rest = text.partition(f"{_FENCE}\n")
    header, fence, sql = rest.partition(f"{_FENCE}\n")
    if start or not fence:
        raise ViewError(f"{path} must begin with a header between two lines of '{_FENCE}'.")
    try:
        settings = tomllib.loads("".join(line.removeprefix("--").lstrip(" ") for line in header.splitlines(keepends=True)))
    except tomllib.TOMLDecodeError as error:
        raise ViewError(f"The header of {path} is not TOML: {error}.") from error
    if settings.keys() - set(more) != set(keys) or not settings["about"]:
        raise ViewError(f"The header of {path} must say {', '.join(keys[:-1])} and {keys[-1]}, and nothing else.")
    return settings, sql.strip()
