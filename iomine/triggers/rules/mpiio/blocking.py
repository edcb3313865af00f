"""All MPI-IO requests block.

A rank in a blocking call waits for the file system and computes nothing. MPI-IO can also begin a request and finish it later,
so that computing goes on meanwhile. The verdict says that time could be saved if I/O takes a good part of the run, not that
anything is wrong. The cost is the time in MPI-IO requests that block: what could be hidden at most.

Blind spots: whether there is work to do meanwhile, or memory for a second buffer, is not known. Not every MPI library makes
progress on a request between calls, and then nothing is saved. Programs that write from a thread of their own already overlap,
but this is not visible in the log.
"""

from iomine.triggers.inputs import MPIIO_REQUESTS, with_hdf5
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

TRIGGER = Trigger(
    code="MPIIO-201",
    view="log_collective_profile",
    level=Level.INFO,
    all_of=(
        Above("blocking_ratio", 0.99, why="Our own choice: all but a stray one."),
        Above("io_ratio", 0.10, why="Our own choice: with a tenth of the run in I/O or less there is little to hide."),
    ),
    finding=(
        "{blocking_ratio:.0%} of the MPI-IO requests blocked, for {blocking_core_seconds}, and I/O took "
        "{io_ratio:.0%} of the run."
    ),
    advice=(
        "Compute while data are on their way.",
        with_hdf5("Least effort: the asynchronous VOL connector of HDF5 does so behind the same calls."),
        (
            "Burst buffers or node-local storage with a copy in the background need no change of the program. In "
            "your own code, begin a write with MPI_File_iwrite_at or MPI_File_iwrite_at_all, go on computing into"
            " a second buffer, and finish with MPI_Wait before the first buffer is used again. Up to "
            "{blocking_core_seconds} can be hidden."
        ),
    ),
    cases=(
        Case(
            "all requests block, a third of the run",
            {"blocking_ratio": 1.0, "io_ratio": 0.33, "blocking_core_seconds": 500.0},
            state="fired",
        ),
        Case("exactly on the threshold of the share", {"blocking_ratio": 0.99, "io_ratio": 0.33}, state="clear"),
        Case("exactly on the threshold of the run", {"blocking_ratio": 1.0, "io_ratio": 0.10}, state="clear"),
        Case("the log lacks the metric", {"blocking_ratio": None, "io_ratio": 0.33}, state="unknown"),
        Case("the log has no MPI-IO", {"mpiio_call_count": 0, "blocking_ratio": None, "io_ratio": 0.33}, state="not applicable"),
        Case(
            "below the threshold, but records are missing",
            {"blocking_ratio": 0.5, "io_ratio": 0.33, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"blocking_ratio": 1.0, "io_ratio": 0.33, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_REQUESTS,),
    lacks=("mpiio_lack", "posix_lack"),
    needs="the MPI-IO module, whole",
    cost="blocking_core_seconds",
    snippets=(
        Snippet(
            "c",
            "A write goes on while the next step is computed into another buffer",
            """\
MPI_Request request = MPI_REQUEST_NULL;

for (int step = 0; step < steps; step++) {
    double *buffer = buffers[step % 2];
    MPI_Offset start = ((MPI_Offset)step * size + rank) * count * sizeof(double);

    compute(buffer, count);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(file, start, buffer, count, MPI_DOUBLE, &request);
}
MPI_Wait(&request, MPI_STATUS_IGNORE);
""",
        ),
        Snippet(
            "python",
            "A write goes on while the next step is computed into another array",
            """\
request = file.Iwrite_at(start, values)
following = compute(step + 1)
request.Wait()
values = following
""",
        ),
    ),
    version="2",
)
