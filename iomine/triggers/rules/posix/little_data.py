"""I/O takes far longer than moving its data would.

Opening a file, the first request, a round trip: all these take a time that does not depend on the amount of data. Where so
little is moved that such costs dominate, bandwidth says nothing, and tuning for it is in vain: striping, larger buffers and
more aggregators only add to the fixed part. Read the other findings of the log with this in mind. The cost is all of the I/O
time.

Blind spots: the trigger does not show which of several reasons applies. Besides fixed costs, requests may be small (then the
triggers on small requests fire too), ranks may wait for each other in MPI-IO (see MPIIO-401), or storage may have been slow
(see LUSTRE-203 and SYSTEM-101), which delays large requests too.
"""

from iomine.triggers.inputs import DATA_FILES
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

TRIGGER = Trigger(
    code="POSIX-401",
    view="log_file_profile",
    level=Level.INFO,
    all_of=(
        Above(
            "io_seconds_per_mib",
            1.0,
            why="Our own choice: one core moves a MiB in hundredths of a second, so the rest is not transfer.",
        ),
        Above("io_ratio", 0.05, why="Our own choice: in a run that hardly does I/O it does not matter what dominates there."),
    ),
    finding=(
        "Each MiB took {io_seconds_per_mib:s} of a rank's time, and I/O took {io_ratio:.0%} of the run. Moving "
        "the data does not explain that: calls with little data, waiting for other ranks, or slow storage do."
    ),
    advice=(
        "See first in the report how large the requests are. If many are of a MiB or more, see whether ranks wait in MPI-IO, and "
        "whether the run is as slow at another time. Otherwise do not tune for bandwidth; save calls and ranks. Least effort: "
        "run with fewer ranks, or put several short runs into one job step that reads its input once. Leave small files on one "
        "stripe. Next: let one rank do the little I/O there is and send the data to the others, which brings down the "
        "{io_core_seconds} that all ranks together spent on it. Gather results of many steps in memory before writing them."
    ),
    cases=(
        Case(
            "a tenth of the run for a few KiB",
            {"io_seconds_per_mib": 40.0, "io_ratio": 0.1, "io_core_seconds": 16.0},
            state="fired",
        ),
        Case("exactly on the threshold of the time for a MiB", {"io_seconds_per_mib": 1.0, "io_ratio": 0.1}, state="clear"),
        Case("exactly on the threshold of the share of the run", {"io_seconds_per_mib": 40.0, "io_ratio": 0.05}, state="clear"),
        Case("the log lacks the metric", {"io_seconds_per_mib": None, "io_ratio": 0.1}, state="unknown"),
        Case(
            "the log moved no data", {"data_file_count": 0, "io_seconds_per_mib": None, "io_ratio": 0.1}, state="not applicable"
        ),
        Case(
            "below the threshold, but records are missing",
            {"io_seconds_per_mib": 0.1, "io_ratio": 0.1, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"io_seconds_per_mib": 40.0, "io_ratio": 0.1, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(DATA_FILES,),
    lacks=("data_lack",),
    needs="the POSIX, STDIO and DFS modules, those that the log has, whole",
    cost="io_core_seconds",
    snippets=(
        Snippet(
            "python",
            "Small results of all ranks are gathered and written by one",
            """\
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
results = comm.gather(result, root=0)
if comm.rank == 0:
    np.savetxt("results.txt", results)
""",
        ),
    ),
    version="3",
)
