"""Some MPI-IO writes are collective.

The counterpart of M04: Drishti says this wherever it finds a collective write, and adds which share of the MPI-IO
writes that is.

Blind spot: collective calls that a hint has turned off (romio_cb_write=disable) are still counted as collective, and
the share does not matter.
"""

from iomine.triggers.inputs import MPIIO_WRITES
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="M05",
    view="drishti_mpiio",
    level=Level.OK,
    all_of=(Above("coll_write_count", 0, why="Drishti has no threshold here: any at all will do."),),
    finding="{coll_write_count} of {mpiio_write_count} MPI-IO writes were collective.",
    advice="Keep them collective; look whether the others could be, too.",
    cases=(
        Case("a single one", {"coll_write_count": 1, "mpiio_write_count": 5000}, state="fired"),
        Case("exactly on the threshold: none", {"coll_write_count": 0, "mpiio_write_count": 5000}, state="clear"),
        Case("the log lacks the metric", {"coll_write_count": None}, state="unknown"),
        Case(
            "the log wrote nothing through MPI-IO",
            {"mpiio_write_request_count": 0, "coll_write_count": None},
            state="not applicable",
        ),
        Case("none, but the module could not be read whole", {"coll_write_count": 0, "is_complete": False}, state="unknown"),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"coll_write_count": 7, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_WRITES,),
    lacks=("mpiio_lack",),
    ruleset="drishti",
    version="3",
)
