"""Modules whose records are a fixed row of counters: POSIX, MPI-IO, STDIO, HDF5, PnetCDF, BG/Q, DFS, DAOS, MDHIM.

Record layouts after the structs in `darshan-<module>-log-format.h`: record id, rank, for parts of a file the file's
record id, int64 counters, float64 counters, and for DAOS the UUIDs of pool and container.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from iomine.schema.counters import columns_of
from iomine.sources.darshan.decoded import WORD_BYTES, Columns, Decoded, Records, Words, native_words

_UUID_WORDS: Final = 2


@dataclass(frozen=True, slots=True)
class Layout:
    """The current record layout of a module.

    Attributes:
        table: where its records go.
        version: the module version that has this layout.
        struct: name of libdarshan-util's struct of it.
        words: fields of the leading words of a record.
        trailing_words: words after those: UUIDs and object ids.
    """

    table: str
    version: int
    struct: str
    words: tuple[str, ...]
    trailing_words: int = 0

    @property
    def width(self) -> int:
        """Words in a record."""
        return len(self.words) + self.trailing_words


def _layout(
    table: str, module: str, version: int, struct: str, *, part_of: tuple[str, ...] = (), trailing_words: int = 0
) -> Layout:
    return Layout(table, version, struct, ("file_id", "rank", *part_of, *columns_of(module)), trailing_words)


LAYOUTS: Final[dict[str, Layout]] = {
    "POSIX": _layout("posix_file", "POSIX", 4, "darshan_posix_file"),
    "MPI-IO": _layout("mpiio_file", "MPI-IO", 3, "darshan_mpiio_file"),
    "STDIO": _layout("stdio_file", "STDIO", 2, "darshan_stdio_file"),
    "H5F": _layout("h5f_file", "H5F", 3, "darshan_hdf5_file"),
    "H5D": _layout("h5d_dataset", "H5D", 2, "darshan_hdf5_dataset", part_of=("parent_file_id",)),
    "PNETCDF_FILE": _layout("pnetcdf_file", "PNETCDF_FILE", 3, "darshan_pnetcdf_file"),
    "PNETCDF_VAR": _layout("pnetcdf_variable", "PNETCDF_VAR", 1, "darshan_pnetcdf_var", part_of=("parent_file_id",)),
    "BG/Q": _layout("bgq_partition", "BG/Q", 2, "darshan_bgq_record"),
    "DFS": _layout("dfs_file", "DFS", 1, "darshan_dfs_file", trailing_words=2 * _UUID_WORDS),
    "DAOS": _layout("daos_object", "DAOS", 1, "darshan_daos_object", trailing_words=2 * _UUID_WORDS + 2),
}
_MDHIM_WORDS: Final = ("file_id", "rank", *columns_of("MDHIM"))


def decode_counters(module: str, data: bytes, order: str) -> Decoded:
    """Records of the current layout.

    Args:
        module: name of the module, a key of `LAYOUTS`.
        data: the region, inflated.
        order: struct code of its byte order.
    """
    layout = LAYOUTS[module]
    words = native_words(data, order)
    count = len(words) // layout.width
    matrix = words[: count * layout.width].reshape(count, layout.width)
    rest = len(data) - count * layout.width * WORD_BYTES
    if not count:
        return Decoded(damage=_not_records(module, len(data), layout.width) if rest else "")
    damage = f"{rest} bytes at its end are not a whole record" if rest else ""
    records = Records(layout.table, layout.words, matrix)
    columns: Columns = (
        records if not layout.trailing_words else Records.columns_of([records]) | _daos_columns(data, matrix, layout)
    )
    return Decoded({layout.table: columns}, count, damage)


def decode_mdhim(data: bytes, order: str) -> Decoded:
    """Records of MDHIM, each as wide as it has servers."""
    words = native_words(data, order)
    servers_at = _MDHIM_WORDS.index("server_count")
    fixed = len(_MDHIM_WORDS)
    starts: list[int] = []
    position = 0
    while position + fixed <= len(words):
        servers = int(words[position + servers_at])
        if servers < 0 or position + fixed + servers > len(words):
            break
        starts.append(position)
        position += fixed + servers
    damage = "" if position * WORD_BYTES == len(data) else "its records do not fill the region"
    if not starts:
        return Decoded(damage=damage or "it holds no records")
    matrix = np.stack([words[start : start + fixed] for start in starts])
    histograms = [words[start + fixed : start + fixed + int(words[start + servers_at])] for start in starts]
    columns = Records.columns_of([Records("mdhim_store", _MDHIM_WORDS, matrix)])
    columns["server_histogram"] = pa.array(histograms, pa.list_(pa.int64()))
    return Decoded({"mdhim_store": columns}, len(starts), damage)


def _daos_columns(data: bytes, matrix: Words, layout: Layout) -> dict[str, pa.Array]:
    """UUIDs, which are bytes and have no order, and the halves of an object's id."""
    record_bytes = layout.width * WORD_BYTES
    uuid_bytes = _UUID_WORDS * WORD_BYTES
    first = len(layout.words) * WORD_BYTES

    def uuids(at: int) -> pa.Array:
        starts = range(first + at, len(matrix) * record_bytes, record_bytes)
        return pa.array([data[start : start + uuid_bytes].hex() for start in starts], pa.string())

    columns = {"pool": uuids(0), "container": uuids(uuid_bytes)}
    object_id_at = len(layout.words) + 2 * _UUID_WORDS
    halves = ("oid_hi", "oid_lo")[: layout.width - object_id_at]
    return columns | {half: pa.array(np.ascontiguousarray(matrix[:, object_id_at + n])) for n, half in enumerate(halves)}


def _not_records(module: str, size: int, width: int) -> str:
    return f"its {size:,} bytes are not records of {module}, which have {width * WORD_BYTES:,} bytes each"
