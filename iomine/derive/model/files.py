"""What counters tell of files beside their requests: collective calls, syncs, views, hints, and time in opens and closes."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from iomine.derive.model.calls import LAYERS
from iomine.derive.model.calls import sums as sums_of
from iomine.derive.trace import Flags, Floats, Integers, Tables, grouped

_COLLECTIVE: Final = ("coll", "split")
_OTHER: Final = ("indep", "nb")
# Columns of each sum, by layer; a sum of no columns is 0.
_SUMS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "collective_writes": {"mpiio": tuple(f"{kind}_write_count" for kind in _COLLECTIVE)},
    "collective_reads": {"mpiio": tuple(f"{kind}_read_count" for kind in _COLLECTIVE)},
    "other_writes": {"mpiio": tuple(f"{kind}_write_count" for kind in _OTHER)},
    "other_reads": {"mpiio": tuple(f"{kind}_read_count" for kind in _OTHER)},
    "nonblocking_writes": {"mpiio": ("nb_write_count",)},
    "nonblocking_reads": {"mpiio": ("nb_read_count",)},
    "syncs": {"mpiio": ("sync_count",), "posix": ("fsync_count", "fdsync_count"), "stdio": ("flush_count",)},
    "views": {"mpiio": ("view_count",)},
    "hints": {"mpiio": ("hint_count",)},
    "meta_seconds": dict.fromkeys(LAYERS, ("meta_seconds",)),
}


class FileRecords(NamedTuple):
    """Sums over the records of each file in a layer, NaN where they are not known.

    Attributes:
        layers: layer of each row, an index into `LAYERS`.
        file_ids: file of each.
        collective_writes: collective writes, those in two halves among them.
        collective_reads: likewise.
        other_writes: independent and nonblocking writes.
        other_reads: likewise.
        nonblocking_writes: nonblocking writes.
        nonblocking_reads: likewise.
        syncs: calls that wait until data has reached storage.
        views: file views set.
        hints: hints given.
        meta_seconds: time in opens, closes and the like, summed over ranks.
    """

    layers: Integers
    file_ids: Integers
    collective_writes: Floats
    collective_reads: Floats
    other_writes: Floats
    other_reads: Floats
    nonblocking_writes: Floats
    nonblocking_reads: Floats
    syncs: Floats
    views: Floats
    hints: Floats
    meta_seconds: Floats

    def of(self, layers: Integers, file_ids: Integers) -> "FileRecords":
        """What is known of files; of one without a record nothing."""
        total = len(file_ids)
        keys = grouped(np.concatenate([layers, self.layers]), np.concatenate([file_ids, self.file_ids]))[1]
        record_of = np.full(len(keys), len(self.layers))
        record_of[keys[total:]] = np.arange(len(self.layers))
        found = record_of[keys[:total]]
        return FileRecords(layers, file_ids, *(np.append(column, np.nan)[found] for column in self[2:]))

    def collective(self) -> dict[tuple[int, int], bool]:
        """For each file and direction that MPI-IO moved, whether any of its calls were collective; not where that is unknown."""
        known = {}
        at = np.flatnonzero(self.layers == LAYERS.index("mpiio"))
        file_ids = self.file_ids[at].tolist()
        pairs = (self.collective_writes, self.other_writes), (self.collective_reads, self.other_reads)
        for op, (collective, other) in enumerate(pairs):
            is_known = (collective + other)[at] > 0
            for file_id, some, told in zip(file_ids, (collective[at] > 0).tolist(), is_known.tolist(), strict=True):
                if told:
                    known[file_id, op] = some
        return known


def file_records(tables: Tables) -> FileRecords:
    """Sums over the records of each file.

    Args:
        tables: columns by table, in one or more parts.
    """
    layers, file_ids = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    sums: dict[str, list[Floats]] = {name: [np.empty(0)] for name in _SUMS}
    for layer, name in enumerate(LAYERS):
        for part in tables.get(f"{name}_file", ()):
            own = part["file_id"].to_numpy()
            layers.append(np.full(len(own), layer))
            file_ids.append(own)
            for total, columns in _SUMS.items():
                sums[total].append(_sum(part, columns.get(name, ()), len(own)))
    layer_of, files = np.concatenate(layers), np.concatenate(file_ids)
    if not len(files):
        return FileRecords(layer_of, files, *(np.empty(0) for _ in sums))
    firsts, row_of = grouped(layer_of, files)
    found = {name: sums_of(row_of, np.concatenate(values)) for name, values in sums.items()}
    records = FileRecords(layer_of[firsts], files[firsts], **found)
    # What MPI-IO does not sync itself may be synced beneath it.
    below = records.of(np.full(len(records.layers), LAYERS.index("posix")), records.file_ids).syncs
    is_mpiio: Flags = records.layers == LAYERS.index("mpiio")
    return records._replace(syncs=np.where(is_mpiio, records.syncs + np.nan_to_num(below), records.syncs))


def _sum(part: Mapping[str, Any], columns: tuple[str, ...], count: int) -> Floats:
    total = np.zeros(count)
    for column in columns:
        if column in part:
            values = part[column].to_numpy().astype(np.float64)
            total += np.where(values < 0, np.nan, values)
        else:
            total += np.nan
    return total
