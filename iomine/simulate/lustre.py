"""What the servers of the file system would have said: `job_stats` snapshots and series of counters.

Snapshots are those of `lctl get_param obdfilter.*.job_stats mdt.*.job_stats` on Lustre 2.15.2 and later, one file every ten
minutes. A job's entry on a target holds what the job has done there since the entry was made, and is dropped once the
job has been still for Lustre's cleanup interval, as long as that between snapshots: none of it is missed. Series
are CSV as LDMS stores it, a row a minute and target, of counters that never start again.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from iomine.simulate import filesystem as fs
from iomine.simulate.jobs import Outcome
from iomine.simulate.runs import Integers
from iomine.simulate.servers import AMOUNTS, MDT_AMOUNTS, OST_AMOUNTS, TARGETS
from iomine.simulate.texts import day, packed, write_snapshot

INTERVAL_SECONDS: Final = 600
_DAY_SECONDS: Final = 86_400
_CLEANUP_MINUTES: Final = INTERVAL_SECONDS // fs.MINUTE
# Counters of the operations that are simulated, with their units, and of those that never happen.
_OST_COUNTERS: Final = {"read_bytes": "bytes", "write_bytes": "bytes", "read": "usecs", "write": "usecs"}
_OST_REST: Final = "getattr setattr punch sync destroy create statfs get_info set_info quotactl prealloc".split()
_MDT_COUNTERS: Final = {"open": "usecs", "close": "usecs", "getattr": "usecs"}
_MDT_REST: Final = (
    "mknod link unlink mkdir rmdir rename setattr getxattr setxattr statfs sync samedir_rename parallel_rename_file "
    "parallel_rename_dir crossdir_rename read write read_bytes write_bytes punch migrate"
).split()
_HEAD: Final = (
    "- job_id:          %d\n  snapshot_time:   %d.000000000 secs.nsecs\n"
    "  start_time:      %d.000000000 secs.nsecs\n  elapsed_time:    %d.000000000 secs.nsecs\n"
)
_NUMBERS: Final = "{ samples: %11d, unit: UNIT, min: %8d, max: %8d, sum: %16d, sumsq: %18d }\n"
_NUMBERS_EACH: Final = 5


def _entry(counters: Mapping[str, str], rest: Sequence[str]) -> str:
    lines = [f"  {name + ':':<16} {_NUMBERS.replace('UNIT', unit)}" for name, unit in counters.items()]
    nothing = _NUMBERS.replace("UNIT", "usecs") % ((0,) * _NUMBERS_EACH)
    return _HEAD + "".join(lines) + "".join(f"  {name + ':':<16} {nothing}" for name in rest)


_OST_ENTRY: Final = _entry(_OST_COUNTERS, _OST_REST)
_MDT_ENTRY: Final = _entry(_MDT_COUNTERS, _MDT_REST)


class Servers:
    """Gathers the load of jobs and writes it night by night.

    Args:
        out: folder of the facility.
    """

    def __init__(self, out: Path) -> None:
        self._out = out / "lustre"
        # Job, target, minute and amounts, of jobs with entries that may still be written; MDTs come after OSTs.
        self._parts: list[Integers] = [np.empty((0, 3 + AMOUNTS), np.int64)]
        self._totals: Integers = np.zeros((TARGETS, AMOUNTS), np.int64)

    def add(self, outcome: Outcome) -> None:
        """Adds what jobs did."""
        load = outcome.load
        job_ids = np.array([done.job.job_id for done in outcome.jobs], np.int64)[load.programs]
        self._parts.append(np.column_stack([job_ids, load.targets, load.minutes, *load.amounts]))

    def write(self, begin: int) -> None:
        """Writes the snapshots and series of the night that begins then; all that happens in it must be added."""
        rows = np.concatenate(self._parts)
        self._write_series(rows, begin)
        self._write_snapshots(rows, begin // INTERVAL_SECONDS, (begin + _DAY_SECONDS) // INTERVAL_SECONDS)
        last = np.zeros(int(rows[:, 0].max(initial=0)) + 1, np.int64)
        np.maximum.at(last, rows[:, 0], rows[:, 2])
        self._parts = [rows[last[rows[:, 0]] + _CLEANUP_MINUTES >= (begin + _DAY_SECONDS) // fs.MINUTE]]

    def _write_series(self, rows: Integers, begin: int) -> None:
        minutes = _DAY_SECONDS // fs.MINUTE
        at = rows[:, 2] - begin // fs.MINUTE
        rows = rows[(at >= 0) & (at < minutes)]
        grid = np.zeros((minutes, TARGETS, AMOUNTS), np.int64)
        np.add.at(grid, (rows[:, 2] - begin // fs.MINUTE, rows[:, 1]), rows[:, 3:])
        grid = np.cumsum(grid, axis=0) + self._totals
        self._totals = grid[-1]
        times = begin + fs.MINUTE * np.arange(1, minutes + 1)
        kinds = (("ost", OST_AMOUNTS, slice(fs.OST_COUNT)), ("mdt", MDT_AMOUNTS, slice(fs.OST_COUNT, None)))
        for kind, names, targets in kinds:
            _write_csv(self._out / "series" / f"lustre_{kind}.{day(begin)}.csv", times, kind, grid[:, targets], names)

    def _write_snapshots(self, all_rows: Integers, first: int, last: int) -> None:
        slots, rows = _snapshots(all_rows)
        edges = np.searchsorted(slots * TARGETS + rows[:, 1], np.arange(first * TARGETS, last * TARGETS + 1)).tolist()
        entries = _entries(rows[edges[0] : edges[-1]])
        heads = [
            f"{'obdfilter' if target < fs.OST_COUNT else 'mdt'}.{target_name(target)}.job_stats=" for target in range(TARGETS)
        ]
        parts = []
        for place, (begin, end) in enumerate(pairwise(edges)):
            parts.append(heads[place % TARGETS])
            parts += ["\njob_stats:\n", *entries[begin - edges[0] : end - edges[0]]] if begin < end else ["job_stats:\n"]
            if (place + 1) % TARGETS == 0:
                write_snapshot(self._out / "job_stats", (first + place // TARGETS + 1) * INTERVAL_SECONDS, packed("".join(parts)))
                parts = []


def target_name(target: int) -> str:
    """A target's name; MDTs come after OSTs."""
    return f"{fs.NAME}-OST{target:04x}" if target < fs.OST_COUNT else f"{fs.NAME}-MDT{target - fs.OST_COUNT:04x}"


