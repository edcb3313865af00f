"""No MPI-IO write is non-blocking.

Drishti says of every log with MPI-IO records but without non-blocking writes that it could gain from them.

Blind spots: a program that only reads gets it as well, since whether there are writes is not asked. Some MPI
libraries complete non-blocking writes in the call itself, so using them need not help.
"""

from iomine.triggers.inputs import MPIIO_REQUESTS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="M07",
    view="drishti_mpiio",
    level=Level.WARN,
    all_of=(Above("record_count", 0, why="Drishti has no threshold here: any at all will do."),),
    finding="No MPI-IO write is non-blocking in any of {record_count} MPI-IO records.",
    advice=(
        "If the program could compute while output drains, start it with MPI_File_iwrite_at or "
        "MPI_File_iwrite_at_all from a buffer that stays untouched, and wait before the buffer is used again; "
        "with HDF5, use the asynchronous VOL connector."
    ),
    cases=(
        Case("MPI-IO, and none non-blocking", {"record_count": 12, "nb_write_count": 0}, state="fired"),
        Case("a single one non-blocking", {"record_count": 12, "nb_write_count": 1}, state="clear"),
        Case("exactly on the threshold of the records", {"record_count": 0, "nb_write_count": 0}, state="clear"),
        Case("the log lacks the metric", {"record_count": None, "nb_write_count": None}, state="unknown"),
        Case(
            "the log has no MPI-IO", {"mpiio_call_count": 0, "record_count": None, "nb_write_count": None}, state="not applicable"
        ),
        Case(
            "a single one, and the module could not be read whole",
            {"record_count": 12, "nb_write_count": 1, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, and what there is suffices",
            {"record_count": 12, "nb_write_count": 0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_REQUESTS,),
    lacks=("mpiio_lack",),
    unless=(Above("nb_write_count", 0, why="Drishti has no threshold here: any at all will do."),),
    ruleset="drishti",
    version="3",
)
