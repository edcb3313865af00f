"""Requests straddle stripes that they could fit into.

A request that begins in one stripe and ends in the next goes to two OSTs, waits for the slower one, and in writes takes
two locks. Requests that are no larger than a stripe need not do so, if they begin in the right places. Only files whose
mean request fits into a stripe are looked at: larger ones go to several OSTs by design. The cost is the time of the
straddling requests: of each file a part of its time in proportion to their number.

Blind spots: requests that a client's cache answers or joins never reach an OST in this form, so that small writes in
sequence suffer less than it looks. Files on one OST are left out. Of a progressive layout, the stripe size of the
component with most stripes decides which requests fit.
"""

from iomine.triggers.inputs import LAYOUTS, NEW_FILES, STRIPED_FILES, TRACE, with_hdf5
from iomine.triggers.model import Above, Case, Level, Requests, Trigger
from iomine.triggers.snippets import HDF5_ALIGNMENT_C, STRIPE_SHELL

TRIGGER = Trigger(
    code="LUSTRE-302",
    view="log_overlap_profile",
    level=Level.WARN,
    all_of=(
        Above(
            "straddle_ratio",
            0.30,
            why="The threshold of POSIX-121 (starts not aligned to Darshan's blocks); fewer straddle if requests are small.",
        ),
        Above("straddle_count", 1000, why="Our own choice: fewer are not worth anyone's time."),
    ),
    finding=(
        "{straddle_count} requests ({straddle_ratio:.0%} of those that one stripe could have held) went to two stripes, most of "
        "them of {straddle_path}."
    ),
    advice=(
        (
            "Let requests for {straddle_path} end where stripes end. Least effort: give its directory a stripe "
            "size that is a multiple of the size of requests (`lfs setstripe -S`, a multiple of 64 KiB). A header"
            " in front shifts all requests after it: pad it up to a whole stripe."
        ),
        NEW_FILES,
        with_hdf5("With HDF5, ask for alignment when the file is created (H5Pset_alignment)."),
        "Most effort: choose pieces of a size that divides the stripe, such as 1 MiB instead of 1 MB.",
    ),
    cases=(
        Case(
            "most requests of a file with a header",
            {"straddle_ratio": 0.9, "straddle_count": 90_000, "straddle_core_seconds": 200.0},
            state="fired",
        ),
        Case("exactly on the threshold of the share", {"straddle_ratio": 0.30, "straddle_count": 90_000}, state="clear"),
        Case("exactly on the threshold of the count", {"straddle_ratio": 0.9, "straddle_count": 1000}, state="clear"),
        Case("no trace or no layouts", {"straddle_ratio": None, "straddle_count": None}, state="unknown"),
        Case(
            "no file lies on several OSTs",
            {"striped_file_count": 0, "straddle_ratio": None, "straddle_count": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but requests are missing",
            {"straddle_ratio": 0.1, "straddle_count": 90_000, "is_complete": False},
            state="unknown",
        ),
        Case(
            "requests are missing, but those at hand are enough",
            {"straddle_ratio": 0.9, "straddle_count": 90_000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(STRIPED_FILES,),
    lacks=("posix_lack", "layout_lack", "trace_lack"),
    needs=f"{LAYOUTS} and {TRACE}",
    cost="straddle_core_seconds",
    evidence="overlap_evidence",
    traced=Requests("posix", path="straddle_path"),
    snippets=(HDF5_ALIGNMENT_C, STRIPE_SHELL),
    version="2",
)
