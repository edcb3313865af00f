"""An OST was far slower than the others.

One OST with a failing disk, a rebuild or a full pool makes every rank wait that has a file or a stripe on it, and where ranks
wait for each other, the whole run. OSTs are compared by their seconds for a byte and for a request, reads and writes apart, so
that an OST that merely got more, or smaller requests, is not slow. An OST is slow when both are over 3 times those of the
median OST and over 3.5 scaled median deviations above, in sum and for the median rank and file on it, and when its ranks
waited for it for over 5 seconds each. So one slow rank or file, or one lock that delayed all ranks once, does not make an OST
slow. It takes at least four OSTs, and on the slow one several ranks and several files, or ones that other OSTs served too.
Counters give the OST of every request to a file that lies on one OST (a stripe count of 1); of striped files a trace does, of
each request that touches one OST. The cost is the time beyond what the median OST would have taken.

Blind spots: where half of the OSTs are slow, the median is slow too. An untraced striped file shows nothing of single OSTs,
nor does a request that touches several. A file that others kept locked, or reads that caches answered on all OSTs but one, can
pass for a slow OST where that holds for most of its files. The log does not say whether the OST itself was slow, its server,
or whether other jobs kept it busy. If statistics of the servers were swept, the SYSTEM triggers say so.
"""

from iomine.triggers.inputs import LAYOUTS, TRACE
from iomine.triggers.model import Above, Case, Level, Requests, Snippet, Trigger
from iomine.triggers.snippets import TRACE_SHELL
from iomine.units import GIB

_SLOW = {
    "slow_ost_count": 1,
    "slow_ost_wait_ratio": 0.7,
    "slow_ost_id": 14,
    "compared_ost_count": 24,
    "slow_ost_slowness_ratio": 48.0,
    "slow_ost_bytes": 21 * GIB,
    "slow_ost_core_seconds": 45_000.0,
}

TRIGGER = Trigger(
    code="LUSTRE-203",
    view="log_ost_profile",
    level=Level.HIGH,
    is_facility_cause=True,
    all_of=(
        Above("slow_ost_count", 0, why="Our own choice: one is enough to delay all who wait for its ranks."),
        Above(
            "slow_ost_wait_ratio",
            0.05,
            why="Our own choice: what lengthens the run by a twentieth or less is not worth asking the operators.",
        ),
    ),
    finding=(
        "OST {slow_ost_id} was slow: it took {slow_ost_slowness_ratio:.1f} times as long as the median of "
        "{compared_ost_count} OSTs for the same bytes and requests, {slow_ost_bytes}. Slow OSTs in all: "
        "{slow_ost_count}; they took {slow_ost_core_seconds} beyond the median OST's time, "
        "{slow_ost_wait_ratio:.0%} of the run for the ranks that used the slowest."
    ),
    advice=(
        "Report OST {slow_ost_id} to the support desk with the time of this run; neither the program nor a node is the cause. "
        "Until it is repaired, keep files off it: put new ones into a pool without it (`lfs setstripe -p`) or give the "
        "OSTs by index (`lfs setstripe -o`), and move those that will be read again (`lfs migrate`). If the operators find "
        'no fault, see what other jobs kept it busy meanwhile (`iomine sql "FROM ost_hotspots"`).'
    ),
    cases=(
        Case("one OST is 48 times as slow as 23 others", _SLOW, state="fired"),
        Case("no OST is out of line", {**_SLOW, "slow_ost_count": 0}, state="clear"),
        Case("exactly on the threshold of the waiting", {**_SLOW, "slow_ost_wait_ratio": 0.05}, state="clear"),
        Case("striped files without a trace", {"slow_ost_count": None, "slow_ost_wait_ratio": None}, state="unknown"),
        Case(
            "none, but records are missing",
            {"slow_ost_count": 0, "slow_ost_wait_ratio": 0.0, "is_complete": False},
            state="unknown",
        ),
        Case("records are missing, but those at hand are enough", {**_SLOW, "is_complete": False}, state="fired"),
    ),
    needs=f"{LAYOUTS}, and files that lie on one OST each, on four OSTs or more, or {TRACE}",
    cost="slow_ost_core_seconds",
    evidence="slow_ost_evidence",
    traced=Requests("posix", ost="slow_ost_id"),
    snippets=(
        Snippet(
            "shell",
            "Which OST it is, which files lie on it, and new files on all others of a pool",
            """\
lfs df /scratch
lfs find /scratch/project --ost 14
lfs setstripe -p good_osts /scratch/project/output
lfs migrate -p good_osts /scratch/project/input.h5
""",
            places=(("14", "slow_ost_id"),),
        ),
        TRACE_SHELL,
    ),
)
