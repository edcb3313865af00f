"""What each rank did: from its records, from traces of files that ranks share, or from heat maps where there is no trace.

Amounts are floats, exact up to 2**53. NaN is an amount that is not known, and makes the sums that it enters unknown.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from iomine.derive.batch import LOG, logs_in, of_each_log
from iomine.derive.columns import ROUNDING_SECONDS, TOO_MANY, counts, known, labels
from iomine.derive.stretches import filled_bins
from iomine.derive.trace import Flags, Floats, Integers, Tables, Trace, group_starts, grouped, kept, label_codes
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

# The weakest comes last.
_EVIDENCE: Final = ("records", "trace", "heatmap")
_RECORDS, _TRACE, _HEATMAP = range(len(_EVIDENCE))
# Darshan rounds where it shares a request among bins; a heat map that is further off has not seen what the records have.
_HEATMAP_SLACK: Final = 0.01
# How much of a log layer `all` may leave out because its rank is not known.
_LEFT_OUT: Final = 0.1


class _Amounts(NamedTuple):
    """Amounts by file and rank; those of one may be in several rows.

    Attributes:
        logs: log of each row.
        file_ids: file of each, 0 for all files of its log together.
        ranks: rank of each.
        values: a row for each, with a column for each measure.
    """

    logs: Integers
    file_ids: Integers
    ranks: Integers
    values: Floats

    def where(self, flags: Flags) -> "_Amounts":
        """Some of the rows."""
        return self if flags.all() else _Amounts._make(column[flags] for column in self)

    @property
    def has_requests(self) -> Flags:
        """Which rows have reads or writes."""
        has_requests: Flags = (self.values[:, _OF_REQUESTS] != 0).any(axis=1)
        return has_requests

    def sums(self, log_count: int) -> Floats:
        """Sum of each measure over all rows of each log."""
        return _sums(self.logs, self.values, log_count)


_NOTHING: Final = np.empty(0, np.int64)
_NONE: Final = _Amounts(_NOTHING, _NOTHING, _NOTHING, np.empty((0, len(_MEASURES))))


class _Layer(NamedTuple):
    """What logs say of one layer.

    Attributes:
        own: records of single ranks.
        shared: records of all ranks together.
        traced: what the layer's trace adds up to.
    """

    own: _Amounts
    shared: _Amounts
    traced: _Amounts

    def files(self, file_ids: Integers, *, are_in: bool) -> "_Layer":
        """What logs say of some files only, which are in order, or of all others."""
        return _Layer(*(part.where(_are_in(part.file_ids, file_ids) == are_in) for part in self))


class _Share(NamedTuple):
    """What the ranks did in some files of a layer, as far as is known.

    Attributes:
        known: amounts whose rank is known.
        missing: of each log and measure, what is known of all ranks together only.
        evidence: of each log the weakest that was needed, an index into `_EVIDENCE`.
    """

    known: _Amounts
    missing: Floats
    evidence: Integers


class _Rows(NamedTuple):
    """Rows of the table of one layer.

    Attributes:
        logs: log of each row.
        ranks: rank of each.
        values: a row for each, with a column for each measure.
        evidence: of each, an index into `_EVIDENCE`.
    """

    logs: Integers
    ranks: Integers
    values: Floats
    evidence: Integers


def rank_io(tables: Tables, traces: Sequence[Trace], nprocs: Integers | int, special: Integers = _NOTHING) -> dict[str, Column]:
    """Rows of the table `rank_io`; no columns where there are no rows.

    A record that all ranks share is divided by the trace of its file, if that holds as many requests and bytes as the
    record, otherwise by the layer's heat maps, which know bytes alone. Where neither will do, the layer has no rows. Special
    files are left out. Layer `all` is MPI-IO, POSIX without the files that went through MPI-IO, and stdio; of these,
    less than a tenth of all bytes may be left out because nothing divides it. A measure is NULL where it is not known: in
    `all` that is where a tenth of it or more would be left out.

    Args:
        tables: columns by table, in one or more parts, special files among them: heat maps hold these too.
        traces: the traces in these.
        nprocs: number of processes of the run, or of each log's; ranks beyond it are left out.
        special: the special files, in order.
    """
    nprocs = of_each_log(nprocs)
    layers = {name: _layer(name, tables, traces, nprocs) for name, table in _TABLE_OF.items() if tables.get(table)}

    def share(name: str, but: Integers) -> _Share:
        return _share(layers[name], but, len(nprocs), lambda: _within(_heat(name, tables), nprocs))

    shares = {name: share(name, special) for name in layers}
    rows = {name: _rows([part], 0.0) for name, part in shares.items()}
    if {"posix", "mpiio"} <= set(layers):
        shares["posix"] = share("posix", np.union1d(special, _used_files(layers["mpiio"])))
    if shares:
        rows["all"] = _rows(list(shares.values()), _LEFT_OUT)
    return _columns({name: part for name, part in rows.items() if len(part.ranks)}, tables)


def _layer(name: str, tables: Tables, traces: Sequence[Trace], nprocs: Integers) -> _Layer:
    records = _joined([_recorded(name, part) for part in tables[_TABLE_OF[name]]])
    # A record shared by one rank is that rank's own.
    is_of_one = (records.ranks == _SHARED) & (nprocs[records.logs] == 1)
    records = records._replace(ranks=np.where(is_of_one, 0, records.ranks))
    shared = records.where(records.ranks == _SHARED)
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
    return _Amounts(logs_in(part), part["file_id"].to_numpy(), part["rank"].to_numpy(), _known(values))


def _known(values: Floats) -> Floats:
    """Amounts, NaN for what cannot be one: Darshan gives a negative for what it does not know, except for one of rounding."""
    values = np.where((values < 0) & (values > -ROUNDING_SECONDS), 0.0, values)
    is_odd = ~((values >= 0) & (values < TOO_MANY))
    return np.where(is_odd, np.nan, values) if is_odd.any() else values


def _traced(trace: Trace) -> _Amounts:
    values = np.zeros((len(trace.firsts), len(_MEASURES)))
    for first, amounts in enumerate((trace.counts, trace.bytes, trace.seconds)):
        values[np.arange(len(amounts)), len(OPS) * first + trace.ops] = amounts
    return _Amounts(trace.logs, trace.file_ids, trace.ranks, values)


def _joined(parts: Sequence[_Amounts]) -> _Amounts:
    if len(parts) == 1:
        return parts[0]
    return _Amounts(*(np.concatenate(columns) for columns in zip(*parts, strict=True))) if parts else _NONE


def _within(amounts: _Amounts, nprocs: Integers) -> _Amounts:
    return amounts.where((amounts.ranks >= 0) & (amounts.ranks < nprocs[amounts.logs]))


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


def _share(layer: _Layer, left_out: Integers, log_count: int, heat_of_layer: Callable[[], _Amounts]) -> _Share:
    """What the ranks did in a layer's files, some left out."""
    share = _parted(layer.files(left_out, are_in=False) if len(left_out) else layer, log_count)
    by_heat: Flags = (share.missing[:, _BYTES] != 0).any(axis=1)
    if not by_heat.any():
        return share
    rest = _parted(layer.files(left_out, are_in=True), log_count)
    heat = heat_of_layer()
    recorded = (layer.own.sums(log_count) + layer.shared.sums(log_count))[:, _BYTES]
    by_heat &= (np.abs(heat.sums(log_count)[:, _BYTES] - recorded) <= _HEATMAP_SLACK * recorded).all(axis=1)
    by_heat &= ~rest.missing[:, _BYTES].any(axis=1)
    if not by_heat.any():
        return share
    # Of all that a rank moved in the layer, what is not known otherwise.
    left = _joined([heat, *(known._replace(values=-known.values) for known in (share.known, rest.known))])
    left = left.where(by_heat[left.logs])
    firsts, values = _summed_up(left.values, left.logs, left.ranks)
    more = np.zeros_like(values)
    more[:, _BYTES] = np.maximum(values[:, _BYTES], 0)
    missing = share.missing.copy()
    missing[by_heat, _BYTES] = 0
    more_known = _Amounts(left.logs[firsts], np.zeros_like(firsts), left.ranks[firsts], more)
    return _Share(_joined([share.known, more_known]), missing, np.where(by_heat, _HEATMAP, share.evidence))


