"""Collective calls stay independent.

A collective call lets MPI-IO join the pieces of all ranks into few large requests, but it does not have to: ROMIO leaves
pieces alone that do not interleave within the call, and hints can turn joining off. Each rank then waits for the others and
still sends its own small pieces to the file system. The trace shows it: requests in POSIX are those of the calls, rank by
rank. Only files whose median request in POSIX is below 1 MiB are looked at, since larger ones do well alone. The cost is the
time of these calls: of each file a part of its MPI-IO time in proportion to their number.

Blind spots: a trace does not say which call was collective. So as many of the calls that ranks carried out themselves are left
out as there were independent calls. Pieces of a contiguous whole may be joined by the file system's client, and then cost less
than it looks. Other MPI libraries than ROMIO have other hints.
"""

from iomine.triggers.inputs import COLLECTIVES, SEVERAL_RANKS, TRACE
from iomine.triggers.model import Above, Case, Level, Requests, Snippet, Trigger
from iomine.triggers.snippets import FILE_VIEW_C

_STAYED = {"stayed_small_ratio": 1.0, "stayed_small_seconds_ratio": 0.8}

TRIGGER = Trigger(
    code="MPIIO-103",
    view="log_transform_profile",
    level=Level.WARN,
    all_of=(
        Above("stayed_small_ratio", 0.5, why="Our own choice: most of the calls that were made collective had no effect."),
        Above(
            "stayed_small_seconds_ratio",
            0.05,
            why="Our own choice: what takes a twentieth of the MPI-IO time is not worth setting hints for.",
        ),
    ),
    finding=(
        "{stayed_small_count} collective calls ({stayed_small_ratio:.0%}) had no effect: each rank sent small requests of its "
        "own, the largest part in {stayed_small_path}. They took {stayed_small_seconds_ratio:.0%} of the MPI-IO time."
    ),
    advice=(
        "Let aggregators do the I/O of {stayed_small_path}. Least effort: set the hints romio_cb_write=enable and "
        "romio_cb_read=enable, in the program or in a file named in ROMIO_HINTS, and see that nothing sets them to disable; "
        "ROMIO_PRINT_HINTS=1 shows what is in force. Next: describe all pieces of a rank by a file view and move them in one "
        "call, so that there is something to join. Most effort: fewer calls, each with the data of several steps."
    ),
    cases=(
        Case(
            "no call was joined",
            {**_STAYED, "stayed_small_count": 40_000, "stayed_small_core_seconds": 90.0},
            state="fired",
        ),
        Case("exactly on the threshold of the share", {**_STAYED, "stayed_small_ratio": 0.5}, state="clear"),
        Case("exactly on the threshold of the time", {**_STAYED, "stayed_small_seconds_ratio": 0.05}, state="clear"),
        Case("the log has no trace", dict.fromkeys(_STAYED), state="unknown"),
        Case("a run of one process", {**dict.fromkeys(_STAYED), "process_count": 1}, state="not applicable"),
        Case(
            "the log made no collective calls", {**dict.fromkeys(_STAYED), "collective_request_count": 0}, state="not applicable"
        ),
        Case(
            "below the threshold, but requests are missing",
            {**_STAYED, "stayed_small_ratio": 0.1, "is_complete": False},
            state="unknown",
        ),
        Case("requests are missing, but those at hand are enough", {**_STAYED, "is_complete": False}, state="fired"),
    ),
    applies_to=(SEVERAL_RANKS, COLLECTIVES),
    lacks=("mpiio_lack", "mpiio_trace_lack", "trace_lack"),
    needs=f"the MPI-IO module and {TRACE}",
    cost="stayed_small_core_seconds",
    evidence="transform_evidence",
    traced=Requests("mpiio", path="stayed_small_path"),
    snippets=(
        Snippet(
            "shell",
            "Aggregators always, for all files of a run of ROMIO, without touching the program",
            """\
cat > hints.txt <<END
romio_cb_write enable
romio_cb_read enable
END
ROMIO_PRINT_HINTS=1 ROMIO_HINTS="$PWD/hints.txt" srun ./program
""",
        ),
        FILE_VIEW_C,
    ),
    version="2",
)
