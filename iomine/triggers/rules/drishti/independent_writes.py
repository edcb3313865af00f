"""No MPI-IO write is collective.

The question of M02 about writes: more than a thousand of them through MPI-IO, independent and collective together,
and not one of them collective.

Blind spots: one collective write of a header silences it, even if a million independent ones follow. Non-blocking and
split collective writes are counted on neither side.
"""

from iomine.triggers.inputs import MPIIO_WRITES
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="M03",
    view="drishti_mpiio",
    level=Level.HIGH,
    all_of=(Above("mpiio_write_count", 1000, why="Drishti 0.8's default."),),
    finding="None of {mpiio_write_count} MPI-IO writes was collective.",
    advice=(
        "Where all ranks write at the same time, call MPI_File_write_all or MPI_File_write_at_all, and give "
        "MPI-IO about one aggregator for each node (hint cb_nodes). In HDF5, H5Pset_dxpl_mpio with "
        "H5FD_MPIO_COLLECTIVE does it."
    ),
    cases=(
        Case("thousands, none of them collective", {"mpiio_write_count": 5000, "coll_write_count": 0}, state="fired"),
        Case("thousands, and a single one collective", {"mpiio_write_count": 5000, "coll_write_count": 1}, state="clear"),
        Case("exactly on the threshold of the count", {"mpiio_write_count": 1000, "coll_write_count": 0}, state="clear"),
        Case("the log lacks the metric", {"mpiio_write_count": None, "coll_write_count": None}, state="unknown"),
        Case(
            "the log wrote nothing through MPI-IO",
            {"mpiio_write_request_count": 0, "mpiio_write_count": None, "coll_write_count": None},
            state="not applicable",
        ),
        Case(
            "too few, but the module could not be read whole",
            {"mpiio_write_count": 10, "coll_write_count": 0, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"mpiio_write_count": 5000, "coll_write_count": 0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_WRITES,),
    lacks=("mpiio_lack",),
    unless=(Above("coll_write_count", 0, why="Drishti has no threshold here: any at all will do."),),
    ruleset="drishti",
    version="3",
)
