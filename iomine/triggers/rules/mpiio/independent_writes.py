"""Shared files are written independently.

Ranks that write one file through MPI-IO can do so in a collective call. MPI-IO then knows all pieces at once and
lets few ranks write large blocks for all; in independent writes, ranks whose pieces lie close together also take the
file system's locks from each other. Only files that several ranks write through MPI-IO are looked at, in runs with more
than one rank. The cost is the time of the independent writes: of each file a part of its MPI-IO write time in
proportion to their number.

Blind spots: independent writes that are large and follow one another do well, and collective calls can slow them; their
sizes are not looked at. Writes that do not block are counted on neither side. A collective call does not prove that
MPI-IO joined anything: pieces that are contiguous and in rank order are not joined by ROMIO unless the hint
romio_cb_write=enable asks for it.
"""

from iomine.triggers.inputs import SEVERAL_RANKS, SHARED_MPIIO_WRITES, with_hdf5
from iomine.triggers.model import Above, Case, Level, Requests, Trigger
from iomine.triggers.snippets import COLLECTIVE_WRITE_C, COLLECTIVE_WRITE_FORTRAN, COLLECTIVE_WRITE_PYTHON, HDF5_TRANSFER_C

TRIGGER = Trigger(
    code="MPIIO-102",
    view="log_collective_profile",
    level=Level.WARN,
    all_of=(
        Above("indep_write_ratio", 0.5, why="Our own choice: more independent writes than collective ones."),
        Above(
            "indep_write_seconds_ratio",
            0.05,
            why="Our own choice: what takes a twentieth of the MPI-IO time is not worth rewriting a program for.",
        ),
    ),
    finding=(
        "{indep_write_requests_count} MPI-IO writes to shared files ({indep_write_ratio:.0%}) were independent and took "
        "{indep_write_seconds_ratio:.0%} of the MPI-IO time, the largest part in {indep_write_path}."
    ),
    advice=(
        "Write {indep_write_path} collectively where all ranks write at the same time.",
        with_hdf5("Least effort, with HDF5: set its collective mode (H5Pset_dxpl_mpio with H5FD_MPIO_COLLECTIVE)."),
        (
            "In your own code, replace MPI_File_write_at by MPI_File_write_at_all; every rank must call it, one "
            "without data with a count of 0. Where a rank writes many pieces, describe them all by a file view "
            "first, and write them in one call."
        ),
    ),
    cases=(
        Case(
            "no write is collective",
            {
                "indep_write_ratio": 1.0,
                "indep_write_seconds_ratio": 0.6,
                "indep_write_requests_count": 40000,
                "indep_write_core_seconds": 90.0,
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold of the share", {"indep_write_ratio": 0.5, "indep_write_seconds_ratio": 0.6}, state="clear"
        ),
        Case(
            "exactly on the threshold of the time", {"indep_write_ratio": 1.0, "indep_write_seconds_ratio": 0.05}, state="clear"
        ),
        Case(
            "the log lacks the metric",
            {"indep_write_ratio": None, "indep_write_seconds_ratio": None},
            state="unknown",
        ),
        Case(
            "a run of one process",
            {"process_count": 1, "indep_write_ratio": None, "indep_write_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "no shared file was written through MPI-IO",
            {"shared_mpiio_write_count": 0, "indep_write_ratio": None, "indep_write_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"indep_write_ratio": 0.1, "indep_write_seconds_ratio": 0.6, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"indep_write_ratio": 1.0, "indep_write_seconds_ratio": 0.6, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(SEVERAL_RANKS, SHARED_MPIIO_WRITES),
    lacks=("mpiio_lack", "posix_lack"),
    needs="the MPI-IO module, whole",
    cost="indep_write_core_seconds",
    op="write",
    traced=Requests("mpiio", "write", path="indep_write_path"),
    snippets=(COLLECTIVE_WRITE_C, COLLECTIVE_WRITE_FORTRAN, COLLECTIVE_WRITE_PYTHON, HDF5_TRANSFER_C),
    version="2",
)
