"""Requests are not aligned to the file system's blocks.

A request that starts within a block touches one block more than it must: a write has to read the rest of the block first, and
two ranks that meet in one block of a shared file take its lock from each other. Only requests that the program makes through
POSIX itself are looked at; those beneath MPI-IO belong to MPIIO-121, since what to change there is different. The cost is the
time of the misaligned requests: of each file a part of its time in proportion to their number.

Blind spots: Darshan compares starts with one block size for each mount, 1 MiB on Lustre and otherwise what the file system
says of itself, often 4 KiB, whatever the stripe size of the file. It counts reads and writes together, so each gets its share
by number. Where a request ends is not checked. Small requests in sequence are never aligned: then it is better to change their
size.
"""

from iomine.triggers.inputs import DIRECT_REQUESTS, with_hdf5
from iomine.triggers.model import Above, Case, Level, Requests, Snippet, Trigger, Where
from iomine.triggers.snippets import HDF5_ALIGNMENT_C

TRIGGER = Trigger(
    code="POSIX-121",
    view="log_requests",
    level=Level.WARN,
    all_of=(
        Above(
            "misaligned_ratio",
            0.30,
            why="Our own choice: headers and the odd last piece of a file stay well below.",
        ),
        Above(
            "misaligned_seconds_ratio",
            0.05,
            why="Our own choice: what takes a twentieth of that time is not worth rewriting a program for.",
        ),
    ),
    finding=(
        "{misaligned_count} of the program's own POSIX requests ({misaligned_ratio:.0%}) were not aligned to the file system's "
        "blocks and took {misaligned_seconds_ratio:.0%} of the time in reads and writes, the largest part in {misaligned_path}."
    ),
    advice=(
        "Let requests for {misaligned_path} start at multiples of its block or stripe size.",
        Where(("lustre_file_count", "misaligned_path"), "`lfs getstripe -S {misaligned_path:file}` says it on Lustre."),
        with_hdf5(
            "Least effort: ask HDF5 for alignment when the file is created (H5Pset_alignment; "
            "alignment_threshold= and alignment_interval= of h5py.File)."
        ),
        (
            "In your own format, pad the header and the part of each rank up to a multiple of the block, and read"
            " and write whole blocks. If the {misaligned_count} requests are smaller than a block, join them "
            "first."
        ),
    ),
    cases=(
        Case(
            "most requests, half of the time",
            {
                "misaligned_ratio": 0.9,
                "misaligned_seconds_ratio": 0.5,
                "misaligned_count": 9000,
                "misaligned_core_seconds": 300.0,
            },
            state="fired",
        ),
        Case("exactly on the threshold of the share", {"misaligned_ratio": 0.30, "misaligned_seconds_ratio": 0.5}, state="clear"),
        Case("exactly on the threshold of the time", {"misaligned_ratio": 0.9, "misaligned_seconds_ratio": 0.05}, state="clear"),
        Case(
            "the log lacks the metric",
            {"misaligned_ratio": None, "misaligned_seconds_ratio": None},
            state="unknown",
        ),
        Case(
            "all requests went through MPI-IO",
            {"direct_request_count": 0, "misaligned_ratio": None, "misaligned_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"misaligned_ratio": 0.1, "misaligned_seconds_ratio": 0.5, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"misaligned_ratio": 0.9, "misaligned_seconds_ratio": 0.5, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(DIRECT_REQUESTS,),
    lacks=("data_lack",),
    needs="the POSIX module, whole",
    cost="misaligned_core_seconds",
    traced=Requests("posix", path="misaligned_path"),
    snippets=(
        Snippet(
            "c",
            "The part of each rank begins at a multiple of 1 MiB",
            """\
const off_t block = 1048576;
const off_t part = (count * (off_t)sizeof(double) + block - 1) / block * block;

if (pwrite(file, values, count * sizeof(double), rank * part) < 0)
    perror("output.dat");
""",
        ),
        HDF5_ALIGNMENT_C,
    ),
    version="2",
)
