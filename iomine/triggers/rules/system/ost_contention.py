"""Other jobs were busy on the same OSTs.

A file lies on a few OSTs, and whoever else uses these at the same time takes a part of their bandwidth. Lustre's
statistics give the load of each OST over time, and trace and layouts give this log's part of it; what is left came from
others. Neither statistics nor loads of OSTs are worked out yet, so for now this is unknown for every log.

Blind spots: load is counted in bytes, so a neighbour with many small requests weighs less than it hurts. A busy OST is
not a slow one as long as it has bandwidth to spare. Jobs whose logs were not swept count as others without a name.
"""

from iomine.triggers.inputs import LAYOUTS, TRACE
from iomine.triggers.model import Above, Case, Level, Trigger
from iomine.triggers.snippets import STRIPE_SHELL

TRIGGER = Trigger(
    code="SYSTEM-102",
    view="log_pending_profile",
    level=Level.INFO,
    all_of=(
        Above(
            "ost_contention_ratio",
            0.5,
            why="Our own choice: more than half of the load came from others, so they weighed more than the job itself.",
        ),
    ),
    finding="{ost_contention_ratio:.0%} of the load on its busiest OST came from other jobs.",
    advice=(
        "Share less of what is busy. Least effort: run again, since Lustre chooses other OSTs for new files. Stripe large "
        "files over more OSTs, so that one busy OST is a smaller part of the whole, and do not fix where a file begins "
        "(`lfs setstripe -i`). Input that is read in every run can be migrated away from an OST that is always busy. If "
        "{ost_contention_ratio:.0%} is usual for this project, ask the operators for a pool of OSTs of its own."
    ),
    cases=(
        Case("a neighbour took most of it", {"ost_contention_ratio": 0.8}, state="fired"),
        Case("exactly on the bar", {"ost_contention_ratio": 0.5}, state="clear"),
        Case("no statistics or no layouts", {"ost_contention_ratio": None}, state="unknown"),
        Case("quiet, but statistics are missing", {"ost_contention_ratio": 0.1, "is_complete": False}, state="unknown"),
        Case(
            "statistics are missing, but those at hand are enough",
            {"ost_contention_ratio": 0.8, "is_complete": False},
            state="fired",
        ),
    ),
    needs=f"Lustre server statistics of the time of the run, {LAYOUTS}, and {TRACE}",
    snippets=(STRIPE_SHELL,),
)
