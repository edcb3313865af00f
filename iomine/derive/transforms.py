"""MPI-IO requests matched with the POSIX requests that they became.

MPI-IO works inside its calls: what a rank does in POSIX while an MPI-IO request of its own lasts on the same file was done
by that request. It is a copy or a piece of the request, or neither; then it carries bytes of other ranks or of the holes
between pieces. Nonblocking requests are carried out after their call, and are known by their place in the file.

Sums are floats, exact up to 2**53.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from iomine.derive.batch import LOG
from iomine.derive.collective import Calls, counted_calls
from iomine.derive.columns import TOO_MANY, counts, labels
from iomine.derive.sorting import order_by
from iomine.derive.trace import Flags, Floats, Integers, Tables, Trace, group_starts, grouped
from iomine.schema.column import Column
from iomine.schema.ops import OPS, READ, WRITE

# How much of a row has to be of one kind for the row to be named after it.
_MOST: Final = 0.9
# What is read or moved in excess, by what was asked for; less comes of the ends of blocks.
_EXCESS: Final = 0.1
# If a smaller share of POSIX comes from MPI-IO, nothing is said of what MPI-IO did.
_ENOUGH: Final = 0.5
# A longer list helps nobody.
_MOST_RANKS: Final = 1024


class _Requests(NamedTuple):
    """Requests of one layer on files that both layers traced.

    Attributes:
        runs: run of each request.
        offsets: where in its file each starts, negative where that is not known.
        lengths: bytes of each.
        starts: when each started.
        ends: when each ended.
        rows: row of each run; the directions of a file are side by side.
        groups: number of each run's file, rank and direction; the directions are side by side.
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
        """Some of the requests."""
        if flags.all():
            return self
        of_requests = ("runs", "offsets", "lengths", "starts", "ends")
        return self._replace(**{name: getattr(self, name)[flags] for name in of_requests})

    def sums(self, row_count: int, values: Integers | Floats | Flags | None = None) -> Floats:
        """Sum of values over the requests of each row, their number where there are no values."""
        of_runs = np.bincount(self.runs, values, len(self.rows))
        sums: Floats = np.bincount(self.rows, of_runs, row_count).astype(np.float64, copy=False)
        return sums

    def medians(self, row_count: int) -> Integers:
        """The middle length of each row, the lower of two."""
        rows = self.rows[self.runs]
        in_row = np.bincount(rows, minlength=row_count)
        middles = np.cumsum(in_row) - in_row + np.maximum(in_row - 1, 0) // 2
        # A last row without requests has its middle after all others.
        medians: Integers = np.append(self.lengths[order_by(rows, self.lengths)], 0)[middles]
        return medians

    def row_ranks(self, flags: Flags) -> tuple[Integers, Integers]:
        """Row and rank of all ranks with such requests, in order."""
        runs = np.flatnonzero(np.bincount(self.runs, flags, len(self.rows)))
        _, firsts = np.unique(self.groups[runs], return_index=True)
        rows, ranks = self.rows[runs[firsts]], self.ranks[runs[firsts]]
        order = np.lexsort((ranks, rows))
        return rows[order], ranks[order]


class _Matches(NamedTuple):
    """What became of requests.

    Attributes:
        is_same: MPI-IO requests that became one of the same bytes.
        is_split: MPI-IO requests that became several of as many bytes.
        is_left: MPI-IO requests that their rank did not carry out.
        is_own: POSIX requests within an MPI-IO request of their rank.
        is_foreign: those of them that move other bytes than it asks for.
        is_matched: POSIX requests that come of MPI-IO, of whatever rank.
    """

    is_same: Flags
    is_split: Flags
    is_left: Flags
    is_own: Flags
    is_foreign: Flags
    is_matched: Flags


class _Amounts(NamedTuple):
    """Sums over the requests of each row.

    Attributes:
        asked: MPI-IO requests that move something.
        asked_bytes: bytes of these.
        done: POSIX requests.
        own: those within an MPI-IO request of their rank.
        own_bytes: bytes of these.
        foreign_bytes: bytes of those that move other bytes than it asks for.
        matched: POSIX requests that come of MPI-IO.
        same: MPI-IO requests that became one of the same bytes.
        same_bytes: bytes of these.
        split: MPI-IO requests that became several.
        split_bytes: bytes of these.
        left_bytes: bytes of MPI-IO requests that their rank did not carry out.
    """

    asked: Floats
    asked_bytes: Floats
    done: Floats
    own: Floats
    own_bytes: Floats
    foreign_bytes: Floats
    matched: Floats
    same: Floats
    same_bytes: Floats
    split: Floats
    split_bytes: Floats
    left_bytes: Floats


