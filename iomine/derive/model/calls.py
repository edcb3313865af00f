"""Requests that a program made, phase by phase: those of MPI-IO, and those of POSIX on files that did not go through it."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from iomine.derive.batch import TooMuchTogetherError, logs_in
from iomine.derive.phases import Layer, extents, incidental_files, lanes
from iomine.derive.sorting import order_by
from iomine.derive.stretches import sieve_reads
from iomine.derive.trace import Flags, Floats, Integers, Tables, Trace, group_sizes, group_starts, grouped
from iomine.schema.ops import OPS, READ, WRITE

# Instead of a number that is not known; no place in a file, nor a step, is as low.
UNKNOWN: Final = int(np.iinfo(np.int64).min)
# Requests so many times shorter than those with most bytes, and with a smaller share of all bytes than this, are headers.
MINOR: Final = 64
MINOR_SHARE: Final = 0.01
# A trace that holds a smaller share of the bytes of a file is not used for the file.
_WHOLE: Final = 0.9
# No file is as long, and no run moves as much.
_FARTHEST: Final = 1 << 60
_TOO_MANY: Final = 2.0**62


class Calls(NamedTuple):
    """Requests of a layer in pieces; those of a piece are a rank's on a file in a phase, in the order of their start.

    Attributes:
        offsets: where in its file each request starts, -1 where that is not known.
        lengths: bytes of each.
        starts: when each started, in seconds since the start of the run.
        ends: when each ended.
        firsts: index of each piece's first request.
        counts: requests of each piece.
        phases: phase of each piece, as its layer numbers them.
        file_ids: file of each piece.
        ranks: rank of each piece.
    """

    offsets: Integers
    lengths: Integers
    starts: Floats
    ends: Floats
    firsts: Integers
    counts: Integers
    phases: Integers
    file_ids: Integers
    ranks: Integers

    def of_requests(self, of_pieces: Integers) -> Integers:
        """For each request what is known of its piece."""
        return np.repeat(of_pieces, self.counts)

    def where(self, wanted: Flags) -> "Calls":
        """Some of the requests."""
        if wanted.all():
            return self
        counts = np.bincount(self.of_requests(np.arange(len(self.counts)))[wanted], minlength=len(self.counts))
        stays = counts > 0
        counts = counts[stays]
        return Calls(
            self.offsets[wanted],
            self.lengths[wanted],
            self.starts[wanted],
            self.ends[wanted],
            np.cumsum(counts) - counts,
            counts,
            self.phases[stays],
            self.file_ids[stays],
            self.ranks[stays],
        )


class Beneath(NamedTuple):
    """POSIX requests that MPI-IO made, within its phases; what was read in order to write counts with the writes.

    Attributes:
        offsets: where in its file each starts.
        lengths: bytes of each.
        starts: when each started.
        ends: when each ended.
        phases: phase of each, as MPI-IO's are numbered.
        file_ids: file of each.
        ranks: rank of each.
    """

    offsets: Integers
    lengths: Integers
    starts: Floats
    ends: Floats
    phases: Integers
    file_ids: Integers
    ranks: Integers


class Called(NamedTuple):
    """What was moved to or from files, each direction of a file in the layer that the program called.

    Attributes:
        logs: log of each row.
        layers: layer of each, an index into `LAYERS`.
        file_ids: file of each.
        ops: direction of each, an index into `OPS`.
        moved_bytes: by counters, by the trace where it holds more.
        is_traced: the trace speaks for it.
    """

    logs: Integers
    layers: Integers
    file_ids: Integers
    ops: Integers
    moved_bytes: Floats
    is_traced: Flags

    def where(self, wanted: Flags) -> "Called":
        """Some of the rows."""
        return Called._make(column[wanted] for column in self)


LAYERS: Final = ("mpiio", "posix", "stdio", "dfs")
_MPIIO, _POSIX = (LAYERS.index(name) for name in ("mpiio", "posix"))


def sums(groups: Integers, values: Integers | Floats, total: int = 0) -> Floats:
    """Sum of the values of each group, as floats; `total` is the least number of groups."""
    found: Floats = np.bincount(groups, values, total).astype(np.float64, copy=False)
    return found


def called(tables: Tables, traces: Sequence[Trace], is_sieve: Flags | None) -> Called:
    """Files by direction that bytes were moved to or from.

    Args:
        tables: columns by table, in one or more parts, without special files.
        traces: the traces in these.
        is_sieve: POSIX requests that read in order to write, as `sieve_reads` gives them; None where there are none.
    """
    # Log, layer, file, direction, bytes by counters and bytes by trace.
    rows: list[tuple[Integers, Integers, Integers, Integers, Floats, Floats]] = []
    for layer, name in enumerate(LAYERS):
        for part in tables.get(f"{name}_file", ()):
            own, logs = part["file_id"].to_numpy(), logs_in(part)
            for op, word in enumerate(OPS):
                moved = part[f"{word}_bytes"].to_numpy()
                at = (moved > 0).nonzero()[0]
                if len(at):
                    keys = logs[at], np.full(len(at), layer), own[at], np.full(len(at), op)
                    rows.append((*keys, moved[at].astype(np.float64), np.zeros(len(at))))
    for trace in traces:
        moved = trace.bytes
        if trace.layer == "posix" and is_sieve is not None:
            moved = np.add.reduceat(np.where(is_sieve, 0, trace.lengths), trace.firsts, dtype=np.float64)
        at = np.flatnonzero(moved)
        keys = trace.logs[at], np.full(len(at), LAYERS.index(trace.layer)), trace.file_ids[at], trace.ops[at]
        rows.append((*keys, np.zeros(len(at)), moved[at]))
    if not any(len(row[0]) for row in rows):
        nothing = np.empty(0, np.int64)
        return Called(nothing, nothing, nothing, nothing, np.empty(0), np.empty(0, bool))
    logs, layers, file_ids, ops, counted, traced = (np.concatenate(column) for column in zip(*rows, strict=True))
    firsts, row_of = grouped(layers, file_ids, ops)
    logs, layers, file_ids, ops = (key[firsts] for key in (logs, layers, file_ids, ops))
    counted, traced = sums(row_of, counted), sums(row_of, traced)
    if not (layers == _MPIIO).any():
        return Called(logs, layers, file_ids, ops, np.maximum(counted, traced), traced >= _WHOLE * counted)
    # POSIX does what MPI-IO asks; of reads of a file that MPI-IO writes and does not read only the trace shows whose they are.
    pair_of = grouped(file_ids, ops)[1]
    is_mpiio = layers == _MPIIO
    is_beneath = (layers == _POSIX) & (np.bincount(pair_of, is_mpiio) > 0)[pair_of]
    is_doubtful = (layers == _POSIX) & (ops == READ) & np.isin(file_ids, file_ids[is_mpiio & (ops == WRITE)])
    stays = ~is_beneath & ~(is_doubtful & (traced == 0))
    moved = np.where(is_doubtful, traced, np.maximum(counted, traced))
    found = Called(logs, layers, file_ids, ops, moved, is_doubtful | (traced >= _WHOLE * counted))
    return Called._make(column[stays] for column in found)


def calls_of(trace: Trace, layer: Layer, wanted: Flags, of_requests: Flags | None = None) -> Calls | None:
    """Requests of a layer in its phases; None where there are none, or what they move cannot be.

    Args:
        trace: its trace.
        layer: its phases.
        wanted: runs of the trace that count.
        of_requests: requests that count, None for all.

    Raises:
        TooMuchTogetherError: what several logs move together cannot be, though each may.
    """
    if not wanted.any():
        return None
    wanted = wanted & ~np.isin(trace.file_ids, incidental_files(trace))
    phases = phase_at(layer, trace, np.repeat(trace.ops, trace.counts))
    is_wanted = np.repeat(wanted, trace.counts) & (phases >= 0)
    if of_requests is not None:
        is_wanted &= of_requests
    if not is_wanted.any():
        return None
    at = slice(None) if is_wanted.all() else np.flatnonzero(is_wanted)
    runs = np.repeat(np.arange(len(trace.counts)), trace.counts)[at]
    phases, starts = phases[at], trace.starts[at]
    firsts = group_starts(runs, phases)
    groups, group_of = grouped(phases[firsts], trace.file_ids[runs[firsts]], trace.ranks[runs[firsts]])
    logs = trace.logs[runs[firsts]]
    is_mixed = np.bincount(logs) > np.bincount(logs[groups])
    is_late = starts[1:] < starts[:-1]
    is_late[firsts[1:] - 1] = False
    is_mixed[trace.logs[runs[1:][is_late]]] = True
    if is_mixed.any():
        # Logs that are in order stay as they come.
        pieces = np.where(is_mixed[logs], group_of, np.arange(len(firsts)))
        piece_of = np.repeat(grouped(logs, pieces)[1], group_sizes(firsts, len(starts)))
        order = order_by(piece_of, starts)
        at = order if isinstance(at, slice) else at[order]
        runs, phases, starts = runs[order], phases[order], starts[order]
        firsts = group_starts(piece_of[order])
    offsets, lengths = trace.offsets[at], trace.lengths[at]
    # Sums of these would not hold.
    if lengths.sum(dtype=np.float64) >= _TOO_MANY:
        if not trace.is_of_one_log:
            raise TooMuchTogetherError
        return None
    if offsets.min() < -1 or offsets.max() >= _FARTHEST:
        offsets = np.where((offsets >= 0) & (offsets < _FARTHEST), offsets, -1)
    return Calls(
        offsets,
        lengths,
        starts,
        trace.ends[at],
        firsts,
        group_sizes(firsts, len(starts)),
        phases[firsts],
        trace.file_ids[runs[firsts]],
        trace.ranks[runs[firsts]],
    )


def phase_at(layer: Layer, trace: Trace, ops: Integers) -> Integers:
    """The phase of their log and direction in which requests of a trace lie, negative where there is none.

    Args:
        layer: the phases; those of one log and direction do not overlap.
        trace: the requests.
        ops: direction of each.
    """
    begins, finishes = extents(layer.stretches, layer.phase_of)
    logs, own_ops = lanes(layer)
    lane_of = logs * len(OPS) + own_ops
    order = np.lexsort((begins, lane_of))
    firsts = group_starts(lane_of[order])
    starts, ends = trace.starts, trace.ends
    edges = np.append(0, np.cumsum(trace.counts))[np.searchsorted(trace.logs, np.arange(int(logs.max()) + 2))].tolist()
    found = np.full(len(starts), -1)
    for lane, own in zip(lane_of[order][firsts].tolist(), np.split(order, firsts[1:]), strict=True):
        log, op = divmod(lane, len(OPS))
        at = slice(edges[log], edges[log + 1])
        nth = np.searchsorted(begins[own], starts[at], side="right") - 1
        candidates = own[np.maximum(nth, 0)]
        is_within = (ops[at] == op) & (nth >= 0) & (starts[at] <= finishes[candidates])
        np.copyto(found[at], candidates, where=is_within)
    found[~((starts <= ends) & (ends < np.inf))] = -1
    return found


def beneath(posix: Trace, mpiio: Trace, phases: Layer, is_sieve: Flags | None) -> Beneath:
    """What MPI-IO's requests became in POSIX.

    Args:
        posix: the trace of POSIX.
        mpiio: the trace of MPI-IO.
        phases: MPI-IO's phases.
        is_sieve: POSIX requests that read in order to write, None where there are none.
    """
    wanted = np.repeat(np.isin(posix.file_ids, mpiio.file_ids), posix.counts)
    ops = np.repeat(posix.ops, posix.counts)
    if is_sieve is not None:
        ops[is_sieve] = WRITE
    found = np.where(wanted, phase_at(phases, posix, ops), -1)
    at = np.flatnonzero(found >= 0)
    runs = np.repeat(np.arange(len(posix.counts)), posix.counts)[at]
    return Beneath(
        posix.offsets[at],
        posix.lengths[at],
        posix.starts[at],
        posix.ends[at],
        found[at],
        posix.file_ids[runs],
        posix.ranks[runs],
    )


def sieves(posix: Trace | None, mpiio: Trace | None) -> Flags | None:
    """POSIX requests that read in order to write; None where there are none."""
    if posix is None or mpiio is None or not (posix.ops == READ).any():
        return None
    is_sieve = sieve_reads(posix, mpiio)
    return is_sieve if is_sieve.any() else None


def pairs_in(file_ids: Integers, ops: Integers, called_files: Called, layer: int) -> Flags:
    """Which files and directions are those of a layer that its trace speaks for."""
    wanted = np.flatnonzero((called_files.layers == layer) & called_files.is_traced)
    if not len(wanted):
        return np.zeros(len(file_ids), bool)
    keys = grouped(np.concatenate([file_ids, called_files.file_ids[wanted]]), np.concatenate([ops, called_files.ops[wanted]]))[1]
    return np.isin(keys[: len(file_ids)], keys[len(file_ids) :])
