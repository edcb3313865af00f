"""More is written beneath MPI-IO than was asked for.

For many small pieces with gaps, MPI-IO reads the block that covers them, puts the pieces in and writes all of it back
(data sieving), and aggregators of collective writes do the same (two-phase I/O with holes). With wide gaps most of what
is written was there before, and had to be read and locked for it. The bytes that POSIX wrote to a file are compared with
those that the program asked MPI-IO for. The cost is the time of writing what nobody asked for: of each file a part of
its POSIX write time in proportion to the bytes.

Blind spots: the reads that this takes are not in the ratio, so the load on the file system is about twice what it says; they are
MPIIO-303, where there is a trace.
What HDF5 adds, such as fill values, was asked for as far as MPI-IO knows. Compression that aggregators do is not known.
"""

from iomine.triggers.inputs import MPIIO_WRITES, REQUESTS_BENEATH, with_hdf5
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger
from iomine.triggers.snippets import HDF5_TRANSFER_C

TRIGGER = Trigger(
    code="MPIIO-302",
    view="log_collective_profile",
    level=Level.WARN,
    all_of=(
        Above(
            "write_amplification_ratio",
            1.5,
            why="Our own choice: writing half as much again is often still quicker than many small requests.",
        ),
    ),
    finding=(
        "Beneath MPI-IO, {write_amplification_ratio:.1f} bytes were written for each byte asked for; what nobody asked for "
        "took {write_amplification_core_seconds}."
    ),
    advice=(
        (
            "Leave no gaps, or let MPI-IO write only the pieces. Least effort: set the hint "
            "romio_ds_write=disable, and compare. Next: write the pieces of all ranks and variables in one "
            "collective call, so that the gaps of one are the pieces of another."
        ),
        with_hdf5("HDF5 joins several datasets into one (H5Dwrite_multi, from 1.14)."),
        ("Most effort: store variables one after the other instead of interleaved, so that each write is contiguous."),
    ),
    cases=(
        Case(
            "four bytes written for one asked for",
            {"write_amplification_ratio": 4.0, "write_amplification_core_seconds": 75.0},
            state="fired",
        ),
        Case("exactly on the threshold", {"write_amplification_ratio": 1.5}, state="clear"),
        Case("the log lacks the metric", {"write_amplification_ratio": None}, state="unknown"),
        Case(
            "the log wrote nothing through MPI-IO",
            {"mpiio_write_request_count": 0, "write_amplification_ratio": None},
            state="not applicable",
        ),
        Case(
            "no file goes through MPI-IO", {"beneath_request_count": 0, "write_amplification_ratio": None}, state="not applicable"
        ),
        Case(
            "below the threshold, but records are missing",
            {"write_amplification_ratio": 1.0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"write_amplification_ratio": 4.0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_WRITES, REQUESTS_BENEATH),
    lacks=("mpiio_lack", "posix_lack"),
    needs="the POSIX and MPI-IO modules, whole",
    cost="write_amplification_core_seconds",
    version="3",
    op="write",
    snippets=(
        Snippet(
            "c",
            "No data sieving for writes to this file, and collective buffering always",
            """\
MPI_Info info;
MPI_File file;

MPI_Info_create(&info);
MPI_Info_set(info, "romio_ds_write", "disable");
MPI_Info_set(info, "romio_cb_write", "enable");
MPI_File_open(MPI_COMM_WORLD, "output.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file);
MPI_Info_free(&info);
""",
        ),
        HDF5_TRANSFER_C,
    ),
)
