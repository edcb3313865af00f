"""Many small files.

To open a file costs the metadata server the same whatever its size, so for files below a MiB the opening takes longer
than the reading. Thousands of them turn a transfer into a storm of lookups, and they fill the file system's tables long
before its disks. A file is small where less than `small_file_bytes` of it were touched. The cost is the time on small
files, metadata calls included.

Blind spots: a large file of which only a little was read counts as small. The configuration files, libraries and
modules that a program loads when it starts are counted, so programs in Python on many ranks fire by their start alone.
Of files in DAOS the extent is not known, and they never count as small.
"""

from iomine.triggers.inputs import DATA_FILES, with_hdf5, with_ranks
from iomine.triggers.model import Above, Case, Level, Setting, Snippet, Trigger
from iomine.triggers.snippets import BROADCAST_PYTHON, PACK_PYTHON
from iomine.units import MIB

TRIGGER = Trigger(
    code="FILE-102",
    view="log_file_profile",
    level=Level.WARN,
    all_of=(
        Above("small_file_count", 1000, why="Our own choice: a thousand opens are a second's budget of many centres."),
        Above("small_file_ratio", 0.5, why="Our own choice: small files are most of the files."),
    ),
    finding=(
        "{small_file_count} of {file_count} files ({small_file_ratio:.0%}) had less than {small_file_bytes} touched; "
        "they took {small_file_core_seconds}."
    ),
    advice=(
        (
            "Pack small files into few. Least effort: keep the {small_file_count} files in one archive, and "
            "unpack it to node-local storage when the job starts; start Python and its like from a container "
            "image. Next: write results of many steps into one file that stays open. Most effort: read samples "
            "from containers of some hundred MiB instead of one file for each."
        ),
        with_hdf5("Datasets of one HDF5 file are such a container."),
        with_ranks("Let one rank read what all ranks need, and send it to the others."),
    ),
    cases=(
        Case(
            "a data set of one file for each sample",
            {
                "small_file_bytes": MIB,
                "small_file_count": 50_000,
                "small_file_ratio": 0.99,
                "file_count": 50_010,
                "small_file_core_seconds": 200.0,
            },
            state="fired",
        ),
        Case("exactly on the threshold of the count", {"small_file_count": 1000, "small_file_ratio": 0.99}, state="clear"),
        Case("exactly on the threshold of the share", {"small_file_count": 50_000, "small_file_ratio": 0.5}, state="clear"),
        Case("the log lacks the metric", {"small_file_count": None, "small_file_ratio": None}, state="unknown"),
        Case(
            "the log moved no data",
            {"data_file_count": 0, "small_file_count": None, "small_file_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"small_file_count": 500, "small_file_ratio": 0.99, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"small_file_count": 50_000, "small_file_ratio": 0.99, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(DATA_FILES,),
    lacks=("data_lack",),
    needs="the POSIX, STDIO and DFS modules, those that the log has, whole",
    cost="small_file_core_seconds",
    settings=(
        Setting(
            "small_file_bytes",
            MIB,
            why="A usual stripe of Lustre; where blocks are larger, or small files lie on flash, choose another.",
        ),
    ),
    snippets=(
        Snippet(
            "shell",
            "One archive on the file system, many files on each node's own storage (Slurm)",
            """\
tar -cf samples.tar samples/
srun --ntasks-per-node=1 tar -xf samples.tar -C /tmp
srun ./program /tmp/samples
""",
        ),
        PACK_PYTHON,
        BROADCAST_PYTHON,
    ),
    version="2",
)
