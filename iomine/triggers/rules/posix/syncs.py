"""Syncs after every few writes.

A sync (`fsync`, `fdatasync`, `MPI_File_sync`, and `fflush` of a stream) waits until what was written has left the program, or has
reached the disks. Between them, writes go to memory, and the system sends them off in large pieces while the program goes
on; a sync after each small write takes that away, and each write then costs what a disk or a server needs to answer. Darshan
adds the time of syncs to that of writes, so small writes look slow where syncs are. Where a DXT trace holds all writes of a
file, what is left of its write time is that of syncs; otherwise they get a part of it in proportion to their number. Only
files with 16 MiB or less for each sync are looked at: at a GB/s that takes about as long as a sync, and a sync after each
checkpoint is as it should be. The cost is the time in syncs.

Blind spots: in proportion to their number, syncs get less than they take, since one takes far longer than a write to memory.
So without a trace, a few slow syncs among many writes go unnoticed. Files opened with O_SYNC or O_DIRECT wait in each write and
call no sync. What other ranks wait meanwhile is not counted.
"""

from iomine.triggers.inputs import TRACE, WRITES
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

_STORM = {"sync_count": 262_144, "sync_ratio": 0.5, "sync_seconds_ratio": 0.5}

TRIGGER = Trigger(
    code="POSIX-141",
    view="log_sync_profile",
    level=Level.HIGH,
    all_of=(
        Above("sync_seconds_ratio", 0.05, why="Our own choice, as for small writes: less is not worth changing a program for."),
        Above("sync_ratio", 0.09, why="Our own choice: one sync for every ten writes, where checkpoints have one for hundreds."),
        Above("sync_count", 99, why="Our own choice: fewer than a hundred syncs are what closing files safely takes."),
    ),
    finding=(
        "{sync_count} syncs, one for every {sync_interval_bytes} written, took at least {sync_seconds_ratio:.0%} of the time in "
        "reads, writes and syncs: {sync_core_seconds} or more, the largest part in {sync_path}."
    ),
    advice=(
        "Sync {sync_path} less often. Least effort: leave the calls out where the data can be made again, or turn them off in "
        "the library or its settings (flush after each line, autocommit, O_SYNC); without them, data are safe from a crash of "
        "the program, though not from one of the node. Where they must be, sync once for each step or checkpoint instead of "
        "{sync_count} times. Next: write to a file on node-local storage, and copy it when it is whole. Most effort: gather many "
        "records in memory, and write and sync them as one block."
    ),
    cases=(
        Case(
            "a sync after each write of 1 KiB",
            {**_STORM, "sync_interval_bytes": 1024, "sync_core_seconds": 56_921.0},
            state="fired",
        ),
        Case("exactly on the threshold of the time", _STORM | {"sync_seconds_ratio": 0.05}, state="clear"),
        Case("exactly on the threshold of the share", _STORM | {"sync_ratio": 0.09}, state="clear"),
        Case("exactly on the threshold of the count", _STORM | {"sync_count": 99}, state="clear"),
        Case("the log never synced", dict.fromkeys(_STORM, 0.0), state="clear"),
        Case("the log never wrote", {**dict.fromkeys(_STORM), "data_write_count": 0}, state="not applicable"),
        Case("its records lack the counters", dict.fromkeys(_STORM), state="unknown"),
        Case(
            "below the threshold, but records are missing", _STORM | {"sync_ratio": 0.01, "is_complete": False}, state="unknown"
        ),
        Case("records are missing, but those at hand are enough", _STORM | {"is_complete": False}, state="fired"),
    ),
    applies_to=(WRITES,),
    lacks=("data_lack", "mpiio_lack"),
    needs=f"the POSIX, STDIO and MPI-IO modules, those that the log has, whole; {TRACE} makes the time exact",
    cost="sync_core_seconds",
    evidence="sync_evidence",
    snippets=(
        Snippet(
            "c",
            "One sync for each checkpoint, when all of it is written",
            """\
for (int i = 0; i < record_count; i++)
    pwrite(fd, records[i], record_size, (off_t)i * record_size);
fdatasync(fd);
""",
        ),
        Snippet(
            "python",
            "Records are gathered and written as one block, with one sync",
            """\
import os

with open("results.dat", "ab") as file:
    file.write(b"".join(records))
    file.flush()
    os.fsync(file.fileno())
""",
        ),
    ),
)
