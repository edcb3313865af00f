"""Small reads take time.

Every request pays a round trip whatever its size, so a program that reads in small pieces waits on latency while
bandwidth sits idle. Small means smaller than the setting, and a read of just that size is not small. A DXT trace that
holds all reads gives exact sizes; without one, Darshan's four commonest sizes do where they cover all requests of a
file, otherwise its size bins; reads through stdio go by their mean size. The cost is the time of the small reads: of
each file a part of its read time in proportion to their number, since Darshan does not time them apart.

Blind spots: where a file is read in small and large pieces, a small one is charged as much as a large one. Reads
answered by a cache, of stdio or of the client, are counted too, although they never reach the servers; they cost
little, so the share of the time keeps most of them out. Reads through `mmap` are not seen at all. A few small reads
that every rank waits for, such as a header, do not show in a share of the count.
"""

from iomine.triggers.gathering import Texts, example_of, where_gathered
from iomine.triggers.inputs import READS, TRACE, with_hdf5, with_mpiio, without_mpiio
from iomine.triggers.model import Above, Case, Level, Requests, Setting, Snippet, Trigger
from iomine.triggers.snippets import COLLECTIVE_READ_C, COLLECTIVE_READ_PYTHON, HDF5_READ_PYTHON
from iomine.units import MIB

_TEXTS = Texts(
    finding=(
        "{small_read_count} of {read_count} reads ({small_read_ratio:.0%}) were small and took "
        "{small_read_seconds_ratio:.0%} of the time in reads and writes, the largest part in {small_read_path}."
    ),
    advice=(
        "Read {small_read_path} in larger pieces.",
        without_mpiio("Least effort: give streams a buffer of several MiB (setvbuf in C, buffering= of Python's open)."),
        with_hdf5("With HDF5, make the chunk cache hold the chunks in use (H5Pset_chunk_cache)."),
        (
            "Next: read a block of several MiB into memory and serve the {small_read_count} small pieces from there. Many small "
            "files, each read whole, are better packed into few."
        ),
    ),
    gathering=(
        with_mpiio(
            "Where ranks read pieces of one shared file, read collectively (MPI_File_read_at_all), so that few ranks fetch "
            "large blocks for all."
        ),
        with_hdf5("HDF5 reads datasets collectively with H5Pset_dxpl_mpio."),
    ),
)
TRIGGER = Trigger(
    code="POSIX-101",
    view="log_requests",
    level=Level.HIGH,
    all_of=(
        Above("small_read_ratio", 0.10, why="The threshold Drishti uses for P05, so results compare."),
        Above(
            "small_read_seconds_ratio",
            0.05,
            why="Our own choice: what takes a twentieth of that time is not worth rewriting a program for.",
        ),
    ),
    finding=_TEXTS.finding,
    advice=(*_TEXTS.advice, *_TEXTS.gathering),
    instead=where_gathered("read", _TEXTS),
    cases=(
        Case(
            "half of many reads, a third of the time",
            {
                "small_read_ratio": 0.5,
                "small_read_seconds_ratio": 0.33,
                "small_read_count": 5000,
                "read_count": 10000,
                "small_read_core_seconds": 12.5,
            },
            state="fired",
        ),
        Case(
            "half of many reads, with all that may be known of gathering",
            {
                "small_read_ratio": 0.5,
                "small_read_seconds_ratio": 0.33,
                "small_read_count": 5000,
                "read_count": 10000,
                "small_read_core_seconds": 12.5,
                **example_of("read"),
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold of the share", {"small_read_ratio": 0.10, "small_read_seconds_ratio": 0.33}, state="clear"
        ),
        Case("exactly on the threshold of the time", {"small_read_ratio": 1.0, "small_read_seconds_ratio": 0.05}, state="clear"),
        Case(
            "the log lacks the metric",
            {"small_read_ratio": None, "small_read_seconds_ratio": None},
            state="unknown",
        ),
        Case(
            "the log never read",
            {"data_read_count": 0, "small_read_ratio": None, "small_read_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"small_read_ratio": 0.05, "small_read_seconds_ratio": 0.33, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"small_read_ratio": 0.5, "small_read_seconds_ratio": 0.33, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(READS,),
    lacks=("data_lack",),
    needs=f"the POSIX and STDIO modules, whole; {TRACE} makes sizes exact",
    cost="small_read_core_seconds",
    evidence="read_size_evidence",
    settings=(
        Setting(
            "small_read_bytes", MIB, why="A usual stripe size of Lustre, and the size up to which Drishti calls a read small."
        ),
    ),
    op="read",
    traced=Requests("posix", "read", below="small_read_bytes"),
    snippets=(
        Snippet(
            "python",
            "Small pieces are served from a buffer that is filled in large ones",
            """\
import struct

with open("particles.dat", "rb", buffering=8 * 1024 * 1024) as file:
    while piece := file.read(24):
        x, y, z = struct.unpack("3d", piece)
""",
        ),
        COLLECTIVE_READ_C,
        COLLECTIVE_READ_PYTHON,
        HDF5_READ_PYTHON,
    ),
    version="3",
)
