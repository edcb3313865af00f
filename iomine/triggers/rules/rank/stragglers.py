"""Stragglers: a few ranks' requests take far longer.

Where all ranks wait for each other, the slowest one sets the pace, and a single slow node, OST or path to storage makes the
whole run slow. A rank is a straggler when its time for a request and its time for a byte are both over 1.5 times those of the
median rank, and its time for a request lies over 3.5 scaled median deviations above. So a rank that merely moves more bytes,
or larger requests, is not a straggler. The cost is the time by which all stragglers exceed the median rank's I/O time. Given
separately is the time for which other ranks with I/O were done earlier: for each of them, at most the time by which the
slowest straggler exceeds the median rank. Cost and idle time together decide whether this is a finding.

If at least half of the cost belongs to ranks that spend most of their time on a slow OST (see LUSTRE-203), the finding names
the OST, and the node is not the cause. If all bytes of the stragglers passed a faulty link (see FABRIC-101), the finding names
the link. If all of several stragglers ran on one host, and a trace shows its requests to be far slower than those of the other
hosts, which are alike, it names the host. Ranks are compared by their POSIX requests, and separately by their reads and writes
through stdio.

Blind spots: ranks that wait within MPI-IO are not seen (see MPIIO-401). Fewer than four ranks with I/O are not judged. Where
half of the ranks are slow, the median is slow too. Shared records keep only the fastest and the slowest rank, so without a
trace the verdict on a log with shared files only is unknown. So is the verdict on stdio, which is never traced, if ranks share
streams.
"""

from iomine.triggers.inputs import FOUR_RANKS, FOUR_TIMED_RANKS, TRACE, on_lustre, with_mpiio, with_nodes
from iomine.triggers.model import Above, Case, Instead, Level, Requests, Snippet, Trigger
from iomine.triggers.snippets import TRACE_SHELL

_MOST_EFFORT = with_mpiio(
    "Most effort: read and write collectively, so that aggregators do the I/O and a slow path delays fewer ranks, and let "
    "ranks compute while they wait (MPI_File_iwrite_at)."
)

