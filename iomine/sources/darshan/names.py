"""Name records: which path or object a record id stands for, and on which mount it lies."""

import struct
from collections.abc import Iterator, Sequence
from typing import Final

from iomine.sources.darshan.container import Container
from iomine.units import KIB, counted, human_bytes

_ID_BYTES: Final = 8
_LENGTH_BYTES: Final = 4
# Sixteen times the longest path that Linux opens; objects of HDF5 and PnetCDF are named behind their file.
_LONGEST_NAME_BYTES: Final = 64 * KIB


def read_names(container: Container) -> tuple[dict[int, str], str]:
    """Names by record id (its bits as a signed number), and what is wrong with them, empty where nothing is."""
    inflated = container.inflate_names()
    # Format 3.00 wrote the length of a name before it, later ones a NUL after it.
    walk = _with_lengths if container.version == "3.00" else _with_nuls
    names: dict[int, str] = {}
    cut_count = 0
    for id_, name in walk(inflated.data, container.order):
        # A name that was not known at first is recorded again once it is.
        if not names.get(id_):
            cut_count += len(name) > _LONGEST_NAME_BYTES
            names[id_] = name[:_LONGEST_NAME_BYTES].decode("utf-8", "backslashreplace")
    doubts = [f"file names are incomplete: {inflated.damage}"] if inflated.damage else []
    if cut_count:
        doubts.append(f"{counted(cut_count, 'file name')} cut to {human_bytes(_LONGEST_NAME_BYTES)}")
    return names, "; ".join(doubts)


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
        # The root is the empty text: what is left of it without its slash.
        self._by_folder = {path.rstrip("/"): (path, type_) for path, type_ in mounts}
        self._lengths = sorted({len(folder) for folder in self._by_folder}, reverse=True)
        self._of_folder: dict[str, tuple[str, str] | tuple[None, None]] = {}

    def of(self, path: str) -> tuple[str, str] | tuple[None, None]:
        """Mount point and file system type, None for what is no absolute path or lies on no known mount."""
        if not path.startswith("/"):
            return (None, None)
        if path in self._by_folder:
            return self._by_folder[path]
        folder = path.rpartition("/")[0]
        # Files share folders.
        if folder not in self._of_folder:
            self._of_folder[folder] = self._above(folder)
        return self._of_folder[folder]

    def _above(self, folder: str) -> tuple[str, str] | tuple[None, None]:
        # Not up from folder to folder: a hostile name has half a million of them.
        for length in self._lengths:
            if (folder[length : length + 1] or "/") == "/" and folder[:length] in self._by_folder:
                return self._by_folder[folder[:length]]
        return (None, None)
