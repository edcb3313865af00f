"""The same bytes are read again.

What is read twice could have been kept, or read by one rank and sent to the others; every rank that reads the whole of
an input file multiplies the load on the servers by the number of ranks. With a DXT trace, only what the same rank reads
again counts here, and what other ranks read as well is POSIX-133. The bytes that the program asked for, through
MPI-IO where a file goes through it, are compared with the bytes of the file that reads touched at all. So ten passes
over a file fire, and sparse access does not. The cost is the time of reading again: of each file a part of its read
time in proportion to the bytes.

Blind spots: without a DXT trace, a file counts as touched up to the highest offset read, so repetition within a part of
a larger file goes unnoticed. The second read may come from the client's cache and cost little. What another log of the
same job read before is not known here. Reads through stdio are never traced: of these, only what some rank must have read
twice counts.
"""

from iomine.triggers.inputs import READ_BYTES, TRACE, with_hdf5, with_ranks
from iomine.triggers.model import Above, Case, Level, Requests, Snippet, Trigger
from iomine.triggers.snippets import BROADCAST_C, BROADCAST_PYTHON

TRIGGER = Trigger(
    code="POSIX-131",
    view="log_requests",
    level=Level.WARN,
    all_of=(
        Above(
            "reread_ratio",
            0.30,
            why="Our own choice: a header that all ranks read stays below, a second pass over the data does not.",
        ),
        Above("reread_bytes", 0, why="Our own choice: the share decides, and the cost says what it is worth."),
    ),
    finding="{reread_bytes} ({reread_ratio:.0%} of what was read) had been read before, the largest part in {reread_path}.",
    advice=(
        (
            "Read {reread_path} once. Least effort: copy it to node-local storage or /dev/shm when the job "
            "starts, if it is read in several passes."
        ),
        with_hdf5(
            "With HDF5, a chunk that falls out of the cache is read again: make the cache hold the chunks in use "
            "(H5Pset_chunk_cache; rdcc_nbytes= of h5py.File)."
        ),
        "Keep in memory what is needed again.",
        with_ranks(
            "Where every rank reads the same, let one read it and send it to the others (MPI_Bcast); where each "
            "needs a part, let each read only its part."
        ),
    ),
    cases=(
        Case(
            "ten passes over one file",
            {"reread_ratio": 0.9, "reread_bytes": 9_663_676_416, "reread_core_seconds": 120.0},
            state="fired",
        ),
        Case("exactly on the threshold of the share", {"reread_ratio": 0.30, "reread_bytes": 1_000_000}, state="clear"),
        Case("exactly on the threshold of the bytes", {"reread_ratio": 0.9, "reread_bytes": 0}, state="clear"),
        Case("the log lacks the metric", {"reread_ratio": None, "reread_bytes": None}, state="unknown"),
        Case("the log read no byte", {"asked_read_bytes": 0, "reread_ratio": None, "reread_bytes": None}, state="not applicable"),
        Case(
            "below the threshold, but records are missing",
            {"reread_ratio": 0.1, "reread_bytes": 1_000_000, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"reread_ratio": 0.9, "reread_bytes": 1_000_000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(READ_BYTES,),
    lacks=("data_lack", "mpiio_lack"),
    needs=f"the POSIX, STDIO and MPI-IO modules, those that the log has, whole; {TRACE} makes the bytes touched exact",
    cost="reread_core_seconds",
    evidence="read_extent_evidence",
    version="3",
    op="read",
    traced=Requests("posix", "read", path="reread_path"),
    snippets=(
        BROADCAST_C,
        BROADCAST_PYTHON,
        Snippet(
            "shell",
            "Each node gets a copy of its own before the program starts (Slurm)",
            """\
sbcast input.dat "/tmp/input.dat"
srun ./program /tmp/input.dat
""",
        ),
    ),
)
