"""Stragglers within a phase of I/O.

Over a whole run slow moments even out: a different rank may be late in each phase, so that in sum all look alike, and
still everyone waits in every phase. Ranks are therefore compared within each phase, which takes the times of all
requests by rank. Phases are not worked out yet, so for now this is unknown for every log.

Blind spots: where fewer than four ranks do I/O in a phase they are not compared. A rank that begins late because its
computing took longer is not slow in its I/O, yet the others wait for it all the same. Waiting within MPI is not seen.
"""

from iomine.triggers.inputs import TRACE
from iomine.triggers.model import Above, Case, Level, Trigger
from iomine.triggers.snippets import TRACE_SHELL

TRIGGER = Trigger(
    code="PHASE-102",
    view="log_pending_profile",
    level=Level.HIGH,
    all_of=(Above("phase_straggler_count", 0, why="Our own choice: one late rank keeps all others waiting."),),
    finding="In {phase_straggler_count} phases of I/O one rank or more was far slower than the others.",
    advice=(
        "See whether it is always the same. Least effort: look up slowest_rank in the view phases for this log; if one rank or "
        "its node leads in most of the {phase_straggler_count} phases, run without that node and report it to the support "
        "desk. If it is another one each time, other jobs on the same servers are the likely reason: stripe over more OSTs, "
        "or write at another time than everyone. Most effort: write in the background (MPI_File_iwrite_at), so that a late "
        "rank does not hold up the others."
    ),
    cases=(
        Case("a late rank in three phases", {"phase_straggler_count": 3}, state="fired"),
        Case("none in any phase", {"phase_straggler_count": 0}, state="clear"),
        Case("the log has no trace", {"phase_straggler_count": None}, state="unknown"),
        Case("none, but segments are missing", {"phase_straggler_count": 0, "is_complete": False}, state="unknown"),
        Case(
            "segments are missing, but those at hand are enough",
            {"phase_straggler_count": 3, "is_complete": False},
            state="fired",
        ),
    ),
    needs=TRACE,
    snippets=(TRACE_SHELL,),
)
