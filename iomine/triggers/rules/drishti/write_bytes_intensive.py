"""More bytes are written than read.

Drishti asks which way the data flows: it speaks up when the bytes written through POSIX exceed those read by more
than a tenth of both together. It is a description, not a fault.

Blind spots: stdio is left out, so a program that writes its results with fprintf can be called read-intensive. What
`mmap` moves is not seen.
"""

from iomine.triggers.inputs import POSIX_REQUESTS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P03",
    view="drishti_posix",
    level=Level.INFO,
    all_of=(Above("write_bytes_lead_ratio", 0.1, why="Drishti 0.8's default."),),
    finding="Most bytes are written: {write_bytes} against {read_bytes} read.",
    advice=("Nothing is wrong by itself; when tuning, begin with output: its sizes, its striping, and how often it is flushed."),
    cases=(
        Case("well above the threshold", {"write_bytes_lead_ratio": 1.0, "write_bytes": 4000000, "read_bytes": 0}, state="fired"),
        Case("exactly on the threshold", {"write_bytes_lead_ratio": 0.1}, state="clear"),
        Case("the log lacks the metric", {"write_bytes_lead_ratio": None}, state="unknown"),
        Case("neither read nor written", {"posix_data_count": 0, "write_bytes_lead_ratio": None}, state="not applicable"),
        Case(
            "below the threshold, but the module could not be read whole",
            {"write_bytes_lead_ratio": 0.0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"write_bytes_lead_ratio": 1.0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_REQUESTS,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
