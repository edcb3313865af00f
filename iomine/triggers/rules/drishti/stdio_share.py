"""Much of the data went through stdio.

Drishti asks for the share of stdio in all bytes moved. All bytes are those of STDIO, POSIX and MPI-IO; since MPI-IO
passes through POSIX, its bytes are taken off POSIX's, but only where POSIX has at least as many.

Blind spots: what a program prints to its standard streams counts like data, so a program that does little I/O but
logs much is advised to use MPI-IO. Bytes are all that counts, so a million tiny writes beside one large file stay
unseen. DFS is left out of the sum.
"""

from iomine.triggers.inputs import DATA_FILES
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="S01",
    view="drishti_stdio",
    level=Level.HIGH,
    all_of=(Above("stdio_ratio", 0.1, why="Drishti 0.8's default."),),
    finding="{stdio_bytes}, {stdio_ratio:.1%} of all, went through stdio.",
    advice=(
        "Move bulk data away from fopen, fwrite and fprintf, or from Fortran and C++ streams that end there: "
        "write it with MPI-IO or a library above it such as HDF5 or PnetCDF. Where stdio must stay, give the "
        "stream a buffer of several MiB with setvbuf."
    ),
    cases=(
        Case("well above the threshold", {"stdio_ratio": 0.9, "stdio_bytes": 900000000}, state="fired"),
        Case("exactly on the threshold", {"stdio_ratio": 0.1}, state="clear"),
        Case("the log lacks the metric", {"stdio_ratio": None}, state="unknown"),
        Case("the log moved no data", {"data_file_count": 0, "stdio_ratio": None}, state="not applicable"),
        Case(
            "below the threshold, but the module could not be read whole",
            {"stdio_ratio": 0.01, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"stdio_ratio": 0.9, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(DATA_FILES,),
    lacks=("data_lack", "mpiio_lack"),
    ruleset="drishti",
    version="3",
)
