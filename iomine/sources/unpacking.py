"""Compression of files, known by their first bytes."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from io import BufferedIOBase
from typing import IO, Final

_PACKED: Final[tuple[tuple[bytes, Callable[[IO[bytes]], BufferedIOBase]], ...]] = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)
# What a packed file that is damaged ends in.
BROKEN: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)


def opener_of(head: bytes) -> Callable[[IO[bytes]], BufferedIOBase] | None:
    """What unpacks a file that begins so; None where it is not packed."""
    return next((opener for magic, opener in _PACKED if head.startswith(magic)), None)
