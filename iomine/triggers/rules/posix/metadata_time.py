"""Much of the I/O time goes into metadata.

Opening, looking up and closing files moves no data, and the metadata servers are shared by the whole machine: a program
that spends its I/O time there slows its neighbours as well as itself. Calls of POSIX and of stdio (`fopen`, `fclose`) are
taken together, and compared with the I/O time of both. The cost is all of the time in metadata calls.

Blind spots: Darshan up to 3.5.0 does not see `stat` and its kin on systems with glibc 2.33 or newer, whose programs call
functions that it does not wrap, so a storm of them goes unnoticed there; where no log of the night by the same Darshan
version has any, a log below the thresholds is unknown instead of clear. Seeks count as metadata although they cost the
servers nothing. The seconds are an average over ranks: a single rank that does all metadata work while the others wait
stays below the threshold in a large run.
"""

from iomine.triggers.inputs import TOUCHED_FILES, with_files, with_hdf5, with_ranks
from iomine.triggers.looping import where_looping
from iomine.triggers.model import Above, Case, Level, Trigger
from iomine.triggers.snippets import BROADCAST_PYTHON, HDF5_METADATA_C, KEEP_OPEN_PYTHON

_FINDING = (
    "{meta_ratio:.0%} of the time in POSIX and stdio went into metadata calls: {meta_seconds_per_rank} for each rank, "
    "{meta_core_seconds} in all, most for {longest_meta_path}."
)
TRIGGER = Trigger(
    code="POSIX-301",
    view="log_meta_profile",
    level=Level.HIGH,
    all_of=(
        Above(
            "meta_ratio",
            0.30,
            why="Our own choice, not measured: below, the transfers themselves are the better place to start.",
        ),
        Above(
            "meta_seconds_per_rank",
            1.0,
            why="Our own choice: a second or less for each rank is the usual price of starting up, whatever its share.",
        ),
    ),
    finding=_FINDING,
    advice=(
        "Open and look up files less often, and begin with {longest_meta_path}.",
        with_files(
            "Least effort: programs with many libraries or Python modules start faster from a container image or from node-local "
            "storage."
        ),
        "Next: keep files open across steps instead of opening and closing them in a loop.",
        with_ranks("Let one rank look up or read small files and send the others what it found."),
        with_hdf5("With parallel HDF5, turn on collective metadata (H5Pset_all_coll_metadata_ops, H5Pset_coll_metadata_write)."),
        with_files(
            "Do not let every rank create its own file in one directory. Most effort: pack many small files into one container."
        ),
    ),
    instead=where_looping(_FINDING),
    cases=(
        Case(
            "each rank looks for a file all the time",
            {"meta_ratio": 0.5, "meta_seconds_per_rank": 120.0, "meta_core_seconds": 7680.0, "looping_call_count": 16_000},
            state="fired",
        ),
        Case(
            "half of the time, minutes for each rank",
            {"meta_ratio": 0.5, "meta_seconds_per_rank": 120.0, "meta_core_seconds": 7680.0},
            state="fired",
        ),
        Case("exactly on the threshold of the share", {"meta_ratio": 0.30, "meta_seconds_per_rank": 120.0}, state="clear"),
        Case("exactly on the threshold of the seconds", {"meta_ratio": 0.9, "meta_seconds_per_rank": 1.0}, state="clear"),
        Case("the log lacks the metric", {"meta_ratio": None, "meta_seconds_per_rank": None}, state="unknown"),
        Case(
            "the log touched no file",
            {"touched_file_count": 0, "meta_ratio": None, "meta_seconds_per_rank": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but Darshan saw no stat",
            {"meta_ratio": 0.1, "meta_seconds_per_rank": 120.0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "Darshan saw no stat, but what it saw is enough",
            {"meta_ratio": 0.5, "meta_seconds_per_rank": 120.0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(TOUCHED_FILES,),
    lacks=("data_lack", "stat_lack"),
    needs="the POSIX and STDIO modules, whole, of a Darshan library that sees stat",
    cost="meta_core_seconds",
    snippets=(KEEP_OPEN_PYTHON, BROADCAST_PYTHON, HDF5_METADATA_C),
    version="3",
)
