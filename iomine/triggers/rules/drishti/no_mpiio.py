"""The program does not use MPI-IO.

Drishti says this of every log without an MPI-IO module, and calls what the program uses a low-performance interface.
It is the only one of its checks that a log without any I/O can fire.

Blind spots: it fires for serial programs, for scripts that only start others, and for programs in which each rank
fills large files of its own, all of which have nothing to gain from MPI-IO.
"""

from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="M01",
    view="drishti_mpiio",
    level=Level.WARN,
    all_of=(Above("no_mpiio", 0, why="Drishti asks whether the module is there."),),
    finding="The log has no MPI-IO module.",
    advice=(
        "If many ranks read or write parts of the same file, do it through MPI-IO or a library above it, such as "
        "parallel HDF5 or PnetCDF; otherwise leave it as it is."
    ),
    cases=(
        Case("no module", {"no_mpiio": 1}, state="fired"),
        Case("exactly on the threshold: the module is there", {"no_mpiio": 0}, state="clear"),
        Case("nothing is known of the log", {"no_mpiio": None}, state="unknown"),
        Case("the module is there, but could not be read whole", {"no_mpiio": 0, "is_complete": False}, state="unknown"),
        Case("no module, in a log that lacks something else", {"no_mpiio": 1, "is_complete": False}, state="fired"),
    ),
    lacks=("mpiio_lack",),
    ruleset="drishti",
    version="2",
)
