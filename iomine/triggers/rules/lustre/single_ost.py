"""A large shared file lies on a single OST.

A file on one OST is as fast as one server, however many ranks read or write it, and other users of that OST wait as well.
Striping spreads a file over several OSTs, each of which adds its own bandwidth. The largest file that four ranks or more
share and that has one stripe is compared with the threshold; those with a tenth of its bytes or more are counted and priced
with it. With fewer ranks one OST keeps up, such as with one that wrote a file and another that reads it back. The cost is the
time in reads and writes of all of them, and the time in collective calls in which ranks waited for these: ROMIO lets as many
ranks move data as there are stripes, so that on one OST all others wait for one.

Blind spots: bytes moved are counted, so a small file that is read over and over can pass for a large one, and is then
served from caches. Of a progressive layout, the component with most stripes counts, even if the file is too small to
reach it. A file system whose OSTs are one fast flash server each gains less.
"""

from iomine.triggers.inputs import LAYOUTS, NEW_FILES, SEVERAL_RANKS, SHARED_LUSTRE_FILES, with_mpiio, with_path
from iomine.triggers.model import Above, Case, Instead, Level, Requests, Trigger
from iomine.triggers.snippets import STRIPE_HINTS_C, STRIPE_SHELL
from iomine.units import GIB

_ADVICE = (
    "Spread {single_ost_path} over more OSTs.",
    with_path(
        "single_ost_path",
        "Least effort: `lfs setstripe -c 16 -S 4M {single_ost_path:folder}`, and `lfs migrate -c 16 -S 4M "
        "{single_ost_path:file}` for the file itself if it will be read again.",
    ),
    NEW_FILES,
    (
        "Take as many stripes as there are ranks that do I/O, up to the OSTs of the file system; a "
        "progressive layout (`lfs setstripe -E`) suits directories with small and large files."
    ),
    with_mpiio(
        "Where the program creates files through MPI-IO, it can ask for stripes by the hints striping_factor and striping_unit."
    ),
)

TRIGGER = Trigger(
    code="LUSTRE-101",
    view="log_stripe_profile",
    level=Level.HIGH,
    all_of=(
        Above(
            "single_ost_bytes",
            GIB,
            why="Our own choice, near what centres advise: below, one OST is done in a few seconds.",
        ),
    ),
    finding=(
        "{single_ost_file_count} large shared files lie on one OST each: they took {single_ost_core_seconds}, waiting in "
        "collective calls included, the largest of them {single_ost_path} with {single_ost_bytes}."
    ),
    advice=_ADVICE,
    instead=(
        Instead(
            "single_ost_rank_count",
            finding=(
                "{single_ost_path} lies on one OST, shared by {single_ost_rank_count} ranks: its {single_ost_bytes} took "
                "{single_ost_core_seconds}, waiting in collective calls included."
            ),
            advice=_ADVICE,
        ),
    ),
    cases=(
        Case(
            "one file of 16 GiB, shared by 128 ranks",
            {
                "single_ost_bytes": 17_179_869_184,
                "single_ost_file_count": 1,
                "single_ost_core_seconds": 6120.0,
                "single_ost_rank_count": 128,
            },
            state="fired",
        ),
        Case(
            "a file of 64 GiB",
            {"single_ost_bytes": 68_719_476_736, "single_ost_file_count": 1, "single_ost_core_seconds": 3600.0},
            state="fired",
        ),
        Case("exactly on the threshold", {"single_ost_bytes": 1_073_741_824}, state="clear"),
        Case("no shared file on one OST", {"single_ost_bytes": 0}, state="clear"),
        Case("layouts are not known", {"single_ost_bytes": None}, state="unknown"),
        Case("a run of one process", {"process_count": 1, "single_ost_bytes": None}, state="not applicable"),
        Case("no file on Lustre was shared", {"shared_lustre_file_count": 0, "single_ost_bytes": None}, state="not applicable"),
        Case("below the threshold, but records are missing", {"single_ost_bytes": 1000, "is_complete": False}, state="unknown"),
        Case(
            "records are missing, but those at hand are enough",
            {"single_ost_bytes": 68_719_476_736, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(SEVERAL_RANKS, SHARED_LUSTRE_FILES),
    lacks=("posix_lack", "layout_lack"),
    needs=f"the POSIX module, whole, and {LAYOUTS}",
    cost="single_ost_core_seconds",
    traced=Requests("posix", path="single_ost_path"),
    snippets=(STRIPE_SHELL, STRIPE_HINTS_C),
    version="3",
)
