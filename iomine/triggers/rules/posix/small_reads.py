"""Most reads are crumbs.

Every request pays a round trip whatever its size, so a program that reads in small pieces waits on latency while
bandwidth sits idle. Small means up to 1 MiB: Darshan's five lowest size bins, the last of which still holds a read of
exactly 1 MiB. The cost is the time of all reads of the log, since Darshan does not time the small ones apart.

Blind spots: reads answered by the client's cache are counted too, although they never reach the servers; reads through
`mmap` are not seen at all; and a few small reads on the critical path, such as a header that every rank waits for, do
not show in a share of the count.
"""

from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="POSIX-101",
    view="log_read_profile",
    level=Level.HIGH,
    all_of=(
        Above("small_read_ratio", 0.10, why="The bar Drishti uses for P05, so results compare."),
        Above("small_read_count", 1000, why="The floor Drishti uses for P05; fewer are not worth anyone's time."),
    ),
    finding="{small_read_count} of {read_count} reads ({small_read_ratio:.0%}) were small: 1 MiB or less.",
    advice=(
        "Read more at a time. In your own code, read a block of several MiB into memory and serve the small pieces from "
        "there, or give the stream a larger buffer with setvbuf. Where ranks read pieces of one shared file, read "
        "collectively (MPI_File_read_at_all), so that few ranks fetch large blocks for all. With HDF5, turn on collective "
        "transfers (H5Pset_dxpl_mpio) and make the chunk cache hold the chunks in use (H5Pset_chunk_cache). Many small "
        "files, each read whole, are better packed into few."
    ),
    cases=(
        Case(
            "half of many reads",
            {"small_read_ratio": 0.5, "small_read_count": 5000, "read_count": 10000, "read_core_seconds": 12.5},
            state="fired",
        ),
        Case("exactly on the bar of the share", {"small_read_ratio": 0.10, "small_read_count": 5000}, state="clear"),
        Case("exactly on the bar of the count", {"small_read_ratio": 1.0, "small_read_count": 1000}, state="clear"),
        Case("the log never read", {"small_read_ratio": None, "small_read_count": 0}, state="unknown"),
        Case(
            "below the bar, but records are missing",
            {"small_read_ratio": 0.05, "small_read_count": 5000, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"small_read_ratio": 0.5, "small_read_count": 5000, "is_complete": False},
            state="fired",
        ),
    ),
    cost="read_core_seconds",
)
