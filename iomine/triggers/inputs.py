"""Names of inputs that the manual pages of several triggers ask for, so that all give the same way to get them."""

from typing import Final

TRACE: Final = "a DXT trace (run with DXT_ENABLE_IO_TRACE=1 or DARSHAN_MOD_ENABLE=DXT_POSIX,DXT_MPIIO)"
LAYOUTS: Final = "Lustre layouts (a Darshan library that was built with its Lustre module)"
JOB_STATS: Final = "the job_stats of Lustre 2.14 or newer from the time of the run (given to `iomine sweep` with --stats)"
