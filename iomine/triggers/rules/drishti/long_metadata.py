"""Some file's metadata time is over half a minute.

Drishti asks whether any POSIX record spent more than 30 seconds in metadata calls such as open, stat, seek and close.
It says that so many "ranks" did, but what it counts are records.

Blind spots: a shared record holds the sum over all ranks, so with ten thousand ranks 4 ms each are enough, while a
rank that spends an hour on a hundred thousand files, a little on each, is never seen.
"""

from iomine.triggers.inputs import POSIX_FILES
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P17",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(Above("longest_meta_seconds", 30.0, why="Drishti 0.8's default."),),
    finding="Metadata calls took {longest_meta_seconds} in a single record of a file.",
    advice=(
        "Open fewer files and open them once; let one rank open and hand on what it learned; combine small files "
        "into one container. With parallel HDF5, make metadata collective with H5Pset_all_coll_metadata_ops and "
        "H5Pset_coll_metadata_write, and enlarge the metadata cache."
    ),
    cases=(
        Case("well above the threshold", {"longest_meta_seconds": 95.5}, state="fired"),
        Case("exactly on the threshold", {"longest_meta_seconds": 30.0}, state="clear"),
        Case("the log lacks the metric", {"longest_meta_seconds": None}, state="unknown"),
        Case("the log did no POSIX I/O", {"posix_file_count": 0, "longest_meta_seconds": None}, state="not applicable"),
        Case(
            "below the threshold, but the module could not be read whole",
            {"longest_meta_seconds": 3.0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"longest_meta_seconds": 95.5, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_FILES,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
