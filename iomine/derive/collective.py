"""Collective calls of MPI-IO: how many a file had, and which requests of ranks are one.

A trace does not say which requests are collective; records count them, and the k-th requests of ranks on a file are one call.
"""

from typing import Final, NamedTuple

import numpy as np

from iomine.derive.trace import Floats, Integers, Tables, turns
from iomine.schema.ops import OPS

_COLLECTIVE_CALLS: Final = ("coll", "split")
_OTHER_CALLS: Final = ("indep", "nb")


class Calls(NamedTuple):
    """MPI-IO calls of each row by its counters, NaN where they are not known.

    Attributes:
        collective: collective ones, those in two halves among them.
        other: all others.
    """

    collective: Floats
    other: Floats


def counted_calls(tables: Tables, file_ids: Integers) -> Calls:
    """MPI-IO calls of files by their records, the directions of a file side by side.

    Args:
        tables: columns by table, in one or more parts.
        file_ids: the files, in order.
    """
    sums = Calls(*np.zeros((2, len(OPS) * len(file_ids))))
    has_record = np.zeros(len(OPS) * len(file_ids), dtype=bool)
    for part in tables.get("mpiio_file", ()):
        of_record = part["file_id"].to_numpy()
        at = np.flatnonzero(np.isin(of_record, file_ids))
        for op, name in enumerate(OPS):
            rows = np.searchsorted(file_ids, of_record[at]) * len(OPS) + op
            has_record[rows] = True
            for total, kinds in zip(sums, (_COLLECTIVE_CALLS, _OTHER_CALLS), strict=True):
                for kind in kinds:
                    counted = part[f"{kind}_{name}_count"].to_numpy()[at]
                    # Darshan writes a negative value for an unknown counter.
                    np.add.at(total, rows, np.where(counted < 0, np.nan, counted))
    return Calls(*(np.where(has_record, total, np.nan) for total in sums))


def grouped_calls(group_of: Integers, counts: Integers) -> tuple[Integers, int]:
    """The call of each request, where requests come piece by piece, each piece a rank's in order of time.

    Args:
        group_of: group of each piece, within which the k-th requests of all pieces are one call.
        counts: requests of each piece.

    Returns:
        For each request the number of its call, group by group; and how many calls there are.
    """
    call_counts = np.zeros(int(group_of.max()) + 1, np.int64)
    np.maximum.at(call_counts, group_of, counts)
    begins = np.cumsum(call_counts) - call_counts
    return turns(counts) + np.repeat(begins[group_of], counts), int(call_counts.sum())
