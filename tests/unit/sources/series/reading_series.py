"""How the tests of time series read, and the real series that they read."""

import gzip
import tarfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
from hypothesis import strategies as st
from shared import SHARED_DATA

from iomine.errors import UnreadableError
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series import SOURCES

SERIES = SHARED_DATA / "lustre" / "timeseries"
# All real series come from NERSC.
PACIFIC = ZoneInfo("America/Los_Angeles")
# Bytes that are others, by where in the file they are, and how much of the file is left.
DAMAGES = st.tuples(
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=6),
    st.just(1.0) | st.floats(0.2, 1),
)
_READ_AT = datetime(2026, 1, 6, tzinfo=UTC)


def given(data: bytes, zone: tzinfo = UTC) -> Input:
    """An input with a name that says nothing."""
    return Input("series", data, _READ_AT, zone)


def source_of(data: bytes) -> Source | None:
    """The reader that takes the input, None where none does."""
    return next((source for source in SOURCES if source.knows(given(data))), None)


def read(data: bytes, zone: tzinfo = UTC) -> Readings:
    """What the reader that takes the input makes of it."""
    source = source_of(data)
    assert source is not None
    return source.read(given(data, zone))


def content(name: str) -> bytes:
    """A real series, unpacked."""
    data = (SERIES / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


def real() -> Iterator[tuple[str, bytes]]:
    """Names and contents of all real series; a day's archive holds many."""
    for path in sorted(SERIES.iterdir()):
        if path.suffix != ".tgz":
            yield path.name, content(path.name)
            continue
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile():
                    yield member.name.partition("/")[2], archive.extractfile(member).read()


def reported(table: pa.Table) -> list[dict[str, Any]]:
    """Rows, without what is NULL."""
    return [{name: value for name, value in row.items() if value is not None} for row in table.to_pylist()]


def summed(table: pa.Table, keys: tuple[str, ...], value: str) -> Mapping[tuple[Any, ...], float]:
    """Sums by key, of exact numbers."""
    columns = zip(*(table[name].to_pylist() for name in (*keys, value)), strict=True)
    sums: dict[tuple[Any, ...], float] = {}
    for *key, number in columns:
        if number is not None:
            sums[tuple(key)] = sums.get(tuple(key), 0) + number
    return sums


def outcome(source: Source, sound: bytes, damage: tuple[list[tuple[float, int]], float]) -> str:
    """What comes of a sound series once it is damaged: it is read, and its tables hold together, or it is refused."""
    changes, share = damage
    data = bytearray(sound)
    for place, byte in changes:
        data[int(place * len(data))] = byte
    try:
        readings = source.read(given(bytes(data[: int(share * len(data))])))
    except UnreadableError:
        return "refused"
    for table in readings.tables.values():
        table.validate(full=True)
    return "read"
