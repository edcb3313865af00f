"""Stretches of time in which one rank reads or writes one file: requests of a trace, or bins of a heat map.

Attributes of what is not known are NaN.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np

from iomine.derive.batch import TooMuchTogetherError, logs_in
from iomine.derive.blocks import Block, blocks
from iomine.derive.sorting import order_by
from iomine.derive.trace import Flags, Floats, Integers, Tables, Trace, group_starts, grouped, kept, label_codes
from iomine.schema.ops import READ, WRITE

# Requests that are gone through at once.
_BLOCK: Final = 1 << 16


class Stretches(NamedTuple):
    """Stretches of time, each of one rank on one file in one direction.

    Attributes:
        logs: the log, of those that are together.
        starts: in seconds since the start of the run.
        ends: likewise.
        ops: index into `OPS`.
        ranks: ranks.
        file_ids: files, 0 where the evidence knows none.
        request_counts: requests, NaN where the evidence has none.
        moved_bytes: bytes.
        seconds: time in requests, NaN where the evidence has none.
        sieve_bytes: bytes that were read in order to write them back, by stretches of writes; NaN where that is not known.
    """

    logs: Integers
    starts: Floats
    ends: Floats
    ops: Integers
    ranks: Integers
    file_ids: Integers
    request_counts: Floats
    moved_bytes: Floats
    seconds: Floats
    sieve_bytes: Floats

    def of(self, wanted: Flags | Integers) -> Self:
        """Some of them."""
        return type(self)._make(column[wanted] for column in self)

    def silent(self) -> Self:
        """The same stretches of time, with nothing moved in them."""
        nothing = np.zeros(len(self.starts))
        return self._replace(request_counts=nothing, moved_bytes=nothing, seconds=nothing, sieve_bytes=nothing)


def joined(parts: Sequence[Stretches]) -> Stretches:
    """One after the other; at least one."""
    return parts[0] if len(parts) == 1 else Stretches._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def chains(trace: Trace, gap: float, is_sieve: Flags | None = None) -> Stretches:
    """Requests that follow each other in a run, put together where the gap between them is not longer than that.

    Requests whose times are not sound are left out.

    Args:
        trace: the trace of a layer.
        gap: in seconds.
        is_sieve: reads that were made in order to write, as `sieve_reads` gives them; None where that is not known.

    Raises:
        TooMuchTogetherError: several logs have more requests than are gone through at once: where they are cut, chains end.
    """
    if len(trace.starts) > _BLOCK and not trace.is_of_one_log:
        raise TooMuchTogetherError
    return joined([_chains(trace, gap, block, is_sieve) for block in blocks(trace.counts, _BLOCK)])


def _chains(trace: Trace, gap: float, block: Block, is_sieve: Flags | None) -> Stretches:
    starts, ends, lengths = trace.starts[block.at], trace.ends[block.at], trace.lengths[block.at]
    is_first = np.ones(len(starts), bool)
    # Neighbours need not be in order of time.
    is_first[1:] = (starts[1:] - ends[:-1] > gap) | (starts[:-1] - ends[1:] > gap)
    is_first[block.firsts] = True
    if is_sieve is not None:
        is_first[1:] |= is_sieve[block.at][1:] != is_sieve[block.at][:-1]
    # Of all, first what is quicker to find out.
    is_sound = None if ends.max() < np.inf and starts.min() >= 0 and (starts <= ends).all() else _sound(starts, ends)
    if is_sound is not None:
        # Each by itself, so that it takes no other with it.
        is_first |= ~is_sound
        is_first[1:] |= ~is_sound[:-1]
    firsts = np.flatnonzero(is_first)
    runs = block.runs.start + np.searchsorted(block.firsts, firsts, side="right") - 1
    moved = np.add.reduceat(lengths.astype(np.float64), firsts)
    are_sieve = np.zeros(len(firsts), bool) if is_sieve is None else is_sieve[block.at][firsts]
    found = Stretches(
        np.broadcast_to(trace.logs[0], len(runs)) if trace.is_of_one_log else trace.logs[runs],
        np.minimum.reduceat(starts, firsts),
        np.maximum.reduceat(ends, firsts),
        np.where(are_sieve, WRITE, trace.ops[runs]),
        trace.ranks[runs],
        trace.file_ids[runs],
        np.where(are_sieve, 0.0, np.diff(firsts, append=len(starts))),
        np.where(are_sieve, 0.0, moved),
        np.add.reduceat(ends, firsts) - np.add.reduceat(starts, firsts),
        # Of a long trace, as many equal numbers would take as much memory as all starts.
        np.broadcast_to(np.nan, len(firsts)) if is_sieve is None else np.where(are_sieve, moved, 0.0),
    )
    return found if is_sound is None else found.of(is_sound[firsts])


def sieve_reads(posix: Trace, mpiio: Trace) -> Flags:
    """Requests of POSIX that read within a call of their rank that writes the file through MPI-IO.

    A program that writes asked for no read: ROMIO makes it to put back what lies between the pieces.
    """
    is_sieve = np.zeros(len(posix.starts), bool)
    is_write = mpiio.ops == WRITE
    if not is_write.any() or not (posix.ops == READ).any():
        return is_sieve
    keys = grouped(np.concatenate([posix.file_ids, mpiio.file_ids]), np.concatenate([posix.ranks, mpiio.ranks]))[1]
    below, above = keys[: len(posix.ops)], keys[len(posix.ops) :]
    runs = (posix.ops == READ) & np.isin(below, above[is_write])
    reads = np.flatnonzero(np.repeat(runs, posix.counts))
    for wanted, op in ((True, WRITE), (False, READ)):
        calls = np.repeat(mpiio.ops == op, mpiio.counts) & _sound(mpiio.starts, mpiio.ends)
        of_calls = _Spans(np.repeat(above, mpiio.counts)[calls], mpiio.starts[calls], mpiio.ends[calls])
        of_reads = _Spans(np.repeat(below, posix.counts)[reads], posix.starts[reads], posix.ends[reads])
        reads = reads[_within(of_reads, of_calls) == wanted]
    is_sieve[reads] = True
    return is_sieve


class _Spans(NamedTuple):
    """Requests, each of a rank on a file.

    Attributes:
        keys: the number of rank and file.
        starts: when each started.
        ends: when each ended.
    """

    keys: Integers
    starts: Floats
    ends: Floats


def _within(requests: _Spans, calls: _Spans) -> Flags:
    """Whether each request lies within a call of its key; calls of one key do not overlap, except for those of threads."""
    order = order_by(calls.keys, calls.starts)
    if not len(order):
        return np.zeros(len(requests.keys), bool)
    # Complex numbers are in order of their real part, and then of the other.
    moments, wanted = (np.empty(len(each.keys), np.complex128) for each in (calls, requests))
    moments.real, moments.imag = calls.keys[order], calls.starts[order]
    wanted.real, wanted.imag = requests.keys, requests.starts
    found = order[np.maximum(np.searchsorted(moments, wanted, side="right") - 1, 0)]
    is_within: Flags = calls.keys[found] == requests.keys
    is_within &= (calls.starts[found] <= requests.starts) & (requests.ends <= calls.ends[found])
    return is_within


def _sound(starts: Floats, ends: Floats) -> Flags:
    # Infinities and NaN lie nowhere.
    return (starts >= 0) & (ends >= starts) & (ends < np.inf)


def pieces(stretches: Stretches, phase_of: Integers) -> tuple[Stretches, Integers]:
    """Neighbours put together that are one rank's on one file in one phase, and the phase of each.

    Args:
        stretches: at least one.
        phase_of: the phase of each, which is of one log and one direction.
    """
    firsts = group_starts(phase_of, stretches.file_ids, stretches.ranks)
    found = Stretches(
        stretches.logs[firsts],
        np.minimum.reduceat(stretches.starts, firsts),
        np.maximum.reduceat(stretches.ends, firsts),
        stretches.ops[firsts],
        stretches.ranks[firsts],
        stretches.file_ids[firsts],
        *(np.add.reduceat(column, firsts) for column in stretches[6:]),
    )
    return found, phase_of[firsts]


def heatmap_stretches(tables: Tables, layer: str) -> tuple[Stretches, Floats]:
    """Bins of a layer's heat maps that have bytes, log by log, one stretch for each rank and direction.

    Returns:
        The stretches; and the width of a bin of each log up to the last that has heat maps, 0 where one has none.
    """
    found = [_of_heatmaps(part, layer) for part in tables.get("heatmap_rank", ())]
    if not found:
        return Stretches._make(np.empty(0, kind) for kind in "qddqqqdddd"), np.zeros(1)
    width = np.zeros(max(len(widths) for _, widths in found))
    for _, widths in found:
        width[: len(widths)] = np.maximum(width[: len(widths)], widths)
    return by_log(joined([stretches for stretches, _ in found])), width


def by_log(stretches: Stretches) -> Stretches:
    """The same, those of a log together and in the order in which they are given."""
    if not (stretches.logs[1:] < stretches.logs[:-1]).any():
        return stretches
    order = np.argsort(stretches.logs, kind="stable")
    return Stretches._make(column[order] for column in stretches)


def _of_heatmaps(part: Mapping[str, Any], layer: str) -> tuple[Stretches, Floats]:
    def found() -> tuple[Stretches, Floats]:
        names = [*part["layer"].dictionary.to_pylist(), layer]
        is_layer = label_codes(part["layer"]) == names.index(layer)
        logs, widths = logs_in(part), part["bin_seconds"].to_numpy()
        width_of_logs = np.zeros(int(logs.max(initial=0)) + 1)
        np.maximum.at(width_of_logs, logs[is_layer], widths[is_layer])
        bins = filled_bins(part)
        own = np.flatnonzero(is_layer[bins.rows])
        rows, at = bins.rows[own], bins.numbers[own]
        width, unknown = widths[rows], np.full(len(own), np.nan)
        stretches = Stretches(
            logs[rows],
            at * width,
            (at + 1) * width,
            bins.ops[own],
            part["rank"].to_numpy()[rows],
            np.zeros(len(own), np.int64),
            unknown,
            bins.moved_bytes[own],
            unknown,
            unknown,
        )
        return stretches, width_of_logs

    # Asked for by the layer, by the whole log, and for periods.
    made: tuple[Stretches, Floats] = kept(part, f"stretches {layer}", found)
    return made


class FilledBins(NamedTuple):
    """Bins of heat maps that have bytes, log by log: of a log first those of writes.

    Attributes:
        rows: the row of each.
        numbers: its number in the row.
        ops: index into `OPS`.
        moved_bytes: its bytes.
    """

    rows: Integers
    numbers: Integers
    ops: Integers
    moved_bytes: Floats


def filled_bins(part: Mapping[str, Any]) -> FilledBins:
    """Bins of all layers.

    Args:
        part: of the table `heatmap_rank`.
    """

    def found() -> FilledBins:
        by_op = []
        for op, name in ((WRITE, "write"), (READ, "read")):
            lists = part[f"{name}_bin_amounts"]
            numbers, moved = (column.flatten().to_numpy() for column in (part[f"{name}_bin_numbers"], lists))
            # Sound logs have bins below zero.
            filled = moved > 0
            rows = np.repeat(np.arange(len(lists)), np.diff(lists.offsets))[filled]
            by_op.append(
                FilledBins(rows, numbers[filled].astype(np.int64), np.full(len(rows), op), moved[filled].astype(np.float64))
            )
        bins = [np.concatenate(columns) for columns in zip(*by_op, strict=True)]
        order = np.argsort(logs_in(part)[bins[0]], kind="stable")
        return FilledBins._make(column[order] for column in bins)

    made: FilledBins = kept(part, "filled bins", found)
    return made
