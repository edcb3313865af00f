"""Ranks write unequal amounts to the same file.

Drishti takes the records that are not shared, groups them by file, and asks how far the rank that wrote fewest bytes
lies behind the one that wrote most, over the most. One file above the threshold is enough.

Blind spots: a rank that opened the file but wrote nothing counts with zero and makes it fire, as in any file that one
rank writes and another reads; a rank that never opened it does not count at all. A file that all ranks opened has one
shared record and is not checked. Files of a few bytes weigh as much as large ones.
"""

from iomine.triggers.inputs import OWN_RECORDS, POSIX_WRITES
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P21",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(Above("own_write_spread_ratio", 0.3, why="Drishti 0.8's default."),),
    finding=("In one file, the rank that wrote fewest bytes lies {own_write_spread_ratio:.1%} behind the rank that wrote most."),
    advice=(
        "Divide the output evenly over the ranks that write it, or let collective MPI-IO do so; where one rank "
        "writes for many, use one for each node rather than one for the job."
    ),
    cases=(
        Case("well above the threshold", {"own_write_spread_ratio": 0.95}, state="fired"),
        Case("exactly on the threshold", {"own_write_spread_ratio": 0.3}, state="clear"),
        Case("the log lacks the metric", {"own_write_spread_ratio": None}, state="unknown"),
        Case(
            "the log never wrote through POSIX", {"posix_write_count": 0, "own_write_spread_ratio": None}, state="not applicable"
        ),
        Case(
            "all records are shared by all ranks", {"own_record_count": 0, "own_write_spread_ratio": None}, state="not applicable"
        ),
        Case(
            "below the threshold, but the module could not be read whole",
            {"own_write_spread_ratio": 0.1, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"own_write_spread_ratio": 0.95, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_WRITES, OWN_RECORDS),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
