"""HDF5 files that nobody vouches for: bounded in memory, and nothing is read but the file itself."""

import io
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, Final

import h5py
import numpy as np
import numpy.typing as npt

from iomine.errors import UnreadableError

SIGNATURE: Final = b"\x89HDF\r\n\x1a\n"
# A day in steps of 5 s of 1,400 targets, read and written; as rows they take nearly 3 GB.
_MOST_VALUES: Final = 50_000_000
# Deflate turns a byte into a thousand at most, and HDF5 gives all of a chunk room before it looks at how much there is.
_MOST_STORED_CHUNK_BYTES: Final = 8 << 20
# Others are libraries that HDF5 loads when a file names them.
_FILTERS: Final = frozenset((h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32))
# Signature, version and 3 bytes of nothing, then the heap's size; objects have their index, 6 bytes, and their length.
_HEAP: Final = re.compile(rb"GCOL.{4}(.{8})", re.DOTALL)
_HEAP_SIZE: Final = struct.Struct("<Q")
_HEAP_OBJECT: Final = struct.Struct("<H6xQ")


class Hdf5:
    """An open file.

    Attributes:
        root: its root group.
    """

    def __init__(self, root: h5py.Group, size_bytes: int) -> None:
        self.root = root
        self._size_bytes = size_bytes
        self._room = _MOST_VALUES

    def paths(self) -> list[str]:
        """Paths of what the groups of the root hold; links to elsewhere are passed over."""
        groups = [name for name in self.root if isinstance(self.root.get(name, getlink=True), h5py.HardLink)]
        members = {name: self.root[name] for name in groups}
        return [f"{name}/{member}" for name, group in members.items() if isinstance(group, h5py.Group) for member in group]

    def dataset(self, path: str) -> h5py.Dataset | None:
        """The data set at a path, None where there is none.

        Raises:
            UnreadableError: it is not in the file itself, not of numbers, or too large.
        """
        node = self.root
        for part in path.split("/"):
            link = node.get(part, getlink=True) if isinstance(node, h5py.Group) else None
            if link is None:
                return None
            if not isinstance(link, h5py.HardLink):
                raise UnreadableError(f"{path} is a link to somewhere else, which is not followed.")
            node = node[part]
        _check(path, node)
        self._room -= node.size
        if self._room < 0:
            raise UnreadableError(f"The file claims more than {_MOST_VALUES:,} values.")
        return node

    def text(self, dataset: h5py.Dataset, attribute: str) -> str:
        """A text that a data set carries, empty where it has none."""
        if attribute not in dataset.attrs:
            return ""
        raw = dataset.attrs.get_id(attribute)
        said = dataset.attrs[attribute] if raw.shape == () and raw.dtype.itemsize <= self._size_bytes else ""
        return said.decode("utf-8", "backslashreplace") if isinstance(said, bytes) else str(said)

    def names(self, dataset: h5py.Dataset, attribute: str, count: int) -> list[str]:
        """Names that a data set has for one of its axes.

        Raises:
            UnreadableError: they are not there, or not as many as the axis is long.
        """
        if attribute not in dataset.attrs:
            raise UnreadableError(f"{dataset.name} has no attribute {attribute}, so the meaning of its numbers is not known.")
        raw = dataset.attrs.get_id(attribute)
        # Texts of any width may all be one and the same of a gigabyte.
        if raw.dtype.kind != "S" or raw.shape != (count,) or count * raw.dtype.itemsize > self._size_bytes:
            raise UnreadableError(f"The attribute {attribute} of {dataset.name} does not hold {count} names of fixed width.")
        return [name.decode("utf-8", "backslashreplace") for name in dataset.attrs[attribute].tolist()]


def _check(path: str, node: Any) -> None:  # noqa: ANN401  h5py is not typed
    if not isinstance(node, h5py.Dataset) or node.dtype.kind not in "iuf" or node.size is None:
        raise UnreadableError(f"{path} is not a data set of numbers.")
    if node.is_virtual or node.external:
        raise UnreadableError(f"{path} has its numbers in other files, which are not read.")
    if max(node.size, prod(node.chunks or ())) > _MOST_VALUES:
        raise UnreadableError(f"{path} claims more than {_MOST_VALUES:,} values.")
    pipeline = node.id.get_create_plist()
    filters = [pipeline.get_filter(index)[0] for index in range(pipeline.get_nfilters())]
    if len(set(filters)) < len(filters) or not _FILTERS.issuperset(filters):
        raise UnreadableError(
            f"{path} has filters that are not supported: only gzip, shuffle and fletcher32 are read, each once."
        )
    if node.chunks:
        sizes = [node.id.get_chunk_info(index).size for index in range(node.id.get_num_chunks())]
        if max(sizes, default=0) > _MOST_STORED_CHUNK_BYTES:
            raise UnreadableError(
                f"{path} has a chunk of more than {_MOST_STORED_CHUNK_BYTES:,} bytes, which may be endless once unpacked."
            )


def values(dataset: h5py.Dataset) -> npt.NDArray[Any]:
    """All its numbers, in the type that they have."""
    return np.asarray(dataset[()])


def _check_heaps(data: bytes) -> None:
    """Refuses heaps with free space of no length: HDF5 walks along a heap's objects and would stand there for ever."""
    left = len(data) // _HEAP_OBJECT.size
    for heap in _HEAP.finditer(data):
        (size,) = _HEAP_SIZE.unpack(heap[1])
        place, end = heap.end(), min(heap.start() + size, len(data)) - _HEAP_OBJECT.size
        while place <= end:
            index, length = _HEAP_OBJECT.unpack_from(data, place)
            left -= 1
            if left < 0 or (not index and length < _HEAP_OBJECT.size):
                raise UnreadableError("The file has a damaged heap.")
            # The length of free space counts its head, that of an object does not; objects begin at multiples of 8.
            place += length if not index else _HEAP_OBJECT.size + -(-length // 8) * 8


@contextmanager
def opened(data: bytes) -> Iterator[Hdf5]:
    """A file from its bytes.

    Raises:
        UnreadableError: HDF5 cannot read it.
    """
    _check_heaps(data)
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            yield Hdf5(file, len(data))
    except (OSError, LookupError, RuntimeError, ValueError, TypeError, ArithmeticError) as error:
        raise UnreadableError(
            f"HDF5 cannot read the file: {str(error).splitlines()[0] if str(error) else type(error).__name__}."
        ) from error