def _parted(layer: _Layer, log_count: int) -> _Share:
    """What records and trace say of the ranks."""
    missing = np.zeros((log_count, len(_MEASURES)))
    missing[:, _META] = layer.shared.sums(log_count)[:, _META]
    shared = layer.shared.where(layer.shared.has_requests)
    if not len(shared.ranks):
        return _Share(layer.own, missing, np.full(log_count, _RECORDS))
    firsts, recorded = _summed_up(shared.values, shared.file_ids)
    logs, file_ids = shared.logs[firsts], shared.file_ids[firsts]
    traced = layer.traced.where(_are_in(layer.traced.file_ids, file_ids))
    firsts, amounts = _summed_up(traced.values, traced.file_ids)
    seen = np.zeros_like(recorded)
    seen[np.searchsorted(file_ids, traced.file_ids[firsts])] = amounts
    # A trace that ran out of memory holds less than the record.
    is_whole = (seen[:, _COUNTED] == recorded[:, _COUNTED]).all(axis=1)
    traced = traced.where(is_whole[np.searchsorted(file_ids, traced.file_ids)])
    missing[:, _OF_REQUESTS] = _sums(logs[~is_whole], recorded[~is_whole], log_count)[:, _OF_REQUESTS]
    is_traced = np.bincount(traced.logs, minlength=log_count) > 0
    return _Share(_joined([layer.own, traced]), missing, np.where(is_traced, _TRACE, _RECORDS))


def _heat(layer: str, tables: Tables) -> _Amounts:
    """Bytes of each rank, over all files of a layer, that its heat maps hold."""
    return _joined([_heat_of_part(layer, part) for part in tables.get("heatmap_rank", ())])


