"""Most writes are crumbs.

Every request pays a round trip whatever its size, and small writes to a shared file also make clients take locks from
each other. Small means up to 1 MiB: Darshan's five lowest size bins, the last of which still holds a write of exactly
1 MiB. The cost is the time of all writes of the log, since Darshan does not time the small ones apart.

Blind spots: small writes in sequence that the client's cache joins before they leave the node are counted too; writes
through `mmap` are not seen at all; and what the cache flushes after the program closed the file costs time that no log
shows.
"""

from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="POSIX-102",
    view="log_write_profile",
    level=Level.HIGH,
    all_of=(
        Above("small_write_ratio", 0.10, why="The bar Drishti uses for P06, so results compare."),
        Above("small_write_count", 1000, why="The floor Drishti uses for P06; fewer are not worth anyone's time."),
    ),
    finding="{small_write_count} of {write_count} writes ({small_write_ratio:.0%}) were small: 1 MiB or less.",
    advice=(
        "Write more at a time. In your own code, gather output in memory and write it in blocks of several MiB, or give "
        "the stream a larger buffer with setvbuf and do not flush after each line. Where ranks write pieces of one shared "
        "file, write collectively (MPI_File_write_at_all), so that few ranks send large blocks for all. With HDF5, turn on "
        "collective transfers (H5Pset_dxpl_mpio), and choose chunks of one MiB or more that the chunk cache can hold "
        "(H5Pset_chunk_cache)."
    ),
    cases=(
        Case(
            "half of many writes",
            {"small_write_ratio": 0.5, "small_write_count": 5000, "write_count": 10000, "write_core_seconds": 12.5},
            state="fired",
        ),
        Case("exactly on the bar of the share", {"small_write_ratio": 0.10, "small_write_count": 5000}, state="clear"),
        Case("exactly on the bar of the count", {"small_write_ratio": 1.0, "small_write_count": 1000}, state="clear"),
        Case("the log never wrote", {"small_write_ratio": None, "small_write_count": 0}, state="unknown"),
        Case(
            "below the bar, but records are missing",
            {"small_write_ratio": 0.05, "small_write_count": 5000, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"small_write_ratio": 0.5, "small_write_count": 5000, "is_complete": False},
            state="fired",
        ),
    ),
    cost="write_core_seconds",
)
