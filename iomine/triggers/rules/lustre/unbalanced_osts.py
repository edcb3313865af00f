"""Some OSTs get far more of the load than others.

A run is done when its busiest OST is, so OSTs that get less of it are bandwidth left unused. That happens when files of
different size fall on the same OSTs, or when ranks write the same stripe of a file at the same time. It takes every
request's offset and every file's layout to know which OST served how many bytes. Loads of OSTs are not worked out yet,
so for now this is unknown for every log.

Blind spots: bytes are compared, not the time that each OST took for them, so a slow OST with an even share goes
unnoticed. What other jobs put on the same OSTs is another trigger's. Requests answered by a cache never reach an OST.
"""

from iomine.triggers.inputs import LAYOUTS, TRACE
from iomine.triggers.model import Above, Case, Level, Trigger
from iomine.triggers.snippets import STRIPE_SHELL, TRACE_SHELL

TRIGGER = Trigger(
    code="LUSTRE-201",
    view="log_pending_profile",
    level=Level.WARN,
    all_of=(
        Above(
            "ost_max_over_mean_ratio",
            2.0,
            why="Our own choice: at twice the mean, half of the bandwidth of the OSTs in use lies idle.",
        ),
    ),
    finding="The busiest OST got {ost_max_over_mean_ratio:.1f} times as many bytes as the OSTs in use did on average.",
    advice=(
        "Spread the bytes evenly. Least effort: stripe large files over all OSTs in use, and leave it to Lustre on which one a "
        "file begins (`lfs setstripe -i -1`, the default). With a file for each rank, one stripe each lets Lustre balance "
        "them. If ranks walk through a shared file in step, a stripe size that does not divide their step keeps them off the "
        "same OST."
    ),
    cases=(
        Case("one OST got four times the mean", {"ost_max_over_mean_ratio": 4.0}, state="fired"),
        Case("exactly on the bar", {"ost_max_over_mean_ratio": 2.0}, state="clear"),
        Case("no trace or no layouts", {"ost_max_over_mean_ratio": None}, state="unknown"),
        Case("below the bar, but segments are missing", {"ost_max_over_mean_ratio": 1.1, "is_complete": False}, state="unknown"),
        Case(
            "segments are missing, but those at hand are enough",
            {"ost_max_over_mean_ratio": 4.0, "is_complete": False},
            state="fired",
        ),
    ),
    needs=f"{TRACE}, and {LAYOUTS}",
    snippets=(STRIPE_SHELL, TRACE_SHELL),
)
