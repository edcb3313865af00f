"""Memory buffers of requests are not aligned.

Drishti asks for the share of POSIX reads and writes whose buffer in memory did not begin at a multiple of the
alignment that Darshan was built with, commonly 8 bytes.

Blind spots: there is no floor, so a single misaligned request in a program with nine makes it fire; and outside of
direct I/O such a buffer costs next to nothing.
"""

from iomine.triggers.inputs import POSIX_REQUESTS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P07",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(Above("mem_not_aligned_ratio", 0.1, why="Drishti 0.8's default."),),
    finding="{mem_not_aligned_ratio:.1%} of reads and writes used a memory buffer that is not aligned.",
    advice=(
        "Allocate buffers for I/O with posix_memalign or aligned_alloc, and do not read or write from odd places "
        "within a packed structure."
    ),
    cases=(
        Case("well above the threshold", {"mem_not_aligned_ratio": 0.5}, state="fired"),
        Case("exactly on the threshold", {"mem_not_aligned_ratio": 0.1}, state="clear"),
        Case("the log lacks the metric", {"mem_not_aligned_ratio": None}, state="unknown"),
        Case("neither read nor written", {"posix_data_count": 0, "mem_not_aligned_ratio": None}, state="not applicable"),
        Case(
            "below the threshold, but the module could not be read whole",
            {"mem_not_aligned_ratio": 0.05, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"mem_not_aligned_ratio": 0.5, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_REQUESTS,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
