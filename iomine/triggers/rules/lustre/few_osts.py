"""Too few OSTs for so many ranks.

The OSTs of a file are all the bandwidth that its ranks have, and ranks that meet on one OST wait for its locks and its
disks in turn. The largest file that several ranks share is looked at: ranks of the run for each OST that it is striped
over. Shared files on no more OSTs, and with a tenth of its bytes or more, are counted and priced with it. The cost is the
time in reads and writes of all of them, and the time in collective calls in which ranks waited for these.

Blind spots: with collective buffering only the aggregators talk to the OSTs, and they are far fewer than the ranks; MPI
chooses them by the number of stripes, so that more stripes help there too. Some OSTs are far faster than others, and
a burst buffer before them changes the count. Of a progressive layout, the component with most stripes counts.
"""

from dataclasses import replace

from iomine.triggers.inputs import LAYOUTS, NEW_FILES, SEVERAL_RANKS, SHARED_LUSTRE_FILES, with_mpiio, with_path
from iomine.triggers.model import Above, Case, Level, Requests, Trigger
from iomine.triggers.snippets import STRIPE_HINTS_C, STRIPE_SHELL
from iomine.units import GIB

# A number could be less than a file has already.
_ALL_OSTS_SHELL = replace(STRIPE_SHELL, code=STRIPE_SHELL.code.replace("-c 16", "-c -1"))

TRIGGER = Trigger(
    code="LUSTRE-103",
    view="log_stripe_profile",
    level=Level.WARN,
    all_of=(
        Above("ranks_per_ost_ratio", 64, why="Our own choice: about a node's ranks for each OST."),
        Above(
            "striped_shared_bytes",
            GIB,
            why="Our own choice, near what centres advise: smaller files gain little from more stripes.",
        ),
    ),
    finding=(
        "{ranks_per_ost_ratio:,.0f} ranks share each OST of {striped_shared_path} ({striped_shared_bytes}, stripe count "
        "{striped_shared_stripe_count}). Large shared files on as few OSTs: {striped_shared_file_count}; their reads and "
        "writes took {striped_shared_core_seconds}, waiting for them in collective calls included."
    ),
    advice=(
        "Raise the stripe count of {striped_shared_path} above {striped_shared_stripe_count}.",
        with_path(
            "striped_shared_path",
            "Least effort: `lfs setstripe -c -1 -S 4M {striped_shared_path:folder}`, which takes all OSTs (where `lfs osts` "
            "lists hundreds, any number above {striped_shared_stripe_count} instead of -1), and `lfs migrate -c -1 -S 4M "
            "{striped_shared_path:file}` for the file itself if it will be read again.",
        ),
        NEW_FILES,
        with_mpiio(
            "Where the program creates files through MPI-IO, it can ask for stripes by the hint striping_factor; "
            "let it be a multiple of the aggregators (cb_nodes)."
        ),
        "Most effort: fewer ranks that do I/O, by one writer for each node.",
    ),
    cases=(
        Case(
            "two thousand ranks on four OSTs",
            {
                "ranks_per_ost_ratio": 512.0,
                "striped_shared_bytes": 68_719_476_736,
                "striped_shared_stripe_count": 4,
                "striped_shared_file_count": 1,
                "striped_shared_core_seconds": 7200.0,
            },
            state="fired",
        ),
        Case(
            "exactly on the threshold of the ranks",
            {"ranks_per_ost_ratio": 64, "striped_shared_bytes": 68_719_476_736},
            state="clear",
        ),
        Case(
            "exactly on the threshold of the bytes",
            {"ranks_per_ost_ratio": 512.0, "striped_shared_bytes": 1_073_741_824},
            state="clear",
        ),
        Case("layouts are not known", {"ranks_per_ost_ratio": None, "striped_shared_bytes": None}, state="unknown"),
        Case(
            "a run of one process",
            {"process_count": 1, "ranks_per_ost_ratio": None, "striped_shared_bytes": None},
            state="not applicable",
        ),
        Case(
            "no file on Lustre was shared",
            {"shared_lustre_file_count": 0, "ranks_per_ost_ratio": None, "striped_shared_bytes": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"ranks_per_ost_ratio": 8.0, "striped_shared_bytes": 68_719_476_736, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"ranks_per_ost_ratio": 512.0, "striped_shared_bytes": 68_719_476_736, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(SEVERAL_RANKS, SHARED_LUSTRE_FILES),
    lacks=("posix_lack", "layout_lack"),
    needs=f"the POSIX module, whole, and {LAYOUTS}",
    cost="striped_shared_core_seconds",
    traced=Requests("posix", path="striped_shared_path"),
    snippets=(_ALL_OSTS_SHELL, STRIPE_HINTS_C),
    version="3",
)
