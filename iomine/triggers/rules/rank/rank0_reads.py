"""Rank 0 reads for all.

A rank that reads the input alone has the network link and the memory of one node, while the file system could serve all nodes
at once; the others wait until their parts arrive. Bytes are counted as the program asked for them, so an aggregator that reads
for others within a collective call does not count. The cost is the time that rank 0 spent in reads. Given separately is the
time in which other ranks did no I/O meanwhile; with the cost it decides whether this is a finding.

Blind spots: reading a small input and sending it to all is right, which is what the threshold in bytes is for. A rank other
than 0 that reads for all is seen as an imbalance of bytes only. Runs of fewer than four ranks are never judged.
"""

from iomine.triggers.inputs import FOUR_RANKS, READ_BYTES, TRACE, with_hdf5, with_mpiio
from iomine.triggers.model import Above, Case, Instead, Level, Requests, Trigger
from iomine.triggers.snippets import COLLECTIVE_READ_C, COLLECTIVE_READ_PYTHON, HDF5_READ_PYTHON
from iomine.units import MIB

_FOUND = "Rank 0 read {rank0_read_bytes}, {rank0_read_ratio:.0%} of all that was read"
_ADVICE = (
    (
        "Let every rank read its own part of the {rank0_read_bytes}. Least effort: replace reading and "
        "scattering (MPI_Scatter, MPI_Send) by a read in which each rank begins at its own offset."
    ),
    with_mpiio("Do so in one collective call (MPI_File_read_at_all)."),
    with_hdf5("In HDF5, let each rank select its part and read collectively (H5Pset_dxpl_mpio)."),
    (
        "If all ranks need all of it, read it in parts and put it together with MPI_Allgather. If it is text,"
        " convert it to a binary format once, so that ranks can find their parts."
    ),
)

TRIGGER = Trigger(
    code="RANK-301",
    view="log_rank_profile",
    level=Level.WARN,
    all_of=(
        Above("rank0_read_ratio", 0.5, why="Our own choice: more than all other ranks together."),
        Above(
            "rank0_read_bytes",
            16 * MIB,
            why="Our own choice: smaller inputs are best read by one rank, which sends them to the others.",
        ),
    ),
    finding=f"{_FOUND}.",
    advice=_ADVICE,
    instead=(Instead("rank0_read_core_seconds", finding=f"{_FOUND}, in {{rank0_read_core_seconds:s}}.", advice=_ADVICE),),
    cases=(
        Case(
            "rank 0 read all of a large input",
            {
                "rank0_read_ratio": 1.0,
                "rank0_read_bytes": 4_294_967_296,
                "rank0_read_core_seconds": 12.0,
                "rank0_read_idle_core_seconds": 180.0,
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold of the share", {"rank0_read_ratio": 0.5, "rank0_read_bytes": 4_294_967_296}, state="clear"
        ),
        Case("exactly on the threshold of the bytes", {"rank0_read_ratio": 1.0, "rank0_read_bytes": 16_777_216}, state="clear"),
        Case("the log lacks the metric", {"rank0_read_ratio": None, "rank0_read_bytes": None}, state="unknown"),
        Case(
            "a run of three processes",
            {"process_count": 3, "rank0_read_ratio": None, "rank0_read_bytes": None},
            state="not applicable",
        ),
        Case(
            "the log never read",
            {"asked_read_bytes": 0, "rank0_read_ratio": None, "rank0_read_bytes": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"rank0_read_ratio": 0.1, "rank0_read_bytes": 4_294_967_296, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"rank0_read_ratio": 1.0, "rank0_read_bytes": 4_294_967_296, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(FOUR_RANKS, READ_BYTES),
    lacks=("rank_lack", "data_lack", "mpiio_lack"),
    needs=f"bytes by rank: records by rank, {TRACE}, or Darshan's heat map",
    cost="rank0_read_core_seconds",
    idle="rank0_read_idle_core_seconds",
    evidence="rank_evidence",
    op="read",
    traced=Requests(op="read", rank=0),
    snippets=(COLLECTIVE_READ_C, COLLECTIVE_READ_PYTHON, HDF5_READ_PYTHON),
    version="2",
)
