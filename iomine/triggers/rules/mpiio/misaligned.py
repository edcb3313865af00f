"""Requests of MPI-IO are not aligned to the file system's blocks.

Here it is MPI-IO that chooses where requests to the file system begin, from what ranks ask for and from its hints. With
requests that start within a block, aggregators share blocks and take their locks from each other. The program cannot fix this
by moving its requests. It has to give MPI-IO, or HDF5 above it, the striping of the file. The cost is the time of the
misaligned requests: of each file a part of its POSIX time in proportion to their number.

Blind spots: Darshan compares starts with one block size for each mount, 1 MiB on Lustre and otherwise what the file system
says of itself, often 4 KiB, whatever the stripe size of the file. It counts reads and writes together, so each gets a share in
proportion to their numbers. MPI-IO that reads for itself, to write back whole blocks, is counted too.
"""

from iomine.triggers.inputs import REQUESTS_BENEATH, with_hdf5
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger
from iomine.triggers.snippets import HDF5_ALIGNMENT_C

TRIGGER = Trigger(
    code="MPIIO-121",
    view="log_requests",
    level=Level.INFO,
    all_of=(
        Above("mpiio_misaligned_ratio", 0.30, why="Our own choice: headers and the odd last piece of a file stay well below."),
        Above(
            "mpiio_misaligned_seconds_ratio",
            0.05,
            why="Our own choice: what takes a twentieth of that time is not worth setting hints for.",
        ),
    ),
    finding=(
        "{mpiio_misaligned_count} POSIX requests of MPI-IO ({mpiio_misaligned_ratio:.0%}) were not aligned to the file system's "
        "blocks and took {mpiio_misaligned_seconds_ratio:.0%} of the time in reads and writes."
    ),
    advice=(
        (
            "Give MPI-IO the striping of the file. Least effort: set the hint striping_unit to the stripe size, "
            "and cb_buffer_size to a multiple of it, so that aggregators write whole stripes; hints come from a "
            "file too, named in ROMIO_HINTS."
        ),
        with_hdf5("With HDF5, align objects when the file is created (H5Pset_alignment), and choose chunks of whole stripes."),
        "If the {mpiio_misaligned_count} requests come from independent calls, make them collective first.",
    ),
    cases=(
        Case(
            "most requests, half of the time",
            {
                "mpiio_misaligned_ratio": 0.9,
                "mpiio_misaligned_seconds_ratio": 0.5,
                "mpiio_misaligned_count": 9000,
                "mpiio_misaligned_core_seconds": 300.0,
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold of the share",
            {"mpiio_misaligned_ratio": 0.30, "mpiio_misaligned_seconds_ratio": 0.5},
            state="clear",
        ),
        Case(
            "exactly on the threshold of the time",
            {"mpiio_misaligned_ratio": 0.9, "mpiio_misaligned_seconds_ratio": 0.05},
            state="clear",
        ),
        Case(
            "the log lacks the metric",
            {"mpiio_misaligned_ratio": None, "mpiio_misaligned_seconds_ratio": None},
            state="unknown",
        ),
        Case(
            "no file goes through MPI-IO",
            {"beneath_request_count": 0, "mpiio_misaligned_ratio": None, "mpiio_misaligned_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"mpiio_misaligned_ratio": 0.1, "mpiio_misaligned_seconds_ratio": 0.5, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"mpiio_misaligned_ratio": 0.9, "mpiio_misaligned_seconds_ratio": 0.5, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(REQUESTS_BENEATH,),
    lacks=("data_lack", "mpiio_lack"),
    needs="the POSIX and MPI-IO modules, whole",
    cost="mpiio_misaligned_core_seconds",
    snippets=(
        Snippet(
            "shell",
            "Hints for all files of a run of ROMIO, without touching the program",
            """\
cat > hints.txt <<END
striping_unit 4194304
cb_buffer_size 16777216
romio_cb_write enable
END
ROMIO_HINTS="$PWD/hints.txt" srun ./program
""",
        ),
        HDF5_ALIGNMENT_C,
    ),
    version="2",
)
