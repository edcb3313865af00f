"""Settings of a site: records with a default for each value, which a TOML file may change, and the secrets that they name."""

import math
import os
import stat
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import Field, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from iomine.errors import UsageError, did_you_mean

_Record = TypeVar("_Record")
_MOST_SECRET_BYTES: Final = 1 << 16


def setting(default: object, about: str, least: int = 1, choices: Sequence[str] = ()) -> Any:  # noqa: ANN401  as dataclasses.field
    """A field of a record of settings.

    Args:
        default: what it is where the file does not say; of the type that it must have. A class stands for a table of its own, and
            an empty dict of a type of values for names that are the site's.
        about: one sentence for people.
        least: the least that a number may be.
        choices: all that a text may be.
    """
    metadata = {"about": about, "least": least, "choices": choices, "default": default}
    if isinstance(default, type):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def table_of(default: type, about: str) -> Any:  # noqa: ANN401  as dataclasses.field
    """A field for a table whose names are the site's own, with values of one type; empty by default."""
    return field(default_factory=dict, metadata={"about": about, "least": 0, "choices": (), "values": default()})


def parse_settings(record: type[_Record], text: str, what: str) -> _Record:
    """Settings out of TOML.

    Args:
        record: their class, of which every field is a `setting`.
        text: the file.
        what: whose settings they are, for people.

    Raises:
        UsageError: it is not TOML, or a setting in it is none or not fit.
    """
    try:
        given = tomllib.loads(text)
    except ValueError as error:
        raise UsageError(f"This is not TOML: {error}.") from error
    return _filled(record, given, what, "")


def read_secret(file: Path, what: str) -> bytes:
    """All bytes of a file that holds a secret, or one more than 64 KiB where it holds more than that.

    Args:
        file: the file.
        what: what it holds, in a word.

    Raises:
        UsageError: it cannot be read, is no regular file, or others than its owner may read it.
    """
    try:
        with file.open("rb") as opened:
            status = os.fstat(opened.fileno())
            secret = opened.read(_MOST_SECRET_BYTES + 1) if stat.S_ISREG(status.st_mode) else b""
    except OSError as error:
        raise UsageError(f"The {what} {file} cannot be read ({error.strerror}): name a file that can.") from error
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"The {what} {file} is not a regular file: name one that keeps its bytes.")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise UsageError(
            f"The {what} {file} is open to others than its owner: make another, or run `chmod 600` if nobody saw it."
        )
    return secret


def _filled(record: type[_Record], given: Mapping[str, Any], what: str, prefix: str) -> _Record:
    known = {each.name: each for each in fields(record)}  # type: ignore[arg-type]  # records are dataclasses
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"there are {', '.join(known)}."
            raise UsageError(f"There is no {what} setting {prefix}{name}: {hint}")
    return record(**{name: _checked(known[name], value, what, prefix + name) for name, value in given.items()})


def _checked(known: Field[Any], value: Any, what: str, name: str) -> Any:  # noqa: ANN401  of the setting's type
    """The value, in the setting's type."""
    if "values" in known.metadata:
        return {key: _fit(known, known.metadata["values"], each, f"{name}.{key}") for key, each in _table(value, name).items()}
    default = known.metadata["default"]
    if is_dataclass(default):
        return _filled(default, _table(value, name), what, f"{name}.")  # type: ignore[arg-type]  # it is a class here
    return _fit(known, default, value, name)


def _table(value: Any, name: str) -> Mapping[str, Any]:  # noqa: ANN401  as TOML gives it
    if not isinstance(value, dict):
        raise UsageError(f"{name} is a table: write its settings under a line [{name}].")
    return value


def _fit(known: Field[Any], default: object, value: object, name: str) -> Any:  # noqa: ANN401  of the setting's type
    least, choices = known.metadata["least"], known.metadata["choices"]
    match default, value:
        # True is an int to Python.
        case int(), int() if not isinstance(value, bool) and value >= least:
            return value
        case int(), _:
            raise UsageError(f"{name} must be a whole number from {least} on, not {value!r}.")
        case float(), int() | float() if not isinstance(value, bool) and least <= value and _is_finite(value):
            return float(value)
        case float(), _:
            raise UsageError(f"{name} must be a number from {least} on, not {value!r}.")
        case str(), str() if choices and value not in choices:
            raise UsageError(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
        case str(), str() if value.isprintable():
            return value
        case str(), _:
            raise UsageError(f"{name} must be a line of text, not {value!r}.")
        case _, list() if all(isinstance(line, str) and line.isprintable() for line in value):
            return tuple(value)
        case _:
            raise UsageError(f"{name} must be a list of lines of text, not {value!r}.")


def _is_finite(value: float) -> bool:
    # TOML's integers have no bound.
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