def mpiio_posix(tables: Tables, traces: Sequence[Trace]) -> dict[str, Any]:
    """Rows of the table `mpiio_posix`; no columns where there are no rows.

    Requests that move nothing are left out. What POSIX reads within MPI-IO's writes counts with the writes alone.

    Args:
        tables: columns by table, in one or more parts.
        traces: the traces in these.
    """
    of_layer = {trace.layer: trace for trace in traces}
    if not {"mpiio", "posix"} <= set(of_layer):
        return {}
    above, below = of_layer["mpiio"], of_layer["posix"]
    file_ids, at, _ = np.intersect1d(above.file_ids, below.file_ids, return_indices=True)
    if not len(file_ids):
        return {}
    ranks = np.union1d(above.ranks, below.ranks)
    mpiio, posix = (_requests(trace, file_ids, ranks) for trace in (above, below))
    columns = _columns(mpiio, posix.where(posix.lengths > 0), counted_calls(tables, file_ids))
    rows = np.flatnonzero(columns["mpiio_request_count"].to_numpy() * columns["posix_request_count"].to_numpy())
    if not len(rows):
        return {}
    files = rows // len(OPS)
    keys = {LOG: Column(above.logs[at[files]]), "file_id": Column(file_ids[files]), "op": labels(rows % len(OPS), OPS)}
    lists = columns.pop("aggregator_ranks").take(pa.array(rows))
    return keys | {name: column.taken(rows) for name, column in columns.items()} | {"aggregator_ranks": lists}


def _requests(trace: Trace, file_ids: Integers, ranks: Integers) -> _Requests:
    files = np.minimum(np.searchsorted(file_ids, trace.file_ids), len(file_ids) - 1)
    groups = (files * len(ranks) + np.searchsorted(ranks, trace.ranks)) * len(OPS) + trace.ops
    runs = np.repeat(np.arange(len(trace.counts)), trace.counts)
    rows = files * len(OPS) + trace.ops
    requests = _Requests(runs, trace.offsets, trace.lengths, trace.starts, trace.ends, rows, groups, trace.ranks)
    return requests.where((file_ids[files] == trace.file_ids)[runs])


def _within(mpiio: _Requests, posix: _Requests, mpiio_keys: Integers, posix_keys: Integers) -> Integers:
    """An MPI-IO request during which each POSIX request was made, negative where there is none.

    Args:
        mpiio: requests of MPI-IO.
        posix: requests of POSIX.
        mpiio_keys: what has to be equal, for each run of MPI-IO.
        posix_keys: the same for each run of POSIX.
    """
    mpiio_keys, posix_keys = mpiio_keys[mpiio.runs], posix_keys[posix.runs]
    at = np.flatnonzero(_makes_sense(mpiio))
    if not len(at):
        return np.full(len(posix.runs), -1)
    moments = _moments(mpiio_keys[at], mpiio.starts[at])
    if np.any(moments[1:] < moments[:-1]):
        order = np.argsort(moments, kind="stable")
        at, moments = at[order], moments[order]
    keys, ends = mpiio_keys[at], mpiio.ends[at]
    found = np.searchsorted(moments, _moments(posix_keys, posix.starts), side="right") - 1
    # Mostly the last that began; only where a rank has several at once it may be one from before that.
    found = np.where(ends[found] >= posix.ends, found, _ending_last(keys, ends)[found])
    is_within = (found >= 0) & (keys[found] == posix_keys) & (ends[found] >= posix.ends) & _makes_sense(posix)
    return np.where(is_within, at[found], -1)


def _makes_sense(requests: _Requests) -> Flags:
    makes_sense: Flags = (
        (np.abs(requests.starts) < TOO_MANY) & (np.abs(requests.ends) < TOO_MANY) & (requests.starts <= requests.ends)
    )
    return makes_sense


def _moments(keys: Integers, starts: Floats) -> npt.NDArray[np.complex128]:
    """Numbers that are in order of key, and then of start."""
    moments = np.empty(len(keys), dtype=np.complex128)
    moments.real, moments.imag = keys, starts
    return moments


def _ending_last(keys: Integers, ends: Floats) -> Integers:
    """For each row, in order of keys: which of the rows of its key up to this one ends last."""
    if not np.any((keys[1:] == keys[:-1]) & (ends[1:] < ends[:-1])):
        return np.arange(len(keys))
    order = order_by(keys, ends)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    last: Integers = order[np.maximum.accumulate(places)]
    return last


