"""Slowest and fastest rank moved different amounts.

Drishti looks at every shared record with any bytes: the bytes of its slowest rank and of its fastest, their
difference over the bytes of all ranks. One record above the threshold is enough.

Blind spots: the ratio shrinks with the size of the job, since two ranks are compared with the sum of all: with a hundred
ranks, one that moves ten times its fair share stays below it. Slowest and fastest are by time, so they need not be
the ranks with most and fewest bytes. Collective buffering, where aggregators move all the bytes, is unequal by design
and fires in small jobs.
"""

from iomine.triggers.inputs import POSIX_REQUESTS, SHARED_RECORDS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P18",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(Above("shared_bytes_spread_ratio", 0.15, why="Drishti 0.8's default."),),
    finding="On one shared file, slowest and fastest rank differ by {shared_bytes_spread_ratio:.1%} of all its bytes.",
    advice=(
        "Give every rank about the same number of bytes, or let collective MPI-IO spread them over aggregators; "
        "match stripe count and size to the way the file is divided, and turn off fill values in HDF5 and PnetCDF "
        "where every element is written anyway."
    ),
    cases=(
        Case("well above the threshold", {"shared_bytes_spread_ratio": 0.9}, state="fired"),
        Case("exactly on the threshold", {"shared_bytes_spread_ratio": 0.15}, state="clear"),
        Case("the log lacks the metric", {"shared_bytes_spread_ratio": None}, state="unknown"),
        Case("neither read nor written", {"posix_data_count": 0, "shared_bytes_spread_ratio": None}, state="not applicable"),
        Case(
            "no record is shared by all ranks",
            {"shared_record_count": 0, "shared_bytes_spread_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but the module could not be read whole",
            {"shared_bytes_spread_ratio": 0.01, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"shared_bytes_spread_ratio": 0.9, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_REQUESTS, SHARED_RECORDS),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
