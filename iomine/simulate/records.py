"""Darshan's counters, worked out from what ranks did, as Darshan's runtime would have counted them.

After `darshan-posix.c`, `darshan-mpiio.c`, `darshan-stdio.c` and their reductions. A rank's record of a file remembers the
last byte of its last read and its last write, both 0 at first: a request is consecutive if it begins one byte further,
sequential if it begins anywhere further, and the gap in between is its stride. A file that all ranks opened becomes one
shared record, in which counts and times are sums, timestamps the first and the last, and the fastest and the slowest
rank are those of least and most I/O time. Where Darshan would merge only the four commonest sizes of each rank, the four
commonest of all are given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from iomine.schema.ops import OPS
from iomine.simulate.runs import Call, Calls, Flags, Floats, Integers, Runs
from iomine.units import GIB, KIB, MIB

# A length on a bound counts below it (`DARSHAN_BUCKET_INC`).
_BIN_ENDS: Final = np.array([100, KIB, 10 * KIB, 100 * KIB, MIB, 4 * MIB, 10 * MIB, 100 * MIB, GIB])
_BINS: Final = ("0_100", "100_1k", "1k_10k", "10k_100k", "100k_1m", "1m_4m", "4m_10m", "10m_100m", "100m_1g", "1g_plus")
_COUNTS: Final = ("count", "bytes", "collective", "consecutive", "sequential", "misaligned", *_BINS)
_COMMON: Final = 4
_SHARED: Final = -1
_CALL_FIELDS: Final = {Call.OPEN: "open_count", Call.STAT: "stat_count"}
FILE_ALIGNMENT: Final = MIB

_Values = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Records:
    """Records of all layers, ordered by layer, file and rank.

    Attributes:
        layers: index of each record's layer.
        files: index of each record's file.
        ranks: its rank, -1 for a shared one.
        values: fields of all modules by name; a module takes those that it has.
    """

    layers: Integers
    files: Integers
    ranks: Integers
    values: Mapping[str, npt.NDArray[Any]]


def records_of(runs: Runs, calls: Calls, nprocs: Integers) -> Records:
    """Counters of all layers.

    Args:
        runs: requests that moved data.
        calls: those that did not.
        nprocs: of each file, processes of the program that it belongs to.
    """
    most = int(nprocs.max(initial=0)) + 1
    keys = [(part.layers * len(nprocs) + part.files) * most + part.ranks for part in (runs, calls)]
    own, of_own = np.unique(np.concatenate(keys), return_inverse=True)
    objects, ranks = np.divmod(own, most)
    distinct, firsts, sizes = np.unique(objects, return_index=True, return_counts=True)
    processes = nprocs[distinct % len(nprocs)]
    is_shared = np.repeat((sizes == processes) & (processes > 1), sizes)
    is_first = ~is_shared
    is_first[firsts] = True
    starts = np.flatnonzero(is_first)
    of_record = (np.cumsum(is_first) - 1)[of_own]
    shared = is_shared[starts]
    order = np.argsort(of_own[: len(runs.files)], kind="stable")
    sorted_runs = runs.where(order)
    own_of_run, record_of_run = of_own[order], of_record[order]
    values: _Values = {}
    amounts, strides = _counted(sorted_runs, own_of_run, len(own))
    values |= _sums(np.add.reduceat(amounts, starts, axis=0))
    values["rw_switch_count"] = np.add.reduceat(_switches(sorted_runs, own_of_run, len(own)), starts)
    values |= _common("access{}_{}", record_of_run, sorted_runs.lengths, sorted_runs.counts, len(starts))
    values |= _common("stride{}_{}", record_of_run[strides[0]], strides[1], strides[2], len(starts))
    values |= _request_times(sorted_runs, record_of_run, len(starts))
    of_call = of_own[len(runs.files) :]
    values |= _call_counts(calls, of_record[len(runs.files) :], len(starts))
    seconds = np.stack(
        [
            *(
                np.bincount(own_of_run, sorted_runs.counts * sorted_runs.seconds * (sorted_runs.ops == op), len(own))
                for op in range(len(OPS))
            ),
            np.bincount(of_call, calls.seconds, len(own)),
        ]
    )
    for name, column in zip(
        ("read_seconds", "write_seconds", "meta_seconds"), np.add.reduceat(seconds, starts, axis=1), strict=True
    ):
        values[name] = column
    values |= _spread(seconds.sum(axis=0), amounts[:, :, 1].sum(axis=1), ranks, starts, shared)
    layers, files = np.divmod(objects[starts], len(nprocs))
    return Records(layers, files, np.where(shared, _SHARED, ranks[starts]), values)


def _counted(runs: Runs, own: Integers, own_count: int) -> tuple[Integers, tuple[Integers, Integers, Integers]]:
    """Counts by own record, direction and kind; and strides, as index of the run, stride and how often."""
    amounts = np.zeros((own_count, len(OPS), len(_COUNTS)), np.int64)
    if not len(own):
        return amounts, (own, own, own)
    order = np.lexsort((runs.ops, own))
    runs, own = runs.where(order), own[order]
    ends = runs.offsets + (runs.counts - 1) * runs.steps + runs.lengths - 1
    is_new = np.ones(len(own), bool)
    is_new[1:] = (own[1:] != own[:-1]) | (runs.ops[1:] != runs.ops[:-1])
    last = np.zeros_like(ends)
    last[1:] = ends[:-1]
    last[is_new] = 0
    again = runs.counts - 1
    counted = np.zeros((len(own), len(_COUNTS)), np.int64)
    counted[:, 0] = runs.counts
    counted[:, 1] = runs.moved_bytes
    counted[:, 2] = runs.counts * runs.are_collective
    counted[:, 3] = (runs.offsets == last + 1) + again * (runs.steps == runs.lengths)
    counted[:, 4] = (runs.offsets > last) + again * (runs.steps >= runs.lengths)
    counted[:, 5] = runs.counts - _aligned(runs)
    counted[np.arange(len(own)), len(_COUNTS) - len(_BINS) + np.searchsorted(_BIN_ENDS, runs.lengths)] = runs.counts
    firsts = np.flatnonzero(is_new)
    amounts[own[firsts], runs.ops[firsts]] = np.add.reduceat(counted, firsts, axis=0)
    gaps = np.where(last > 0, runs.offsets - last - 1, 0)
    between = np.flatnonzero(gaps > 0)
    within = np.flatnonzero((again > 0) & (runs.steps > runs.lengths))
    return amounts, (
        order[np.concatenate([between, within])],
        np.concatenate([gaps[between], (runs.steps - runs.lengths)[within]]),
        np.concatenate([np.ones_like(between), again[within]]),
    )


def _aligned(runs: Runs) -> Integers:
    """Requests of each run that begin at a multiple of the alignment, a power of two.

    With g the largest power of two that divides both step and alignment A, every (A / g)-th request is aligned, if g divides
    the offset, from the i on that solves offset + i step = 0 mod A; the inverse of an odd number modulo a power of
    two comes from Newton's iteration.
    """
    steps, offsets = runs.steps, runs.offsets
    common = np.where(steps == 0, FILE_ALIGNMENT, np.minimum(steps & -steps, FILE_ALIGNMENT))
    odd = (steps // common).view(np.uint64)
    inverse = odd.copy()
    for _ in range(5):
        inverse *= np.uint64(2) - odd * inverse
    period = FILE_ALIGNMENT // common
    first = ((-offsets // common).view(np.uint64) * inverse).view(np.int64) & (period - 1)
    found: Integers = np.where((offsets & (common - 1)) == 0, np.maximum(0, (runs.counts - first + period - 1) // period), 0)
    return found


def _switches(runs: Runs, own: Integers, own_count: int) -> Integers:
    is_switch = (own[1:] == own[:-1]) & (runs.ops[1:] != runs.ops[:-1])
    found: Integers = np.bincount(own[1:][is_switch], minlength=own_count)
    return found


def _sums(amounts: Integers) -> _Values:
    values: _Values = {}
    for op, name in enumerate(OPS):
        of = dict(zip(_COUNTS, amounts[:, op].T, strict=True))
        values |= {f"{name}_size_{size}_count": of[size] for size in _BINS}
        values[f"{name}_count"], values[f"{name}_bytes"] = of["count"], of["bytes"]
        values[f"coll_{name}_count"] = of["collective"]
        values[f"indep_{name}_count"] = of["count"] - of["collective"]
        values[f"consecutive_{name}_count"], values[f"sequential_{name}_count"] = of["consecutive"], of["sequential"]
    values["file_not_aligned_count"] = amounts[:, :, _COUNTS.index("misaligned")].sum(axis=1)
    return values


def _common(name: str, records: Integers, found: Integers, weights: Integers, record_count: int) -> _Values:
    """The four commonest values of each record, and how often they occur."""
    commonest = np.zeros((2, _COMMON, record_count), np.int64)
    if len(found):
        order = np.lexsort((found, records))
        records, found = records[order], found[order]
        firsts = np.flatnonzero(np.append(True, (records[1:] != records[:-1]) | (found[1:] != found[:-1])))
        records, found, times = records[firsts], found[firsts], np.add.reduceat(weights[order], firsts)
        order = np.lexsort((found, -times, records))
        records, found, times = records[order], found[order], times[order]
        place = np.arange(len(records)) - np.searchsorted(records, records)
        is_common = place < _COMMON
        at = (place[is_common], records[is_common])
        commonest[0][at], commonest[1][at] = found[is_common], times[is_common]
    return {name.format(n + 1, what): commonest[row, n] for row, what in enumerate(("bytes", "count")) for n in range(_COMMON)}


def _request_times(runs: Runs, records: Integers, record_count: int) -> _Values:
    """First and last request, slowest request and its length, and highest offset of each direction."""
    values: _Values = {}
    ends = runs.ends
    furthest = runs.offsets + np.maximum(0, (runs.counts - 1) * runs.steps) + runs.lengths - 1
    for op, name in enumerate(OPS):
        chosen = np.flatnonzero(runs.ops == op)
        first, last, slowest = np.full(record_count, np.inf), np.zeros(record_count), np.zeros(record_count)
        length, offset = np.zeros(record_count, np.int64), np.zeros(record_count, np.int64)
        if len(chosen):
            of = records[chosen]
            np.minimum.at(first, of, runs.starts[chosen])
            np.maximum.at(last, of, ends[chosen])
            np.maximum.at(offset, of, furthest[chosen])
            order = np.lexsort((runs.seconds[chosen], of))
            slowest[of[order]], length[of[order]] = runs.seconds[chosen][order], runs.lengths[chosen][order]
        values |= {
            f"{name}_start_seconds": np.where(np.isfinite(first), first, 0),
            f"{name}_end_seconds": last,
            f"max_{name}_offset_bytes": offset,
            f"max_{name}_seconds": slowest,
            f"max_{name}_seconds_bytes": length,
        }
    return values


def _call_counts(calls: Calls, records: Integers, record_count: int) -> _Values:
    values: _Values = {}
    for kind, name in _CALL_FIELDS.items():
        values[name] = np.bincount(records, calls.counts * (calls.kinds == kind), record_count).astype(np.int64)
    collective = np.bincount(records, calls.counts * calls.are_collective * (calls.kinds == Call.OPEN), record_count)
    values["coll_open_count"] = collective.astype(np.int64)
    values["indep_open_count"] = values["open_count"] - values["coll_open_count"]
    for kind, name in ((Call.OPEN, "open"), (Call.CLOSE, "close")):
        chosen = np.flatnonzero(calls.kinds == kind)
        first, last = np.full(record_count, np.inf), np.zeros(record_count)
        np.minimum.at(first, records[chosen], calls.starts[chosen])
        np.maximum.at(last, records[chosen], calls.ends[chosen])
        values |= {f"{name}_start_seconds": np.where(np.isfinite(first), first, 0), f"{name}_end_seconds": last}
    return values


def _spread(seconds: Floats, moved: Integers, ranks: Integers, starts: Integers, shared: Flags) -> _Values:
    """Fastest and slowest rank of shared records, and how times and bytes vary over ranks; zeros elsewhere."""
    record = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(ranks))))
    sizes = np.bincount(record)
    by_time = np.lexsort((ranks, seconds, record))
    fastest, slowest = by_time[starts], by_time[np.append(starts[1:], len(ranks)) - 1]
    values: _Values = {}
    for name, at in (("fastest", fastest), ("slowest", slowest)):
        values[f"{name}_rank"] = np.where(shared, ranks[at], 0)
        values[f"{name}_rank_bytes"] = np.where(shared, moved[at], 0)
        values[f"{name}_rank_seconds"] = np.where(shared, seconds[at], 0)
    for name, amounts in (("rank_seconds_variance", seconds), ("rank_bytes_variance", moved)):
        means = np.add.reduceat(amounts, starts) / sizes
        values[name] = np.add.reduceat((amounts - means[record]) ** 2, starts) / sizes * shared
    return values
