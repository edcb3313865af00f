"""Many reads go backwards.

A read that begins before the end of the one before it makes readahead fetch in vain and, on disks, moves the heads;
a program that reads in random order does so half of the time. Only successive POSIX reads of one rank in one file are
compared. A rank's first read after an open is never held against it, nor is a return to the beginning of the file,
which only a DXT trace shows. The cost is the time of the reads that go backwards: of each file a part of its read
time in proportion to their number.

Blind spots: jumps forward are not counted, so a program that skips through a file in ascending order is left alone
although readahead fails it too. Without a trace, a loop that opens the file again for each read hides its order, and
each new pass over a file counts once. Ranks that take turns in one file are in order each for itself, whatever the
servers see of them together.
"""

from iomine.triggers.inputs import POSIX_READS, TRACE, with_hdf5, with_mpiio
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger
from iomine.triggers.snippets import FILE_VIEW_C

TRIGGER = Trigger(
    code="POSIX-111",
    view="log_requests",
    level=Level.HIGH,
    all_of=(
        Above(
            "backward_read_ratio",
            0.30,
            why="Our own choice: random order goes backwards in half of the reads, and a few passes in order in almost none.",
        ),
        Above(
            "backward_read_seconds_ratio",
            0.05,
            why="Our own choice: what takes a twentieth of that time is not worth rewriting a program for.",
        ),
    ),
    finding=(
        "{backward_read_count} POSIX reads ({backward_read_ratio:.0%}) went backwards in their file and took "
        "{backward_read_seconds_ratio:.0%} of the time in reads and writes."
    ),
    advice=(
        (
            "Read in the order in which the data lie in the file. Least effort: sort the offsets that are needed "
            "before reading, or read the whole range into memory once and pick the {backward_read_count} pieces "
            "there. Training that wants samples in random order can shuffle blocks of some MiB and then the "
            "samples within a block."
        ),
        with_mpiio(
            "Where ranks need scattered pieces of a shared file, describe them by a file view and read "
            "collectively (MPI_File_set_view, MPI_File_read_all): MPI-IO puts them in order."
        ),
        with_hdf5("With HDF5, choose chunks of the shape that is read."),
    ),
    cases=(
        Case(
            "half of the reads, a third of the time",
            {
                "backward_read_ratio": 0.5,
                "backward_read_seconds_ratio": 0.33,
                "backward_read_count": 5000,
                "backward_read_core_seconds": 40.0,
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold of the share",
            {"backward_read_ratio": 0.30, "backward_read_seconds_ratio": 0.33},
            state="clear",
        ),
        Case(
            "exactly on the threshold of the time",
            {"backward_read_ratio": 0.5, "backward_read_seconds_ratio": 0.05},
            state="clear",
        ),
        Case(
            "the log lacks the metric",
            {"backward_read_ratio": None, "backward_read_seconds_ratio": None},
            state="unknown",
        ),
        Case(
            "the log never read through POSIX",
            {"posix_read_count": 0, "backward_read_ratio": None, "backward_read_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"backward_read_ratio": 0.1, "backward_read_seconds_ratio": 0.33, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"backward_read_ratio": 0.5, "backward_read_seconds_ratio": 0.33, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_READS,),
    lacks=("data_lack",),
    needs=f"the POSIX module, whole; {TRACE} makes the order exact",
    cost="backward_read_core_seconds",
    evidence="read_order_evidence",
    op="read",
    snippets=(
        Snippet(
            "python",
            "Records are read in the order of the file, whatever the order they are needed in",
            """\
import numpy as np

records = np.empty((len(offsets), record_bytes), dtype=np.uint8)
with open("samples.dat", "rb") as file:
    for index in np.argsort(offsets):
        file.seek(offsets[index])
        file.readinto(records[index])
""",
        ),
        FILE_VIEW_C,
    ),
    version="2",
)
