"""Rank 0 moves a large share of all bytes.

One rank that does the I/O of many is the bottleneck of a run: it has one link to the file system and one node's memory, and
more ranks do not change that. Reads and writes are taken together, as the program asked for them, so an aggregator that moves
bytes for others within a collective call does not count. The cost is the time that rank 0 spent in reads and writes. Given
separately is the time in which other ranks did no I/O meanwhile; with the cost it decides whether this is a finding.

Blind spots: whether the others wait or compute meanwhile is not seen; a program may let rank 0 read in the background. There
is no threshold in bytes, so in a run that moves little this fires for a settings file and a log, and the cost then says that
it hardly matters. Runs of fewer than four ranks are never judged.
"""

from iomine.triggers.inputs import DATA_FILES, FOUR_RANKS, TRACE, with_hdf5, with_mpiio
from iomine.triggers.model import Above, Case, Instead, Level, Requests, Trigger
from iomine.triggers.snippets import COLLECTIVE_READ_PYTHON, COLLECTIVE_WRITE_C, COLLECTIVE_WRITE_PYTHON

_FOUND = "Rank 0 moved {rank0_bytes}, {rank0_ratio:.0%} of what all ranks moved"
_ADVICE = (
    (
        "Spread the {rank0_bytes} of rank 0 over all ranks. Least effort: use the parallel mode of the library that does "
        "the I/O instead of gathering at rank 0. In your own format, let each rank read and write its part at"
        " its own offset."
    ),
    with_mpiio("Do so in one collective call (MPI_File_read_at_all, MPI_File_write_at_all)."),
    with_hdf5("HDF5 opens a file in parallel with H5Pset_fapl_mpio."),
    (
        "If rank 0 must do it, let the others compute meanwhile: hand the data over in memory and write them "
        "from a thread or an I/O rank."
    ),
)

TRIGGER = Trigger(
    code="RANK-303",
    view="log_rank_profile",
    level=Level.HIGH,
    all_of=(
        Above(
            "rank0_ratio",
            0.45,
            why="Our own choice: in a run of four or more ranks, an even share is a quarter or less.",
        ),
    ),
    finding=f"{_FOUND}.",
    advice=_ADVICE,
    instead=(Instead("rank0_core_seconds", finding=f"{_FOUND}, in {{rank0_core_seconds:s}}.", advice=_ADVICE),),
    cases=(
        Case(
            "rank 0 does all I/O",
            {"rank0_ratio": 1.0, "rank0_bytes": 4_294_967_296, "rank0_core_seconds": 30.0, "rank0_idle_core_seconds": 450.0},
            state="fired",
        ),
        Case("exactly on the threshold", {"rank0_ratio": 0.45}, state="clear"),
        Case("the log lacks the metric", {"rank0_ratio": None}, state="unknown"),
        Case("a run of three processes", {"process_count": 3, "rank0_ratio": None}, state="not applicable"),
        Case("the log moved no data", {"data_file_count": 0, "rank0_ratio": None}, state="not applicable"),
        Case("below the threshold, but records are missing", {"rank0_ratio": 0.1, "is_complete": False}, state="unknown"),
        Case(
            "records are missing, but those at hand are enough",
            {"rank0_ratio": 1.0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(FOUR_RANKS, DATA_FILES),
    lacks=("rank_lack", "data_lack", "mpiio_lack"),
    needs=f"bytes by rank: records by rank, {TRACE}, or Darshan's heat map",
    cost="rank0_core_seconds",
    idle="rank0_idle_core_seconds",
    evidence="rank_evidence",
    traced=Requests(rank=0),
    snippets=(COLLECTIVE_READ_PYTHON, COLLECTIVE_WRITE_C, COLLECTIVE_WRITE_PYTHON),
    version="2",
)
