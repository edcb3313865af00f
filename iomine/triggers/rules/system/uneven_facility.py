"""The OSTs of the run were much busier than the rest.

Lustre puts new files on the OSTs with most free space, not on those with the least load; a fixed stripe offset, an old
directory or a popular input can load a few OSTs while others are idle. job_stats say how busy each OST was in the ten minutes
of a request; this is their busy time over the mean of all OSTs, weighed by the time that the log's own requests took on each.

Blind spots: OSTs that no job used in 30 nights are not counted among all. A file system with few jobs is uneven by chance.
"""

from iomine.triggers.inputs import JOB_STATS, NEW_FILES, TOUCHED_FILES
from iomine.triggers.model import Above, Case, Level, Trigger
from iomine.triggers.snippets import STRIPE_SHELL

TRIGGER = Trigger(
    code="SYSTEM-105",
    view="log_weather_profile",
    level=Level.INFO,
    all_of=(
        Above("ost_load_over_mean_ratio", 4.0, why="Our own choice: with less than a quarter of the load the others stand idle."),
        Above("ost_slowdown_ratio", 1.5, why="Our own choice: a busy OST that answers as quickly as ever is in nobody's way."),
    ),
    finding=(
        "The OSTs of the run were {ost_load_over_mean_ratio:.1f} times as busy as all OSTs on average, and took "
        "{ost_slowdown_ratio:.1f} times as long as usual."
    ),
    advice=(
        (
            "Let Lustre choose the OSTs (`lfs setstripe -i -1`), stripe large files over more of them, and move what is read "
            "again and again to others (`lfs migrate`). Operators see in `ost_hotspots` who loads which OST; a factor of "
            "{ost_load_over_mean_ratio:.1f} over days speaks for rebalancing, or for a pool of OSTs for new files."
        ),
        NEW_FILES,
    ),
    cases=(
        Case("a hot OST", {"ost_load_over_mean_ratio": 12.0, "ost_slowdown_ratio": 6.0}, state="fired"),
        Case("exactly on the threshold", {"ost_load_over_mean_ratio": 4.0, "ost_slowdown_ratio": 6.0}, state="clear"),
        Case("busy, but quick", {"ost_load_over_mean_ratio": 12.0, "ost_slowdown_ratio": 1.5}, state="clear"),
        Case(
            "a hot OST, but statistics are missing",
            {"ost_load_over_mean_ratio": 12.0, "ost_slowdown_ratio": 6.0, "is_complete": False},
            state="fired",
        ),
        Case(
            "even, but statistics are missing",
            {"ost_load_over_mean_ratio": 1.0, "ost_slowdown_ratio": 6.0, "is_complete": False},
            state="unknown",
        ),
        Case("no statistics", {"ost_load_over_mean_ratio": None, "ost_slowdown_ratio": None}, state="unknown"),
        Case(
            "the log touched no file",
            {"touched_file_count": 0, "ost_load_over_mean_ratio": None, "ost_slowdown_ratio": None},
            state="not applicable",
        ),
    ),
    applies_to=(TOUCHED_FILES,),
    lacks=("statistics_lack",),
    needs=JOB_STATS,
    snippets=(STRIPE_SHELL,),
    version="2",
)
