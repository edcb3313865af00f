"""Small writes take time.

Every request pays a round trip whatever its size, and small writes to a shared file also make clients take locks from each
other. Small means smaller than the setting, and a write of just that size is not small. A DXT trace that holds all writes
gives exact sizes; without one, Darshan's four commonest sizes do where they cover all requests of a file, otherwise its size
bins; writes through stdio go by their mean size. The cost is the time of the small writes: of each file a part of its write
time in proportion to their number, since Darshan does not time them apart. The time of syncs, which Darshan adds to that of
writes, is subtracted (see POSIX-141).

Blind spots: where a file is written in small and large pieces, a small one is charged as much as a large one. Small writes in
sequence that a cache joins, of stdio or of the client, are counted too; they cost little, so the share of the time keeps most
of them out. What the cache flushes after the program closed the file costs time that no log shows, and writes through `mmap`
are not seen at all.
"""

from iomine.triggers.gathering import Texts, example_of, where_gathered
from iomine.triggers.inputs import TRACE, WRITES, with_hdf5, with_mpiio, without_mpiio
from iomine.triggers.model import Above, Case, Level, Requests, Setting, Snippet, Trigger
from iomine.triggers.snippets import COLLECTIVE_WRITE_C, COLLECTIVE_WRITE_FORTRAN, COLLECTIVE_WRITE_PYTHON, HDF5_WRITE_PYTHON
from iomine.units import MIB

_TEXTS = Texts(
    finding=(
        "{small_write_count} of {write_count} writes ({small_write_ratio:.0%}) were small and took "
        "{small_write_seconds_ratio:.0%} of the time in reads and writes, the largest part in {small_write_path}."
    ),
    advice=(
        "Write {small_write_path} in larger pieces.",
        without_mpiio(
            "Least effort: give streams a buffer of several MiB (setvbuf in C, buffering= of Python's open), and do not flush "
            "after each line."
        ),
        with_hdf5("With HDF5, choose chunks of a MiB or more that the chunk cache can hold (H5Pset_chunk_cache)."),
        "Next: gather the {small_write_count} small pieces in memory and write them in blocks of several MiB.",
    ),
    gathering=(
        with_mpiio(
            "Where ranks write pieces of one shared file, write collectively (MPI_File_write_at_all), so that few ranks send "
            "large blocks for all."
        ),
        with_hdf5("HDF5 writes datasets collectively with H5Pset_dxpl_mpio."),
    ),
)
TRIGGER = Trigger(
    code="POSIX-102",
    view="log_requests",
    level=Level.HIGH,
    all_of=(
        Above("small_write_ratio", 0.10, why="The threshold Drishti uses for P06, so results compare."),
        Above(
            "small_write_seconds_ratio",
            0.05,
            why="Our own choice: what takes a twentieth of that time is not worth rewriting a program for.",
        ),
    ),
    finding=_TEXTS.finding,
    advice=(*_TEXTS.advice, *_TEXTS.gathering),
    instead=where_gathered("write", _TEXTS),
    cases=(
        Case(
            "half of many writes, a third of the time",
            {
                "small_write_ratio": 0.5,
                "small_write_seconds_ratio": 0.33,
                "small_write_count": 5000,
                "write_count": 10000,
                "small_write_core_seconds": 12.5,
            },
            state="fired",
        ),
        Case(
            "half of many writes, with all that may be known of gathering",
            {
                "small_write_ratio": 0.5,
                "small_write_seconds_ratio": 0.33,
                "small_write_count": 5000,
                "write_count": 10000,
                "small_write_core_seconds": 12.5,
                **example_of("write"),
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold of the share", {"small_write_ratio": 0.10, "small_write_seconds_ratio": 0.33}, state="clear"
        ),
        Case(
            "exactly on the threshold of the time", {"small_write_ratio": 1.0, "small_write_seconds_ratio": 0.05}, state="clear"
        ),
        Case(
            "the log lacks the metric",
            {"small_write_ratio": None, "small_write_seconds_ratio": None},
            state="unknown",
        ),
        Case(
            "the log never wrote",
            {"data_write_count": 0, "small_write_ratio": None, "small_write_seconds_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"small_write_ratio": 0.05, "small_write_seconds_ratio": 0.33, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"small_write_ratio": 0.5, "small_write_seconds_ratio": 0.33, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(WRITES,),
    lacks=("data_lack",),
    needs=f"the POSIX and STDIO modules, whole; {TRACE} makes sizes exact",
    cost="small_write_core_seconds",
    evidence="write_size_evidence",
    settings=(
        Setting(
            "small_write_bytes", MIB, why="A usual stripe size of Lustre, and the size up to which Drishti calls a write small."
        ),
    ),
    op="write",
    traced=Requests("posix", "write", below="small_write_bytes"),
    snippets=(
        Snippet(
            "c",
            "A stream that writes in blocks of 8 MiB, whatever the pieces",
            """\
FILE *file = fopen("particles.txt", "w");

setvbuf(file, NULL, _IOFBF, 8 * 1024 * 1024);
for (int i = 0; i < count; i++)
    fprintf(file, "%.17g\\n", values[i]);
fclose(file);
""",
        ),
        COLLECTIVE_WRITE_C,
        COLLECTIVE_WRITE_FORTRAN,
        COLLECTIVE_WRITE_PYTHON,
        HDF5_WRITE_PYTHON,
    ),
    version="3",
)
