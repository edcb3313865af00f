"""Ranks read unequal amounts of the same file.

P21 for reading: among the records that are not shared, file by file, the most bytes that a rank read less the fewest,
over the most. One file above the threshold is enough.

Blind spots: a configuration file that one rank reads whole and others only peek into fires; ranks without a record of
the file do not count; and a file that all ranks opened is not checked, although that is where unequal reading costs
most.
"""

from iomine.triggers.inputs import OWN_RECORDS, POSIX_READS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P22",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(Above("own_read_spread_ratio", 0.3, why="Drishti 0.8's default."),),
    finding=("In one file, the rank that read fewest bytes lies {own_read_spread_ratio:.1%} behind the rank that read most."),
    advice=(
        "Divide the input evenly over ranks. Let one rank of each node read what all need, and pass it on with "
        "MPI_Bcast or shared memory; read collectively if each needs a part."
    ),
    cases=(
        Case("well above the threshold", {"own_read_spread_ratio": 0.99}, state="fired"),
        Case("exactly on the threshold", {"own_read_spread_ratio": 0.3}, state="clear"),
        Case("the log lacks the metric", {"own_read_spread_ratio": None}, state="unknown"),
        Case("the log never read through POSIX", {"posix_read_count": 0, "own_read_spread_ratio": None}, state="not applicable"),
        Case(
            "all records are shared by all ranks", {"own_record_count": 0, "own_read_spread_ratio": None}, state="not applicable"
        ),
        Case(
            "below the threshold, but the module could not be read whole",
            {"own_read_spread_ratio": 0.1, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"own_read_spread_ratio": 0.99, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_READS, OWN_RECORDS),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
