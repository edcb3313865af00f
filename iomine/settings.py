"""Settings of a site: records with a default for each value, which a TOML file may change, and the secrets that they name."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Self, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from iomine.config import Toml, config_of, parse_toml, read_config, table_of
from iomine.errors import UsageError, did_you_mean

_Value = TypeVar("_Value")
_MOST_SECRET_BYTES: Final = 1 << 16
_TABLE_ERRORS: Final = ("model_type", "dict_type")
# What a value must be, in the words of TOML, by pydantic's type of error; others are in pydantic's words.
_MUST_BE: Final = {
    "float_type": "a number",
    "int_type": "a whole number",
    "string_type": "text",
    "tuple_type": "a list of lines of text",
}


class SiteSettings(BaseModel):
    """A record of settings: each field is a `setting`.

    Attributes:
        whose: what they are settings of, for people.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)
    whose: ClassVar[str]

    @classmethod
    def parse(cls, toml: Toml) -> Self:
        """Settings out of TOML.

        Raises:
            UsageError: it is not TOML, has a setting that the record does not have, or a value is not fit.
        """
        return cls._of(parse_toml(toml))

    def changed(self, **values: object) -> Self:
        """The same with other values, all of them checked as those of a file.

        Raises:
            UsageError: a value is not fit.
        """
        return self._of(dict(self) | values)

    @classmethod
    def _of(cls, values: dict[str, Any]) -> Self:
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise UsageError(_sentence(cls, error.errors()[0])) from error


def setting(default: object, about: str) -> Any:  # noqa: ANN401  as pydantic's Field
    """A field of a record of settings.

    Args:
        default: what it is where the file does not say.
        about: one sentence for people; the comment in the template.
    """
    return Field(default, description=about)


def _printable(text: str) -> str:
    if not text.isprintable():
        raise PydanticCustomError("line", "Input should be one line of text")
    return text


Count = Annotated[int, Field(ge=1)]
CountOrZero = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0)]
Line = Annotated[str, AfterValidator(_printable)]
# TOML has lists.
Lines = Annotated[tuple[Line, ...], Field(strict=False)]


def read_site_file(file: Path, what: str, parse: Callable[[Toml], _Value], *, is_needed: bool = False) -> _Value:
    """What a file of a site says, or the table of its name in the site's `iomine.toml`.

    Args:
        file: the file, in the warehouse.
        what: what it holds, for people.
        parse: makes the value of the file's text, or of the table; of empty text where there is neither.
        is_needed: whether the file itself has to be there.

    Raises:
        UsageError: the file cannot be read, the table is there too, or `parse` refuses what is said; the sentence begins with
            the file.
    """
    toml: Toml
    said = _table_for(file)
    try:
        toml = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"The {what} in {file} are not UTF-8 text: save the file as UTF-8.") from error
    except OSError as error:
        if is_needed or not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise UsageError(f"The {what} in {file} cannot be read ({error.strerror}): name a file that can.") from error
        where, toml = said or (str(file), "")
    else:
        if said:
            raise UsageError(f"{file} and {said[0]} hold the same settings: `iomine config migrate` merges them.")
        where = str(file)
    try:
        return parse(toml)
    except UsageError as error:
        raise UsageError(f"{where}: {error.args[0]}") from error


def has_site_file(file: Path) -> bool:
    """Whether a site has this file in its warehouse, or the table of its name in `iomine.toml`."""
    return os.path.lexists(file) or _table_for(file) is not None


def _table_for(file: Path) -> tuple[str, dict[str, Any]] | None:
    """Where `iomine.toml` has the table that stands for a file, and the table; None where it has none."""
    config = config_of(file.parent)
    if config is None:
        return None
    tables = read_config(config)
    try:
        table = table_of(tables, file.stem)
    except UsageError as error:
        raise UsageError(f"{config}: {error.args[0]}") from error
    return None if table is None else (f"{config}, [{file.stem}]", table)


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
        raise UsageError(f"The {what} {file} is not a regular file: name a regular file.")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise UsageError(
            f"The {what} {file} can be read by others than its owner: make another, or run `chmod 600` if nobody has read it."
        )
    return secret


def _sentence(record: type[SiteSettings], error: ErrorDetails) -> str:
    """What is wrong with the first value that is, and what to write instead."""
    name, value = ".".join(map(str, error["loc"])), error["input"]
    if error["type"] == "extra_forbidden":
        known = _fields_of(record, error["loc"][:-1])
        remedy = f"there are {', '.join(known)}."
        if len(error["loc"]) == 1 and _has_tables_only(record):
            remedy = f"write it below {' or '.join(f'[{table}]' for table in known)}."
        hint = did_you_mean(str(error["loc"][-1]), known) or remedy
        return f"There is no {record.whose} setting {name}: {hint}"
    if error["type"] in _TABLE_ERRORS:
        return f"{name} is a table: write its settings under a line [{name}]."
    expected = _MUST_BE.get(error["type"]) or error["msg"].removeprefix("Input should be ")
    return f"{name} must be {expected}, not {value!r}."


def _has_tables_only(record: type[SiteSettings]) -> bool:
    return all(isinstance(each.default, dict | SiteSettings) for each in record.model_fields.values())


def _fields_of(record: Any, path: tuple[int | str, ...]) -> list[str]:  # noqa: ANN401  a class by its annotation
    for name in path:
        if _is_record(record):
            record = record.model_fields[name].annotation
            # A table that may be left out.
            record = next(filter(_is_record, get_args(record)), record) if type(None) in get_args(record) else record
        else:
            # Of a table of tables, such as one for each cluster, the name is the site's; of a list it is a place.
            record = next(each for each in reversed(get_args(record)) if each is not ...)
    return list(record.model_fields)


def _is_record(record: object) -> bool:
    return isinstance(record, type) and issubclass(record, SiteSettings)
