"""More bytes are read than written.

The mirror image of P03: Drishti speaks up when the bytes read through POSIX exceed those written by more than a tenth
of both together. It is a description, not a fault.

Blind spots: bytes that were read again and again count each time, also where a cache served them; stdio is left out.
"""

from iomine.triggers.inputs import POSIX_REQUESTS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P04",
    view="drishti_posix",
    level=Level.INFO,
    all_of=(Above("read_bytes_lead_ratio", 0.1, why="Drishti 0.8's default."),),
    finding="Most bytes are read: {read_bytes} against {write_bytes} written.",
    advice=(
        "Nothing is wrong by itself; when tuning, begin with input: whether ranks read the same bytes, and "
        "whether it could be staged once."
    ),
    cases=(
        Case(
            "well above the threshold",
            {"read_bytes_lead_ratio": 0.6, "read_bytes": 8000000, "write_bytes": 2000000},
            state="fired",
        ),
        Case("exactly on the threshold", {"read_bytes_lead_ratio": 0.1}, state="clear"),
        Case("the log lacks the metric", {"read_bytes_lead_ratio": None}, state="unknown"),
        Case("neither read nor written", {"posix_data_count": 0, "read_bytes_lead_ratio": None}, state="not applicable"),
        Case(
            "below the threshold, but the module could not be read whole",
            {"read_bytes_lead_ratio": -0.2, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"read_bytes_lead_ratio": 0.6, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_REQUESTS,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
