"""Highest offset read lies beyond all bytes read.

Drishti means to find bytes that are read more than once. It compares the highest offset read in any file with the
bytes read of all files, and fires where the offset is the greater.

Blind spots: that is the wrong way round. Reading a few records out of a large file fires; reading a file ten times
over does not. Besides, one file's offset is held against all files' bytes, so the more files, the less it fires. It
is kept here as it is, so that results compare.
"""

from iomine.triggers.inputs import POSIX_READS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P09",
    view="drishti_posix",
    level=Level.WARN,
    all_of=(Above("read_offset_lead_bytes", 0, why="Drishti compares the two as they are."),),
    finding=("The highest offset read is {read_offset_lead_bytes} above the {read_bytes} that were read in all."),
    advice=(
        "Take it as a hint at sparse reading: if few parts of a large file are needed, keep them together in the "
        "file or in one of their own."
    ),
    cases=(
        Case("well above the threshold", {"read_offset_lead_bytes": 1000000, "read_bytes": 5000}, state="fired"),
        Case("exactly on the threshold", {"read_offset_lead_bytes": 0}, state="clear"),
        Case("the log lacks the metric", {"read_offset_lead_bytes": None}, state="unknown"),
        Case("the log never read through POSIX", {"posix_read_count": 0, "read_offset_lead_bytes": None}, state="not applicable"),
        Case(
            "below the threshold, but the module could not be read whole",
            {"read_offset_lead_bytes": -500, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"read_offset_lead_bytes": 1000000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_READS,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
