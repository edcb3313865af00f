"""What each rank did: from its records, from traces of files that ranks share, or from heat maps where there is no trace.

Amounts are floats, exact up to 2**53. NaN is an amount that is not known, and makes the sums that it enters unknown.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from iomine.derive.columns import ROUNDING_SECONDS, TOO_MANY, counts, known, labels
from iomine.derive.trace import Flags, Floats, Integers, Tables, Trace, group_starts, label_codes
from iomine.schema.column import Column
from iomine.schema.ops import OPS

_MEASURES: Final = (
    *("read_count", "write_count", "read_bytes", "write_bytes"),
    *("read_seconds", "write_seconds", "meta_seconds"),
)
_BYTES: Final = slice(2, 4)
_COUNTED: Final = slice(4)
_OF_REQUESTS: Final = slice(6)
_META: Final = 6

_TABLE_OF: Final = {"posix": "posix_file", "mpiio": "mpiio_file", "stdio": "stdio_file"}
_MPIIO_CALLS: Final = ("indep", "coll", "split", "nb")
_SHARED: Final = -1

# The weaker the later.
_EVIDENCE: Final = ("records", "trace", "heatmap")
_RECORDS, _TRACE, _HEATMAP = range(len(_EVIDENCE))
# Darshan rounds where it shares a request among bins; a heat map that is further off has not seen what the records have.
_HEATMAP_SLACK: Final = 0.01
# How much of a log layer `all` may leave out because its rank is not known.
_LEFT_OUT: Final = 0.1


class _Amounts(NamedTuple):
    """Amounts by file and rank; those of one may be in several rows.

    Attributes:
        file_ids: file of each row, 0 for all files together.
        ranks: rank of each row.
        values: a row for each, with a column for each measure.
    """

    file_ids: Integers
    ranks: Integers
    values: Floats

    def where(self, flags: Flags) -> "_Amounts":
        """Some of the rows."""
        return self if flags.all() else _Amounts(self.file_ids[flags], self.ranks[flags], self.values[flags])

    @property
    def has_requests(self) -> Flags:
        """Which rows have reads or writes."""
        has_requests: Flags = (self.values[:, _OF_REQUESTS] != 0).any(axis=1)
        return has_requests

    @property
    def sums(self) -> Floats:
        """Sum of each measure over all rows."""
        sums: Floats = self.values.sum(axis=0)
        return sums


_NONE: Final = _Amounts(np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, len(_MEASURES))))


class _Layer(NamedTuple):
    """What a log says of one layer.

    Attributes:
        own: records of single ranks.
        shared: records of all ranks together.
        traced: what the layer's trace adds up to.
    """

    own: _Amounts
    shared: _Amounts
    traced: _Amounts

    def files(self, file_ids: Integers, *, are_in: bool) -> "_Layer":
        """Of some files only, in order, or of all others."""
        return _Layer(*(part.where(_are_in(part.file_ids, file_ids) == are_in) for part in self))


class _Share(NamedTuple):
    """What the ranks did in some files of a layer, as far as is known.

    Attributes:
        known: amounts whose rank is known.
        missing: of each measure, what is known of all ranks together only.
        evidence: the weakest that was needed, an index into `_EVIDENCE`.
    """

    known: _Amounts
    missing: Floats
    evidence: int


class _Rows(NamedTuple):
    """Rows of the table of one layer.

    Attributes:
        ranks: the ranks.
        values: a row for each, with a column for each measure.
        evidence: index into `_EVIDENCE`.
    """

    ranks: Integers
    values: Floats
    evidence: int


def rank_io(tables: Tables, traces: Sequence[Trace], nprocs: int, special: Integers = _NONE.file_ids) -> dict[str, Column]:
    """Rows of the table `rank_io`; no columns where there are no rows.

    A record that all ranks share is parted by the trace of its file, if that holds as many requests and bytes as the
    record, else by the layer's heat maps, which know bytes alone. Where neither will do, the layer has no rows. Special
    files are left out. Layer `all` is MPI-IO, POSIX without the files that went through MPI-IO, and stdio; of these,
    less than a tenth of all bytes may be left out because nothing parts it. A measure is NULL where it is not known: in
    `all` that is where a tenth of it or more would be left out.

    Args:
        tables: columns by table, in one or more parts, special files among them: heat maps hold these too.
        traces: the traces in these.
        nprocs: number of processes of the run; ranks beyond it are left out.
        special: record ids of the special files, in order.
    """
    layers = {name: _layer(name, tables, traces, nprocs) for name, table in _TABLE_OF.items() if tables.get(table)}

    def share(name: str, but: Integers) -> _Share:
        return _share(layers[name], but, lambda: _within(_heat(name, tables), nprocs))

    shares = {name: share(name, special) for name in layers}
    rows = {name: _rows([part], 0.0) for name, part in shares.items()}
    if {"posix", "mpiio"} <= set(layers):
        shares["posix"] = share("posix", np.union1d(special, _used_files(layers["mpiio"])))
    if shares:
        rows["all"] = _rows(list(shares.values()), _LEFT_OUT)
    return _columns({name: part for name, part in rows.items() if len(part.ranks)}, tables)


def _layer(name: str, tables: Tables, traces: Sequence[Trace], nprocs: int) -> _Layer:
    records = _joined([_recorded(name, part) for part in tables[_TABLE_OF[name]]])
    shared = records.where(records.ranks == _SHARED)
    if nprocs == 1:
        # Shared by one, so it is that one's.
        return _Layer(_within(records._replace(ranks=np.where(records.ranks == _SHARED, 0, records.ranks)), 1), _NONE, _NONE)
    own = _within(records, nprocs)
    if not shared.has_requests.any():
        return _Layer(own, shared, _NONE)
    return _Layer(own, shared, _within(_joined([_traced(trace) for trace in traces if trace.layer == name]), nprocs))


def _recorded(layer: str, part: Mapping[str, Any]) -> _Amounts:
    columns = []
    for name in _MEASURES:
        counted = layer == "mpiio" and name.endswith("_count")
        names = [f"{call}_{name}" for call in _MPIIO_CALLS] if counted else [name]
        columns.append(sum(part[column].to_numpy().astype(np.float64) for column in names))
    values = np.stack(columns, axis=1)
    return _Amounts(part["file_id"].to_numpy(), part["rank"].to_numpy(), _known(values))


def _known(values: Floats) -> Floats:
    """Amounts, NaN for what cannot be one: Darshan gives a negative for what it does not know, except for one of rounding."""
    values = np.where((values < 0) & (values > -ROUNDING_SECONDS), 0.0, values)
    is_odd = ~((values >= 0) & (values < TOO_MANY))
    return np.where(is_odd, np.nan, values) if is_odd.any() else values


def _traced(trace: Trace) -> _Amounts:
    values = np.zeros((len(trace.firsts), len(_MEASURES)))
    for first, amounts in enumerate((trace.counts, trace.bytes, trace.seconds)):
        values[np.arange(len(amounts)), len(OPS) * first + trace.ops] = amounts
    return _Amounts(trace.file_ids, trace.ranks, values)


def _joined(parts: Sequence[_Amounts]) -> _Amounts:
    if len(parts) == 1:
        return parts[0]
    return _Amounts(*(np.concatenate(columns) for columns in zip(*parts, strict=True))) if parts else _NONE


def _within(amounts: _Amounts, nprocs: int) -> _Amounts:
    return amounts.where((amounts.ranks >= 0) & (amounts.ranks < nprocs))


def _used_files(layer: _Layer) -> Integers:
    """Files that were read or written in the layer, and not only opened."""
    records = _joined([layer.own, layer.shared])
    return np.sort(records.file_ids[records.has_requests])


def _are_in(file_ids: Integers, among: Integers) -> Flags:
    """Which files are among others, which are in order."""
    if not len(among):
        return np.zeros(len(file_ids), dtype=bool)
    are_in: Flags = among[np.minimum(np.searchsorted(among, file_ids), len(among) - 1)] == file_ids
    return are_in


def _share(layer: _Layer, left_out: Integers, heat_of_layer: Callable[[], _Amounts]) -> _Share:
    """What the ranks did in a layer's files, some left out."""
    share = _parted(layer.files(left_out, are_in=False) if len(left_out) else layer)
    if not share.missing[_BYTES].any():
        return share
    rest = _parted(layer.files(left_out, are_in=True))
    heat = heat_of_layer()
    recorded = (layer.own.sums + layer.shared.sums)[_BYTES]
    is_alike = (np.abs(heat.sums[_BYTES] - recorded) <= _HEATMAP_SLACK * recorded).all()
    if rest.missing[_BYTES].any() or not is_alike:
        return share
    # Of all that a rank moved in the layer, what is not known otherwise.
    left = _joined([heat, *(known._replace(values=-known.values) for known in (share.known, rest.known))])
    ranks, values = _summed_up(left.ranks, left.values)
    more = np.zeros_like(values)
    more[:, _BYTES] = np.maximum(values[:, _BYTES], 0)
    missing = share.missing.copy()
    missing[_BYTES] = 0
    return _Share(_joined([share.known, _Amounts(np.zeros_like(ranks), ranks, more)]), missing, _HEATMAP)


