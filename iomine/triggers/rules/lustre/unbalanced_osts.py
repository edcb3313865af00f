"""Some OSTs get far more of the load than others.

A run is done when its busiest OST is, so OSTs that get less of it are bandwidth left unused. That happens when files of
different size fall on the same OSTs, or when ranks write the same stripe of a file at the same time. It takes every request's
offset and every file's layout to know which OST served how many bytes; without a trace the bytes of a file are taken to lie
evenly on its OSTs. The cost is the time in requests to the busiest OST, which a trace alone gives.

Blind spots: bytes are compared, not the time that each OST took for them: LUSTRE-203 finds a slow OST with an even share.
A run of one process asks one OST after the other, so it is not judged. Where nearly all bytes of many ranks fall on one OST,
LUSTRE-202 says so and this is silent. Load of other jobs on the same OSTs is for another trigger. Requests answered by a cache
never reach an OST.
"""

from iomine.triggers.inputs import LAYOUTS, LUSTRE_FILES, NEW_FILES, SEVERAL_RANKS, TRACE
from iomine.triggers.model import Above, Case, Level, Requests, Trigger
from iomine.triggers.snippets import STRIPE_SHELL, TRACE_SHELL
from iomine.units import GIB

_FEW_RANKS = {"busiest_ost_ratio": 0.9, "nprocs": 4}

TRIGGER = Trigger(
    code="LUSTRE-201",
    view="log_ost_profile",
    level=Level.WARN,
    all_of=(
        Above(
            "ost_max_over_mean_ratio",
            2.0,
            why="Our own choice: at twice the mean, half of the bandwidth of the OSTs in use lies idle.",
        ),
        Above("busiest_ost_bytes", GIB, why="Our own choice: an OST moves less in a second or two."),
    ),
    unless=(
        Above("busiest_ost_ratio", 0.75, why="The threshold of LUSTRE-202, which reports runs bound by one OST."),
        Above("nprocs", 16, why="The threshold of LUSTRE-202."),
    ),
    finding=(
        "OST {busiest_ost_id} got {busiest_ost_bytes}, {ost_max_over_mean_ratio:.1f} times as much as the "
        "{ost_count} OSTs in use on average."
    ),
    advice=(
        (
            "Spread the bytes evenly. Least effort: stripe large files over all OSTs in use, and leave it to Lustre on which one "
            "a file begins (`lfs setstripe -i -1`, the default). With a file for each rank, one stripe each lets Lustre balance "
            "them. If ranks walk through a shared file in step, a stripe size that does not divide their step keeps them off the "
            "same OST."
        ),
        NEW_FILES,
    ),
    cases=(
        Case(
            "one OST got four times the mean",
            {
                **_FEW_RANKS,
                "ost_max_over_mean_ratio": 4.0,
                "busiest_ost_bytes": 4 * GIB,
                "busiest_ost_id": 7,
                "ost_count": 8,
                "busiest_ost_core_seconds": 90.0,
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold",
            {**_FEW_RANKS, "ost_max_over_mean_ratio": 2.0, "busiest_ost_bytes": 4 * GIB},
            state="clear",
        ),
        Case(
            "exactly on the threshold of the bytes",
            {**_FEW_RANKS, "ost_max_over_mean_ratio": 4.0, "busiest_ost_bytes": GIB},
            state="clear",
        ),
        Case(
            "nearly all of many ranks on one OST, as LUSTRE-202 says",
            {"busiest_ost_ratio": 0.9, "nprocs": 512, "ost_max_over_mean_ratio": 4.0, "busiest_ost_bytes": 4 * GIB},
            state="clear",
        ),
        Case(
            "no trace or no layouts", {**_FEW_RANKS, "ost_max_over_mean_ratio": None, "busiest_ost_bytes": None}, state="unknown"
        ),
        Case(
            "no file lies on Lustre",
            {"lustre_file_count": 0, **_FEW_RANKS, "ost_max_over_mean_ratio": None, "busiest_ost_bytes": None},
            state="not applicable",
        ),
        Case(
            "a run of one process",
            {"process_count": 1, **_FEW_RANKS, "nprocs": 1, "ost_max_over_mean_ratio": None, "busiest_ost_bytes": 4 * GIB},
            state="not applicable",
        ),
        Case(
            "all bytes went to one OST",
            {"ost_count": 1, **_FEW_RANKS, "ost_max_over_mean_ratio": None, "busiest_ost_bytes": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but segments are missing",
            {**_FEW_RANKS, "ost_max_over_mean_ratio": 1.1, "busiest_ost_bytes": 4 * GIB, "is_complete": False},
            state="unknown",
        ),
        Case(
            "segments are missing, but those at hand are enough",
            {**_FEW_RANKS, "ost_max_over_mean_ratio": 4.0, "busiest_ost_bytes": 4 * GIB, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(SEVERAL_RANKS, LUSTRE_FILES, Above("ost_count", 1, why="One OST alone is not out of balance.")),
    lacks=("posix_lack", "layout_lack"),
    cost="busiest_ost_core_seconds",
    evidence="ost_evidence",
    needs=f"{LAYOUTS}; {TRACE} makes it exact",
    traced=Requests("posix", ost="busiest_ost_id"),
    snippets=(STRIPE_SHELL, TRACE_SHELL),
    version="4",
)
