"""Slowest and fastest rank took different times.

Drishti looks at every shared record: the I/O time of its slowest rank and of its fastest, their difference over the
time of all ranks in reads, writes and metadata calls. One record above the threshold is enough.

Blind spots: two ranks are compared with the sum over all, so the same delay of one rank fires with 8 ranks and is
silent with 800. A file that is only opened, in microseconds, counts like one that takes hours. Clocks that ran
backwards leave negative times, which are taken as they are.
"""

from iomine.triggers.inputs import POSIX_FILES, SHARED_RECORDS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P19",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(Above("shared_seconds_spread_ratio", 0.15, why="Drishti 0.8's default."),),
    finding=(
        "On one shared file, slowest and fastest rank differ by {shared_seconds_spread_ratio:.1%} of the I/O time of all ranks."
    ),
    advice=(
        "Look for ranks that do more than their share, such as one that writes all headers; spread the file over "
        "more OSTs if several ranks wait for the same one; and read or write collectively."
    ),
    cases=(
        Case("well above the threshold", {"shared_seconds_spread_ratio": 0.4}, state="fired"),
        Case("exactly on the threshold", {"shared_seconds_spread_ratio": 0.15}, state="clear"),
        Case("the log lacks the metric", {"shared_seconds_spread_ratio": None}, state="unknown"),
        Case("the log did no POSIX I/O", {"posix_file_count": 0, "shared_seconds_spread_ratio": None}, state="not applicable"),
        Case(
            "no record is shared by all ranks",
            {"shared_record_count": 0, "shared_seconds_spread_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but the module could not be read whole",
            {"shared_seconds_spread_ratio": 0.05, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"shared_seconds_spread_ratio": 0.4, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_FILES, SHARED_RECORDS),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
