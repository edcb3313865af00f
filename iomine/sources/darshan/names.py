"""Name records: which path or object a record id stands for, and on which mount it lies."""

import struct
from collections.abc import Iterator, Sequence
from typing import Final

from iomine.sources.darshan.container import Container

_ID_BYTES: Final = 8
_LENGTH_BYTES: Final = 4


def read_names(container: Container) -> tuple[dict[int, str], str]:
    """Names by record id (its bits as a signed number), and what is wrong with them, empty where nothing is."""
    inflated = container.inflate_names()
    # Format 3.00 wrote the length of a name before it, later ones a NUL after it.
    walk = _with_lengths if container.version == "3.00" else _with_nuls
    names: dict[int, str] = {}
    for id_, name in walk(inflated.data, container.order):
        # A name that was not known at first is recorded again once it is.
        if not names.get(id_):
            names[id_] = name.decode("utf-8", "backslashreplace")
    return names, f"file names are incomplete: {inflated.damage}" if inflated.damage else ""


def _with_nuls(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    id_ = struct.Struct(f"{order}q")
    position = 0
    while (end := data.find(b"\0", position + _ID_BYTES)) >= 0:
        yield id_.unpack_from(data, position)[0], data[position + _ID_BYTES : end]
        position = end + 1


def _with_lengths(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    head = struct.Struct(f"{order}qI")
    position = 0
    while position + _ID_BYTES + _LENGTH_BYTES <= len(data):
        id_, length = head.unpack_from(data, position)
        start = position + _ID_BYTES + _LENGTH_BYTES
        yield id_, data[start : start + length].split(b"\0")[0]
        position = start + length


class MountTable:
    """Finds the mount that a path lies on: the longest mount point that is the path or a folder above it."""

    def __init__(self, mounts: Sequence[tuple[str, str]]) -> None:
        self._by_folder: dict[str, tuple[str, str] | None] = {path.rstrip("/") or "/": (path, type_) for path, type_ in mounts}

    def of(self, path: str) -> tuple[str, str] | tuple[None, None]:
        """Mount point and file system type, None for what is no absolute path or lies on no known mount."""
        if not path.startswith("/"):
            return (None, None)
        if path not in self._by_folder:
            path = path.rpartition("/")[0]
        climbed: list[str] = []
        while path and path not in self._by_folder:
            climbed.append(path)
            path = path.rpartition("/")[0]
        found = self._by_folder.get(path or "/")
        # Files share folders: what was climbed once need not be climbed again.
        for folder in climbed:
            self._by_folder[folder] = found
        return found or (None, None)
