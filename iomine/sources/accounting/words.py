"""What schedulers write in a column: each word is read once, however many rows hold it.

A function that reads a word gives None if the scheduler says that it does not know, and raises ValueError if it is not
understood what the scheduler says.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

_MOST: Final = 2**63 - 1
_NOTHING: Final = frozenset({"", "(null)", "N/A", "None", "Unknown", "INVALID", "NOT_SET"})
_NO_LIMIT: Final = _NOTHING | {"UNLIMITED", "Partition_Limit", "INFINITE"}
_NO_TIME: Final = _NOTHING | {"0"}
_NO_NAME: Final = pa.array(["", "(null)"])
_NO_NODES: Final = pa.array(sorted(_NOTHING | {"None assigned"}))
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Digits are counted, so that no number is too long to be converted.
_COUNT: Final = re.compile(r"(\d{1,19}(?:\.\d{1,6})?)([KMGTPE]?)", re.ASCII)
_SECONDS: Final = re.compile(r"(?:(?:(\d{1,7})-)?(\d{1,9}):)?(\d{1,9}):(\d\d(?:\.\d{1,6})?)|(\d{1,12}(?:\.\d{1,6})?)", re.ASCII)
_SINCE_EPOCH: Final = re.compile(r"\d{9,10}(?:\.\d{1,6})?", re.ASCII)
_LENGTH: Final = len("1970-01-01T00:00:00")
_POWERS: Final = {unit: 1024**power for power, unit in enumerate(("", *"KMGTPE"))}


def read_each(texts: pa.Array, read: Callable[[str], Any]) -> tuple[list[Any], pa.Array, list[int]]:
    """Reads each text of a column once.

    Args:
        texts: NULL where the record has nothing.
        read: reads one text.

    Returns:
        The distinct values, the index of each row's value among them, and the rows whose texts are not understood; their
        values are None.
    """
    encoded = texts.dictionary_encode()
    values, misread = [], []
    for index, text in enumerate(encoded.dictionary.to_pylist()):
        try:
            values.append(read(text))
        except ValueError:
            values.append(None)
            misread.append(index)
    rows = pc.indices_nonzero(pc.is_in(encoded.indices, pa.array(misread, encoded.indices.type))).to_pylist() if misread else []
    return values, encoded.indices, rows


def names(texts: pa.Array) -> pa.Array:
    """Names, as they are; NULL where there is none."""
    return pc.if_else(pc.is_in(texts, _NO_NAME), None, texts)


def nodes(texts: pa.Array) -> pa.Array:
    """Lists of nodes, folded; empty where a job has none."""
    return pc.if_else(pc.is_in(texts, _NO_NODES), "", texts)


def state(text: str) -> str | None:
    """A job's state without who brought it about: `CANCELLED by 123` is CANCELLED."""
    return text.split(" ", 1)[0] or None


def number(text: str) -> int | None:
    """A number that names something, such as a user."""
    if not text.isdecimal() and text not in _NOTHING:
        raise ValueError(text)
    return count(text)


def count(text: str) -> int | None:
    """A whole number, with a binary unit where Slurm gave it one: `2K` nodes are 2048."""
    if text in _NOTHING:
        return None
    match = _COUNT.fullmatch(text)
    if not match or ("." in match[1] and not match[2]):
        raise ValueError(text)
    number = round(float(match[1]) * _POWERS[match[2]]) if match[2] else int(match[1])
    if number > _MOST:
        raise ValueError(text)
    return number


def seconds(text: str) -> float | None:
    """A length of time: `[D-]HH:MM:SS`, `MM:SS.mmm`, or seconds; None where there is no limit."""
    if text in _NO_LIMIT:
        return None
    match = _SECONDS.fullmatch(text)
    if not match:
        raise ValueError(text)
    days, hours, minutes, rest, plain = match.groups()
    if plain:
        return float(plain)
    return int(days or 0) * 86_400 + int(hours or 0) * 3600 + int(minutes) * 60 + float(rest)


def minutes(text: str) -> str:
    """Minutes, as text that `seconds` reads."""
    return f"{text}:00" if text.isdecimal() else text


def moment(text: str) -> datetime | None:
    """A moment: without a zone where the text has none, in UTC where it is in seconds since 1970."""
    if text in _NO_TIME:
        return None
    if _SINCE_EPOCH.fullmatch(text):
        return _EPOCH + timedelta(seconds=float(text))
    if not "1970" <= text < "2970" or len(text) < _LENGTH:
        raise ValueError(text)
    return datetime.fromisoformat(text)


class Tres(NamedTuple):
    """What was allocated of the trackable resources that are asked for here."""

    node_count: int | None = None
    core_count: int | None = None
    gpu_count: int | None = None


def tres(text: str) -> Tres:
    """Nodes, cores and GPUs of Slurm's `billing=12,cpu=12,gres/gpu:a100=2,gres/gpu=2,node=1`.

    GPUs of a type are among those without one, and only count where the latter are missing. An allocation that names no
    GPUs has none.
    """
    if text in _NOTHING:
        return Tres()
    amounts = dict(entry.partition("=")[::2] for entry in text.split(","))
    typed = [count(amount) or 0 for name, amount in amounts.items() if name.startswith("gres/gpu:")]
    gpus = amounts.get("gres/gpu")
    return Tres(count(amounts.get("node", "")), count(amounts.get("cpu", "")), sum(typed) if gpus is None else count(gpus))