def _parted(layer: _Layer) -> _Share:
    """What records and trace say of the ranks."""
    missing = np.zeros(len(_MEASURES))
    missing[_META] = layer.shared.sums[_META]
    shared = layer.shared.where(layer.shared.has_requests)
    if not len(shared.ranks):
        return _Share(layer.own, missing, _RECORDS)
    file_ids, recorded = _summed_up(shared.file_ids, shared.values)
    traced = layer.traced.where(_are_in(layer.traced.file_ids, file_ids))
    traced_ids, amounts = _summed_up(traced.file_ids, traced.values)
    seen = np.zeros_like(recorded)
    seen[np.searchsorted(file_ids, traced_ids)] = amounts
    # A trace that ran out of memory holds less than the record.
    is_whole = (seen[:, _COUNTED] == recorded[:, _COUNTED]).all(axis=1)
    traced = traced.where(is_whole[np.searchsorted(file_ids, traced.file_ids)])
    missing[_OF_REQUESTS] = recorded[~is_whole].sum(axis=0)[_OF_REQUESTS]
    return _Share(_joined([layer.own, traced]), missing, _TRACE if len(traced.ranks) else _RECORDS)


def _heat(layer: str, tables: Tables) -> _Amounts:
    """Bytes of each rank, over all files of a layer, that its heat maps hold."""
    return _joined([_heat_of_part(layer, part) for part in tables.get("heatmap_rank", ())])


