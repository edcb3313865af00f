"""Many reads of shared files are small.

The question of P05, asked of shared records alone: those of rank -1, in which Darshan sums up a file that all ranks
opened. Share and count are of those records.

Blind spots: a file that all ranks but one opened has no shared record and is left out, and so is all of a log whose
reduction was turned off. Where P15 fires, P05 nearly always does too.
"""

from iomine.triggers.inputs import POSIX_READS, SHARED_RECORDS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P15",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(
        Above("small_shared_read_ratio", 0.1, why="Drishti 0.8's default."),
        Above("small_shared_read_count", 1000, why="Drishti 0.8's default."),
    ),
    finding=(
        "{small_shared_read_count} of {shared_read_count} reads of shared files ({small_shared_read_ratio:.1%}) "
        "were 1 MiB or less."
    ),
    advice=(
        "Read shared files collectively, with MPI_File_read_at_all or a library's collective mode, so that a few "
        "ranks fetch large blocks for all; or let one rank read and broadcast what everybody needs."
    ),
    cases=(
        Case(
            "most of many requests",
            {"small_shared_read_ratio": 0.5, "small_shared_read_count": 5000, "shared_read_count": 10000},
            state="fired",
        ),
        Case(
            "exactly on the threshold of the share",
            {"small_shared_read_ratio": 0.1, "small_shared_read_count": 5000},
            state="clear",
        ),
        Case(
            "exactly on the threshold of the count",
            {"small_shared_read_ratio": 0.5, "small_shared_read_count": 1000},
            state="clear",
        ),
        Case(
            "the log lacks the metric",
            {"small_shared_read_ratio": None, "small_shared_read_count": None},
            state="unknown",
        ),
        Case(
            "the log never read through POSIX",
            {"posix_read_count": 0, "small_shared_read_ratio": None, "small_shared_read_count": None},
            state="not applicable",
        ),
        Case(
            "no record is shared by all ranks",
            {"shared_record_count": 0, "small_shared_read_ratio": None, "small_shared_read_count": None},
            state="not applicable",
        ),
        Case(
            "too few, but the module could not be read whole",
            {"small_shared_read_ratio": 0.5, "small_shared_read_count": 10, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"small_shared_read_ratio": 0.5, "small_shared_read_count": 5000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_READS, SHARED_RECORDS),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
