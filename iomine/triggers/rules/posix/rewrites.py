"""The same bytes are written again.

Bytes that are overwritten in the same run were written in vain, unless they were there to be read in between or to
survive a crash. The bytes that the program asked for, through MPI-IO where a file goes through it, are compared with the
bytes of the file that writes touched at all. So a file written ten times over fires, and one written with gaps does
not. With a DXT trace, only what the same rank writes again counts here, and what other ranks wrote as well is POSIX-134.
The cost is the time of writing again: of each file a part of its write time in proportion to the bytes.

Blind spots: without a DXT trace, a file counts as touched up to the highest offset written, so repetition within a part
of a larger file goes unnoticed. A checkpoint that overwrites the last but one is meant to: then only its frequency can
change. A file that is truncated and written again under the same name counts as written again. Writes
through stdio are left out.
"""

from iomine.triggers.inputs import TRACE, WRITTEN_BYTES, with_hdf5
from iomine.triggers.model import Above, Case, Level, Requests, Snippet, Trigger

TRIGGER = Trigger(
    code="POSIX-132",
    view="log_requests",
    level=Level.WARN,
    all_of=(
        Above(
            "rewritten_ratio",
            0.30,
            why="Our own choice: a header that is brought up to date stays below, a second copy of the data does not.",
        ),
        Above("rewritten_bytes", 0, why="Our own choice: the share decides, and the cost says what it is worth."),
    ),
    finding=(
        "{rewritten_bytes} ({rewritten_ratio:.0%} of what was written) overwrote what the run had written before, most of "
        "them in {rewritten_path}."
    ),
    advice=(
        (
            "Write {rewritten_path} once. Least effort: write it less often; a checkpoint pays for itself at "
            "intervals of about the square root of 2 x its duration x the mean time between failures. Keep what "
            "still changes in memory or on node-local storage, and copy the last state to the file system at the "
            "end."
        ),
        with_hdf5(
            "With HDF5, turn off filling of datasets that are written whole anyway (H5Pset_fill_time with "
            "H5D_FILL_TIME_NEVER), and make the chunk cache hold the chunks in use (H5Pset_chunk_cache)."
        ),
    ),
    cases=(
        Case(
            "one file written ten times over",
            {"rewritten_ratio": 0.9, "rewritten_bytes": 9_663_676_416, "rewritten_core_seconds": 120.0},
            state="fired",
        ),
        Case("exactly on the threshold of the share", {"rewritten_ratio": 0.30, "rewritten_bytes": 1_000_000}, state="clear"),
        Case("exactly on the threshold of the bytes", {"rewritten_ratio": 0.9, "rewritten_bytes": 0}, state="clear"),
        Case("the log lacks the metric", {"rewritten_ratio": None, "rewritten_bytes": None}, state="unknown"),
        Case(
            "the log never wrote",
            {"asked_write_bytes": 0, "rewritten_ratio": None, "rewritten_bytes": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"rewritten_ratio": 0.1, "rewritten_bytes": 1_000_000, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"rewritten_ratio": 0.9, "rewritten_bytes": 1_000_000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(WRITTEN_BYTES,),
    lacks=("data_lack", "mpiio_lack"),
    needs=f"the POSIX module and, where there is one, the MPI-IO module, whole; {TRACE} makes the bytes touched exact",
    cost="rewritten_core_seconds",
    evidence="write_extent_evidence",
    version="3",
    op="write",
    traced=Requests("posix", "write", path="rewritten_path"),
    snippets=(
        Snippet(
            "c",
            "The interval between checkpoints follows from what they cost (Young 1974), not from the number of steps",
            """\
const double interval = sqrt(2.0 * checkpoint_seconds * seconds_between_failures);

if (MPI_Wtime() - last_checkpoint > interval) {
    write_checkpoint();
    last_checkpoint = MPI_Wtime();
}
""",
        ),
        Snippet(
            "c",
            "HDF5 does not fill a dataset that is written whole",
            """\
hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
hid_t dataset = H5Dcreate2(file, "values", H5T_NATIVE_DOUBLE, file_space, H5P_DEFAULT, creation, H5P_DEFAULT);
""",
        ),
    ),
)