def _heat_of_part(layer: str, part: Mapping[str, Any]) -> _Amounts:
    ranks = part["rank"].to_numpy()
    values = np.zeros((len(ranks), len(_MEASURES)))
    for measure, name in enumerate(("read_bins", "write_bins"), start=_BYTES.start):
        ends = np.concatenate([[0.0], np.cumsum(part[name].values.to_numpy(), dtype=np.float64)])
        values[:, measure] = np.diff(ends[part[name].offsets.to_numpy()])
    is_wanted = np.array([*(name == layer for name in part["layer"].dictionary.to_pylist()), False])
    # Layers that nobody knows are NULL.
    codes = label_codes(part["layer"])
    return _Amounts(np.zeros_like(ranks), ranks, _known(values)).where(is_wanted[codes])


def _summed_up(keys: Integers, values: Floats) -> tuple[Integers, Floats]:
    """Each key once, in order, and the sums of its rows."""
    if not len(keys):
        return keys, values
    order = np.argsort(keys, kind="stable")
    firsts = group_starts(keys[order])
    return keys[order[firsts]], np.add.reduceat(values[order], firsts, axis=0)


def _rows(shares: Sequence[_Share], left_out: float) -> _Rows:
    """Rows of one layer, none where more than may be left out is missing."""
    known = _joined([share.known for share in shares])
    missing = np.sum([share.missing for share in shares], axis=0)
    total = missing + np.nansum(known.values, axis=0)

    def is_little(lacking: Floats, whole: Floats) -> Flags:
        little: Flags = (lacking == 0) | (lacking < left_out * whole)
        return little

    ranks, values = _summed_up(known.ranks, known.values)
    did_something = (values > 0).any(axis=1) & is_little(missing[_BYTES].sum(), total[_BYTES].sum())
    ranks, values = ranks[did_something], values[did_something]
    values[:, ~is_little(missing, total)] = np.nan
    return _Rows(ranks, values, max(share.evidence for share in shares))


def _columns(rows: Mapping[str, _Rows], tables: Tables) -> dict[str, Column]:
    if not rows:
        return {}
    ranks = np.concatenate([part.ranks for part in rows.values()])
    values = np.concatenate([part.values for part in rows.values()]).T
    layers = np.repeat(np.arange(len(rows)), [len(part.ranks) for part in rows.values()])
    evidence = np.array([part.evidence for part in rows.values()])[layers]
    return {
        "layer": labels(layers, list(rows)),
        "rank": Column(ranks),
        "host": labels(*hosts_of(ranks, tables)),
        "evidence": labels(evidence, _EVIDENCE),
        **{
            name: known(column) if name.endswith("_seconds") else counts(column)
            for name, column in zip(_MEASURES, np.ascontiguousarray(values), strict=True)
        },
    }


def hosts_of(ranks: Integers, tables: Tables) -> tuple[Integers, list[str]]:
    """The number of each rank's host, negative where neither trace nor MPI profile name it, and the names of hosts."""
    code_of: dict[str, int] = {}
    named, codes = [np.array([_SHARED])], [np.array([-1])]
    for part in (*tables.get("dxt_file", ()), *tables.get("apmpi_rank", ())):
        code_at = [code_of.setdefault(name, len(code_of)) for name in part["host"].dictionary.to_pylist()]
        named.append(part["rank"].to_numpy())
        codes.append(np.array(code_at, np.int64)[part["host"].indices.to_numpy()])
    distinct, firsts = np.unique(np.concatenate(named), return_index=True)
    at = np.minimum(np.searchsorted(distinct, ranks), len(distinct) - 1)
    return np.where(distinct[at] == ranks, np.concatenate(codes)[firsts][at], -1), list(code_of)
