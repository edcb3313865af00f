"""Reads mostly go forward, Drishti says.

Praise: Drishti says this of every log with reads on which P11 does not fire. So it fires on any reads at all, unless
both of P11's thresholds are exceeded.

Blind spot: a program whose every read is random gets it too, as long as there are no more than a thousand of them; so
its absence says more than its presence.
"""

from iomine.triggers.inputs import POSIX_READS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P12",
    view="drishti_posix",
    level=Level.OK,
    all_of=(Above("read_count", 0, why="Drishti has no threshold here: any at all will do."),),
    finding="{random_read_count} of {read_count} reads were random.",
    advice="Leave the order of the reads as it is.",
    cases=(
        Case("most go forward", {"read_count": 10000, "random_read_ratio": 0.1, "random_read_count": 1000}, state="fired"),
        Case(
            "random share is high, but exactly on the threshold of the count",
            {"read_count": 2000, "random_read_ratio": 0.5, "random_read_count": 1000},
            state="fired",
        ),
        Case(
            "random count is high, but exactly on the threshold of the share",
            {"read_count": 50000, "random_read_ratio": 0.2, "random_read_count": 10000},
            state="fired",
        ),
        Case("many are random", {"read_count": 10000, "random_read_ratio": 0.5, "random_read_count": 5000}, state="clear"),
        Case(
            "exactly on the threshold of the count of all",
            {"read_count": 0, "random_read_ratio": 0.0, "random_read_count": 0},
            state="clear",
        ),
        Case(
            "the log lacks the metric",
            {"read_count": 0, "random_read_ratio": None, "random_read_count": 0},
            state="unknown",
        ),
        Case(
            "the log never read through POSIX",
            {"posix_read_count": 0, "read_count": 0, "random_read_ratio": None, "random_read_count": 0},
            state="not applicable",
        ),
        Case(
            "many are random, and the module could not be read whole",
            {"read_count": 10000, "random_read_ratio": 0.5, "random_read_count": 5000, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"read_count": 10000, "random_read_ratio": 0.1, "random_read_count": 1000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_READS,),
    lacks=("posix_lack",),
    unless=(
        Above("random_read_ratio", 0.2, why="Drishti 0.8's default."),
        Above("random_read_count", 1000, why="Drishti 0.8's default."),
    ),
    ruleset="drishti",
    version="3",
)
