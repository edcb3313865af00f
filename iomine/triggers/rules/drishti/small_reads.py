"""Many reads are small, as Drishti counts them.

Drishti asks for the share of small reads in all POSIX reads of the job, and wants more than a thousand of them. Small
are the five lowest bins of Darshan's histogram: it says "less than 1 MB", but a read of exactly 1 MiB is among them.
Its setting for the size of a small request changes nothing here.

Blind spots: the floor of a thousand is for the whole job, so 8 reads by each of 128 ranks reach it. Reads of headers
and libraries at the start count like reads of data. POSIX-101 asks the same question in the default ruleset.
"""

from iomine.triggers.inputs import POSIX_READS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P05",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(
        Above("small_read_ratio", 0.1, why="Drishti 0.8's default."),
        Above("small_read_count", 1000, why="Drishti 0.8's default."),
    ),
    finding="{small_read_count} of {read_count} reads ({small_read_ratio:.1%}) were 1 MiB or less.",
    advice=(
        "Read in blocks of several MiB and hand out the pieces from memory. Where ranks share a file, let MPI-IO "
        "gather their requests with collective reads such as MPI_File_read_at_all."
    ),
    cases=(
        Case("most of many requests", {"small_read_ratio": 0.9, "small_read_count": 9000, "read_count": 10000}, state="fired"),
        Case("exactly on the threshold of the share", {"small_read_ratio": 0.1, "small_read_count": 9000}, state="clear"),
        Case("exactly on the threshold of the count", {"small_read_ratio": 0.9, "small_read_count": 1000}, state="clear"),
        Case("the log lacks the metric", {"small_read_ratio": None, "small_read_count": 0}, state="unknown"),
        Case(
            "the log never read through POSIX",
            {"posix_read_count": 0, "small_read_ratio": None, "small_read_count": 0},
            state="not applicable",
        ),
        Case(
            "too few, but the module could not be read whole",
            {"small_read_ratio": 0.9, "small_read_count": 10, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"small_read_ratio": 0.9, "small_read_count": 9000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_READS,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