def _heat_of_part(layer: str, part: Mapping[str, Any]) -> _Amounts:
    ranks = part["rank"].to_numpy()

    def summed() -> Floats:
        bins = filled_bins(part)
        values = np.zeros((len(ranks), len(_MEASURES)))
        for op in range(len(OPS)):
            own = bins.ops == op
            values[:, _BYTES.start + op] = np.bincount(bins.rows[own], bins.moved_bytes[own], len(ranks))
        return _known(values)

    # Those of all layers take as long as those of one.
    values = kept(part, "heat", summed)
    is_wanted = np.array([*(name == layer for name in part["layer"].dictionary.to_pylist()), False])
    # Layers that nobody knows are NULL.
    codes = label_codes(part["layer"])
    return _Amounts(logs_in(part), np.zeros_like(ranks), ranks, values).where(is_wanted[codes])


def _sums(logs: Integers, values: Floats, log_count: int) -> Floats:
    """Sums of each log's rows."""
    return np.stack([np.bincount(logs, column, log_count) for column in values.T], axis=1)


def _summed_up(values: Floats, *keys: Integers) -> tuple[Integers, Floats]:
    """A row of each key, in their order, and the sums of all its rows."""
    if not len(values):
        return _NOTHING, values
    order = np.lexsort(keys[::-1])
    firsts = group_starts(*(key[order] for key in keys))
    return order[firsts], np.add.reduceat(values[order], firsts, axis=0)


def _rows(shares: Sequence[_Share], left_out: float) -> _Rows:
    """Rows of one layer; a log has none if more is missing than may be left out."""
    known = _joined([share.known for share in shares])
    missing = np.sum([share.missing for share in shares], axis=0)
    total = missing + _sums(known.logs, np.nan_to_num(known.values), len(missing))

    def is_little(lacking: Floats, whole: Floats) -> Flags:
        little: Flags = (lacking == 0) | (lacking < left_out * whole)
        return little

    firsts, values = _summed_up(known.values, known.logs, known.ranks)
    logs = known.logs[firsts]
    did_something = (values > 0).any(axis=1)
    did_something &= is_little(missing[:, _BYTES].sum(axis=1), total[:, _BYTES].sum(axis=1))[logs]
    logs, ranks, values = logs[did_something], known.ranks[firsts][did_something], values[did_something]
    values[~is_little(missing, total)[logs]] = np.nan
    return _Rows(logs, ranks, values, np.maximum.reduce([share.evidence for share in shares])[logs])


def _columns(rows: Mapping[str, _Rows], tables: Tables) -> dict[str, Column]:
    if not rows:
        return {}
    logs, ranks, values, evidence = (np.concatenate(column) for column in zip(*rows.values(), strict=True))
    layers = np.repeat(np.arange(len(rows)), [len(part.ranks) for part in rows.values()])
    return {
        LOG: Column(logs),
        "layer": labels(layers, list(rows)),
        "rank": Column(ranks),
        "host": labels(*hosts_of(ranks, tables, logs)),
        "evidence": labels(evidence, _EVIDENCE),
        **{
            name: known(column) if name.endswith("_seconds") else counts(column)
            for name, column in zip(_MEASURES, np.ascontiguousarray(values.T), strict=True)
        },
    }


def hosts_of(ranks: Integers, tables: Tables, logs: Integers | None = None) -> tuple[Integers, list[str]]:
    """The number of each rank's host, negative where neither trace nor MPI profile name it, and the names of hosts.

    Args:
        ranks: ranks.
        tables: columns by table, in one or more parts.
        logs: the log of each rank, None where there is one only.
    """
    names = host_names(tables)
    code_of = {name: code for code, name in enumerate(names)}
    named, codes = [(np.zeros(1, np.int64), np.array([_SHARED]))], [np.array([-1])]
    for part in _with_hosts(tables):
        code_at = [code_of[name] for name in part["host"].dictionary.to_pylist()]
        is_named = part["host"].is_valid().to_numpy(zero_copy_only=False)
        named.append((logs_in(part)[is_named], part["rank"].to_numpy()[is_named]))
        codes.append(np.array(code_at, np.int64)[part["host"].indices.drop_null().to_numpy()])
    # Of several names of a rank the first counts, and none for those asked for, who come last.
    named.append((np.zeros_like(ranks) if logs is None else logs, ranks))
    codes.append(np.full(len(ranks), -1))
    firsts, rank_of = grouped(*(np.concatenate(key) for key in zip(*named, strict=True)))
    found: Integers = np.concatenate(codes)[firsts[rank_of[len(rank_of) - len(ranks) :]]]
    return found, names


def host_names(tables: Tables) -> list[str]:
    """Hosts that the tables name, in the order in which they do."""
    return [*dict.fromkeys(name for part in _with_hosts(tables) for name in part["host"].dictionary.to_pylist())]


def _with_hosts(tables: Tables) -> list[Mapping[str, Any]]:
    return [*tables.get("dxt_file", ()), *tables.get("apmpi_rank", ())]
