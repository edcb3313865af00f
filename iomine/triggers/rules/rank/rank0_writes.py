"""Rank 0 writes for all.

Gathering the output of all ranks in one needs the memory of all in one node, and sends everything over one link twice: once to
rank 0, once to the file system. All others wait meanwhile. Bytes are counted as the program asked for them, so an aggregator
that writes for others within a collective call does not count. The cost is the time that rank 0 spent in writes; gathering
comes on top. Given separately is the time in which other ranks did no I/O meanwhile; with the cost it decides whether this is
a finding.

Blind spots: a log or a few results written by one rank are right, which is what the threshold in bytes is for. A rank other
than 0 that writes for all is seen as an imbalance of bytes only. Runs of fewer than four ranks are never judged.
"""

from iomine.triggers.inputs import FOUR_RANKS, TRACE, WRITTEN_BYTES, with_hdf5, with_mpiio
from iomine.triggers.model import Above, Case, Instead, Level, Requests, Trigger
from iomine.triggers.snippets import COLLECTIVE_WRITE_C, COLLECTIVE_WRITE_FORTRAN, COLLECTIVE_WRITE_PYTHON, HDF5_WRITE_PYTHON
from iomine.units import MIB

_FOUND = "Rank 0 wrote {rank0_write_bytes}, {rank0_write_ratio:.0%} of all that was written"
_ADVICE = (
    (
        "Let every rank write its own part of the {rank0_write_bytes}. Least effort: replace gathering "
        "(MPI_Gather, MPI_Recv in a loop) and writing by a write in which each rank begins at its own offset;"
        " MPI_Exscan finds the offsets where parts differ in size."
    ),
    with_mpiio(
        "Do so in one collective call (MPI_File_write_at_all); if the output must stay in one order on file, "
        "a file view keeps it (MPI_File_set_view)."
    ),
    with_hdf5("In HDF5, let each rank select its part and write collectively (H5Pset_dxpl_mpio)."),
)

TRIGGER = Trigger(
    code="RANK-302",
    view="log_rank_profile",
    level=Level.WARN,
    all_of=(
        Above("rank0_write_ratio", 0.5, why="Our own choice: more than all other ranks together."),
        Above(
            "rank0_write_bytes",
            16 * MIB,
            why="Our own choice: less is a log or a table of results, which one rank may well write.",
        ),
    ),
    finding=f"{_FOUND}.",
    advice=_ADVICE,
    instead=(Instead("rank0_write_core_seconds", finding=f"{_FOUND}, in {{rank0_write_core_seconds:s}}.", advice=_ADVICE),),
    cases=(
        Case(
            "rank 0 wrote all of a large output",
            {
                "rank0_write_ratio": 1.0,
                "rank0_write_bytes": 4_294_967_296,
                "rank0_write_core_seconds": 12.0,
                "rank0_write_idle_core_seconds": 180.0,
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold of the share", {"rank0_write_ratio": 0.5, "rank0_write_bytes": 4_294_967_296}, state="clear"
        ),
        Case("exactly on the threshold of the bytes", {"rank0_write_ratio": 1.0, "rank0_write_bytes": 16_777_216}, state="clear"),
        Case("the log lacks the metric", {"rank0_write_ratio": None, "rank0_write_bytes": None}, state="unknown"),
        Case(
            "a run of three processes",
            {"process_count": 3, "rank0_write_ratio": None, "rank0_write_bytes": None},
            state="not applicable",
        ),
        Case(
            "the log never wrote",
            {"asked_write_bytes": 0, "rank0_write_ratio": None, "rank0_write_bytes": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"rank0_write_ratio": 0.1, "rank0_write_bytes": 4_294_967_296, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"rank0_write_ratio": 1.0, "rank0_write_bytes": 4_294_967_296, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(FOUR_RANKS, WRITTEN_BYTES),
    lacks=("rank_lack", "data_lack", "mpiio_lack"),
    needs=f"bytes by rank: records by rank, {TRACE}, or Darshan's heat map",
    cost="rank0_write_core_seconds",
    idle="rank0_write_idle_core_seconds",
    evidence="rank_evidence",
    op="write",
    traced=Requests(op="write", rank=0),
    snippets=(COLLECTIVE_WRITE_C, COLLECTIVE_WRITE_FORTRAN, COLLECTIVE_WRITE_PYTHON, HDF5_WRITE_PYTHON),
    version="2",
)
