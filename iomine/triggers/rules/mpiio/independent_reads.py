"""Shared files are read independently.

Ranks that read one file through MPI-IO can do so in a collective call. MPI-IO then knows all pieces at once and
lets few ranks fetch large blocks for all; in independent reads each rank goes to the file system for itself. Only files
that several ranks read through MPI-IO are looked at, in runs with more than one rank. The cost is the time of the
independent reads: of each file a part of its MPI-IO read time in proportion to their number.

Blind spots: independent reads that are large and follow one another do well, and collective calls can slow them; their
sizes are not looked at. Reads that do not block are counted on neither side. A collective call does not prove that
MPI-IO joined anything: with the hint romio_cb_read=disable, each rank still reads for itself.
"""

from iomine.triggers.inputs import SEVERAL_RANKS, SHARED_MPIIO_READS, with_hdf5
from iomine.triggers.model import Above, Case, Level, Requests, Trigger
from iomine.triggers.snippets import COLLECTIVE_READ_C, COLLECTIVE_READ_PYTHON, HDF5_READ_PYTHON

TRIGGER = Trigger(
    code="MPIIO-101",
    view="log_collective_profile",
    level=Level.WARN,
    all_of=(
        Above("indep_read_ratio", 0.5, why="Our own choice: more independent reads than collective ones."),
        Above(
            "indep_read_seconds_ratio",
            0.05,
            why="Our own choice: what takes a twentieth of the MPI-IO time is not worth rewriting a program for.",
        ),
    ),
    finding=(
        "{indep_read_requests_count} MPI-IO reads of shared files ({indep_read_ratio:.0%}) were independent and took "
        "{indep_read_seconds_ratio:.0%} of the MPI-IO time, the largest part in {indep_read_path}."
    ),
    advice=(
        "Read {indep_read_path} collectively where all ranks read at the same time.",
        with_hdf5("Least effort, with HDF5: set its collective mode (H5Pset_dxpl_mpio with H5FD_MPIO_COLLECTIVE)."),
        (
            "In your own code, replace MPI_File_read_at by MPI_File_read_at_all; every rank must call it, one "
            "without data with a count of 0. Where a rank reads many pieces, describe them all by a file view "
            "first, and read them in one call."
        ),
    ),
    cases=(
        Case(
            "no read is collective",
            {
                "indep_read_ratio": 1.0,
                "indep_read_seconds_ratio": 0.6,
                "indep_read_requests_count": 40000,
                "indep_read_core_seconds": 90.0,
            },
            state="fired",
        ),
        Case("exactly on the threshold of the share", {"indep_read_ratio": 0.5, "indep_read_seconds_ratio": 0.6}, state="clear"),
        Case("exactly on the threshold of the time", {"indep_read_ratio": 1.0, "indep_read_seconds_ratio": 0.05}, state="clear"),
        Case(
            "the log lacks the metric",
            {"indep_read_ratio": None, "indep_read_seconds_ratio": None},
            state="unknown",
        ),
        Case(
            "a run of one process",
            {"process_count": 1, "indep_read_ratio": None, "indep_read_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "no shared file was read through MPI-IO",
            {"shared_mpiio_read_count": 0, "indep_read_ratio": None, "indep_read_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"indep_read_ratio": 0.1, "indep_read_seconds_ratio": 0.6, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"indep_read_ratio": 1.0, "indep_read_seconds_ratio": 0.6, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(SEVERAL_RANKS, SHARED_MPIIO_READS),
    lacks=("mpiio_lack", "posix_lack"),
    needs="the MPI-IO module, whole",
    cost="indep_read_core_seconds",
    op="read",
    traced=Requests("mpiio", "read", path="indep_read_path"),
    snippets=(COLLECTIVE_READ_C, COLLECTIVE_READ_PYTHON, HDF5_READ_PYTHON),
    version="2",
)
