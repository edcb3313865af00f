"""Many writes go backwards.

A write that begins before the end of the one before it cannot be joined with it into a larger one, and leaves holes in
the client's cache that must be flushed piece by piece; a program that writes in random order does so half of the time.
Only successive POSIX writes of one rank to one file are compared. A rank's first write after an open is never held
against it, nor is a return to the beginning of the file, which only a DXT trace shows. The cost is the time of the
writes that go backwards: of each file a part of its write time in proportion to their number.

Blind spots: jumps forward are not counted, although they leave holes too. Without a trace, a loop that opens the file
again for each write hides its order, and each return to a header at the beginning counts. Libraries write headers and
indices unasked: a few such writes stay below the threshold, one after each piece of data does not.
"""

from iomine.triggers.inputs import POSIX_WRITES, TRACE, with_hdf5, with_mpiio
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger
from iomine.triggers.snippets import COLLECTIVE_WRITE_C

TRIGGER = Trigger(
    code="POSIX-112",
    view="log_requests",
    level=Level.HIGH,
    all_of=(
        Above(
            "backward_write_ratio",
            0.30,
            why="Our own choice: random order goes backwards in half of the writes, and a stream of output in almost none.",
        ),
        Above(
            "backward_write_seconds_ratio",
            0.05,
            why="Our own choice: what takes a twentieth of that time is not worth rewriting a program for.",
        ),
    ),
    finding=(
        "{backward_write_count} POSIX writes ({backward_write_ratio:.0%}) went backwards in their file and took "
        "{backward_write_seconds_ratio:.0%} of the time in reads and writes."
    ),
    advice=(
        (
            "Write in the order in which the data lie in the file. Least effort: write the header once, at the "
            "end, instead of after each of the {backward_write_count} pieces. Next: fill an array in memory in "
            "whatever order results come, and write it in one go."
        ),
        with_mpiio(
            "Where ranks write scattered pieces of a shared file, write collectively (MPI_File_write_at_all, or "
            "MPI_File_set_view and MPI_File_write_all): MPI-IO puts them in order."
        ),
        with_hdf5(
            "With HDF5, choose chunks of the shape that is written, and keep metadata out of the data's way "
            "(H5Pset_meta_block_size)."
        ),
    ),
    cases=(
        Case(
            "half of the writes, a third of the time",
            {
                "backward_write_ratio": 0.5,
                "backward_write_seconds_ratio": 0.33,
                "backward_write_count": 5000,
                "backward_write_core_seconds": 40.0,
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold of the share",
            {"backward_write_ratio": 0.30, "backward_write_seconds_ratio": 0.33},
            state="clear",
        ),
        Case(
            "exactly on the threshold of the time",
            {"backward_write_ratio": 0.5, "backward_write_seconds_ratio": 0.05},
            state="clear",
        ),
        Case(
            "the log lacks the metric",
            {"backward_write_ratio": None, "backward_write_seconds_ratio": None},
            state="unknown",
        ),
        Case(
            "the log never wrote through POSIX",
            {"posix_write_count": 0, "backward_write_ratio": None, "backward_write_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"backward_write_ratio": 0.1, "backward_write_seconds_ratio": 0.33, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"backward_write_ratio": 0.5, "backward_write_seconds_ratio": 0.33, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_WRITES,),
    lacks=("data_lack",),
    needs=f"the POSIX module, whole; {TRACE} makes the order exact",
    cost="backward_write_core_seconds",
    evidence="write_order_evidence",
    op="write",
    snippets=(
        Snippet(
            "python",
            "Results are put in order in memory and written in one go",
            """\
import numpy as np

grid = np.empty((rows, columns))
for row, values in results:
    grid[row] = values
grid.tofile("grid.dat")
""",
        ),
        COLLECTIVE_WRITE_C,
    ),
    version="2",
)
