"""Counters worked out from a trace, by the rules by which Darshan counts while a program runs.

The rules are those of `darshan-posix.c` and `darshan-stdio.c`: the macros POSIX_RECORD_READ and POSIX_RECORD_WRITE, the timer
DARSHAN_TIMER_INC_NO_OVERLAP, and the reduction of records that all ranks have. They are asked of all requests at once. Two
things differ: Darshan keeps count of 32 lengths and strides of a file in a rank at most, and of a shared file adds up the four
commonest of each rank, while here all are counted.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from iomine.derive.trace import Flags, Floats, Integers, Trace, group_sizes, group_starts, grouped
from iomine.schema.ops import OPS, OtherCalls

# Darshan's value for an unknown counter.
_UNKNOWN: Final = -1
_SHARED: Final = -1
_READ, _WRITE, _META = range(3)
# The largest length of each bin but the last (DARSHAN_BUCKET_INC).
_BINS: Final[Mapping[str, int]] = {
    "0_100": 100,
    "100_1k": 1024,
    "1k_10k": 10 * 2**10,
    "10k_100k": 100 * 2**10,
    "100k_1m": 2**20,
    "1m_4m": 4 * 2**20,
    "4m_10m": 10 * 2**20,
    "10m_100m": 100 * 2**20,
    "100m_1g": 2**30,
    "1g_plus": 2**63 - 1,
}
_COMMONEST: Final = 4


class _Kind(NamedTuple):
    """A kind of call: the counter that it goes to, the timer, None for none, and the moments that it is one of."""

    counter: str | None
    timer: int | None
    moment: str | None = None


# As Darshan has it, a sync is part of writing.
_KINDS: Final[Mapping[str, Mapping[str, _Kind]]] = {
    "posix": {
        "open": _Kind("open_count", _META, "open"),
        "close": _Kind(None, _META, "close"),
        "seek": _Kind("seek_count", _META),
        "stat": _Kind("stat_count", _META),
        "mmap": _Kind("mmap_count", None),
        "fsync": _Kind("fsync_count", _WRITE, "write"),
        "fdatasync": _Kind("fdsync_count", _WRITE, "write"),
    },
    "stdio": {
        "open": _Kind("open_count", _META, "open"),
        "close": _Kind(None, _META, "close"),
        "seek": _Kind("seek_count", _META),
        "flush": _Kind("flush_count", _WRITE, "write"),
    },
}
# What neither requests nor calls show, by layer.
_NOT_SEEN: Final[Mapping[str, tuple[str, ...]]] = {
    "posix": (
        *("fileno_count", "dup_count", "rename_source_count", "rename_target_count", "renamed_from_id", "mode"),
        *("mem_not_aligned_count", "mem_alignment_bytes", "file_not_aligned_count", "file_alignment_bytes"),
    ),
    "stdio": ("fdopen_count",),
}
CALL_KINDS: Final[Mapping[str, frozenset[str]]] = {layer: frozenset(kinds) for layer, kinds in _KINDS.items()}


def counters(traces: Sequence[Trace], calls: Sequence[OtherCalls], nprocs: int) -> dict[str, dict[str, pa.Array]]:
    """Columns of the tables `posix_file` and `stdio_file`, as far as there are rows.

    A file that all of several ranks used has one record, of rank -1, as Darshan's reduction makes it; another has one of each
    rank. What is not known is -1, as in Darshan: what traces do not show, and of layers without calls what these would.

    Args:
        traces: requests, each rank's on a file in the order in which they ended, and no layer twice.
        calls: other calls, no layer twice.
        nprocs: ranks of the run.
    """
    of_layer = {each.layer: each for each in calls}
    requests = {trace.layer: trace for trace in traces if trace.layer in _KINDS}
    found = {
        f"{layer}_file": _Counted(layer, requests.get(layer), of_layer.get(layer)).columns(nprocs)
        for layer in _KINDS
        if layer in requests or (layer in of_layer and len(of_layer[layer].starts))
    }
    return {table: {name: pa.array(values) for name, values in columns.items()} for table, columns in found.items()}


class _Counted:
    """Counts of each rank on each file of one layer; a lane is one of these in one direction.

    Args:
        layer: the layer.
        trace: its requests, None where there are none.
        calls: its other calls, None where these are not known.
    """

    def __init__(self, layer: str, trace: Trace | None, calls: OtherCalls | None) -> None:
        self._layer = layer
        self._calls = calls
        nothing = np.empty(0, np.int64)
        run_files, run_ranks = (trace.file_ids, trace.ranks) if trace else (nothing, nothing)
        own_files, own_ranks = (calls.file_ids, calls.ranks) if calls else (nothing, nothing)
        files, ranks = np.concatenate([run_files, own_files]), np.concatenate([run_ranks, own_ranks])
        firsts, group_of = grouped(files, ranks)
        self._files, self._ranks = files[firsts], ranks[firsts]
        self._groups = len(firsts)
        self._called = group_of[len(run_files) :]
        if trace:
            lanes = np.repeat(group_of[: len(run_files)] * 2 + trace.ops, trace.counts)
            # As it was traced, lane by lane.
            order = np.argsort(lanes, kind="stable")
            self._lanes, self._offsets, self._lengths = lanes[order], trace.offsets[order], trace.lengths[order]
            self._starts, self._ends = trace.starts[order], trace.ends[order]
        else:
            self._lanes = self._offsets = self._lengths = nothing
            self._starts = self._ends = np.empty(0)

    def columns(self, nprocs: int) -> dict[str, Any]:
        """All columns of the table."""
        sums, peaks = self._sums(), self._peaks()
        firsts, lasts = self._moments()
        times = self._times()
        # Darshan asks of each rank what it took in all.
        seconds = times["read_seconds"] + times["write_seconds"] + times.get("meta_seconds", 0.0)
        moved = sums["read_bytes"] + sums["write_bytes"]
        files, record_of = self._records(nprocs)
        total = len(files)
        columns: dict[str, Any] = {"file_id": self._files[files], "rank": self._ranks[files]}
        is_shared = np.bincount(record_of, minlength=total) > 1
        columns["rank"] = np.where(is_shared, _SHARED, columns["rank"])
        columns |= {name: _added(record_of, values, total) for name, values in (sums | times).items()}
        columns |= {name: _least(record_of, values, total) for name, values in firsts.items()}
        columns |= {name: _most(record_of, values, total) for name, values in lasts.items()}
        columns |= {name: _most_known(record_of, values, total) for name, values in peaks.items()}
        if self._layer == "posix":
            columns |= self._slowest(record_of, total)
            columns |= self._commonest("access", record_of, total, self._lengths)
            strides, is_known = self._strides()
            columns |= self._commonest("stride", record_of, total, strides, is_known=is_known)
        columns |= _over_ranks(record_of, is_shared, self._ranks, seconds, moved)
        columns |= {name: np.full(total, _UNKNOWN) for name in _NOT_SEEN[self._layer]}
        if self._calls is None:
            # Which rank was fastest is asked of all that it did.
            unknown_counts = [kind.counter for kind in _KINDS[self._layer].values() if kind.counter]
            columns |= {name: np.full(total, _UNKNOWN) for name in (*unknown_counts, "fastest_rank_bytes", "slowest_rank_bytes")}
            columns |= {f"{call}_{edge}_seconds": np.full(total, -1.0) for call in ("open", "close") for edge in ("start", "end")}
            names = ("meta_seconds", "fastest_rank_seconds", "slowest_rank_seconds", "rank_seconds_variance")
            columns |= {name: np.full(total, -1.0) for name in names}
            columns |= {name: np.full(total, _UNKNOWN) for name in ("fastest_rank", "slowest_rank")}
        return columns

    def _records(self, nprocs: int) -> tuple[Integers, Integers]:
        """Of each record a rank on a file that is in it; and for each rank on a file its record."""
        of_files = np.unique(self._files, return_inverse=True)[1]
        is_shared = (np.bincount(of_files) == nprocs)[of_files] & (nprocs > 1)
        alone = np.where(is_shared, 0, np.arange(self._groups))
        return grouped(of_files, alone)

    def _per_group(self, name: str, values: Any = 1) -> dict[str, Integers]:  # noqa: ANN401  integers or flags
        """Sums over requests by direction."""
        sums = np.zeros(2 * self._groups, np.int64)
        np.add.at(sums, self._lanes, values)
        return {name.format(op): sums[code::2] for code, op in enumerate(OPS)}

    def _sums(self) -> dict[str, Integers]:
        """Counters that add up over ranks; -1 where one is not known."""
        sums = self._per_group("{}_count") | self._per_group("{}_bytes", self._lengths)
        if self._calls is not None:
            for kind, name in enumerate(self._calls.names):
                if counter := _KINDS[self._layer][name].counter:
                    sums[counter] = np.bincount(self._called[self._calls.kinds == kind], minlength=self._groups)
            counted = {kind.counter for kind in _KINDS[self._layer].values() if kind.counter}
            sums |= {counter: np.zeros(self._groups, np.int64) for counter in sorted(counted - sums.keys())}
        if self._layer != "posix":
            return sums
        bin_of = np.searchsorted(np.array(list(_BINS.values())), self._lengths)
        for number, size in enumerate(_BINS):
            sums |= self._per_group(f"{{}}_size_{size}_count", bin_of == number)
        befores = self._befores()
        sums |= self._withheld(self._per_group("consecutive_{}_count", self._offsets == befores + 1))
        sums |= self._withheld(self._per_group("sequential_{}_count", self._offsets > befores))
        by_end = np.lexsort((self._ends, self._lanes // 2))
        groups, ops = self._lanes[by_end] // 2, self._lanes[by_end] % 2
        is_switch = (groups[1:] == groups[:-1]) & (ops[1:] != ops[:-1])
        sums["rw_switch_count"] = np.bincount(groups[1:][is_switch], minlength=self._groups)
        return sums

    def _befores(self) -> Integers:
        """The last byte of the request before in the lane; 0 for the first since an open, with which Darshan begins anew."""
        befores: Integers = np.zeros_like(self._offsets)
        if len(befores):
            befores[1:] = self._offsets[:-1] + self._lengths[:-1] - 1
            befores[group_starts(self._lanes, self._opens_before())] = 0
        return befores

    def _opens_before(self) -> Integers:
        """How many opens ended before each request did, those of other ranks and files before its own among them."""
        if self._calls is None or "open" not in self._calls.names:
            return np.zeros_like(self._lanes)
        is_open = self._calls.kinds == list(self._calls.names).index("open")
        groups = np.concatenate([self._called[is_open], self._lanes // 2])
        ends = np.concatenate([self._calls.ends[is_open], self._ends])
        order = np.lexsort((ends, groups))
        opens = np.count_nonzero(is_open)
        before = np.empty_like(order)
        before[order] = np.cumsum(order < opens)
        return before[opens:]

    def _lacks_offsets(self) -> Flags:
        """Lanes of which some offset is not known."""
        return np.bincount(self._lanes[self._offsets < 0], minlength=2 * self._groups) > 0

    def _withheld(self, sums: Mapping[str, Integers]) -> dict[str, Integers]:
        """The sums of both directions, unknown where offsets are."""
        lacks_offsets = self._lacks_offsets()
        return {name: np.where(lacks_offsets[code::2], _UNKNOWN, values) for code, (name, values) in enumerate(sums.items())}

    def _peaks(self) -> dict[str, Integers]:
        """Highest offsets, 0 where nothing was moved, -1 where it is not known."""
        highest = np.zeros(2 * self._groups, np.int64)
        np.maximum.at(highest, self._lanes, self._offsets + self._lengths - 1)
        return self._withheld({f"max_{op}_offset_bytes": highest[code::2] for code, op in enumerate(OPS)})

    def _timed(self) -> tuple[Integers, Integers, Floats, Floats]:
        """Group, timer, start and end of all that took time; what makes no sense is left out."""
        groups, timers = [self._lanes // 2], [self._lanes % 2]
        starts, ends = [self._starts], [self._ends]
        if self._calls is not None:
            timer_of = [_KINDS[self._layer][name].timer for name in self._calls.names]
            timer = np.array([_UNKNOWN if each is None else each for each in (*timer_of, None)])[self._calls.kinds]
            groups.append(self._called)
            timers.append(timer)
            starts.append(self._calls.starts)
            ends.append(self._calls.ends)
        group, timer, start, end = map(np.concatenate, (groups, timers, starts, ends))
        is_sound = np.isfinite(start) & np.isfinite(end) & (end >= start) & (timer != _UNKNOWN)
        return group[is_sound], timer[is_sound], start[is_sound], end[is_sound]

    def _times(self) -> dict[str, Floats]:
        """Time in reads, writes and other calls; where calls of threads overlap, it is counted once."""
        groups, timers, starts, ends = self._timed()
        keys = groups * 3 + timers
        order = np.lexsort((ends, keys))
        keys, starts, ends = keys[order], starts[order], ends[order]
        seconds = ends - starts
        is_next = keys[1:] == keys[:-1]
        seconds[1:][is_next] = (ends[1:] - np.maximum(starts[1:], ends[:-1]))[is_next]
        sums: Floats = np.bincount(keys, seconds, 3 * self._groups).astype(np.float64)
        names = ("read_seconds", "write_seconds", *(("meta_seconds",) if self._calls is not None else ()))
        return {name: sums[timer::3] for timer, name in enumerate(names)}

    def _moments(self) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """When the first call of each sort began, and the last ended; 0 where there was none."""
        sorts: dict[str, list[tuple[Integers, Floats, Floats]]] = {name: [] for name in ("open", "read", "write", "close")}
        for code, op in enumerate(OPS):
            is_own = self._lanes % 2 == code
            sorts[op].append((self._lanes[is_own] // 2, self._starts[is_own], self._ends[is_own]))
        if self._calls is not None:
            for number, name in enumerate(self._calls.names):
                if moment := _KINDS[self._layer][name].moment:
                    is_own = self._calls.kinds == number
                    sorts[moment].append((self._called[is_own], self._calls.starts[is_own], self._calls.ends[is_own]))
        firsts, lasts = {}, {}
        for name, parts in sorts.items():
            groups, starts, ends = map(np.concatenate, zip(*parts, strict=True)) if parts else (self._called[:0],) * 3
            is_sound = np.isfinite(starts) & np.isfinite(ends)
            groups, starts, ends = groups[is_sound], starts[is_sound], ends[is_sound]
            first, last = np.full(self._groups, np.inf), np.zeros(self._groups)
            np.minimum.at(first, groups, starts)
            np.maximum.at(last, groups, ends)
            firsts[f"{name}_start_seconds"], lasts[f"{name}_end_seconds"] = first, last
        return firsts, lasts

    def _slowest(self, record_of: Integers, total: int) -> dict[str, Any]:
        """The longest read and write of each record, and what it moved."""
        columns: dict[str, Any] = {}
        with np.errstate(invalid="ignore"):
            seconds = np.nan_to_num(self._ends - self._starts, nan=0.0, posinf=0.0, neginf=0.0)
        lanes = record_of[self._lanes // 2] * 2 + self._lanes % 2
        # Of equally long ones the first.
        order = np.lexsort((np.arange(len(lanes)), -seconds, lanes))
        firsts = order[group_starts(lanes[order])] if len(order) else order
        longest, lengths = np.zeros(2 * total), np.zeros(2 * total, np.int64)
        longest[lanes[firsts]] = np.maximum(seconds[firsts], 0)
        lengths[lanes[firsts]] = np.where(seconds[firsts] > 0, self._lengths[firsts], 0)
        for code, op in enumerate(OPS):
            columns[f"max_{op}_seconds"] = longest[code::2]
            columns[f"max_{op}_seconds_bytes"] = lengths[code::2]
        return columns

    def _strides(self) -> tuple[Integers, Flags]:
        """Bytes between the end of one request of a lane and the next beyond it, and whether they are known."""
        befores = self._befores()
        is_ahead = (self._offsets > 0) & (self._offsets > befores) & (befores != 0)
        return np.where(is_ahead, self._offsets - befores - 1, 0), ~self._lacks_offsets()[self._lanes]

    def _commonest(
        self, name: str, record_of: Integers, total: int, values: Integers, *, is_known: Flags | None = None
    ) -> dict[str, Integers]:
        """The four commonest values of each record, the commonest first and of equally common ones the largest.

        Darshan does not count zeros. Where a record has a request whose value is not known, none is.
        """
        records = record_of[self._lanes // 2]
        table = np.zeros((2, _COMMONEST, total), np.int64)
        is_counted = values != 0
        if is_counted.any():
            of_record, value = records[is_counted], values[is_counted]
            firsts, group_of = grouped(of_record, value)
            counts = np.bincount(group_of)
            of_record, value = of_record[firsts], value[firsts]
            order = np.lexsort((-value, -counts, of_record))
            of_record, value, counts = of_record[order], value[order], counts[order]
            starts = group_starts(of_record)
            nth = np.arange(len(order)) - np.repeat(starts, group_sizes(starts, len(order)))
            is_first = nth < _COMMONEST
            table[0, nth[is_first], of_record[is_first]] = value[is_first]
            table[1, nth[is_first], of_record[is_first]] = counts[is_first]
        if is_known is not None:
            table[:, :, records[~is_known]] = _UNKNOWN
        return {f"{name}{n + 1}_{what}": table[at, n] for at, what in enumerate(("bytes", "count")) for n in range(_COMMONEST)}


def _added(record_of: Integers, values: Any, total: int) -> Any:  # noqa: ANN401  integers or floats
    """Sums over the ranks of a record, -1 where one's is not known."""
    sums = np.zeros(total, values.dtype)
    np.add.at(sums, record_of, values)
    if values.dtype.kind == "i":
        sums[record_of[values == _UNKNOWN]] = _UNKNOWN
    return sums


