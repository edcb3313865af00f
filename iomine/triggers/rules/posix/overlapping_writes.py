"""Several ranks write the same bytes.

What two ranks write to one place depends on which comes last: unless the program takes care of their order, the file may
hold either, or a mix of both. Often it is an offset worked out wrongly, or serial code that all ranks run, each writing
the whole file. And the ranks take the file system's locks on these bytes from each other. The cost is the time of writing
what another rank wrote: of each file a part of its write time in proportion to the bytes.

Blind spots: when the bytes were written is not checked, so ranks that take turns, with a barrier between them, look like
ranks that race. Ranks that write the same values do no harm but waste time. Files whose requests MPI-IO changed on the way
are left out: what it reads and writes back around a rank's bytes overlaps by design, under a lock.
"""

from iomine.triggers.inputs import POSIX_WRITES, SEVERAL_RANKS, TRACE
from iomine.triggers.model import Above, Case, Level, Requests, Snippet, Trigger
from iomine.triggers.snippets import COLLECTIVE_WRITE_C

TRIGGER = Trigger(
    code="POSIX-134",
    view="log_overlap_profile",
    level=Level.WARN,
    all_of=(
        Above(
            "overwritten_ratio",
            0.01,
            why="Our own choice: headers that ranks bring up to date by turns stay below, cells on the edges of parts do not.",
        ),
    ),
    finding=(
        "{overwritten_bytes} ({overwritten_ratio:.0%} of what was written) were written by more than one rank, the largest "
        "part by {overwriting_rank_count} ranks in {overwritten_path}: which of them the file holds depends on who came last."
    ),
    advice=(
        "Check which rank should write which bytes of {overwritten_path}. Least effort: run twice and compare the files; if "
        "they differ, ranks race. If all {overwriting_rank_count} ranks write the same, let one do it. "
        "If parts overlap on their edges, let each rank write the cells that it owns and leave out those that it holds "
        "for its neighbours. If pieces differ in size, work offsets out from all sizes (MPI_Exscan), not from one's own."
    ),
    cases=(
        Case(
            "parts overlap by a tenth",
            {
                "overwritten_ratio": 0.1,
                "overwritten_bytes": 104_857_600,
                "overwriting_rank_count": 64,
                "overwritten_core_seconds": 15.0,
            },
            state="fired",
        ),
        Case("exactly on the threshold", {"overwritten_ratio": 0.01}, state="clear"),
        Case("the log has no trace", {"overwritten_ratio": None}, state="unknown"),
        Case("a run of one process", {"process_count": 1, "overwritten_ratio": None}, state="not applicable"),
        Case("the log never wrote through POSIX", {"posix_write_count": 0, "overwritten_ratio": None}, state="not applicable"),
        Case("below the threshold, but requests are missing", {"overwritten_ratio": 0.0, "is_complete": False}, state="unknown"),
        Case(
            "requests are missing, but those at hand are enough",
            {"overwritten_ratio": 0.1, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(SEVERAL_RANKS, POSIX_WRITES),
    lacks=("posix_lack", "trace_lack"),
    needs=f"{TRACE}; of files that go through MPI-IO, writes that reached POSIX unchanged",
    cost="overwritten_core_seconds",
    evidence="overlap_evidence",
    op="write",
    traced=Requests("posix", "write", path="overwritten_path"),
    snippets=(
        Snippet(
            "c",
            "Offsets of parts that differ in size, worked out from all sizes",
            """\
long long count = part_count, first = 0;

MPI_Exscan(&count, &first, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
if (rank == 0)
    first = 0;
MPI_File_write_at_all(file, first * sizeof(double), values, part_count, MPI_DOUBLE, MPI_STATUS_IGNORE);
""",
        ),
        COLLECTIVE_WRITE_C,
    ),
    version="2",
)