def _matches(mpiio: _Requests, posix: _Requests, parents: Integers) -> _Matches:
    """What became of requests, from the MPI-IO request in which each POSIX request lies, negative where there is none."""
    is_own = parents >= 0
    own = np.flatnonzero(is_own)
    of_own = parents[own]
    part_counts = np.bincount(of_own, minlength=len(mpiio.runs))
    part_bytes = np.bincount(of_own, posix.lengths[own], len(mpiio.runs))
    # Traces of an older kind do not say where MPI-IO's requests lie.
    is_there = (posix.offsets[own] == mpiio.offsets[of_own]) | (mpiio.offsets[of_own] < 0)
    copies = np.bincount(of_own, is_there & (posix.lengths[own] == mpiio.lengths[of_own]), len(mpiio.runs))
    is_same = (part_counts == 1) & (copies == 1)
    is_split = (part_counts > 1) & (part_bytes == mpiio.lengths)
    is_foreign = is_own & ~(is_same | is_split)[parents]
    is_left = part_counts == 0
    is_late, is_later = _paired(mpiio, posix, is_left, ~is_own)
    is_matched = is_own | is_later
    rest = np.flatnonzero(~is_matched)
    if len(rest):
        others = posix.where(~is_matched)
        is_matched[rest] = _within(mpiio, others, mpiio.rows, others.rows) >= 0
    return _Matches(is_same | is_late, is_split, is_left & ~is_late, is_own, is_foreign, is_matched)


def _paired(mpiio: _Requests, posix: _Requests, among_mpiio: Flags, among_posix: Flags) -> tuple[Flags, Flags]:
    """Requests of both layers that a rank made of the same bytes, as many in one layer as in the other."""
    ats = np.flatnonzero(among_mpiio), np.flatnonzero(among_posix)
    are_paired = np.zeros(len(mpiio.runs), dtype=bool), np.zeros(len(posix.runs), dtype=bool)
    if all(map(len, ats)):
        columns = [
            (part.groups[part.runs[at]], part.offsets[at], part.lengths[at]) for part, at in zip((mpiio, posix), ats, strict=True)
        ]
        keys = grouped(*(np.concatenate(both) for both in zip(*columns, strict=True)))[1]
        parts = keys[: len(ats[0])], keys[len(ats[0]) :]
        pairs = np.minimum(*(np.bincount(part, minlength=len(keys)) for part in parts))
        for is_paired, at, part in zip(are_paired, ats, parts, strict=True):
            is_paired[at] = _numbers(part) < pairs[part]
    return are_paired


def _numbers(keys: Integers) -> Integers:
    """Number of each row among those of its key, from 0."""
    order = order_by(keys)
    firsts = group_starts(keys[order])
    numbers = np.empty_like(order)
    numbers[order] = np.arange(len(order)) - np.repeat(firsts, np.diff(firsts, append=len(order)))
    return numbers


def _columns(mpiio: _Requests, posix: _Requests, calls: Calls) -> dict[str, Any]:
    """Columns of all rows, those without requests too."""
    row_count = len(calls.other)
    parents = _within(mpiio, posix, mpiio.groups, posix.groups)
    is_sieve, sieve = _sieve_reads(mpiio, posix, parents)
    posix, parents = posix.where(~is_sieve), parents[~is_sieve]
    matches = _matches(mpiio, posix, parents)
    amounts = _amounts(mpiio, posix, matches, row_count)
    sieve_bytes = sieve.sums(row_count, sieve.lengths)
    rank_counts = np.bincount(mpiio.row_ranks(mpiio.lengths > 0)[0], minlength=row_count)
    aggregator_rows, aggregators = posix.row_ranks(matches.is_foreign)
    aggregator_counts = np.bincount(aggregator_rows, minlength=row_count)
    # Some ranks left to others what these carried out: calls that were not collective cannot do so.
    is_aggregated = (aggregator_counts < rank_counts) & (amounts.left_bytes > 0) & (calls.collective != 0)
    is_listed = is_aggregated[aggregator_rows]
    stayed, is_stayed = _stayed(amounts, mpiio.sums(row_count), calls, rank_counts)
    is_known = ~np.isnan(calls.collective)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = {
            "posix_per_mpiio_ratio": amounts.done / amounts.asked,
            "own_request_ratio": amounts.own / amounts.done,
            "matched_request_ratio": amounts.matched / amounts.done,
            "unchanged_ratio": amounts.same / amounts.asked,
        }
    return {
        "transformation": _transformations(amounts, sieve_bytes, calls, rank_counts),
        "is_collective": Column(calls.collective > 0, mask=~is_known),
        "stayed_independent": Column(is_stayed, mask=np.isnan(stayed)),
        "stayed_independent_count": counts(stayed),
        "mpiio_request_count": counts(amounts.asked),
        "posix_request_count": counts(amounts.done),
        "mpiio_bytes": counts(amounts.asked_bytes),
        "posix_bytes": counts(posix.sums(row_count, posix.lengths)),
        "mpiio_median_bytes": Column(mpiio.where(mpiio.lengths > 0).medians(row_count)),
        "posix_median_bytes": Column(posix.medians(row_count)),
        "sieve_read_count": counts(sieve.sums(row_count)),
        "sieve_read_bytes": counts(sieve_bytes),
        "mpiio_rank_count": Column(rank_counts),
        "posix_rank_count": Column(np.bincount(posix.row_ranks(posix.lengths > 0)[0], minlength=row_count)),
        "aggregator_rank_count": Column(np.where(is_aggregated, aggregator_counts, 0)),
        "aggregator_ranks": _lists(aggregator_rows[is_listed], aggregators[is_listed], row_count),
        **{name: Column(ratio) for name, ratio in ratios.items()},
    }


