"""What the servers of the file system would have said: `job_stats` snapshots and series of counters.

Snapshots are those of `lctl get_param obdfilter.*.job_stats mdt.*.job_stats` on Lustre 2.15.2 and later, one file every ten
minutes. A job's entry on a target holds what the job has done there since the entry was made, and is dropped once the
job has been still for longer than the cleanup interval, which this site has set to 20 minutes, so that no
snapshot misses what came before. Series are CSV as LDMS stores it, a row a minute and target, of counters that never
start again.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv

from iomine.simulate import filesystem as fs
from iomine.simulate.jobs import Done
from iomine.simulate.runs import Integers
from iomine.simulate.servers import MDT_AMOUNTS, OST_AMOUNTS
from iomine.simulate.texts import day, iso, write_gzip

INTERVAL_SECONDS: Final = 600
_CLEANUP_SLOTS: Final = 2
_DAY_SECONDS: Final = 86_400
_AMOUNTS: Final = 6
_NOTHING: Final = " { samples:           0, unit: usecs, min:        0, max:        0, sum:                0, sumsq:                  0 }"
_OST_REST: Final = "getattr setattr punch sync destroy create statfs get_info set_info quotactl prealloc".split()
_MDT_REST: Final = (
    "mknod link unlink mkdir rmdir rename setattr getxattr setxattr statfs sync samedir_rename parallel_rename_file "
    "parallel_rename_dir crossdir_rename read write read_bytes write_bytes punch migrate"
).split()


def _rest(names: Sequence[str]) -> str:
    return "".join(f"  {name + ':':<16}{_NOTHING}\n" for name in names)


_OST_TAIL: Final = _rest(_OST_REST)
_MDT_TAIL: Final = _rest(_MDT_REST)


class Servers:
    """Gathers the load of jobs and tells it night by night.

    Args:
        out: folder of the facility.
    """

    def __init__(self, out: Path) -> None:
        self._out = out / "lustre"
        # Job, target, minute and amounts, of jobs whose entries may still be told; MDTs come after OSTs.
        self._rows: Integers = np.empty((0, 3 + _AMOUNTS), np.int64)
        self._totals: Integers = np.zeros((fs.OST_COUNT + fs.MDT_COUNT, _AMOUNTS), np.int64)

    def add(self, done: Sequence[Done]) -> None:
        """Adds what jobs did."""
        parts = [self._rows]
        for job in done:
            for load, first in ((job.osts, 0), (job.mdts, fs.OST_COUNT)):
                head = np.stack([np.full(len(load.targets), job.job.job_id), load.targets + first, load.minutes], axis=1)
                parts.append(np.concatenate([head, load.amounts], axis=1))
        self._rows = np.concatenate(parts)

    def tell(self, begin: int) -> None:
        """Writes the snapshots and series of the night that begins then; all that happens in it must be added."""
        end = begin + _DAY_SECONDS
        self._write_series(begin)
        self._write_snapshots(begin, end)
        last = np.zeros(int(self._rows[:, 0].max(initial=0)) + 1, np.int64)
        np.maximum.at(last, self._rows[:, 0], self._rows[:, 2])
        self._rows = self._rows[(last[self._rows[:, 0]] + 1) * fs.MINUTE + (_CLEANUP_SLOTS + 1) * INTERVAL_SECONDS >= end]

    def _write_series(self, begin: int) -> None:
        minutes = _DAY_SECONDS // fs.MINUTE
        at = self._rows[:, 2] - begin // fs.MINUTE
        rows = self._rows[(at >= 0) & (at < minutes)]
        grid = np.zeros((minutes, fs.OST_COUNT + fs.MDT_COUNT, _AMOUNTS), np.int64)
        np.add.at(grid, (rows[:, 2] - begin // fs.MINUTE, rows[:, 1]), rows[:, 3:])
        grid = np.cumsum(grid, axis=0) + self._totals
        self._totals = grid[-1]
        times = begin + fs.MINUTE * np.arange(1, minutes + 1)
        kinds = (("ost", OST_AMOUNTS, slice(fs.OST_COUNT)), ("mdt", MDT_AMOUNTS, slice(fs.OST_COUNT, None)))
        for kind, names, targets in kinds:
            _write_csv(self._out / "series" / f"lustre_{kind}.{day(begin)}.csv", times, kind, grid[:, targets], names)

    def _write_snapshots(self, begin: int, end: int) -> None:
        for slot, rows in _snapshots(self._rows, begin // INTERVAL_SECONDS, end // INTERVAL_SECONDS):
            moment = (slot + 1) * INTERVAL_SECONDS
            lines: list[str] = []
            target = -1
            for row in rows.tolist():
                while target < row[1]:
                    target += 1
                    lines.append(_heading(target, row[1]))
                lines.append(_ost_entry(row) if target < fs.OST_COUNT else _mdt_entry(row))
            lines += [_heading(target, -1) for target in range(target + 1, fs.OST_COUNT + fs.MDT_COUNT)]
            text = iso(moment)
            write_gzip(self._out / "job_stats" / text[:10] / f"{text[11:13]}{text[14:16]}.txt.gz", "".join(lines))


def target_name(target: int) -> str:
    """A target's name; MDTs come after OSTs."""
    return f"{fs.NAME}-OST{target:04x}" if target < fs.OST_COUNT else f"{fs.NAME}-MDT{target - fs.OST_COUNT:04x}"


