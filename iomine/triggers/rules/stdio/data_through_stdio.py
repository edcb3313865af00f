"""Data go through stdio.

The streams of C (`fopen`, `fread`, `fprintf`) copy everything through a buffer of often no more than 4 KiB, know
nothing of other ranks, and do not know how a file is striped. They are right for a log of the run, and wrong for
data. Standard streams are left out. The cost is all the time in stdio, metadata calls included.

Blind spots: how large the buffer is cannot be seen, so a program that chose a large one fires too, at little cost. Some
Fortran libraries and Python's own file objects do not use stdio and are not counted here. A stream that was opened for
a file descriptor counts as stdio alone.
"""

from iomine.triggers.inputs import DATA_FILES, with_hdf5, with_mpiio
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger
from iomine.triggers.snippets import COLLECTIVE_WRITE_C

TRIGGER = Trigger(
    code="STDIO-101",
    view="log_file_profile",
    level=Level.HIGH,
    all_of=(Above("data_stdio_ratio", 0.10, why="The threshold Drishti uses for S01, so results compare."),),
    finding=(
        "{data_stdio_ratio:.0%} of the bytes went through stdio, the largest part in {stdio_path}, for {stdio_core_seconds}."
    ),
    advice=(
        (
            "Read and write the data of {stdio_path} with read() and write() instead of stdio. Least effort, where less "
            "than a MiB is read or written at a time: give the stream a buffer of several MiB right after it is opened "
            "(setvbuf), and do not flush after each line; larger requests gain nothing by that. Next: write binary data in "
            "blocks of several MiB with write() or pwrite(), and in Python with numpy.save or tofile instead of savetxt."
        ),
        with_mpiio("Most effort, where ranks share the data: write them through MPI-IO, in collective calls."),
        with_hdf5("Or put them into the program's HDF5 files."),
    ),
    cases=(
        Case(
            "half of the bytes through stdio",
            {"data_stdio_ratio": 0.5, "stdio_core_seconds": 45.0},
            state="fired",
        ),
        Case("exactly on the threshold", {"data_stdio_ratio": 0.10}, state="clear"),
        Case("the log lacks the metric", {"data_stdio_ratio": None}, state="unknown"),
        Case("the log moved no data", {"data_file_count": 0, "data_stdio_ratio": None}, state="not applicable"),
        Case("below the threshold, but records are missing", {"data_stdio_ratio": 0.05, "is_complete": False}, state="unknown"),
        Case(
            "records are missing, but those at hand are enough",
            {"data_stdio_ratio": 0.5, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(DATA_FILES,),
    lacks=("data_lack",),
    needs="the POSIX, STDIO and DFS modules, those that the log has, whole",
    cost="stdio_core_seconds",
    snippets=(
        Snippet(
            "c",
            "A stream with a buffer of 8 MiB",
            """\
FILE *file = fopen("output.dat", "wb");

setvbuf(file, NULL, _IOFBF, 8 * 1024 * 1024);
fwrite(values, sizeof(double), count, file);
fclose(file);
""",
        ),
        Snippet(
            "python",
            "Binary instead of text: a third of the bytes, and none of them formatted",
            """\
import numpy as np

values = np.arange(1_000_000, dtype=float)
np.save("values.npy", values)
values = np.load("values.npy", mmap_mode="r")
""",
        ),
        COLLECTIVE_WRITE_C,
    ),
    version="3",
)
