"""A file for each process, at scale.

Each rank with a file of its own is the simplest way to write in parallel, and a good one for tens of ranks. With
thousands, creating and opening the files takes long, directories become slow for everyone, and whatever reads the output later
has as many files to open again. The cost is the time in metadata calls on files that one rank alone touched: their data would
have to be moved in a shared file too.

Blind spots: files on node-local storage are counted, although they burden nobody. A few ranks with thousands of files
between them fire too; then it is the number of files that matters, not who owns them. Files that were opened but had
no data moved are left out.
"""

from iomine.triggers.inputs import DATA_FILES, SEVERAL_RANKS, on_lustre, with_hdf5, with_mpiio
from iomine.triggers.model import Above, Case, Instead, Level, Snippet, Trigger
from iomine.triggers.snippets import COLLECTIVE_WRITE_C, COLLECTIVE_WRITE_FORTRAN, HDF5_WRITE_PYTHON

_FINDING = (
    "{own_file_count} files were each touched by one rank alone, {own_files_per_rank_ratio} for each rank; opening, "
    "looking up and closing them took {own_file_core_seconds}."
)
_ADVICE = (
    (
        "Let many ranks share a file. Least effort: let one rank of each node write for the node, or switch the library that "
        "writes to its shared or aggregated mode."
    ),
    with_hdf5("HDF5 opens one file on all ranks with H5Pset_fapl_mpio."),
    "In your own format, let all ranks write at their own offsets of one file.",
    with_mpiio("MPI-IO does so in one collective call (MPI_File_write_at_all)."),
    on_lustre("Stripe that file over many OSTs."),
    (
        "If the {own_file_count} files must stay, spread them over directories, one for every few hundred ranks, and pack them "
        "into an archive at the end."
    ),
)
TRIGGER = Trigger(
    code="FILE-101",
    view="log_file_profile",
    level=Level.WARN,
    all_of=(
        Above("own_file_count", 1000, why="Our own choice: a thousand creates are a second's budget of many centres."),
        Above("own_files_per_rank_ratio", 0.9, why="Our own choice: nearly every rank has a file of its own."),
    ),
    finding=_FINDING,
    advice=_ADVICE,
    instead=(
        Instead(
            "gathered_file_count",
            finding=f"{_FINDING} One writer for each twelve ranks would leave {{gathered_file_count}} files.",
            advice=(
                *_ADVICE,
                (
                    "For a file of each twelve ranks, let one gather what the others write, or keep a buffer on each node "
                    "that is copied out as one file. `iomine forward` shows the load of each writer."
                ),
                with_hdf5("HDF5 subfiling with {gathered_file_count:.0f} I/O concentrators does the same."),
            ),
        ),
    ),
    cases=(
        Case(
            "thousands of ranks with a file each",
            {"own_file_count": 4096, "own_files_per_rank_ratio": 1.0, "own_file_core_seconds": 900.0},
            state="fired",
        ),
        Case(
            "thousands of ranks, of which one in twelve could write",
            {
                "own_file_count": 4096,
                "own_files_per_rank_ratio": 1.0,
                "own_file_core_seconds": 900.0,
                "gathered_file_count": 342,
            },
            state="fired",
        ),
        Case("exactly on the threshold of the count", {"own_file_count": 1000, "own_files_per_rank_ratio": 1.0}, state="clear"),
        Case("exactly on the threshold of the ranks", {"own_file_count": 4096, "own_files_per_rank_ratio": 0.9}, state="clear"),
        Case(
            "the log lacks the metric",
            {"own_file_count": None, "own_files_per_rank_ratio": None},
            state="unknown",
        ),
        Case(
            "a run of one process",
            {"process_count": 1, "own_file_count": None, "own_files_per_rank_ratio": None},
            state="not applicable",
        ),
        Case(
            "the log moved no data",
            {"data_file_count": 0, "own_file_count": None, "own_files_per_rank_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"own_file_count": 500, "own_files_per_rank_ratio": 0.5, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"own_file_count": 4096, "own_files_per_rank_ratio": 1.0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(SEVERAL_RANKS, DATA_FILES),
    lacks=("data_lack",),
    needs="the POSIX, STDIO and DFS modules, those that the log has, whole",
    cost="own_file_core_seconds",
    snippets=(
        Snippet(
            "c",
            "One writer for each node: the ranks of a node send to its first",
            """\
MPI_Comm node;
int node_rank, node_size;

MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
MPI_Comm_rank(node, &node_rank);
MPI_Comm_size(node, &node_size);
double *all = node_rank == 0 ? malloc((size_t)node_size * count * sizeof(double)) : NULL;
MPI_Gather(values, count, MPI_DOUBLE, all, count, MPI_DOUBLE, 0, node);
if (node_rank == 0)
    write_file(all, (size_t)node_size * count);
free(all);
""",
        ),
        COLLECTIVE_WRITE_C,
        COLLECTIVE_WRITE_FORTRAN,
        HDF5_WRITE_PYTHON,
    ),
    version="3",
)
