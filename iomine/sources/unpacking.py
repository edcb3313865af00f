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
# What a program of that name unpacks.
_UNPACKERS: Final[tuple[tuple[bytes, str, str], ...]] = (
    (b"\x1f\x8b", "gzip", "gunzip"),
    (b"BZh", "bzip2", "bunzip2"),
    (b"\xfd7zXZ\x00", "xz", "unxz"),
    (b"\x28\xb5\x2f\xfd", "zstd", "unzstd"),
    (b"\x04\x22\x4d\x18", "lz4", "unlz4"),
    (b"PK\x03\x04", "zip", "unzip"),
)
# What a packed file that is damaged ends in.
BROKEN: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)


def opener_of(head: bytes) -> Callable[[IO[bytes]], BufferedIOBase] | None:
    """What unpacks a file that begins so; None where it is not packed."""
    return next((opener for magic, opener in _PACKED if head.startswith(magic)), None)


def unpack_first(head: bytes) -> str:
    """What to do with a packed file that is not read as it is, in a sentence; empty where it is not packed."""
    found = next(((name, program) for magic, name, program in _UNPACKERS if head.startswith(magic)), None)
    return f"The file is compressed with {found[0]}, and is read only if it is unpacked: run {found[1]} on it." if found else ""
