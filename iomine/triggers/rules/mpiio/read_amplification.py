"""More is read beneath MPI-IO than was asked for.

For many small pieces, MPI-IO reads one large block that covers them all and throws the gaps away (data sieving), and
aggregators of collective reads do the same (two-phase I/O with holes). That is right while the gaps are small; with
wide gaps most of what is read is thrown away. The bytes that POSIX read of a file are compared with those that the
program asked MPI-IO for. The cost is the time of reading what nobody asked for: of each file a part of its POSIX read
time in proportion to the bytes.

Blind spots: files that the program only wrote are left out; what MPI-IO reads of them to fill the gaps between pieces is
MPIIO-303. Of files that it read too, these reads count here unless a trace separates them. Several ranks that ask for
the same bytes, which an aggregator reads once, make up for amplification elsewhere. What the file system reads ahead is
seen by no log.
"""

from iomine.triggers.inputs import MPIIO_READS, REQUESTS_BENEATH, with_hdf5
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger
from iomine.triggers.snippets import FILE_VIEW_C

TRIGGER = Trigger(
    code="MPIIO-301",
    view="log_collective_profile",
    level=Level.WARN,
    all_of=(
        Above(
            "read_amplification_ratio",
            1.5,
            why="Our own choice: reading half as much again is often still quicker than many small requests.",
        ),
    ),
    finding=(
        "Beneath MPI-IO, {read_amplification_ratio:.1f} bytes were read for each byte asked for; what nobody asked for took "
        "{read_amplification_core_seconds}."
    ),
    advice=(
        (
            "Ask for larger pieces, or let MPI-IO read only the pieces. Least effort: set the hint "
            "romio_ds_read=disable for independent reads with wide gaps, and compare. Next: describe all pieces "
            "of a rank by a file view and read them in one collective call, so that the gaps of one rank are the "
            "pieces of another. Most effort: store together what is read together, one variable after the other "
            "instead of all variables of each point."
        ),
        with_hdf5("With HDF5, choose chunks of the shape that is read."),
    ),
    cases=(
        Case(
            "four bytes read for one asked for",
            {"read_amplification_ratio": 4.0, "read_amplification_core_seconds": 75.0},
            state="fired",
        ),
        Case("exactly on the threshold", {"read_amplification_ratio": 1.5}, state="clear"),
        Case("the log lacks the metric", {"read_amplification_ratio": None}, state="unknown"),
        Case(
            "the log read nothing through MPI-IO",
            {"mpiio_read_request_count": 0, "read_amplification_ratio": None},
            state="not applicable",
        ),
        Case(
            "no file goes through MPI-IO", {"beneath_request_count": 0, "read_amplification_ratio": None}, state="not applicable"
        ),
        Case(
            "below the threshold, but records are missing",
            {"read_amplification_ratio": 1.0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"read_amplification_ratio": 4.0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_READS, REQUESTS_BENEATH),
    lacks=("mpiio_lack", "posix_lack"),
    needs="the POSIX and MPI-IO modules, whole",
    cost="read_amplification_core_seconds",
    version="3",
    op="read",
    snippets=(
        Snippet(
            "c",
            "No data sieving for reads of this file",
            """\
MPI_Info info;
MPI_File file;

MPI_Info_create(&info);
MPI_Info_set(info, "romio_ds_read", "disable");
MPI_File_open(MPI_COMM_WORLD, "input.dat", MPI_MODE_RDONLY, info, &file);
MPI_Info_free(&info);
""",
        ),
        FILE_VIEW_C,
    ),
)
