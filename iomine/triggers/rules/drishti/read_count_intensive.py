"""Reads outnumber writes.

The mirror image of P01: Drishti speaks up when POSIX reads exceed writes by more than a tenth of both together. It is
a description, not a fault. P01 and P02 are both silent where reads and writes are about as many.

Blind spot: the many small reads with which libraries and interpreters start a program are counted like reads of data,
so that a program which computes and then writes one result can be called read-intensive.
"""

from iomine.triggers.inputs import POSIX_REQUESTS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P02",
    view="drishti_posix",
    level=Level.INFO,
    all_of=(Above("read_count_lead_ratio", 0.1, why="Drishti 0.8's default."),),
    finding="The program mostly reads: {read_count} reads against {write_count} writes.",
    advice=("Nothing is wrong by itself; look at how it reads first: sizes, order, and whether every rank reads the same."),
    cases=(
        Case("well above the threshold", {"read_count_lead_ratio": 0.8, "read_count": 9000, "write_count": 1000}, state="fired"),
        Case("exactly on the threshold", {"read_count_lead_ratio": 0.1}, state="clear"),
        Case("the log lacks the metric", {"read_count_lead_ratio": None}, state="unknown"),
        Case("neither read nor written", {"posix_data_count": 0, "read_count_lead_ratio": None}, state="not applicable"),
        Case(
            "below the threshold, but the module could not be read whole",
            {"read_count_lead_ratio": -1.0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"read_count_lead_ratio": 0.8, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_REQUESTS,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
