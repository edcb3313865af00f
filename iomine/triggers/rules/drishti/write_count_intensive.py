"""Writes outnumber reads.

Drishti asks whether the program mostly writes or mostly reads, and looks at POSIX calls alone: it speaks up when
writes exceed reads by more than a tenth of both together. It is a description, not a fault.

Blind spot: calls are counted whatever their size, so a thousand tiny writes outweigh a hundred huge reads; P03 and
P04 ask the same of bytes.
"""

from iomine.triggers.inputs import POSIX_REQUESTS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P01",
    view="drishti_posix",
    level=Level.INFO,
    all_of=(Above("write_count_lead_ratio", 0.1, why="Drishti 0.8's default."),),
    finding="The program mostly writes: {write_count} writes against {read_count} reads.",
    advice="Nothing is wrong by itself; look at how it writes first: sizes, alignment and collective calls.",
    cases=(
        Case("well above the threshold", {"write_count_lead_ratio": 1.0, "write_count": 5000, "read_count": 0}, state="fired"),
        Case("exactly on the threshold", {"write_count_lead_ratio": 0.1}, state="clear"),
        Case("the log lacks the metric", {"write_count_lead_ratio": None}, state="unknown"),
        Case("neither read nor written", {"posix_data_count": 0, "write_count_lead_ratio": None}, state="not applicable"),
        Case(
            "below the threshold, but the module could not be read whole",
            {"write_count_lead_ratio": -0.5, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"write_count_lead_ratio": 1.0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_REQUESTS,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
