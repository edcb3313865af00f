"""No MPI-IO read is non-blocking.

Drishti says of every log with MPI-IO records but without non-blocking reads that it could gain from them.

Blind spots: whether the program reads through MPI-IO at all is not asked, so one that only writes is advised to read in
the background. There is no floor, and no check whether there is any computation to overlap with. Split collective
reads, which also let a program go on, are not counted.
"""

from iomine.triggers.inputs import MPIIO_REQUESTS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="M06",
    view="drishti_mpiio",
    level=Level.WARN,
    all_of=(Above("record_count", 0, why="Drishti has no threshold here: any at all will do."),),
    finding="No MPI-IO read is non-blocking in any of {record_count} MPI-IO records.",
    advice=(
        "If the next input is known while the program computes, fetch it ahead with MPI_File_iread_at or "
        "MPI_File_iread_at_all and wait for it when it is needed; with HDF5, the asynchronous VOL connector does "
        "so with little change."
    ),
    cases=(
        Case("MPI-IO, and none non-blocking", {"record_count": 12, "nb_read_count": 0}, state="fired"),
        Case("a single one non-blocking", {"record_count": 12, "nb_read_count": 1}, state="clear"),
        Case("exactly on the threshold of the records", {"record_count": 0, "nb_read_count": 0}, state="clear"),
        Case("the log lacks the metric", {"record_count": None, "nb_read_count": None}, state="unknown"),
        Case(
            "the log has no MPI-IO", {"mpiio_call_count": 0, "record_count": None, "nb_read_count": None}, state="not applicable"
        ),
        Case(
            "a single one, and the module could not be read whole",
            {"record_count": 12, "nb_read_count": 1, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, and what there is suffices",
            {"record_count": 12, "nb_read_count": 0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_REQUESTS,),
    lacks=("mpiio_lack",),
    unless=(Above("nb_read_count", 0, why="Drishti has no threshold here: any at all will do."),),
    ruleset="drishti",
    version="3",
)
