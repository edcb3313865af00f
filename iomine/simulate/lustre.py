"""What the servers of the file system would have said: `job_stats` snapshots and series of counters.

Snapshots are those of `lctl get_param obdfilter.*.job_stats mdt.*.job_stats` on Lustre 2.15.2 and later, one file every ten
minutes. A job's entry on a target holds what the job has done there since the entry was made, and is dropped once the
job has been still for Lustre's cleanup interval, as long as that between snapshots: none of it goes untold. Series
are CSV as LDMS stores it, a row a minute and target, of counters that never start again.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv

from iomine.simulate import filesystem as fs
from iomine.simulate.jobs import Outcome
from iomine.simulate.runs import Integers
from iomine.simulate.servers import AMOUNTS, MDT_AMOUNTS, OST_AMOUNTS, TARGETS
from iomine.simulate.texts import day, iso, write_gzip

INTERVAL_SECONDS: Final = 600
_DAY_SECONDS: Final = 86_400
_CLEANUP_MINUTES: Final = INTERVAL_SECONDS // fs.MINUTE
_NOTHING: Final = (
    " { samples:           0, unit: usecs, min:        0, max:        0, sum:                0, sumsq:                  0 }"
)
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
        self._parts: list[Integers] = [np.empty((0, 3 + AMOUNTS), np.int64)]
        self._totals: Integers = np.zeros((TARGETS, AMOUNTS), np.int64)

    def add(self, outcome: Outcome) -> None:
        """Adds what jobs did."""
        load = outcome.load
        job_ids = np.array([done.job.job_id for done in outcome.jobs], np.int64)[load.programs]
        self._parts.append(np.column_stack([job_ids, load.targets, load.minutes, load.amounts]))

    def tell(self, begin: int) -> None:
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
        for slot, rows in _snapshots(all_rows, first, last):
            moment = (slot + 1) * INTERVAL_SECONDS
            lines: list[str] = []
            target = -1
            for row in rows.tolist():
                while target < row[1]:
                    target += 1
                    lines.append(_heading(target, row[1]))
                lines.append(_entry(row))
            lines += [_heading(target, -1) for target in range(target + 1, TARGETS)]
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
        return [(slot, np.empty((0, 4 + AMOUNTS), np.int64)) for slot in range(first, last)]
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    slots = rows[:, 2] * fs.MINUTE // INTERVAL_SECONDS
    is_other = np.append(True, (rows[1:, :2] != rows[:-1, :2]).any(axis=1))
    is_new = is_other | (np.diff(rows[:, 2], prepend=rows[0, 2]) > _CLEANUP_MINUTES)
    entry = np.cumsum(is_new) - 1
    starts = np.flatnonzero(is_new)
    sums = np.cumsum(rows[:, 3:], axis=0)
    sums -= (sums[starts] - rows[starts, 3:])[entry]
    # An entry is told at the end of each slot in which there was I/O; a slot later it is told again or dropped.
    is_last = np.append((entry[1:] != entry[:-1]) | (slots[1:] != slots[:-1]), True)
    told = np.column_stack([rows[:, :2], rows[starts[entry], 2], rows[:, 2], sums])[is_last]
    slots = slots[is_last]
    order = np.lexsort((told[:, 0], told[:, 1], slots))
    edges = np.searchsorted(slots[order], np.arange(first, last + 1))
    return [(slot, told[order[edges[place] : edges[place + 1]]]) for place, slot in enumerate(range(first, last))]


def _counter(name: str, samples: int, unit: str, total: int) -> str:
    """A line of counters; all requests are taken to be alike."""
    if not samples:
        return f"  {name + ':':<16}{_NOTHING.replace('usecs', unit)}\n"
    mean = total // samples
    most = mean + (total % samples > 0)
    squares = mean * mean * samples % 2**64
    return (
        f"  {name + ':':<16} {{ samples: {samples:>11}, unit: {unit}, min: {mean:>8}, max: {most:>8}, "
        f"sum: {total:>16}, sumsq: {squares:>18} }}\n"
    )


def _entry(row: list[int]) -> str:
    """What a target says of a job."""
    job_id, target, first, last, *amounts = row
    start, end = first * fs.MINUTE, last * fs.MINUTE + fs.MINUTE - 1
    head = (
        f"- job_id:          {job_id}\n  snapshot_time:   {end}.000000000 secs.nsecs\n"
        f"  start_time:      {start}.000000000 secs.nsecs\n  elapsed_time:    {end - start}.000000000 secs.nsecs\n"
    )
    if target >= fs.OST_COUNT:
        pairs = zip(("open", "close", "getattr"), amounts[::2], amounts[1::2], strict=True)
        return head + "".join(_counter(name, samples, "usecs", usecs) for name, samples, usecs in pairs) + _MDT_TAIL
    read_bytes, reads, read_usecs, write_bytes, writes, write_usecs = amounts
    return (
        head
        + _counter("read_bytes", reads, "bytes", read_bytes)
        + _counter("write_bytes", writes, "bytes", write_bytes)
        + _counter("read", reads, "usecs", read_usecs)
        + _counter("write", writes, "usecs", write_usecs)
        + _OST_TAIL
    )


def _write_csv(path: Path, times: Integers, kind: str, grid: Integers, names: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    minutes, targets, _ = grid.shape
    first = 0 if kind == "ost" else fs.OST_COUNT
    numbers = np.tile(np.arange(targets), minutes)
    table = {
        "#Time": pa.array([f"{time}.000000" for time in times.tolist()]).take(pa.array(np.repeat(np.arange(minutes), targets))),
        "Time_usec": pa.array(np.zeros(len(numbers), np.int64)),
        "ProducerName": pa.array([f"{'oss' if kind == 'ost' else 'mds'}{target // 4:02d}" for target in range(targets)]).take(
            pa.array(numbers)
        ),
        "component_id": pa.array(numbers // 4),
        "job_id": pa.array(np.zeros(len(numbers), np.int64)),
        "app_id": pa.array(np.zeros(len(numbers), np.int64)),
        kind: pa.array([target_name(first + target) for target in range(targets)]).take(pa.array(numbers)),
        **{name: pa.array(np.ascontiguousarray(grid[:, :, place]).ravel()) for place, name in enumerate(names)},
    }
    with path.open("wb") as file:
        # Arrow would quote the names.
        file.write((",".join(table) + "\n").encode())
        pyarrow.csv.write_csv(pa.table(table), file, pyarrow.csv.WriteOptions(include_header=False, quoting_style="none"))
