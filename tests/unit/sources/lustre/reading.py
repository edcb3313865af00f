"""Reads inputs as the pipeline does: the first reader that knows one reads it."""

import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from shared import SHARED_DATA
from zlib_ng import zlib_ng

from iomine.errors import UnreadableError
from iomine.sources.lustre import SOURCES
from iomine.sources.model import Input, Readings, Source

LUSTRE = SHARED_DATA / "lustre"
CHANGED = datetime(2026, 2, 1, tzinfo=UTC)
_GZIP = 31


def an_input(data: bytes | str, path: str = "/stats") -> Input:
    """An input of some bytes."""
    return Input(path, data.encode() if isinstance(data, str) else data, CHANGED)


def source_of(source: Input) -> Source | None:
    """The reader that knows an input."""
    return next((each for each in SOURCES if each.knows(source)), None)


def read(data: bytes | str, path: str = "/stats") -> Readings:
    """What an input holds."""
    source = an_input(data, path)
    reader = source_of(source)
    assert reader
    return reader.read(source)


def tried(reader: Source, source: Input) -> tuple[Readings, str]:
    """What a reader reads of an input, or why it cannot."""
    try:
        return reader.read(source), ""
    except UnreadableError as error:
        return Readings(), error.reason


def shared(name: str) -> bytes:
    """The bytes of a real file, unpacked."""
    data = (LUSTRE / name).read_bytes()
    return zlib_ng.decompress(data, _GZIP) if name.endswith(".gz") else data


def members(name: str) -> Iterator[tuple[str, bytes]]:
    """Paths and bytes of the files in an archive."""
    with tarfile.open(LUSTRE / name) as archive:
        for member in archive:
            if file := archive.extractfile(member) if member.isfile() else None:
                yield "/" + member.name, file.read()


def rows(readings: Readings, table: str = "lustre_counter", **wanted: Any) -> list[dict[str, Any]]:
    """Rows of a table in which columns have these values, without columns that are NULL."""
    found = readings.tables[table].to_pylist() if table in readings.tables else []
    return [
        {name: value for name, value in row.items() if value is not None}
        for row in found
        if all(row[name] == value for name, value in wanted.items())
    ]
