"""MPI-IO reads in order to write.

To write pieces with gaps between them, MPI-IO reads the block that covers them, puts the pieces in and writes all of it back
(data sieving; aggregators of collective writes do the same). The program asked for writes alone, but the servers have to
read as well, under a lock. The trace shows which reads were made within writes. The cost is the time of these reads: of
each file a part of its POSIX read time in proportion to the bytes.

Blind spots: what is written back in excess is MPIIO-302, which needs no trace; if gaps are filled by other pieces of the same
call, nothing is in excess and only the reads show. With a few blocks on the edges of a large whole, reading is right.
"""

from iomine.triggers.inputs import MPIIO_WRITES, TRACE, with_hdf5
from iomine.triggers.model import Above, Case, Level, Requests, Snippet, Trigger
from iomine.triggers.snippets import FILE_VIEW_C, HDF5_TRANSFER_C

TRIGGER = Trigger(
    code="MPIIO-303",
    view="log_transform_profile",
    level=Level.WARN,
    all_of=(
        Above(
            "sieve_read_ratio",
            0.2,
            why="Our own choice: blocks on the edges of a large whole stay below, pieces with gaps between them do not.",
        ),
    ),
    finding=(
        "To write {write_bytes}, MPI-IO read {sieve_read_bytes} ({sieve_read_ratio:.0%}) and put them back, most of "
        "them of {sieve_read_path}."
    ),
    advice=(
        (
            "Let MPI-IO write {sieve_read_path} without reading it. Least effort: set the hint "
            "romio_ds_write=disable, and compare; few large pieces are then written as they are. Next: write "
            "collectively with romio_cb_write=enable and the pieces of all ranks and variables in one call, so "
            "that the gaps of one are the pieces of another and blocks are full. Most effort: store variables one"
            " after the other instead of interleaved."
        ),
        with_hdf5("With HDF5, choose chunks that one rank writes whole."),
    ),
    cases=(
        Case(
            "as much is read as written",
            {
                "sieve_read_ratio": 1.0,
                "sieve_read_bytes": 8_589_934_592,
                "write_bytes": 8_589_934_592,
                "sieve_read_core_seconds": 300.0,
            },
            state="fired",
        ),
        Case("exactly on the threshold", {"sieve_read_ratio": 0.2}, state="clear"),
        Case("the log has no trace", {"sieve_read_ratio": None}, state="unknown"),
        Case(
            "the log wrote nothing through MPI-IO",
            {"mpiio_write_request_count": 0, "sieve_read_ratio": None},
            state="not applicable",
        ),
        Case("below the threshold, but requests are missing", {"sieve_read_ratio": 0.0, "is_complete": False}, state="unknown"),
        Case(
            "requests are missing, but those at hand are enough",
            {"sieve_read_ratio": 1.0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_WRITES,),
    lacks=("mpiio_lack", "mpiio_trace_lack", "trace_lack"),
    needs=f"the MPI-IO module and {TRACE}",
    cost="sieve_read_core_seconds",
    evidence="transform_evidence",
    op="write",
    traced=Requests("posix", "read", path="sieve_read_path"),
    snippets=(
        Snippet(
            "shell",
            "No data sieving in writes, and aggregators always, for all files of a run of ROMIO",
            """\
cat > hints.txt <<END
romio_ds_write disable
romio_cb_write enable
END
ROMIO_HINTS="$PWD/hints.txt" srun ./program
""",
        ),
        FILE_VIEW_C,
        HDF5_TRANSFER_C,
    ),
    version="2",
)
