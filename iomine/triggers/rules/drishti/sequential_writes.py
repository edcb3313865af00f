"""Writes mostly go forward, Drishti says.

The counterpart of P12: Drishti says this of every log with writes on which P13 does not fire. So it fires on any
writes at all, unless both of P13's thresholds are exceeded.

Blind spot: forward does not mean large; a program that appends one byte at a time gets it, and so does one whose few
writes are all random.
"""

from iomine.triggers.inputs import POSIX_WRITES
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P14",
    view="drishti_posix",
    level=Level.OK,
    all_of=(Above("write_count", 0, why="Drishti has no threshold here: any at all will do."),),
    finding="{random_write_count} of {write_count} writes were random.",
    advice="Leave the order of the writes as it is.",
    cases=(
        Case("most go forward", {"write_count": 10000, "random_write_ratio": 0.1, "random_write_count": 1000}, state="fired"),
        Case(
            "random share is high, but exactly on the threshold of the count",
            {"write_count": 2000, "random_write_ratio": 0.5, "random_write_count": 1000},
            state="fired",
        ),
        Case(
            "random count is high, but exactly on the threshold of the share",
            {"write_count": 50000, "random_write_ratio": 0.2, "random_write_count": 10000},
            state="fired",
        ),
        Case("many are random", {"write_count": 10000, "random_write_ratio": 0.5, "random_write_count": 5000}, state="clear"),
        Case(
            "exactly on the threshold of the count of all",
            {"write_count": 0, "random_write_ratio": 0.0, "random_write_count": 0},
            state="clear",
        ),
        Case(
            "the log lacks the metric",
            {"write_count": 0, "random_write_ratio": None, "random_write_count": 0},
            state="unknown",
        ),
        Case(
            "the log never wrote through POSIX",
            {"posix_write_count": 0, "write_count": 0, "random_write_ratio": None, "random_write_count": 0},
            state="not applicable",
        ),
        Case(
            "many are random, and the module could not be read whole",
            {"write_count": 10000, "random_write_ratio": 0.5, "random_write_count": 5000, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"write_count": 10000, "random_write_ratio": 0.1, "random_write_count": 1000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_WRITES,),
    lacks=("posix_lack",),
    unless=(
        Above("random_write_ratio", 0.2, why="Drishti 0.8's default."),
        Above("random_write_count", 1000, why="Drishti 0.8's default."),
    ),
    ruleset="drishti",
    version="3",
)
