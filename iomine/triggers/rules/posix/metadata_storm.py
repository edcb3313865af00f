"""A storm of opens and creates.

A metadata server answers some tens of thousands of requests a second for the whole machine. A program that opens or
creates thousands of files a second takes a noticeable part of that from everyone, and the more ranks do it in one
directory, the longer they wait for each other. Opens, stats and renames of POSIX and opens of stdio are counted. The
cost is the time of all metadata calls.

Blind spots: the rate is a mean from the first open to the last close, so a short storm in a long run is missed; where it
creates files, FILE-103 finds it. Opens of files on node-local storage count as much as those of a shared file system.
Darshan up to 3.5.0 does not see `stat` on systems with glibc 2.33 or newer; where no log of the night by the same Darshan
version has any, a log below the thresholds is unknown instead of clear.
"""

from iomine.triggers.inputs import TOUCHED_FILES, with_files, with_hdf5, with_nodes
from iomine.triggers.looping import where_looping
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger
from iomine.triggers.snippets import HDF5_METADATA_C, PACK_PYTHON

_FINDING = "{meta_call_count} opens, stats and renames, {meta_calls_per_second:,.0f} a second, took {meta_core_seconds}."
TRIGGER = Trigger(
    code="POSIX-303",
    view="log_meta_profile",
    level=Level.HIGH,
    all_of=(
        Above("meta_calls_per_second", 1000, why="What centres usually grant one job in creates per second; set your own."),
        Above("meta_call_count", 10000, why="Our own choice: ten seconds at that rate, since a short burst harms nobody."),
    ),
    finding=_FINDING,
    advice=(
        "Make fewer of the {meta_call_count} opens, stats and renames, and spread the rest over the run.",
        with_files(
            "Least effort: start programs with many libraries or Python modules from a container image or node-local storage."
        ),
        with_nodes("Give each node a directory of its own, and let ranks start their I/O some seconds apart."),
        (
            "Next: put files that live only as long as the job on node-local storage, and write results of many "
            "steps into one file that stays open."
        ),
        with_hdf5("With parallel HDF5, turn on collective metadata (H5Pset_all_coll_metadata_ops, H5Pset_coll_metadata_write)."),
        with_files("Most effort: pack many small inputs into one container."),
    ),
    instead=where_looping(_FINDING),
    cases=(
        Case(
            "each rank looks for a file all the time",
            {
                "meta_calls_per_second": 5000.0,
                "meta_call_count": 300_000,
                "meta_core_seconds": 2400.0,
                "looping_call_count": 16_000,
            },
            state="fired",
        ),
        Case(
            "thousands a second for a minute",
            {"meta_calls_per_second": 5000.0, "meta_call_count": 300_000, "meta_core_seconds": 2400.0},
            state="fired",
        ),
        Case("exactly on the threshold of the rate", {"meta_calls_per_second": 1000, "meta_call_count": 300_000}, state="clear"),
        Case("exactly on the threshold of the count", {"meta_calls_per_second": 5000.0, "meta_call_count": 10000}, state="clear"),
        Case(
            "the log lacks the metric",
            {"meta_calls_per_second": None, "meta_call_count": None},
            state="unknown",
        ),
        Case(
            "the log touched no file",
            {"touched_file_count": 0, "meta_calls_per_second": None, "meta_call_count": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but Darshan saw no stat",
            {"meta_calls_per_second": 200.0, "meta_call_count": 300_000, "is_complete": False},
            state="unknown",
        ),
        Case(
            "Darshan saw no stat, but what it saw is enough",
            {"meta_calls_per_second": 5000.0, "meta_call_count": 300_000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(TOUCHED_FILES,),
    lacks=("stat_lack", "data_lack"),
    needs="the POSIX and STDIO modules, whole, of a Darshan library that sees stat",
    cost="meta_core_seconds",
    snippets=(
        Snippet(
            "shell",
            "Modules of Python come from node-local storage, unpacked once for each node (Slurm)",
            """\
sbcast environment.tar.gz /tmp/environment.tar.gz
srun --ntasks-per-node=1 tar -xzf /tmp/environment.tar.gz -C /tmp
srun /tmp/environment/bin/python program.py
""",
        ),
        PACK_PYTHON,
        HDF5_METADATA_C,
    ),
    version="2",
)
