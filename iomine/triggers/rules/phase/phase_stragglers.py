"""Stragglers within a phase of I/O.

Over a whole run delays even out: if a different rank is late in each phase, the sums of all ranks are alike, although all
ranks wait in every phase. So ranks are compared within each phase, reads with reads and writes with writes, by their time for
a request and for a byte. This needs a trace. The cost is the time of the slowest rank of each phase that has stragglers. If at
least half of that time belongs to ranks that spend most of their time on a slow OST (see LUSTRE-203), the finding names the
OST. If it belongs to ranks of one host whose requests are far slower than those of the other hosts, which are alike, the
finding names the host.

Blind spots: where fewer than four ranks do I/O in a phase they are not compared. A rank that begins late because its computing
took longer is not slow in its I/O, yet the others wait for it all the same. Waiting within MPI is not seen.
"""

from iomine.triggers.inputs import DATA_FILES, SEVERAL_RANKS, TRACE, on_lustre, with_mpiio, with_nodes
from iomine.triggers.model import Above, Case, Instead, Level, Trigger
from iomine.triggers.snippets import TRACE_SHELL

_BACKGROUND = with_mpiio(
    "Most effort: write in the background (MPI_File_iwrite_at), so that a late rank does not hold up the others."
)

TRIGGER = Trigger(
    code="PHASE-102",
    view="log_phase_profile",
    level=Level.HIGH,
    all_of=(
        Above("phase_straggler_ratio", 0.5, why="Our own choice: in a phase now and then, some rank is late on any machine."),
        Above(
            "phase_straggler_seconds_ratio",
            0.05,
            why="Our own choice: stragglers that hold up less of the run are not worth anyone's time.",
        ),
    ),
    finding=(
        "In {phase_straggler_count} of {io_phase_count} phases of I/O one rank or more was far slower than the others; the "
        "slowest ranks of these phases were busy for {phase_straggler_seconds_ratio:.0%} of the run."
    ),
    advice=(
        (
            "See whether it is always the same rank. Least effort: look up slowest_rank in the view phases for this log, and "
            "what that rank does that others do not in the {phase_straggler_count} phases."
        ),
        with_nodes("If one node leads in most of them, run without that node and report it to the support desk."),
        (
            "If it is another one each time, other jobs on the same servers are the likely reason: write at another time than "
            "everyone."
        ),
        on_lustre("Stripe over more OSTs, so that a slow one holds a smaller part."),
        _BACKGROUND,
    ),
    instead=(
        Instead(
            "phase_straggler_ost_id",
            finding=(
                "OST {phase_straggler_ost_id} is slow: in {phase_straggler_count} of {io_phase_count} phases of I/O one rank or "
                "more was far slower than the others, and {phase_straggler_ost_ratio:.0%} of the slowest ranks' time is of "
                "ranks that use slow OSTs; they were busy for {phase_straggler_seconds_ratio:.0%} of the run."
            ),
            advice=(
                (
                    "Leave the nodes as they are: OST {phase_straggler_ost_id} delays the ranks, as LUSTRE-203 says. Least "
                    "effort: report it to the support desk, and until it is repaired put new files into a pool without it (`lfs "
                    "setstripe -p`)."
                ),
                _BACKGROUND,
            ),
            sign_of="LUSTRE-203",
        ),
        Instead(
            "phase_straggler_host",
            finding=(
                "Host {phase_straggler_host} is slow: requests took far longer there than on others, which are alike. In "
                "{phase_straggler_count} of {io_phase_count} phases of I/O one rank or more was far slower than the others; the "
                "slowest ranks of these phases were busy for {phase_straggler_seconds_ratio:.0%} of the run."
            ),
            advice=(
                (
                    "Look at the host, not at its ranks. Least effort: run once more without it (`sbatch "
                    "--exclude={phase_straggler_host}`), see in the view outlying_places whether it is slow in other jobs too, "
                    "and report it to the support desk if so."
                ),
                _BACKGROUND,
            ),
        ),
    ),
    cases=(
        Case(
            "a late rank in most phases",
            {
                "phase_straggler_ratio": 0.75,
                "phase_straggler_seconds_ratio": 0.2,
                "phase_straggler_count": 3,
                "io_phase_count": 4,
                "phase_straggler_core_seconds": 9.0,
            },
            state="fired",
        ),
        Case(
            "the slowest ranks use a slow OST",
            {
                "phase_straggler_ratio": 0.75,
                "phase_straggler_seconds_ratio": 0.2,
                "phase_straggler_count": 3,
                "io_phase_count": 4,
                "phase_straggler_core_seconds": 9.0,
                "phase_straggler_ost_id": 14,
                "phase_straggler_ost_ratio": 0.9,
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold of phases",
            {"phase_straggler_ratio": 0.5, "phase_straggler_seconds_ratio": 0.2},
            state="clear",
        ),
        Case(
            "exactly on the threshold of time",
            {"phase_straggler_ratio": 0.75, "phase_straggler_seconds_ratio": 0.05},
            state="clear",
        ),
        Case("the log has no trace", {"phase_straggler_ratio": None, "phase_straggler_seconds_ratio": None}, state="unknown"),
        Case(
            "a run of one process",
            {"process_count": 1, "phase_straggler_ratio": None, "phase_straggler_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "the log moved no data",
            {"data_file_count": 0, "phase_straggler_ratio": None, "phase_straggler_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "none, but segments are missing",
            {"phase_straggler_ratio": 0.0, "phase_straggler_seconds_ratio": 0.0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "segments are missing, but those at hand are enough",
            {"phase_straggler_ratio": 0.75, "phase_straggler_seconds_ratio": 0.2, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(SEVERAL_RANKS, DATA_FILES),
    lacks=("phase_lack", "trace_lack"),
    cost="phase_straggler_core_seconds",
    evidence="phase_evidence",
    needs=TRACE,
    snippets=(TRACE_SHELL,),
    version="3",
)
