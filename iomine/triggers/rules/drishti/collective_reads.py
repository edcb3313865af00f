"""Some MPI-IO reads are collective.

Praise: Drishti says this wherever it finds a collective read, and adds which share of the MPI-IO reads
that is.

Blind spot: the share does not matter, so a program with one collective read among a million independent ones gets it
too. Whether the collective reads were worth it does not matter either.
"""

from iomine.triggers.inputs import MPIIO_READS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="M04",
    view="drishti_mpiio",
    level=Level.OK,
    all_of=(Above("coll_read_count", 0, why="Drishti has no threshold here: any at all will do."),),
    finding="{coll_read_count} of {mpiio_read_count} MPI-IO reads were collective.",
    advice="Keep them collective; look whether the others could be, too.",
    cases=(
        Case("a single one", {"coll_read_count": 1, "mpiio_read_count": 5000}, state="fired"),
        Case("exactly on the threshold: none", {"coll_read_count": 0, "mpiio_read_count": 5000}, state="clear"),
        Case("the log lacks the metric", {"coll_read_count": None}, state="unknown"),
        Case(
            "the log read nothing through MPI-IO",
            {"mpiio_read_request_count": 0, "coll_read_count": None},
            state="not applicable",
        ),
        Case("none, but the module could not be read whole", {"coll_read_count": 0, "is_complete": False}, state="unknown"),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"coll_read_count": 7, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_READS,),
    lacks=("mpiio_lack",),
    ruleset="drishti",
    version="3",
)
