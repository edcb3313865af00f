"""Many ranks read the same bytes.

What every rank reads for itself, the servers send once for each node at least; one rank could read it and hand it to the
others over the network of the machine, which is faster and is not shared with other jobs. Of what each rank read, each
byte counted once for a rank, this is the part that another rank had read as well; reading again by the same rank is
POSIX-131. The cost is the time of these reads: of each file a part of its read time in proportion to the bytes.

Blind spots: ranks of one node may be served by its cache, so that only what several nodes read is sure to reach the servers.
Files whose requests MPI-IO changed on the way are left out, since it is not known which rank asked for which bytes: so are
collective reads, in which MPI-IO reads for all. stdio leaves no trace.
"""

from iomine.triggers.inputs import POSIX_READS, SEVERAL_RANKS, TRACE, with_mpiio, with_path
from iomine.triggers.model import Above, Case, Level, Requests, Trigger
from iomine.triggers.snippets import BROADCAST_C, BROADCAST_PYTHON, COLLECTIVE_READ_C
from iomine.units import MIB

TRIGGER = Trigger(
    code="POSIX-133",
    view="log_overlap_profile",
    level=Level.WARN,
    all_of=(
        Above(
            "ranks_reread_ratio",
            0.30,
            why="As POSIX-131, so that who reads again makes no difference: headers that all ranks read stay below.",
        ),
        Above("ranks_reread_bytes", MIB, why="Our own choice: less is a settings file, which all ranks may well read."),
    ),
    finding=(
        "{ranks_reread_ratio:.0%} of what ranks read, another rank had read as well: {ranks_reread_bytes}, of which "
        "{hosts_reread_bytes} were read by several nodes; the largest part in {ranks_reread_path}."
    ),
    advice=(
        (
            "Read {ranks_reread_path} once for all. Least effort: let rank 0 read it and send it to the others "
            "(MPI_Bcast). Where it is too large for one, let each rank read a part and put the parts together "
            "(MPI_Allgather), or let one rank of each node read it into memory that the node's ranks share "
            "(MPI_Win_allocate_shared)."
        ),
        with_mpiio("Through MPI-IO, a collective read does it without further work, since aggregators read each byte once."),
        with_path(
            "ranks_reread_path",
            "If a library insists on reading for itself, copy the file to node-local storage when the job starts "
            "(`sbcast {ranks_reread_path:file} /tmp/input` in Slurm).",
        ),
    ),
    cases=(
        Case(
            "64 ranks of two nodes read one input",
            {
                "ranks_reread_ratio": 0.98,
                "ranks_reread_bytes": 2_113_929_216,
                "hosts_reread_bytes": 33_554_432,
                "ranks_reread_core_seconds": 60.0,
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold of the share", {"ranks_reread_ratio": 0.30, "ranks_reread_bytes": 10 * MIB}, state="clear"
        ),
        Case("exactly on the threshold of the bytes", {"ranks_reread_ratio": 0.9, "ranks_reread_bytes": MIB}, state="clear"),
        Case("the log has no trace", {"ranks_reread_ratio": None, "ranks_reread_bytes": None}, state="unknown"),
        Case(
            "a run of one process",
            {"process_count": 1, "ranks_reread_ratio": None, "ranks_reread_bytes": None},
            state="not applicable",
        ),
        Case(
            "the log never read through POSIX",
            {"posix_read_count": 0, "ranks_reread_ratio": None, "ranks_reread_bytes": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but requests are missing",
            {"ranks_reread_ratio": 0.0, "ranks_reread_bytes": 0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "requests are missing, but those at hand are enough",
            {"ranks_reread_ratio": 0.9, "ranks_reread_bytes": 10 * MIB, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(SEVERAL_RANKS, POSIX_READS),
    lacks=("posix_lack", "trace_lack"),
    needs=f"{TRACE}; of files that go through MPI-IO, reads that reached POSIX unchanged",
    cost="ranks_reread_core_seconds",
    evidence="overlap_evidence",
    op="read",
    traced=Requests("posix", "read", path="ranks_reread_path"),
    snippets=(BROADCAST_C, BROADCAST_PYTHON, COLLECTIVE_READ_C),
    version="2",
)
