"""No MPI-IO read is collective.

Drishti asks for more than a thousand MPI-IO reads of the job, independent and collective together, and fires unless
any of them was collective.

Blind spots: a single collective read, of whatever file, silences it for the whole job. Non-blocking and split
collective reads are counted on neither side. That independent reads may already be large is not checked.
"""

from iomine.triggers.inputs import MPIIO_READS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="M02",
    view="drishti_mpiio",
    level=Level.HIGH,
    all_of=(Above("mpiio_read_count", 1000, why="Drishti 0.8's default."),),
    finding="None of {mpiio_read_count} MPI-IO reads was collective.",
    advice=(
        "Where all ranks read at the same time, call MPI_File_read_all or MPI_File_read_at_all, and give MPI-IO "
        "about one aggregator for each node (hint cb_nodes). In HDF5, H5Pset_dxpl_mpio with H5FD_MPIO_COLLECTIVE "
        "does it."
    ),
    cases=(
        Case("thousands, none of them collective", {"mpiio_read_count": 5000, "coll_read_count": 0}, state="fired"),
        Case("thousands, and a single one collective", {"mpiio_read_count": 5000, "coll_read_count": 1}, state="clear"),
        Case("exactly on the threshold of the count", {"mpiio_read_count": 1000, "coll_read_count": 0}, state="clear"),
        Case("the log lacks the metric", {"mpiio_read_count": None, "coll_read_count": None}, state="unknown"),
        Case(
            "the log read nothing through MPI-IO",
            {"mpiio_read_request_count": 0, "mpiio_read_count": None, "coll_read_count": None},
            state="not applicable",
        ),
        Case(
            "too few, but the module could not be read whole",
            {"mpiio_read_count": 10, "coll_read_count": 0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"mpiio_read_count": 5000, "coll_read_count": 0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_READS,),
    lacks=("mpiio_lack",),
    unless=(Above("coll_read_count", 0, why="Drishti has no threshold here: any at all will do."),),
    ruleset="drishti",
    version="3",
)
