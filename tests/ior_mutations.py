"""Damages IOR's outputs and says what becomes of them: `python tests/ior_mutations.py 20000`, which `make fuzz` calls.

An output that was damaged is read or refused, never a crash; where rows come of it, bytes, rate and time of each agree; and where
nothing was damaged but the name of a unit, the rows are those of the sound output.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from random import Random
from typing import Any, Final

import pyarrow as pa
from mutations import cut, other_bytes, spliced
from shared import SHARED_DATA

from iomine.errors import UnreadableError
from iomine.schema.registry import arrow_schema
from iomine.sources.ior import SOURCES
from iomine.sources.ior.rows import TABLE
from iomine.sources.model import Input, Readings

AT: Final = datetime(2026, 1, 6, tzinfo=UTC)
_UNITS: Final = (b"bytes", b"KiB", b"MiB", b"GiB", b"TiB", b"MB", b"(s)", b"(ms)")
_UNIT: Final = re.compile(rb"bytes|[KMGT]iB|MIB|\(s\)")
_NUMBER: Final = re.compile(rb"\d+(?:\.\d+)?")
# Times are printed to half of a tenth of a millisecond, half a hundredth and half a second.
_HALVES: Final = ((1.0, 5e-5), (3600.0, 5e-3), (float("inf"), 0.5))
# A MiB taken for a MB is 4.9 % off.
_TOLERANCE: Final = 0.02

Rows = list[dict[str, Any]]


def given(data: bytes, path: str = "/ior/out", cluster: str = "here") -> Input:
    """An input as a sweep gives it."""
    return Input(path, data, AT, cluster=cluster)


def read(data: bytes, path: str = "/ior/out") -> Readings:
    """What the first reader that knows the input makes of it.

    Raises:
        UnreadableError: none knows it, or it cannot read it.
    """
    source = next((each for each in SOURCES if each.knows(given(data, path))), None)
    if source is None:
        raise UnreadableError("Nobody knows it.")
    return source.read(given(data, path))


def rows(data: bytes) -> Rows:
    """Rows of an output, none where it has none."""
    tables = read(data).tables
    return tables[TABLE].to_pylist() if TABLE in tables else []


@cache
def real() -> tuple[bytes, ...]:
    """Real outputs that have runs, none where they are not here."""
    folders = (SHARED_DATA / "ior", SHARED_DATA / "groundtruth" / "ior")
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file() and path.name != "README.md")
    contents = (path.read_bytes() for path in files)
    return tuple(data for data in contents if rows(data))


def outcomes(sound: tuple[bytes, ...], count: int, seed: int) -> Counter[str]:
    """How often damage ended in what.

    Args:
        sound: outputs to damage.
        count: how many damaged ones to make.
        seed: of chance.

    Raises:
        AssertionError: rows that came of one do not hold together.
    """
    random = Random(seed)
    found: Counter[str] = Counter()
    kinds = list(_DAMAGES)
    known = {data: rows(data) for data in sound}
    for _ in range(count):
        data, kind = random.choice(sound), random.choice(kinds)
        found[_outcome(known[data], _DAMAGES[kind](data, random, sound), is_unit=kind == "unit")] += 1
    return found


def _outcome(before: Rows, damaged: bytes, *, is_unit: bool) -> str:
    try:
        readings = read(damaged)
    except UnreadableError:
        return "refused"
    table = readings.tables.get(TABLE)
    if table is None:
        return "nothing"
    table.validate(full=True)
    assert arrow_schema(TABLE).append(pa.field("night", pa.date32())) == table.schema
    after = table.to_pylist()
    for row in after:
        _hold_together(row)
    if is_unit:
        assert all(row in before for row in after)
    return "as sound" if after == before else "other rows"


def _hold_together(row: dict[str, Any]) -> None:
    assert row["op"] in ("write", "read")
    assert row["nprocs"] > 0 <= row["repetition"]
    for part in ("open_seconds", "data_seconds", "close_seconds"):
        assert (row[part] or 0) <= row["elapsed_seconds"] + 1
    if row["moved_bytes"] is not None:
        half = next(half for least, half in _HALVES if row["elapsed_seconds"] < least)
        low, high = (row["bytes_per_second"] * (row["elapsed_seconds"] + way * half) for way in (-1, 1))
        assert low * (1 - _TOLERANCE) <= row["moved_bytes"] <= high * (1 + _TOLERANCE)


def _lines(data: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    lines = data.splitlines(keepends=True)
    one, other = (random.randrange(len(lines)) for _ in range(2))
    change: Callable[[], None] = random.choice(
        (
            lambda: lines.pop(one) and None,
            lambda: lines.insert(other, lines[one]),
            lambda: lines.__setitem__(slice(min(one, other), max(one, other)), []),
            lambda: lines.__setitem__(one, lines[other]),
        )
    )
    change()
    return b"".join(lines)


def _replaced(data: bytes, shape: re.Pattern[bytes], random: Random, new: Callable[[bytes], bytes]) -> bytes:
    match = random.choice([*shape.finditer(data)])
    return data[: match.start()] + new(match[0]) + data[match.end() :]


def _number(data: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    def other(number: bytes) -> bytes:
        scaled = float(number) * random.choice((0, 1e-3, 0.5, 2, 10, 1000, 1024, 1024**2, 1e30))
        texts = (f"{scaled:.0f}", f"{scaled:.2f}", f"-{number.decode()}", "nan", "inf", "", "1e400", "9" * 5000)
        return random.choice(texts).encode()

    return _replaced(data, _NUMBER, random, other)


def _words(data: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    words = re.split(rb"(\s+|,)", data)
    one, other = (random.randrange(len(words)) for _ in range(2))
    words[one], words[other] = words[other], words[one]
    return b"".join(words)


def _unit(data: bytes, random: Random, _sound: tuple[bytes, ...]) -> bytes:
    return _replaced(data, _UNIT, random, lambda unit: random.choice([each for each in _UNITS if each != unit]))


_DAMAGES: Final[dict[str, Callable[[bytes, Random, tuple[bytes, ...]], bytes]]] = {
    "bytes": other_bytes,
    "cut": cut,
    "splice": spliced,
    "lines": _lines,
    "number": _number,
    "words": _words,
    "unit": _unit,
}


def _lines_of(found: Counter[str]) -> Iterator[str]:
    return (f"{count:7,} {outcome}" for outcome, count in found.most_common())


if __name__ == "__main__":
    if not real():
        sys.exit("../shared/data/ior is not here")
    print("\n".join(_lines_of(outcomes(real(), int(sys.argv[1]), seed=1))))  # noqa: T201
