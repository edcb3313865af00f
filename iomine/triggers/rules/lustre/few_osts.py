"""Too few OSTs for so many ranks.

The OSTs of a file are all the bandwidth that its ranks have, and ranks that meet on one OST wait for its locks and its
disks in turn. The largest file that several ranks share is looked at: ranks of the run for each OST that it is striped
over. The cost is the time in reads and writes of that file.

Blind spots: with collective buffering only the aggregators talk to the OSTs, and they are far fewer than the ranks; MPI
chooses them by the number of stripes, so that more stripes help there too. Some OSTs are far faster than others, and
a burst buffer before them changes the count. Of a progressive layout, the component with most stripes counts.
"""

from iomine.triggers.inputs import LAYOUTS
from iomine.triggers.model import Above, Case, Level, Trigger
from iomine.triggers.snippets import STRIPE_HINTS_C, STRIPE_SHELL
from iomine.units import GIB

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
        "{striped_shared_path} lies on {striped_shared_stripe_count} OSTs, one for {ranks_per_ost_ratio:.0f} ranks; its "
        "{striped_shared_bytes} bytes took {striped_shared_core_seconds} core-seconds."
    ),
    advice=(
        "Stripe {striped_shared_path} over more than {striped_shared_stripe_count} OSTs. Least effort: `lfs setstripe -c 16 -S "
        "4M` on its directory, for files to come, or more stripes if the file system has them (`lfs osts`), and `lfs migrate` "
        "for the file itself if it will be read again. Programs that create files through MPI-IO can ask for stripes by the "
        "hint striping_factor; let it be a multiple of the aggregators (cb_nodes). Most effort: fewer ranks that do I/O, by "
        "collective calls or one writer for each node."
    ),
    cases=(
        Case(
            "two thousand ranks on four OSTs",
            {
                "ranks_per_ost_ratio": 512.0,
                "striped_shared_bytes": 68_719_476_736,
                "striped_shared_stripe_count": 4,
                "striped_shared_core_seconds": 7200.0,
            },
            state="fired",
        ),
        Case(
            "exactly on the bar of the ranks",
            {"ranks_per_ost_ratio": 64, "striped_shared_bytes": 68_719_476_736},
            state="clear",
        ),
        Case(
            "exactly on the bar of the bytes",
            {"ranks_per_ost_ratio": 512.0, "striped_shared_bytes": 1_073_741_824},
            state="clear",
        ),
        Case("layouts are not known", {"ranks_per_ost_ratio": None, "striped_shared_bytes": None}, state="unknown"),
        Case(
            "below the bar, but records are missing",
            {"ranks_per_ost_ratio": 8.0, "striped_shared_bytes": 68_719_476_736, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"ranks_per_ost_ratio": 512.0, "striped_shared_bytes": 68_719_476_736, "is_complete": False},
            state="fired",
        ),
    ),
    needs=f"the POSIX module, whole, and {LAYOUTS}",
    cost="striped_shared_core_seconds",
    snippets=(STRIPE_SHELL, STRIPE_HINTS_C),
)
