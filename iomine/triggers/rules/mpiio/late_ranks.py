"""Ranks wait for each other within MPI-IO.

A collective call, and the opening and closing of a file, end when the last rank has arrived. Ranks that arrive early wait
within MPI-IO, and this waiting looks like I/O. In POSIX, only the ranks that move data for all are busy. For each file, the
time that a rank spent in MPI-IO is compared with the POSIX time of the slowest rank. The time beyond that is not I/O: a rank
arrived late, because its computing took longer or because it did something else first; different ranks were slow one after the
other; or data was exchanged between ranks. That time is the cost.

Blind spots: waiting for a rank whose own I/O is slow is that rank's finding (RANK-101), and waiting for the few that move the
data of all is the price of collective buffering, or of too few OSTs (LUSTRE-101, LUSTRE-103); neither counts here. Exchange
of data between ranks, and waiting for locks, look the same as waiting for a rank; if many small pieces are exchanged, that can
be most of the time. A late rank is named only if it was the only one. The rank with the least time in MPI-IO has waited least;
if its time is half of the median or more, different ranks were late at different times. Files without POSIX calls are left
out, since their I/O took another path.

The I/O model in a report, and of `iomine model LOG`, divides the time of each phase class. If most of it is waiting, a rank
arrives late; if most of it is exchange, pieces are many or small. A faster file system shortens neither, only the time in
storage.
"""

from iomine.triggers.inputs import MPIIO_REQUESTS, SEVERAL_RANKS, TRACE
from iomine.triggers.model import Above, Case, Instead, Level, Snippet, Trigger, Where
from iomine.triggers.snippets import TRACE_SHELL

_FOUND = (
    "Ranks spent {late_core_seconds}, {late_seconds_ratio:.0%} of their time in MPI-IO, waiting for each other or exchanging "
    "data, most for {late_path}; no POSIX call beneath took that time."
)
_LATE = {"late_seconds_ratio": 0.8, "late_run_ratio": 0.4}

TRIGGER = Trigger(
    code="MPIIO-401",
    view="log_wait_profile",
    level=Level.WARN,
    all_of=(
        Above(
            "late_seconds_ratio",
            0.30,
            why="Our own choice: below, the transfers themselves are the better place to start.",
        ),
        Above(
            "late_run_ratio",
            0.05,
            why="Our own choice, as for slow ranks: what lengthens the run by a twentieth or less is not worth a search.",
        ),
    ),
    finding=f"{_FOUND} Most of it is not in collective calls: ranks also wait in opens and closes, and for locks and servers.",
    advice=(
        (
            "Make the requests to shared files collective (MPI_File_write_at_all, MPI_File_read_at_all), so that few ranks move "
            "data for all. If it opens files often, open and close each once instead of in each step: all ranks wait for the "
            "last there."
        ),
        Where(
            ("collective_request_count",),
            "Where it calls collectively, time a barrier (MPI_Barrier) before the call: it shows whether ranks come late.",
        ),
        Where(
            ("mpiio_write_request_count",),
            "Least effort: set the hint romio_ds_write=disable, since independent writes with gaps otherwise lock the file, one "
            "rank after the other.",
        ),
    ),
    instead=(
        Instead(
            "waited_for",
            finding=f"{_FOUND} Waited for: {{waited_for}}.",
            advice=(
                "Time a barrier (MPI_Barrier) before the collective calls: if it takes the time, ranks come late, otherwise "
                "their exchange of data is slow. Least effort: if ranks come late, let none print, plot or write a log of its "
                "own just before, and open and close files once instead of in each step; if the exchange is slow, pass larger "
                "pieces in fewer calls, and set more aggregators (hint cb_nodes) with larger buffers (cb_buffer_size). Most "
                "effort: share the computing out more evenly, or begin the write and compute meanwhile "
                "(MPI_File_iwrite_at_all), so that nobody waits for the last."
            ),
        ),
    ),
    cases=(
        Case(
            "one rank is late at each dump",
            {**_LATE, "late_core_seconds": 480.0},
            state="fired",
        ),
        Case("exactly on the threshold of the MPI-IO time", _LATE | {"late_seconds_ratio": 0.30}, state="clear"),
        Case("exactly on the threshold of the run", _LATE | {"late_run_ratio": 0.05}, state="clear"),
        Case("the log has no MPI-IO", {**dict.fromkeys(_LATE), "mpiio_call_count": 0}, state="not applicable"),
        Case("a run of one process", {**dict.fromkeys(_LATE), "process_count": 1}, state="not applicable"),
        Case("POSIX records are missing", dict.fromkeys(_LATE), state="unknown"),
        Case(
            "below the threshold, but records are missing",
            _LATE | {"late_seconds_ratio": 0.1, "is_complete": False},
            state="unknown",
        ),
        Case("MPI-IO records are missing, but those at hand are enough", _LATE | {"is_complete": False}, state="fired"),
    ),
    applies_to=(SEVERAL_RANKS, MPIIO_REQUESTS),
    lacks=("mpiio_lack", "posix_lack"),
    needs=f"the POSIX and MPI-IO modules, whole; {TRACE} helps to name the late rank",
    cost="late_core_seconds",
    evidence="late_rank_evidence",
    snippets=(
        Snippet(
            "c",
            "How long each rank waits for the last before a collective write, and how long the write takes",
            """\
double begin = MPI_Wtime();
MPI_Barrier(MPI_COMM_WORLD);
double all_here = MPI_Wtime();
MPI_File_write_at_all(file, start, values, count, MPI_DOUBLE, MPI_STATUS_IGNORE);
double end = MPI_Wtime();
printf("rank %d: waited %.3f s, wrote %.3f s\\n", rank, all_here - begin, end - all_here);
""",
        ),
        TRACE_SHELL,
    ),
)
