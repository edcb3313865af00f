"""Very many phases of I/O.

A program that does I/O in thousands of short bursts pays for each of them: files are opened and closed, ranks wait for each
other, and no burst is long enough to reach the bandwidth that striping promises. Fewer and longer phases move the same data in
less time. Phases are separated by gaps between requests that are long compared with the phases, and reads are counted apart
from writes; time in opens and closes is no gap. From heat maps phases are as fine as the bins, of which a log has at most a
few hundred.

Blind spots: what counts as a gap between phases depends on the run, so a program that does I/O all the time has one phase,
however small its requests are. A log of a week has more phases than one of an hour, and nothing is wrong with that. Where
ranks drift apart their gaps do not meet, and the log has fewer phases than each of its ranks has bursts; where ranks take
turns it has more (bursts_per_rank, beside io_phase_count in the view log_phase_profile).

The I/O model in a report, and of `iomine model LOG`, says which phases do the same, how often they come again and what they
move. Begin with the class that has most phases and fewest bytes in each.
"""

from iomine.triggers.inputs import DATA_FILES, TRACE
from iomine.triggers.model import Above, Case, Level, Trigger
from iomine.triggers.snippets import KEEP_OPEN_PYTHON, TRACE_SHELL

TRIGGER = Trigger(
    code="PHASE-101",
    view="log_phase_profile",
    level=Level.INFO,
    all_of=(Above("io_phase_count", 1000, why="Our own choice: in a run of a day, one more often than every second minute."),),
    finding="The run did I/O in {io_phase_count} separate phases.",
    advice=(
        "Do I/O less often, and more at a time. Least effort: write output and checkpoints every so many minutes instead of "
        "every step, which brings the {io_phase_count} phases down in proportion. Next: gather the output of many steps in "
        "memory and write it in one phase, to a file that stays open. Diagnostics that must come often are better written by "
        "one rank, to node-local storage."
    ),
    cases=(
        Case("thousands of bursts", {"io_phase_count": 20_000}, state="fired"),
        Case("exactly on the threshold", {"io_phase_count": 1000}, state="clear"),
        Case("neither trace nor heat maps", {"io_phase_count": None}, state="unknown"),
        Case("the log moved no data", {"data_file_count": 0, "io_phase_count": None}, state="not applicable"),
        Case("below the threshold, but segments are missing", {"io_phase_count": 10, "is_complete": False}, state="unknown"),
        Case(
            "segments are missing, but those at hand are enough",
            {"io_phase_count": 20_000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(DATA_FILES,),
    lacks=("phase_lack", "data_lack"),
    evidence="phase_evidence",
    needs=f"the HEATMAP module, or {TRACE}",
    snippets=(KEEP_OPEN_PYTHON, TRACE_SHELL),
    version="2",
)
