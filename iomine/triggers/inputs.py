"""What the manual pages of several triggers ask for: inputs, what a log must have done, and which runs an advice is for.

Each is written once, so that all triggers give the same way to get an input, and mean the same by what they apply to.
"""

from typing import Final

from iomine.triggers.model import Above, Where

TRACE: Final = "a DXT trace (run with DXT_ENABLE_IO_TRACE=1 or DARSHAN_MOD_ENABLE=DXT_POSIX,DXT_MPIIO)"
LAYOUTS: Final = "Lustre layouts (a Darshan library that was built with its Lustre module)"
JOB_STATS: Final = "the job_stats of Lustre 2.14 or newer from the time of the run (given to `iomine sweep` with --stats)"
FABRIC_TOPOLOGY: Final = "the links of the fabric, with those of nodes and servers (given to `iomine sweep` with --stats)"
FABRIC_COUNTERS: Final = f"{FABRIC_TOPOLOGY}, and readings of its ports from the time of the run"

# Said wherever an advice sets layouts: folders of a run that has ended get no more files.
NEW_FILES: Final = (
    "`lfs setstripe` applies to files that are created afterwards: set it on the folder that the next run writes to. Files that "
    "are there keep their layout until they are migrated (`lfs migrate`) or copied."
)

SEVERAL_RANKS: Final = Above("process_count", 1, why="One process has nobody to share with, to wait for or to be compared with.")
FOUR_RANKS: Final = Above("process_count", 3, why="Among three ranks none can be out of line: one is already a third of them.")
FOUR_TIMED_RANKS: Final = Above("timed_rank_count", 3, why="Among three ranks none can be out of line: one is already a third.")
READS: Final = Above("data_read_count", 0, why="A program that read no file has no reads to ask about.")
WRITES: Final = Above("data_write_count", 0, why="A program that wrote no file has no writes to ask about.")
READ_BYTES: Final = Above("asked_read_bytes", 0, why="A program that read no byte has read none again, and none for others.")
WRITTEN_BYTES: Final = Above(
    "asked_write_bytes", 0, why="A program that wrote no byte has written none again, and none for others."
)
POSIX_READS: Final = Above("posix_read_count", 0, why="Without reads through POSIX there is nothing to ask about.")
POSIX_WRITES: Final = Above("posix_write_count", 0, why="Without writes through POSIX there is nothing to ask about.")
POSIX_REQUESTS: Final = Above("posix_data_count", 0, why="Without requests to POSIX there is nothing to ask about.")
DIRECT_REQUESTS: Final = Above("direct_request_count", 0, why="Without requests to POSIX there is nothing to ask about.")
REQUESTS_BENEATH: Final = Above("beneath_request_count", 0, why="Without POSIX requests of MPI-IO there is nothing to ask about.")
TOUCHED_FILES: Final = Above("touched_file_count", 0, why="A program that opened no file made no metadata calls to ask about.")
POSIX_FILES: Final = Above("posix_file_count", 0, why="A program that opened no file through POSIX has no calls to ask about.")
DATA_FILES: Final = Above("data_file_count", 0, why="A program that moved no data has no files of data to ask about.")
MPIIO_REQUESTS: Final = Above("mpiio_call_count", 0, why="Without requests to MPI-IO there is nothing to ask about.")
MPIIO_READS: Final = Above("mpiio_read_request_count", 0, why="Without reads through MPI-IO there is nothing to ask about.")
MPIIO_WRITES: Final = Above("mpiio_write_request_count", 0, why="Without writes through MPI-IO there is nothing to ask about.")
SHARED_MPIIO_READS: Final = Above("shared_mpiio_read_count", 0, why="Collective reads are for files that ranks share.")
SHARED_MPIIO_WRITES: Final = Above("shared_mpiio_write_count", 0, why="Collective writes are for files that ranks share.")
COLLECTIVES: Final = Above("collective_request_count", 0, why="Without collective calls none can have been in vain.")
LUSTRE_FILES: Final = Above("lustre_file_count", 0, why="Files on other file systems have no OSTs.")
SHARED_LUSTRE_FILES: Final = Above("shared_lustre_file_count", 0, why="A file of one rank alone is not contended for.")
STRIPED_FILES: Final = Above("striped_file_count", 0, why="A file on one OST has no stripes that could be shared or straddled.")
SHARED_RECORDS: Final = Above("shared_record_count", 0, why="Without records that all ranks share there is nothing to ask about.")
OWN_RECORDS: Final = Above("own_record_count", 0, why="Without records of single ranks there is nothing to ask about.")


def with_hdf5(text: str) -> Where:
    """A part of an advice for programs that use HDF5."""
    return Where(("hdf5_file_count",), text)


def with_mpiio(text: str) -> Where:
    """A part of an advice for programs that use MPI-IO."""
    return Where(("mpiio_call_count",), text)


def without_mpiio(text: str) -> Where:
    """A part of an advice for programs that do not use MPI-IO."""
    return Where(("mpiio_call_count",), text, is_not=True)


def with_files(text: str) -> Where:
    """A part of an advice for runs that opened ten files or more: who opens one or two cannot open fewer."""
    return Where(("touched_file_count",), text, above=9)


def with_ranks(text: str) -> Where:
    """A part of an advice for runs of several processes."""
    return Where(("process_count",), text, above=1)


def with_nodes(text: str, *metrics: str) -> Where:
    """A part of an advice for runs on several nodes, of which these metrics are known."""
    return Where(("known_node_count", *metrics), text, above=1)


def with_path(metric: str, text: str) -> Where:
    """A part of an advice with a command for a path, which must be known."""
    return Where((metric,), text)


def on_lustre(text: str) -> Where:
    """A part of an advice for files on Lustre."""
    return Where(("lustre_file_count",), text)