def _heading(target: int, filled: int) -> str:
    parameter = f"{'obdfilter' if target < fs.OST_COUNT else 'mdt'}.{target_name(target)}.job_stats="
    return f"{parameter}\njob_stats:\n" if target == filled else f"{parameter}job_stats:\n"


def _snapshots(rows: Integers, first: int, last: int) -> list[tuple[int, Integers]]:
    """Entries of each snapshot in order: job, target, first and last minute of I/O, and sums since the entry was made."""
    if not len(rows):
        return [(slot, np.empty((0, 4 + _AMOUNTS), np.int64)) for slot in range(first, last)]
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    slots = rows[:, 2] * fs.MINUTE // INTERVAL_SECONDS
    is_other = np.append(True, (rows[1:, :2] != rows[:-1, :2]).any(axis=1))
    is_new = is_other | (np.diff(slots, prepend=slots[0]) > _CLEANUP_SLOTS)
    entry = np.cumsum(is_new) - 1
    sums = np.cumsum(rows[:, 3:], axis=0)
    starts = np.flatnonzero(is_new)
    sums -= (sums[starts] - rows[starts, 3:])[entry]
    # What holds at the end of a slot holds until there is more, or until the entry is dropped.
    is_final = np.append((entry[1:] != entry[:-1]) | (slots[1:] != slots[:-1]), True)
    kept, slots_kept, entries = np.flatnonzero(is_final), slots[is_final], entry[is_final]
    until = slots_kept + _CLEANUP_SLOTS + 1
    until[:-1] = np.where(entries[1:] == entries[:-1], slots_kept[1:], until[:-1])
    lasting = until - slots_kept
    which = np.repeat(np.arange(len(kept)), lasting)
    at = slots_kept[which] + np.arange(len(which)) - np.repeat(np.cumsum(lasting) - lasting, lasting)
    of = kept[which]
    told = np.concatenate([rows[of, :2], rows[starts[entry[of]], 2:3], rows[of, 2:3], sums[of]], axis=1)
    chosen = np.flatnonzero((at >= first) & (at < last))
    order = chosen[np.lexsort((told[chosen, 0], told[chosen, 1], at[chosen]))]
    edges = np.searchsorted(at[order], np.arange(first, last + 1))
    return [(slot, told[order[edges[place] : edges[place + 1]]]) for place, slot in enumerate(range(first, last))]


def _entry_head(row: list[int]) -> str:
    start, last = row[2] * fs.MINUTE, row[3] * fs.MINUTE + fs.MINUTE - 1
    return (
        f"- job_id:          {row[0]}\n  snapshot_time:   {last}.000000000 secs.nsecs\n"
        f"  start_time:      {start}.000000000 secs.nsecs\n  elapsed_time:    {last - start}.000000000 secs.nsecs\n"
    )


def _counter(name: str, samples: int, unit: str, total: int) -> str:
    """A line of counters; all requests are taken to be alike."""
    mean = total // samples if samples else 0
    return (
        f"  {name + ':':<16} {{ samples: {samples:>11}, unit: {unit}, min: {mean:>8}, max: {mean + (samples > 0 and total % samples > 0):>8}, "
        f"sum: {total:>16}, sumsq: {mean * mean * samples % 2**64:>18} }}\n"
    )


def _ost_entry(row: list[int]) -> str:
    head = _entry_head(row)
    read_bytes, reads, read_usecs, write_bytes, writes, write_usecs = row[4:]
    return (
        head
        + _counter("read_bytes", reads, "bytes", read_bytes)
        + _counter("write_bytes", writes, "bytes", write_bytes)
        + _counter("read", reads, "usecs", read_usecs)
        + _counter("write", writes, "usecs", write_usecs)
        + _OST_TAIL
    )


def _mdt_entry(row: list[int]) -> str:
    opens, open_usecs, closes, close_usecs, getattrs, getattr_usecs = row[4:]
    return (
        _entry_head(row)
        + _counter("open", opens, "usecs", open_usecs)
        + _counter("close", closes, "usecs", close_usecs)
        + _counter("getattr", getattrs, "usecs", getattr_usecs)
        + _MDT_TAIL
    )


def _write_csv(path: Path, times: Integers, kind: str, grid: Integers, names: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    minutes, targets, _ = grid.shape
    first = 0 if kind == "ost" else fs.OST_COUNT
    numbers = np.tile(np.arange(targets), minutes)
    table = {
        "#Time": pa.array(np.repeat(times, targets)),
        "Time_usec": pa.array(np.zeros(len(numbers), np.int64)),
        "ProducerName": pa.array([f"{'oss' if kind == 'ost' else 'mds'}{target // 4:02d}" for target in range(targets)]).take(pa.array(numbers)),
        "component_id": pa.array(numbers // 4),
        "job_id": pa.array(np.zeros(len(numbers), np.int64)),
        "app_id": pa.array(np.zeros(len(numbers), np.int64)),
        kind: pa.array([target_name(first + target) for target in range(targets)]).take(pa.array(numbers)),
        **{name: pa.array(np.ascontiguousarray(grid[:, :, place]).ravel()) for place, name in enumerate(names)},
    }
    pyarrow.csv.write_csv(pa.table(table), path, pyarrow.csv.WriteOptions(quoting_style="none"))