def _snapshots(rows: Integers) -> tuple[Integers, Integers]:
    """Entries of all snapshots in order, and the slot at the end of which each is written.

    An entry has job, target, first and last minute of I/O, and sums since it was made.
    """
    if not len(rows):
        return np.empty(0, np.int64), np.empty((0, 4 + AMOUNTS), np.int64)
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    slots = rows[:, 2] * fs.MINUTE // INTERVAL_SECONDS
    is_other = np.append(True, (rows[1:, :2] != rows[:-1, :2]).any(axis=1))
    is_new = is_other | (np.diff(rows[:, 2], prepend=rows[0, 2]) > _CLEANUP_MINUTES)
    entry = np.cumsum(is_new) - 1
    starts = np.flatnonzero(is_new)
    sums = np.cumsum(rows[:, 3:], axis=0)
    sums -= (sums[starts] - rows[starts, 3:])[entry]
    # An entry is written at the end of each slot with I/O; a slot later it is written again or dropped.
    is_last = np.append((entry[1:] != entry[:-1]) | (slots[1:] != slots[:-1]), True)
    entries = np.column_stack([rows[:, :2], rows[starts[entry], 2], rows[:, 2], sums])[is_last]
    slots = slots[is_last]
    order = np.lexsort((entries[:, 0], entries[:, 1], slots))
    return slots[order], entries[order]


def _entries(rows: Integers) -> list[str]:
    """What targets say of jobs."""
    ends = rows[:, 3] * fs.MINUTE + fs.MINUTE - 1
    starts = rows[:, 2] * fs.MINUTE
    head = (rows[:, 0], ends, starts, ends - starts)
    read_bytes, reads, read_usecs, write_bytes, writes, write_usecs = rows[:, 4:].T
    ost_pairs = ((reads, read_bytes), (writes, write_bytes), (reads, read_usecs), (writes, write_usecs))
    mdt_pairs = zip(rows[:, 4::2].T, rows[:, 5::2].T, strict=True)
    is_ost = rows[:, 1] < fs.OST_COUNT
    lines = np.empty(len(rows), object)
    for template, chosen, pairs in ((_OST_ENTRY, is_ost, ost_pairs), (_MDT_ENTRY, ~is_ost, mdt_pairs)):
        numbers = [*head, *(number for pair in pairs for number in _counter(*pair))]
        lines[chosen] = [template % row for row in zip(*(column[chosen].tolist() for column in numbers), strict=True)]
    return lines.tolist()


def _counter(samples: Integers, total: Integers) -> tuple[npt.NDArray[Any], ...]:
    """Numbers of a counter: samples, least, most, sum and sum of squares; all requests are taken to be alike."""
    mean = total // np.maximum(1, samples)
    # Squares overflow as Lustre's do.
    squares = mean.astype(np.uint64) ** 2 * samples.astype(np.uint64)
    return samples, mean, mean + (mean * samples < total), total, squares


def _write_csv(path: Path, times: Integers, kind: str, grid: Integers, names: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    is_ost = kind == "ost"
    first = 0 if is_ost else fs.OST_COUNT
    head = ("#Time", "Time_usec", "ProducerName", "component_id", "job_id", "app_id", kind, *names)
    rows = "".join(
        f"%d.000000,0,{'oss' if is_ost else 'mds'}{target // 4:02d},{target // 4},0,0,{target_name(first + target)}"
        + ",%d" * len(names)
        + "\n"
        for target in range(grid.shape[1])
    )
    moments = np.broadcast_to(times[:, None, None], (*grid.shape[:2], 1))
    numbers = np.concatenate([moments, grid], axis=2).reshape(len(times), -1)
    with path.open("w") as file:
        file.write(",".join(head) + "\n")
        file.writelines(rows % tuple(row) for row in numbers.tolist())
