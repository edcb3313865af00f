"""Requests are not aligned in the file.

Drishti asks for the share of POSIX reads and writes whose offset was not a multiple of the file's alignment, which
Darshan takes from the block size that the file system reports.

Blind spots: every small request but one in a block is misaligned, so this mostly repeats P05 and P06; there is no
floor; and reads that go on where the one before ended cost nothing for being misaligned.
"""

from iomine.triggers.inputs import POSIX_REQUESTS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="P08",
    view="drishti_posix",
    level=Level.HIGH,
    all_of=(Above("file_not_aligned_ratio", 0.1, why="Drishti 0.8's default."),),
    finding=(
        "{file_not_aligned_ratio:.1%} of reads and writes began at an offset that is not aligned with the file system's blocks."
    ),
    advice=(
        "Begin requests at multiples of the stripe or block size. With HDF5, H5Pset_alignment places objects so; "
        "with MPI-IO, collective buffering does where striping_unit is the file's stripe size; on Lustre, choose "
        "a stripe size that divides the size of your requests."
    ),
    cases=(
        Case("well above the threshold", {"file_not_aligned_ratio": 0.99}, state="fired"),
        Case("exactly on the threshold", {"file_not_aligned_ratio": 0.1}, state="clear"),
        Case("the log lacks the metric", {"file_not_aligned_ratio": None}, state="unknown"),
        Case("neither read nor written", {"posix_data_count": 0, "file_not_aligned_ratio": None}, state="not applicable"),
        Case(
            "below the threshold, but the module could not be read whole",
            {"file_not_aligned_ratio": 0.05, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the module could not be read whole, but what there is suffices",
            {"file_not_aligned_ratio": 0.99, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(POSIX_REQUESTS,),
    lacks=("posix_lack",),
    ruleset="drishti",
    version="3",
)
