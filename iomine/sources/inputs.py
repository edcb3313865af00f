"""Inputs that are no Darshan logs: opened, unpacked, and read by whoever knows their shape."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from io import BufferedIOBase, BytesIO
from itertools import chain
from pathlib import Path
from typing import Final

from iomine.errors import UnreadableError
from iomine.sources import accounting, lustre, series
from iomine.sources.model import LARGEST_BYTES, Input, Readings, Source
from iomine.units import human_bytes

SOURCES: Final[tuple[Source, ...]] = tuple(chain(lustre.SOURCES, series.SOURCES, accounting.SOURCES))

_PACKED: Final[tuple[tuple[bytes, Callable[[BytesIO], BufferedIOBase]], ...]] = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)
_BROKEN: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)


def open_input(path: Path, data: bytes, zone: tzinfo) -> Input:
    """An input with its bytes unpacked.

    Args:
        path: where it lies.
        data: its bytes as they are.
        zone: time zone of times that do not tell theirs.

    Raises:
        UnreadableError: it cannot be unpacked, or is too large then.
    """
    modified_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return Input(str(path), _unpacked(data), modified_at, zone)


def read_input(given: Input) -> tuple[str, Readings]:
    """What an input holds, and its kind.

    Raises:
        UnreadableError: nobody knows it, or who knows it cannot read it.
    """
    for source in SOURCES:
        if source.knows(given):
            return source.kind, source.read(given)
    raise UnreadableError("It looks like no statistics or accounting that iomine knows.")


def _unpacked(data: bytes) -> bytes:
    for magic, opener in _PACKED:
        if data.startswith(magic):
            try:
                with opener(BytesIO(data)) as file:
                    data = file.read(LARGEST_BYTES + 1)
            except _BROKEN as error:
                raise UnreadableError(f"It cannot be unpacked ({error}).") from error
            break
    if len(data) > LARGEST_BYTES:
        raise UnreadableError(f"Unpacked it has more than {human_bytes(LARGEST_BYTES)}, the limit for one file.")
    return data
