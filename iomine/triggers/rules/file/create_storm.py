"""Thousands of files created within a second.

Where ranks write their first output at the same time, a file each, all of these files are created at once. A metadata server
handles some thousands of creates a second for the whole machine, so the ranks wait for each other, and so does everyone else.
However short such a burst is in a long run, it is repeated with each run, and with each output to new files. A file counts
once, at the time when the first rank opened it, and only if it was written. The busiest second may begin at any hundredth of a
second. The cost is the time of the metadata calls on the files of the ten busiest seconds of each mount.

Blind spots: Darshan does not keep whether an open created its file, so files that were there and are written again count too,
and files that stay empty do not. A file that is renamed or removed and created again counts once. Files on node-local storage
count, although they burden nobody else. Nodes whose clocks differ make a burst look longer than it is.
"""

from iomine.triggers.inputs import WRITES, with_hdf5, with_mpiio
from iomine.triggers.model import Above, Case, Level, Setting, Snippet, Trigger
from iomine.triggers.snippets import COLLECTIVE_WRITE_C, HDF5_WRITE_PYTHON

_STORM = {"peak_create_count": 3000, "peak_create_ratio": 0.75}
_WHERE = {
    "peak_start_seconds": 612.0,
    "burst_creates_per_second": 300.0,
    "directory_count": 1,
    "fullest_directory_create_count": 3000,
    "create_core_seconds": 400.0,
}

TRIGGER = Trigger(
    code="FILE-103",
    view="log_create_profile",
    level=Level.WARN,
    all_of=(Above("peak_create_count", 1000, why="Jones et al. (IOFSL): a run should stay below a thousand creates a second."),),
    high=Above("peak_create_ratio", 1.0, why="One run alone asks for more than the file system can handle."),
    settings=(
        Setting(
            "borne_create_count", 4000, why="Jones et al. (IOFSL): the most that their file system can handle; set your own."
        ),
    ),
    finding=(
        "{peak_create_count} files were created within a second on {peak_mount}, {peak_start_seconds} into the run; over "
        "ten seconds, {burst_creates_per_second:,.0f} a second. Directories there: {directory_count}, with up to "
        "{fullest_directory_create_count} of the log's files in one. Metadata calls on the files of the busiest ten seconds took "
        "{create_core_seconds}."
    ),
    advice=(
        (
            "Create fewer of the {peak_create_count} files at once. Least effort: let ranks create their files in"
            " turns, some hundreds a second, in directories of some hundred files each that rank 0 made before, "
            "and append later output to the same files instead of creating new ones. Next: write to node-local "
            "storage and move the files later, or let the library that writes gather ranks into fewer files."
        ),
        with_hdf5("HDF5 does so by subfiling (H5Pset_fapl_subfiling)."),
        "Most effort: let all ranks write one shared file.",
        with_mpiio("MPI-IO does so in one collective call (MPI_File_write_at_all)."),
    ),
    cases=(
        Case("a burst of some thousand files", _STORM | _WHERE, state="fired"),
        Case("exactly on the threshold", _STORM | {"peak_create_count": 1000}, state="clear"),
        Case("many files, but spread over minutes", _STORM | {"peak_create_count": 90}, state="clear"),
        Case("more than the file system bears", {"peak_create_count": 8640, "peak_create_ratio": 2.16}, state="fired"),
        Case("a site says that nothing is borne", {"peak_create_count": 8640, "peak_create_ratio": None}, state="fired"),
        Case("the log lacks the metric", dict.fromkeys(_STORM), state="unknown"),
        Case(
            "the log wrote no file",
            {"data_write_count": 0, "peak_create_count": 0, "peak_create_ratio": 0.0},
            state="not applicable",
        ),
        Case("few files, but records are missing", _STORM | {"peak_create_count": 90, "is_complete": False}, state="unknown"),
        Case("records are missing, but those at hand are enough", _STORM | {"is_complete": False}, state="fired"),
    ),
    applies_to=(WRITES,),
    lacks=("data_lack",),
    needs="the POSIX, STDIO and DFS modules, those that the log has, whole, with the time at which each file was opened first",
    cost="create_core_seconds",
    op="write",
    snippets=(
        Snippet(
            "python",
            "Ranks create their files in turns of 500 a second, in a directory for each turn",
            """\
import os
import time
from mpi4py import MPI

comm = MPI.COMM_WORLD
turn = comm.rank // 500
if comm.rank == 0:
    for number in range(comm.size // 500 + 1):
        os.makedirs(f"out/{number:04d}", exist_ok=True)
comm.Barrier()
time.sleep(turn)
file = open(f"out/{turn:04d}/rank.{comm.rank:06d}", "wb")
""",
        ),
        COLLECTIVE_WRITE_C,
        HDF5_WRITE_PYTHON,
    ),
)