def _most(record_of: Integers, values: Any, total: int) -> Any:  # noqa: ANN401  integers or floats
    most = np.zeros(total, values.dtype)
    np.maximum.at(most, record_of, values)
    return most


def _most_known(record_of: Integers, values: Integers, total: int) -> Integers:
    most: Integers = _most(record_of, values, total)
    most[record_of[values == _UNKNOWN]] = _UNKNOWN
    return most


def _least(record_of: Integers, values: Floats, total: int) -> Floats:
    """The first of a record, 0 where there is none."""
    least = np.full(total, np.inf)
    np.minimum.at(least, record_of, values)
    return np.where(np.isfinite(least), least, 0.0)


def _over_ranks(record_of: Integers, is_shared: Flags, ranks: Integers, seconds: Floats, moved: Integers) -> dict[str, Any]:
    """Fastest and slowest rank of shared records, and how ranks differ; 0 for others, as in Darshan."""
    total = len(is_shared)
    columns: dict[str, Any] = {}
    for name, keys in (("fastest", seconds), ("slowest", -seconds)):
        # Of equally fast ones the lowest.
        order = np.lexsort((ranks, keys, record_of))
        one = order[group_starts(record_of[order])]
        columns[f"{name}_rank"] = np.where(is_shared, ranks[one], 0)
        columns[f"{name}_rank_bytes"] = np.where(is_shared, moved[one], 0)
        columns[f"{name}_rank_seconds"] = np.where(is_shared, seconds[one], 0.0)
    sizes = np.bincount(record_of, minlength=total)
    for name, values in (("rank_seconds_variance", seconds), ("rank_bytes_variance", moved.astype(np.float64))):
        means = np.bincount(record_of, values, total) / sizes
        columns[name] = np.where(is_shared, np.bincount(record_of, (values - means[record_of]) ** 2, total) / sizes, 0.0)
    return columns