TRIGGER = Trigger(
    code="RANK-101",
    view="log_rank_profile",
    level=Level.HIGH,
    all_of=(
        Above("straggler_count", 0, why="Our own choice: one is enough to keep all others waiting."),
        Above(
            "straggler_wait_ratio",
            0.05,
            why="Our own choice: what lengthens the run by a twentieth or less is not worth looking for a slow node.",
        ),
    ),
    finding=(
        "Stragglers: {straggler_count}. The slowest, rank {straggler_rank} (host {straggler_host}), needed "
        "{straggler_slowdown_ratio:.1f} times as long as the median rank for the same requests; its I/O "
        "took longer than the median rank's by {straggler_wait_ratio:.0%} of the run."
    ),
    advice=(
        "Look at what rank {straggler_rank} does that others do not: other files, another file system, a log that it flushes.",
        with_nodes(
            "Then look at the node. Least effort: run once more without it (`sbatch --exclude={straggler_host}`), and report it "
            "to the support desk if it is slow twice.",
            "straggler_host",
        ),
        on_lustre("If one OST is slow, stripe over more of them."),
        _MOST_EFFORT,
    ),
    instead=(
        Instead(
            "straggler_link",
            finding=(
                "The link {straggler_link} is faulty, and all bytes of the stragglers passed it: {straggler_trouble}. "
                "Stragglers: {straggler_count}. The slowest, rank {straggler_rank}, needed {straggler_slowdown_ratio:.1f} times "
                "as long as the median rank for the same requests, and spent {straggler_wait_ratio:.0%} of the run more in I/O."
            ),
            advice=(
                (
                    "Leave the nodes as they are: the link {straggler_link} delays the ranks, as FABRIC-101 says. Least "
                    "effort: report it to the support desk ({straggler_trouble}), and until it is repaired run on nodes that do "
                    "not use it."
                ),
                _MOST_EFFORT,
            ),
            sign_of="FABRIC-101",
        ),
        Instead(
            "straggler_ost_id",
            finding=(
                "OST {straggler_ost_id} is slow, and {straggler_ost_ratio:.0%} of the stragglers' time lies on slow OSTs. "
                "Stragglers: {straggler_count}. The slowest, rank {straggler_rank}, needed {straggler_slowdown_ratio:.1f} times "
                "as long as the median rank for the same requests, and spent {straggler_wait_ratio:.0%} of the run more in I/O."
            ),
            advice=(
                (
                    "Leave the nodes as they are: OST {straggler_ost_id} delays the ranks, as LUSTRE-203 says. Least "
                    "effort: report it to the support desk, and until it is repaired put new files into a pool without it (`lfs "
                    "setstripe -p`)."
                ),
                _MOST_EFFORT,
            ),
            sign_of="LUSTRE-203",
        ),
        Instead(
            "straggler_slow_host",
            finding=(
                "Host {straggler_slow_host} is slow: requests took far longer there than on others, which are alike, and "
                "all {straggler_count} stragglers ran there. The slowest, rank {straggler_rank}, needed "
                "{straggler_slowdown_ratio:.1f} times as long as the median rank for the same requests, and spent "
                "{straggler_wait_ratio:.0%} of the run more in I/O."
            ),
            advice=(
                (
                    "Look at the host, not at its ranks. Least effort: run once more without it (`sbatch "
                    "--exclude={straggler_slow_host}`), see in the view outlying_places whether it is slow in other jobs too, "
                    "and report it to the support desk if so."
                ),
                _MOST_EFFORT,
            ),
        ),
    ),
    cases=(
        Case(
            "one rank on a slow node",
            {
                "straggler_count": 1,
                "straggler_wait_ratio": 0.4,
                "straggler_rank": 17,
                "straggler_slowdown_ratio": 8.0,
                "straggler_core_seconds": 240.0,
                "straggler_idle_core_seconds": 1200.0,
            },
            state="fired",
        ),
        Case(
            "85 ranks whose files lie on a slow OST",
            {
                "straggler_count": 85,
                "straggler_wait_ratio": 0.7,
                "straggler_rank": 17,
                "straggler_slowdown_ratio": 48.0,
                "straggler_core_seconds": 45_000.0,
                "straggler_idle_core_seconds": 90_000.0,
                "straggler_ost_id": 14,
                "straggler_ost_ratio": 0.99,
            },
            state="fired",
        ),
        Case("no rank is out of line", {"straggler_count": 0, "straggler_wait_ratio": 0.4}, state="clear"),
        Case("exactly on the threshold of the waiting", {"straggler_count": 1, "straggler_wait_ratio": 0.05}, state="clear"),
        Case("only shared records", {"straggler_count": None, "straggler_wait_ratio": None}, state="unknown"),
        Case(
            "a run of three processes",
            {"process_count": 3, "straggler_count": None, "straggler_wait_ratio": None},
            state="not applicable",
        ),
        Case(
            "only three ranks did I/O",
            {"timed_rank_count": 3, "straggler_count": None, "straggler_wait_ratio": None},
            state="not applicable",
        ),
        Case(
            "no straggler, but records are missing",
            {"straggler_count": 0, "straggler_wait_ratio": 0.0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"straggler_count": 1, "straggler_wait_ratio": 0.4, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(FOUR_RANKS, FOUR_TIMED_RANKS),
    lacks=("data_lack", "rank_time_lack"),
    needs=f"POSIX or STDIO records by rank, or {TRACE}, which also names the hosts",
    cost="straggler_core_seconds",
    idle="straggler_idle_core_seconds",
    evidence="straggler_evidence",
    traced=Requests(rank="straggler_rank"),
    snippets=(
        Snippet(
            "shell",
            "The same run without the node, and then the node alone (Slurm)",
            """\
srun --exclude=cn042 ./program
srun --nodes=1 --nodelist=cn042 dd if=/dev/zero of=test.dat bs=4M count=1024 oflag=direct
""",
            places=(("cn042", "straggler_host"),),
        ),
        TRACE_SHELL,
    ),
    version="4",
)
