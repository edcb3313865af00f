"""Many writes to shared files are small.

The question of P06, asked of shared records alone: those of rank -1, in which Darshan sums up a file that all ranks
opened. Small writes hurt most there, since ranks wait for each other's locks.

Blind spots: a file that only some ranks opened, such as the aggregators of collective buffering, has no shared record
and is left out. Which rank writes where is not checked: one rank that writes all headers fires like thousands that
compete.
"""

from iomine.triggers.inputs import POSIX_WRITES, SHARED_RECORDS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P16",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(
        Above("small_shared_write_ratio", 0.1, why="Drishti 0.8's default."),
        Above("small_shared_write_count", 1000, why="Drishti 0.8's default."),
    ),
    finding=(
        "{small_shared_write_count} of {shared_write_count} writes to shared files "
        "({small_shared_write_ratio:.1%}) were 1 MiB or less."
    ),
    advice=(
        "Write shared files collectively, with MPI_File_write_at_all or a library's collective mode, so that "
        "aggregators send large, aligned blocks and ranks do not compete for locks."
    ),
    cases=(
        Case(
            "most of many requests",
            {"small_shared_write_ratio": 0.6, "small_shared_write_count": 60000, "shared_write_count": 100000},
            state="fired",
        ),
        Case(
            "exactly on the threshold of the share",
            {"small_shared_write_ratio": 0.1, "small_shared_write_count": 60000},
            state="clear",
        ),
        Case(
            "exactly on the threshold of the count",
            {"small_shared_write_ratio": 0.6, "small_shared_write_count": 1000},
            state="clear",
        ),
        Case(
            "the log lacks the metric",
            {"small_shared_write_ratio": None, "small_shared_write_count": None},
            state="unknown",
        ),
        Case(
            "the log never wrote through POSIX",
            {"posix_write_count": 0, "small_shared_write_ratio": None, "small_shared_write_count": None},
            state="not applicable",
        ),
        Case(
            "no record is shared by all ranks",
            {"shared_record_count": 0, "small_shared_write_ratio": None, "small_shared_write_count": None},
            state="not applicable",
        ),
        Case(
            "too few, but the module could not be read whole",
            {"small_shared_write_ratio": 0.6, "small_shared_write_count": 10, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"small_shared_write_ratio": 0.6, "small_shared_write_count": 60000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_WRITES, SHARED_RECORDS),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
