"""Other jobs were busy on the same OSTs.

A file lies on a few OSTs, and other jobs that use these OSTs at the same time take a part of their bandwidth. Lustre's
job_stats say for each OST and ten minutes how long it dealt with the requests of which job. Where more than half of that was
for other users, and requests took longer than usual, they were in each other's way.

Blind spots: an OST that is busy with many requests at once counts their times together. Jobs that stop and start within ten
minutes are taken to overlap. Jobs without an id in job_stats count as others.
"""

from iomine.triggers.inputs import JOB_STATS, TOUCHED_FILES
from iomine.triggers.model import Above, Case, Level, Trigger
from iomine.triggers.snippets import STRIPE_SHELL

TRIGGER = Trigger(
    code="SYSTEM-102",
    view="log_weather_profile",
    level=Level.INFO,
    all_of=(
        Above(
            "ost_contention_ratio",
            0.5,
            why="Our own choice: more than half of the load came from others, so they weighed more than the job itself.",
        ),
        Above("ost_slowdown_ratio", 1.5, why="Our own choice: a busy OST that answers as quickly as ever is in nobody's way."),
    ),
    finding=(
        "Other users caused {ost_contention_ratio:.0%} of the load on the run's OSTs, and requests took "
        "{ost_slowdown_ratio:.1f} times as long as usual."
    ),
    advice=(
        "Use OSTs that are less busy. Least effort: run again, since Lustre chooses other OSTs for new files. Stripe large "
        "files over more OSTs, so that one busy OST is a smaller part of the whole, and do not fix where a file begins "
        "(`lfs setstripe -i`). Input that is read in every run can be migrated away from an OST that is always busy. If "
        "{ost_contention_ratio:.0%} is usual for this project, ask the operators for a pool of OSTs of its own."
    ),
    cases=(
        Case("a neighbour took most of it", {"ost_contention_ratio": 0.8, "ost_slowdown_ratio": 3.0}, state="fired"),
        Case("exactly on the threshold", {"ost_contention_ratio": 0.5, "ost_slowdown_ratio": 3.0}, state="clear"),
        Case("busy, but as quick as ever", {"ost_contention_ratio": 0.8, "ost_slowdown_ratio": 1.5}, state="clear"),
        Case("no statistics or no layouts", {"ost_contention_ratio": None, "ost_slowdown_ratio": None}, state="unknown"),
        Case(
            "the log touched no file",
            {"touched_file_count": 0, "ost_contention_ratio": None, "ost_slowdown_ratio": None},
            state="not applicable",
        ),
        Case(
            "quiet, but statistics are missing",
            {"ost_contention_ratio": 0.1, "ost_slowdown_ratio": 3.0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "statistics are missing, but those at hand are enough",
            {"ost_contention_ratio": 0.8, "ost_slowdown_ratio": 3.0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(TOUCHED_FILES,),
    lacks=("statistics_lack",),
    needs=JOB_STATS,
    snippets=(STRIPE_SHELL,),
    version="2",
)