def _sieve_reads(mpiio: _Requests, posix: _Requests, parents: Integers) -> tuple[Flags, _Requests]:
    """Which of POSIX's requests read what a write of MPI-IO puts back, and these as if they were writes."""
    is_sieve = (parents < 0) & (posix.rows % len(OPS) == READ)[posix.runs]
    reads = posix.where(is_sieve)
    rows, groups = (numbers - numbers % len(OPS) + WRITE for numbers in (posix.rows, posix.groups))
    sieve = reads._replace(rows=rows, groups=groups)
    is_within = _within(mpiio, sieve, mpiio.groups, sieve.groups) >= 0
    is_sieve[is_sieve] = is_within
    return is_sieve, sieve.where(is_within)


def _amounts(mpiio: _Requests, posix: _Requests, matches: _Matches, row_count: int) -> _Amounts:
    def asked(flags: Flags) -> tuple[Floats, Floats]:
        return mpiio.sums(row_count, flags), mpiio.sums(row_count, mpiio.lengths * flags)

    def done(flags: Flags) -> tuple[Floats, Floats]:
        return posix.sums(row_count, flags), posix.sums(row_count, posix.lengths * flags)

    return _Amounts(
        *asked(mpiio.lengths > 0),
        posix.sums(row_count),
        *done(matches.is_own),
        done(matches.is_foreign)[1],
        done(matches.is_matched)[0],
        *asked(matches.is_same),
        *asked(matches.is_split),
        asked(matches.is_left)[1],
    )


def _transformations(amounts: _Amounts, sieve_bytes: Floats, calls: Calls, rank_counts: Integers) -> Column:
    is_foreign = (amounts.foreign_bytes > 0) & (amounts.foreign_bytes >= _MOST * amounts.own_bytes)

    def are_most(requests: Floats, their_bytes: Floats) -> Flags:
        are_most: Flags = (requests >= _MOST * amounts.asked) & (their_bytes >= _MOST * amounts.asked_bytes)
        return are_most

    applies = {
        "data_sieving": np.fmax(sieve_bytes, amounts.own_bytes - amounts.asked_bytes) > _EXCESS * amounts.asked_bytes,
        "unchanged": are_most(amounts.same, amounts.same_bytes),
        "collective_buffering": is_foreign & (calls.collective != 0) & (rank_counts > 1),
        "split": are_most(amounts.split, amounts.split_bytes),
        "merged": is_foreign & (amounts.own < amounts.asked),
        "mixed": np.ones(len(is_foreign), dtype=bool),
    }
    names = np.argmax(list(applies.values()), axis=0)
    return labels(np.where(amounts.matched >= _ENOUGH * amounts.done, names, -1), list(applies))


def _stayed(amounts: _Amounts, traced: Floats, calls: Calls, rank_counts: Integers) -> tuple[Floats, Flags]:
    """The least number of collective calls that ranks carried out themselves, and whether these are most of several ranks'.

    A trace does not say which requests are collective, but how many are not: at worst, these are all among those that
    ranks carried out themselves.
    """
    kept = amounts.same + amounts.split
    stayed = np.where(calls.collective > 0, np.fmax(kept - calls.other, 0), 0)
    # Of a trace that is not whole it is not known how many are not.
    is_known = (calls.collective == 0) | (calls.collective + calls.other == traced)
    is_known |= (calls.other == 0) & (calls.collective > 0)
    is_stayed = (stayed > 0) & (stayed >= _MOST * (amounts.asked - calls.other)) & (rank_counts > 1)
    return np.where(is_known, stayed, np.nan), is_stayed


def _lists(rows: Integers, values: Integers, row_count: int) -> pa.ListArray:
    """Values of each row, NULL where it has none; a long list is cut."""
    in_row = np.bincount(rows, minlength=row_count)
    numbers = np.arange(len(rows)) - (np.cumsum(in_row) - in_row)[rows]
    ends = np.cumsum(np.minimum(in_row, _MOST_RANKS))
    offsets = pa.array(np.concatenate([[0], ends]), pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.array(values[numbers < _MOST_RANKS]), mask=pa.array(in_row == 0))
