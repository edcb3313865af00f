"""A file is far slower than similar files.

Files of one directory, of one order of size and used in the same way should take about the same time. One that takes
many times as long lies on a slow or crowded target, or shares it with another job; ranks that need it delay all others. A file is
slow when its time for a request and its time for a byte are both over three times those of the median file of at least eight
alike, and its time for a byte lies over 3.5 scaled median deviations above. Directories that differ in their numbers alone
count as one. The cost is the time by which such files exceed what the median file would have taken for the same bytes.

Blind spots: of fewer than eight files alike none is called slow, and where half of them are slow, the median is slow too. A
file that one rank has for itself is slow also where the rank is (see RANK-101). Files that come from the client's cache are
fast, so the few that do not may look slow. Records do not have the sizes of files, so the bytes moved stand in for them.
"""

from iomine.triggers.inputs import with_path
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger
from iomine.triggers.snippets import STRIPE_SHELL

_SLOW = {"slow_file_count": 1, "slow_file_wait_ratio": 0.4}

TRIGGER = Trigger(
    code="FILE-201",
    view="log_slow_file_profile",
    level=Level.WARN,
    all_of=(
        Above("slow_file_count", 0, why="Our own choice: one is enough to hold up those who need it."),
        Above(
            "slow_file_wait_ratio",
            0.05,
            why="Our own choice, as for slow ranks: what lengthens the run by a twentieth or less is not worth a search.",
        ),
    ),
    finding=(
        "Files slower than similar ones: {slow_file_count}. The slowest, {slow_file_path}, needed "
        "{slow_file_slowdown_ratio:.1f} times as long as the median of {like_file_count} similar files for the same bytes."
    ),
    advice=(
        "Look at where {slow_file_path} lies.",
        with_path(
            "slow_file_path",
            "Least effort: compare its OSTs with those of the other files (`lfs getstripe "
            "{slow_file_path:file}`), and report an OST that is slow twice to the support desk; in the meantime, "
            "`lfs migrate -c 1 {slow_file_path:file}` gives it other OSTs.",
        ),
        (
            "If one rank alone uses it and other files of this rank are slow too, look at the rank's node. If "
            "another program reads or writes it at the same time, give each a file of its own. Most effort: "
            "stripe large files over more OSTs, so that a slow one holds a smaller part of each."
        ),
    ),
    cases=(
        Case(
            "one restart file of 64 on a slow OST",
            {**_SLOW, "slow_file_slowdown_ratio": 12.0, "like_file_count": 64, "slow_file_core_seconds": 90.0},
            state="fired",
        ),
        Case("no file is out of line", _SLOW | {"slow_file_count": 0}, state="clear"),
        Case("exactly on the threshold of the waiting", _SLOW | {"slow_file_wait_ratio": 0.05}, state="clear"),
        Case("fewer than eight files", {**dict.fromkeys(_SLOW), "data_file_count": 7}, state="not applicable"),
        Case("fewer than eight files alike", {**dict.fromkeys(_SLOW), "data_file_count": 8}, state="unknown"),
        Case("none, but records are missing", _SLOW | {"slow_file_count": 0, "is_complete": False}, state="unknown"),
        Case("records are missing, but those at hand are enough", _SLOW | {"is_complete": False}, state="fired"),
    ),
    applies_to=(Above("data_file_count", 7, why="With fewer files, the median says little about what is usual."),),
    lacks=("data_lack",),
    needs="the POSIX and STDIO modules, whole, with records of eight files alike or more",
    cost="slow_file_core_seconds",
    snippets=(
        Snippet(
            "shell",
            "Which OSTs files lie on, and a slow one moved to others",
            """\
lfs getstripe --quiet --ost --recursive results/ | head
lfs migrate --stripe-count 1 results/part.0017
""",
            places=(("results/part.0017", "file"), ("results/", "folder")),
        ),
        STRIPE_SHELL,
    ),
)
