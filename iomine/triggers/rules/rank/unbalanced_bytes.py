"""Ranks move unequal shares of the bytes.

Where ranks meet after each phase of I/O, all wait for the one that moves most. Bytes are counted as the program asked for
them, through MPI-IO where a file goes through it: so collective buffering, in which a few aggregators move the bytes of all,
is no imbalance. The cost is the time that ranks with more bytes than the mean spent on what they moved beyond it, which others
could have moved meanwhile; where the times of ranks are not known, each byte takes its part of the time of all. Given
separately is the time in which others did no I/O while the heaviest rank did; with the cost it decides whether this is a
finding.

Blind spots: with only some of the ranks doing I/O by design, such as one writer for each node, this fires although nothing
waits. Bytes are summed over the whole run, so ranks that take turns look balanced. A heat map, where it is all there is, gives
bytes by rank but not by file. Runs of one process are never judged.
"""

from iomine.triggers.inputs import DATA_FILES, SEVERAL_RANKS, TRACE
from iomine.triggers.model import Above, Case, Level, Requests, Snippet, Trigger
from iomine.triggers.snippets import COLLECTIVE_WRITE_C

TRIGGER = Trigger(
    code="RANK-201",
    view="log_rank_profile",
    level=Level.WARN,
    all_of=(
        Above(
            "bytes_max_over_mean_ratio",
            1.3,
            why="Our own choice: at 1.3 an average rank waits for almost a quarter of the heaviest rank's I/O time.",
        ),
    ),
    finding=(
        "Rank {heaviest_rank} moved {heaviest_rank_bytes}, {bytes_max_over_mean_ratio:.1f} times the mean of "
        "{mean_rank_bytes}; ranks that moved none: {idle_rank_count} (coefficient of variation {bytes_variation_ratio:.2f}, Gini "
        "coefficient {bytes_gini_ratio:.2f})."
    ),
    advice=(
        "Share the bytes more evenly: rank {heaviest_rank} should move about {mean_rank_bytes}. Least effort: choose a number "
        "of ranks that divides the data evenly, and let the remainder go to many ranks instead of the last one. If rank "
        "{heaviest_rank} reads or writes for others, let each do its own part. If ranks ({idle_rank_count}) are idle by "
        "design, one writer for each node is a good choice. Most effort: where the work itself is uneven, such as in refined "
        "meshes, divide by bytes instead of by cells."
    ),
    cases=(
        Case(
            "one rank moved four times the mean",
            {
                "bytes_max_over_mean_ratio": 4.0,
                "heaviest_rank": 3,
                "heaviest_rank_bytes": 4_294_967_296,
                "mean_rank_bytes": 1_073_741_824,
                "idle_rank_count": 2,
                "bytes_variation_ratio": 0.9,
                "bytes_gini_ratio": 0.4,
                "imbalance_core_seconds": 80.0,
                "heaviest_rank_idle_core_seconds": 120.0,
            },
            state="fired",
        ),
        Case("exactly on the threshold", {"bytes_max_over_mean_ratio": 1.3}, state="clear"),
        Case("aggregators move the bytes of all", {"bytes_max_over_mean_ratio": 1.0}, state="clear"),
        Case("the log lacks the metric", {"bytes_max_over_mean_ratio": None}, state="unknown"),
        Case("a run of one process", {"process_count": 1, "bytes_max_over_mean_ratio": None}, state="not applicable"),
        Case("the log moved no data", {"data_file_count": 0, "bytes_max_over_mean_ratio": None}, state="not applicable"),
        Case(
            "balanced, but records are missing",
            {"bytes_max_over_mean_ratio": 1.0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"bytes_max_over_mean_ratio": 4.0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(SEVERAL_RANKS, DATA_FILES),
    lacks=("rank_lack", "data_lack", "mpiio_lack"),
    needs=f"bytes by rank: records by rank, {TRACE}, or Darshan's heat map",
    cost="imbalance_core_seconds",
    idle="heaviest_rank_idle_core_seconds",
    evidence="rank_evidence",
    traced=Requests(rank="heaviest_rank"),
    snippets=(
        Snippet(
            "c",
            "The remainder goes to many ranks, one element each, instead of the last one",
            """\
const long long first = total * rank / size;
const long long past = total * (rank + 1) / size;
const int count = (int)(past - first);
""",
        ),
        COLLECTIVE_WRITE_C,
    ),
    version="2",
)
