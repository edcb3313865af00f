"""Many writes are random, as Drishti counts them.

Drishti asks for the share of POSIX writes that are neither consecutive nor sequential, and wants more than a thousand
of them: all writes less Darshan's sequential ones, which include the consecutive.

Blind spots: a rank's first write to a file never counts as sequential, so file-per-process output in small files
looks random. Records that ranks write in turns to a shared file look sequential from each rank, whatever the servers
see.
"""

from iomine.triggers.inputs import POSIX_WRITES
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P13",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(
        Above("random_write_ratio", 0.2, why="Drishti 0.8's default."),
        Above("random_write_count", 1000, why="Drishti 0.8's default."),
    ),
    finding="{random_write_count} of {write_count} writes ({random_write_ratio:.1%}) did not go forward in the file.",
    advice=(
        "Write in the order of the file: gather pieces in memory and sort them by offset, append to a log and "
        "reorder later, or let collective MPI-IO do it."
    ),
    cases=(
        Case(
            "most of many requests", {"random_write_ratio": 0.4, "random_write_count": 4000, "write_count": 10000}, state="fired"
        ),
        Case("exactly on the threshold of the share", {"random_write_ratio": 0.2, "random_write_count": 4000}, state="clear"),
        Case("exactly on the threshold of the count", {"random_write_ratio": 0.4, "random_write_count": 1000}, state="clear"),
        Case("the log lacks the metric", {"random_write_ratio": None, "random_write_count": 0}, state="unknown"),
        Case(
            "the log never wrote through POSIX",
            {"posix_write_count": 0, "random_write_ratio": None, "random_write_count": 0},
            state="not applicable",
        ),
        Case(
            "too few, but the module could not be read whole",
            {"random_write_ratio": 0.4, "random_write_count": 10, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"random_write_ratio": 0.4, "random_write_count": 4000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_WRITES,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
