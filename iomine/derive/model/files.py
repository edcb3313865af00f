"""What counters say of files beside their requests: collective calls, syncs, views, hints, and time in opens and closes."""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from iomine.derive.model.calls import LAYERS
from iomine.derive.trace import Floats, Integers, Tables, grouped
from iomine.schema.ops import OPS

_KINDS: Final = {"collective": ("coll", "split"), "other": ("indep", "nb"), "nonblocking": ("nb",)}
# What is summed, from which columns of which layer; a layer that is not named has 0.
_SUMS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    **{f"{what}_{op}s": {"mpiio": tuple(f"{kind}_{op}_count" for kind in kinds)} for what, kinds in _KINDS.items() for op in OPS},
    "syncs": {"mpiio": ("sync_count",), "posix": ("fsync_count", "fdsync_count"), "stdio": ("flush_count",)},
    "views": {"mpiio": ("view_count",)},
    "hints": {"mpiio": ("hint_count",)},
    "meta_seconds": dict.fromkeys(LAYERS, ("meta_seconds",)),
}
_PLACES: Final = {name: place for place, name in enumerate(_SUMS)}
# For each layer a place and a column that is added there.
_COLUMNS: Final = {
    layer: [(_PLACES[name], column) for name, of_layer in _SUMS.items() for column in of_layer.get(layer, ())] for layer in LAYERS
}
_MPIIO, _POSIX = (LAYERS.index(name) for name in ("mpiio", "posix"))


class FileRecords(NamedTuple):
    """Sums over the records of each file in a layer.

    Attributes:
        layers: layer of each file, an index into `LAYERS`.
        file_ids: file.
        values: a row for each file and a column for each sum, NaN where that is not known.
    """

    layers: Integers
    file_ids: Integers
    values: npt.NDArray[np.float64]

    def of(self, layers: Integers, file_ids: Integers) -> "FileRecords":
        """What is known of files; of one without a record nothing."""
        total, none = len(file_ids), len(self.file_ids)
        keys = grouped(np.concatenate([layers, self.layers]), np.concatenate([file_ids, self.file_ids]))[1]
        record_of = np.full(len(keys), none)
        record_of[keys[total:]] = np.arange(none)
        values = np.append(self.values, np.full((1, len(_SUMS)), np.nan), axis=0)
        return FileRecords(layers, file_ids, values[record_of[keys[:total]]])

    def sums(self, name: str) -> Floats:
        """One sum of each file: `syncs` that wait for storage, `views` set, `hints` given, or `meta_seconds` of all ranks."""
        column: Floats = self.values[:, _PLACES[name]]
        return column

    def by_op(self, what: str, ops: Integers) -> Floats:
        """Requests of each file in a direction: `collective`, `nonblocking`, or `other`, these among them."""
        column: Floats = self.values[np.arange(len(ops)), np.array([_PLACES[f"{what}_{op}s"] for op in OPS])[ops]]
        return column

    def collective(self) -> dict[tuple[int, int], bool]:
        """For each file and direction that MPI-IO moved, whether any of its calls were collective; not where that is unknown."""
        at = np.flatnonzero(self.layers == _MPIIO)
        if not len(at):
            return {}
        known = {}
        for op in range(len(OPS)):
            collective, other = (self.by_op(what, np.full(len(self.layers), op))[at] for what in ("collective", "other"))
            columns = (self.file_ids[at], collective > 0, collective + other > 0)
            for file_id, some, has_calls in zip(*(column.tolist() for column in columns), strict=True):
                if has_calls:
                    known[file_id, op] = some
        return known


def file_records(tables: Tables) -> FileRecords:
    """Sums over the records of each file.

    Args:
        tables: columns by table, in one or more parts.
    """
    parts: list[tuple[Integers, Integers, npt.NDArray[np.float64]]] = []
    for layer, name in enumerate(LAYERS):
        for part in tables.get(f"{name}_file", ()):
            own = part["file_id"].to_numpy()
            values = np.zeros((len(own), len(_SUMS)))
            for place, column in _COLUMNS[name]:
                # Darshan writes negative values for what it does not know.
                counted = part[column].to_numpy() if column in part else np.full(len(own), -1)
                values[:, place] += np.where(counted < 0, np.nan, counted)
            parts.append((np.full(len(own), layer), own, values))
    if not sum(len(part[0]) for part in parts):
        return FileRecords(np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, len(_SUMS))))
    layers, file_ids, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    firsts, row_of = grouped(layers, file_ids)
    if len(firsts) < len(file_ids):
        order = np.argsort(row_of, kind="stable")
        values = np.add.reduceat(values[order], np.searchsorted(row_of[order], np.arange(len(firsts))))
    else:
        values = values[firsts]
    records = FileRecords(layers[firsts], file_ids[firsts], values)
    at = np.flatnonzero(records.layers == _MPIIO)
    if len(at):
        # What MPI-IO does not sync itself may be synced beneath it.
        below = records.of(np.full(len(at), _POSIX), records.file_ids[at]).sums("syncs")
        records.values[at, _PLACES["syncs"]] += np.nan_to_num(below)
    return records
