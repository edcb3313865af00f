"""Highest offset written lies beyond all bytes written.

Drishti means to find bytes that are written more than once. It compares the highest offset written in any file with
the bytes written to all files, and fires where the offset is the greater; then it says so twice.

Blind spots: that is the wrong way round. A file with holes, or one that another run began, fires; a checkpoint
overwritten ten times does not. Data sieving in MPI-IO and fill values in HDF5 are not seen either. It is kept here as
it is, so that results compare.
"""

from iomine.triggers.inputs import POSIX_WRITES
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P10",
    view="drishti_posix",
    level=Level.WARN,
    all_of=(Above("write_offset_lead_bytes", 0, why="Drishti compares the two as they are."),),
    finding=("The highest offset written is {write_offset_lead_bytes} above the {write_bytes} that were written in all."),
    advice=(
        "Take it as a hint at sparse writing: pack what is written, and look whether seeking far ahead leaves holes on purpose."
    ),
    cases=(
        Case("well above the threshold", {"write_offset_lead_bytes": 4096, "write_bytes": 100}, state="fired"),
        Case("exactly on the threshold", {"write_offset_lead_bytes": 0}, state="clear"),
        Case("the log lacks the metric", {"write_offset_lead_bytes": None}, state="unknown"),
        Case(
            "the log never wrote through POSIX", {"posix_write_count": 0, "write_offset_lead_bytes": None}, state="not applicable"
        ),
        Case(
            "below the threshold, but the module could not be read whole",
            {"write_offset_lead_bytes": -500, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"write_offset_lead_bytes": 4096, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_WRITES,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
