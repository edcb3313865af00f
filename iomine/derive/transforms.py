"""MPI-IO requests matched with the POSIX requests that they became.

MPI-IO works inside its calls: what a rank does in POSIX while an MPI-IO request of its own lasts on the same file was made
by that request. Held against it, a POSIX request is the same again, a piece of it, or something else: then it carries bytes
of other ranks or holes between pieces. Nonblocking requests are done later, and are known by where in the file they lie.

Amounts are floats, exact up to 2**53.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from iomine.derive.columns import TOO_MANY, counts, labels
from iomine.derive.trace import OPS, Flags, Floats, Integers, Tables, Trace, grouped

_TRANSFORMATIONS: Final = ("data_sieving", "unchanged", "collective_buffering", "split", "merged", "mixed")
_MIXED: Final = _TRANSFORMATIONS.index("mixed")
_NOT_KNOWN: Final = -1

# How much of a row has to be of one kind to name the row after it.
_MOST: Final = 0.9
# Headers and ends of files move a few bytes more than was asked for; from here on it is said to be sieving.
_SIEVING: Final = 0.1
# Where more of POSIX than that comes from elsewhere, nothing is said of what MPI-IO did.
_UNMATCHED: Final = 0.5
# A list is for people, and for joins with the ranks of a node.
_MOST_RANKS: Final = 1024

_WRITE, _READ = OPS.index("write"), OPS.index("read")
_COLLECTIVE: Final = ("coll", "split")
_CALLS: Final = (*_COLLECTIVE, "indep", "nb")


class _Requests(NamedTuple):
    """Requests of one layer on files that both layers traced.

    Attributes:
        runs: run of each request.
        offsets: where in its file each starts, negative where that is not known.
        lengths: bytes of each.
        starts: when each started.
        ends: when each ended.
        rows: row of each run, a file's directions side by side.
        groups: each run's rank on its file, with the direction as in the row.
        ranks: rank of each run.
    """

    runs: Integers
    offsets: Integers
    lengths: Integers
    starts: Floats
    ends: Floats
    rows: Integers
    groups: Integers
    ranks: Integers

    def where(self, flags: Flags) -> "_Requests":
        """Some of the requests, of the same runs."""
        if flags.all():
            return self
        return _Requests(*(column[flags] for column in self[:5]), *self[5:])

    def sums(self, row_count: int, values: Integers | Flags | None = None) -> Floats:
        """Sum over each row's requests, of 1 where no values are given."""
        sums = np.bincount(self.rows[self.runs], values, row_count)
        return sums.astype(np.float64, copy=False)

    def ranks_of_rows(self, flags: Flags | None = None) -> tuple[Integers, Integers]:
        """Row and rank of all ranks that have requests, or some of them, in order."""
        runs = np.flatnonzero(np.bincount(self.runs, flags, len(self.rows)))
        groups, firsts = np.unique(self.groups[runs], return_index=True)
        del groups
        rows, ranks = self.rows[runs[firsts]], self.ranks[runs[firsts]]
        order = np.lexsort((ranks, rows))
        return rows[order], ranks[order]

    def medians(self, row_count: int) -> Integers:
        """Length of each row's request in the middle, the lower of two; of rows without any, what does not matter."""
        rows = self.rows[self.runs]
        lengths = np.append(self.lengths[np.lexsort((self.lengths, rows))], 0)
        in_row = np.bincount(rows, minlength=row_count)
        medians: Integers = lengths[np.cumsum(in_row) - in_row + np.maximum(in_row - 1, 0) // 2]
        return medians


class _Matched(NamedTuple):
    """What became of MPI-IO's requests.

    Attributes:
        is_own: which POSIX requests were made in an MPI-IO request of their rank.
        is_foreign: which of these carry other bytes than that request.
        is_same: which MPI-IO requests became one POSIX request of the same bytes.
        is_split: which became several that move as many bytes.
    """

    is_own: Flags
    is_foreign: Flags
    is_same: Flags
    is_split: Flags


class _Calls(NamedTuple):
    """Calls of each row that MPI-IO's counters tell of, NaN where they are not known.

    Attributes:
        collective: collective ones, those that were split in two among them.
        alone: all others.
    """

    collective: Floats
    alone: Floats


def mpiio_posix(tables: Tables, traces: Sequence[Trace]) -> dict[str, pa.Array]:
    """Rows of the table `mpiio_posix`; no columns where there are no rows.

    Requests that moved nothing are left out, and so are POSIX's reads within MPI-IO's writes, which are counted with the
    writes. Collective buffering whose buffers have holes is data sieving, and its row has aggregators.

    Args:
        tables: columns by table, in one or more parts.
        traces: the traces in these.
    """
    of_layer = {trace.layer: trace for trace in traces}
    if not {"mpiio", "posix"} <= set(of_layer):
        return {}
    layers = of_layer["mpiio"], of_layer["posix"]
    file_ids = np.intersect1d(*(trace.file_ids for trace in layers))
    if not len(file_ids):
        return {}
    ranks = np.union1d(*(trace.ranks for trace in layers))
    mpiio, posix = (_requests(trace, file_ids, ranks) for trace in layers)
    columns = _columns(mpiio, posix.where(posix.lengths > 0), len(OPS) * len(file_ids), _calls(tables, file_ids))
    rows = np.flatnonzero(columns.pop("has_both"))
    if not len(rows):
        return {}
    key = {"file_id": pa.array(file_ids[rows // len(OPS)]), "op": labels(rows % len(OPS), OPS)}
    return key | {name: column.take(pa.array(rows)) for name, column in columns.items()}


def _requests(trace: Trace, file_ids: Integers, ranks: Integers) -> _Requests:
    runs = np.repeat(np.arange(len(trace.counts)), trace.counts)
    files = np.minimum(np.searchsorted(file_ids, trace.file_ids), len(file_ids) - 1)
    groups = (files * len(ranks) + np.searchsorted(ranks, trace.ranks)) * len(OPS) + trace.ops
    requests = _Requests(
        *(runs, trace.offsets, trace.lengths, trace.starts, trace.ends),
        *(files * len(OPS) + trace.ops, groups, trace.ranks),
    )
    return requests.where((file_ids[files] == trace.file_ids)[runs])


def _calls(tables: Tables, file_ids: Integers) -> _Calls:
    calls = dict.fromkeys(_CALLS, np.full(len(OPS) * len(file_ids), np.nan))
    for part in tables.get("mpiio_file", ()):
        of_file = part["file_id"].to_numpy()
        at = np.flatnonzero(np.isin(of_file, file_ids))
        files = np.searchsorted(file_ids, of_file[at])
        for kind in _CALLS:
            sums = np.nan_to_num(calls[kind])
            for op, name in enumerate(OPS):
                counted = part[f"{kind}_{name}_count"].to_numpy()[at]
                # A negative is Darshan's word for a counter that it does not know.
                np.add.at(sums, files * len(OPS) + op, np.where(counted < 0, np.nan, counted))
            calls[kind] = sums
    return _Calls(calls["coll"] + calls["split"], calls["indep"] + calls["nb"])
