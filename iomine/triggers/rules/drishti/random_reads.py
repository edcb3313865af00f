"""Many reads are random, as Drishti counts them.

Drishti asks for the share of POSIX reads that are neither consecutive nor sequential, and wants more than a thousand
of them. Darshan's sequential count includes the consecutive ones, so random is all reads less that count.

Blind spots: Darshan never counts a rank's first read of a file as sequential, so a program that reads thousands of
small files, each in one go, looks random. What is random in the program may be served from the client's read-ahead.
"""

from iomine.triggers.inputs import POSIX_READS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P11",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(
        Above("random_read_ratio", 0.2, why="Drishti 0.8's default."),
        Above("random_read_count", 1000, why="Drishti 0.8's default."),
    ),
    finding="{random_read_count} of {read_count} reads ({random_read_ratio:.1%}) did not go forward in the file.",
    advice=(
        "Read in the order of the file, or sort requests by offset before they are issued. Where the order cannot "
        "be changed, load the file or its hot part once into memory or onto node-local storage."
    ),
    cases=(
        Case("most of many requests", {"random_read_ratio": 0.7, "random_read_count": 7000, "read_count": 10000}, state="fired"),
        Case("exactly on the threshold of the share", {"random_read_ratio": 0.2, "random_read_count": 7000}, state="clear"),
        Case("exactly on the threshold of the count", {"random_read_ratio": 0.7, "random_read_count": 1000}, state="clear"),
        Case("the log lacks the metric", {"random_read_ratio": None, "random_read_count": 0}, state="unknown"),
        Case(
            "the log never read through POSIX",
            {"posix_read_count": 0, "random_read_ratio": None, "random_read_count": 0},
            state="not applicable",
        ),
        Case(
            "too few, but the module could not be read whole",
            {"random_read_ratio": 0.7, "random_read_count": 10, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"random_read_ratio": 0.7, "random_read_count": 7000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_READS,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
