"""Other users kept the run's metadata target busy.

Opens, stats and closes wait in the queue of the metadata target that holds the directory, with those of all other users. If
they took much longer than usual, and most of what kept the target busy was not this user's, the program is not the cause.

Blind spots: the same as those of SYSTEM-103, which asks whether this user's calls slowed others.
"""

from iomine.triggers.inputs import JOB_STATS, TOUCHED_FILES
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

TRIGGER = Trigger(
    code="SYSTEM-104",
    view="log_weather_profile",
    level=Level.INFO,
    all_of=(
        Above("mdt_slowdown_ratio", 2.0, why="Our own choice: up to twice as long is everyday life on a shared file system."),
        Above("mdt_others_ratio", 0.5, why="Our own choice: who does more than half of it is the cause."),
    ),
    finding=(
        "The run's metadata calls took {mdt_slowdown_ratio:.1f} times as long as usual, while other users caused "
        "{mdt_others_ratio:.0%} of the load on the target."
    ),
    advice=(
        "Run again before you change the program. If {mdt_others_ratio:.0%} is usual at this hour, start the job at another, or "
        "ask the operators for a directory on another metadata target (`lfs mkdir -i`)."
    ),
    cases=(
        Case("a storm of others", {"mdt_slowdown_ratio": 8.0, "mdt_others_ratio": 0.9}, state="fired"),
        Case("exactly on the threshold", {"mdt_slowdown_ratio": 2.0, "mdt_others_ratio": 0.9}, state="clear"),
        Case("its own storm", {"mdt_slowdown_ratio": 8.0, "mdt_others_ratio": 0.5}, state="clear"),
        Case(
            "a storm of others, but statistics are missing",
            {"mdt_slowdown_ratio": 8.0, "mdt_others_ratio": 0.9, "is_complete": False},
            state="fired",
        ),
        Case(
            "fair, but statistics are missing",
            {"mdt_slowdown_ratio": 1.0, "mdt_others_ratio": 0.9, "is_complete": False},
            state="unknown",
        ),
        Case("no statistics", {"mdt_slowdown_ratio": None, "mdt_others_ratio": None}, state="unknown"),
        Case(
            "the log touched no file",
            {"touched_file_count": 0, "mdt_slowdown_ratio": None, "mdt_others_ratio": None},
            state="not applicable",
        ),
    ),
    applies_to=(TOUCHED_FILES,),
    lacks=("statistics_lack",),
    needs=JOB_STATS,
    snippets=(
        Snippet(
            "shell",
            "Which metadata target holds a directory, and a new directory on another one",
            """\
lfs getdirstripe -m results/
lfs mkdir -i 2 results2/
""",
        ),
    ),
    version="2",
)
