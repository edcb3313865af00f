"""Many writes are small, as Drishti counts them.

Drishti asks for the share of small writes in all POSIX writes of the job, and wants more than a thousand of them.
Small are the five lowest bins of Darshan's histogram, a write of exactly 1 MiB among them, whatever Drishti's setting
for the size says.

Blind spots: a program that appends small pieces, which the client's cache joins into large requests, looks as bad as
one that scatters them; and the floor of a thousand does not grow with the number of ranks. POSIX-102 asks the same
question in the default ruleset.
"""

from iomine.triggers.inputs import POSIX_WRITES
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P06",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(
        Above("small_write_ratio", 0.1, why="Drishti 0.8's default."),
        Above("small_write_count", 1000, why="Drishti 0.8's default."),
    ),
    finding="{small_write_count} of {write_count} writes ({small_write_ratio:.1%}) were 1 MiB or less.",
    advice=(
        "Collect output in memory and write blocks of several MiB. Where ranks share a file, let MPI-IO gather "
        "their requests with collective writes such as MPI_File_write_at_all, or aggregate on one rank of each "
        "node."
    ),
    cases=(
        Case(
            "most of many requests", {"small_write_ratio": 0.8, "small_write_count": 80000, "write_count": 100000}, state="fired"
        ),
        Case("exactly on the threshold of the share", {"small_write_ratio": 0.1, "small_write_count": 80000}, state="clear"),
        Case("exactly on the threshold of the count", {"small_write_ratio": 0.8, "small_write_count": 1000}, state="clear"),
        Case("the log lacks the metric", {"small_write_ratio": None, "small_write_count": 0}, state="unknown"),
        Case(
            "the log never wrote through POSIX",
            {"posix_write_count": 0, "small_write_ratio": None, "small_write_count": 0},
            state="not applicable",
        ),
        Case(
            "too few, but the module could not be read whole",
            {"small_write_ratio": 0.8, "small_write_count": 10, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"small_write_ratio": 0.8, "small_write_count": 80000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_WRITES,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
