"""Metadata calls for few reads and writes.

An open, a stat or a rename is a round trip to a metadata server that the whole machine shares. A program that makes more than
one for every two reads or writes is mostly asking where its data are: it opens files to read a little, or checks again and
again whether a file has appeared. Calls of POSIX and opens of stdio are counted, standard streams left out. The cost is the
time of all metadata calls.

Blind spots: Darshan up to 3.5.0 does not see `stat` on systems with glibc 2.33 or newer; where no log of the night by the same
Darshan version has any, a log below the thresholds is unknown instead of clear. Seeks, closes and calls on directories are not
counted. A program that does little I/O at all, and most of it in starting up, has such a share too: then the cost is small.
"""

from iomine.triggers.inputs import TOUCHED_FILES, with_files, with_ranks
from iomine.triggers.looping import where_looping
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger
from iomine.triggers.snippets import BROADCAST_PYTHON, KEEP_OPEN_PYTHON

_FINDING = (
    "{meta_call_count} opens, stats and renames made up {meta_call_ratio:.0%} of all calls; those for {longest_meta_path} "
    "took longest."
)
TRIGGER = Trigger(
    code="POSIX-302",
    view="log_meta_profile",
    level=Level.WARN,
    all_of=(
        Above("meta_call_ratio", 0.34, why="Our own choice: more than one metadata call for every two reads or writes."),
        Above("meta_call_count", 99, why="Our own choice: fewer than a hundred calls is what starting up takes."),
    ),
    finding=_FINDING,
    advice=(
        (
            "Read or write more each time that a file is opened, beginning with {longest_meta_path}. Least effort: keep files "
            "open across steps instead of opening and closing them in a loop, and look less often whether a file has appeared."
        ),
        with_ranks("Next: let one rank open and read small files and send the others what it found."),
        with_files(
            "Most effort: pack small files into one container, so that one open replaces many of the {meta_call_count} calls."
        ),
    ),
    instead=where_looping(_FINDING),
    cases=(
        Case(
            "each rank looks for a file all the time",
            {"meta_call_ratio": 0.67, "meta_call_count": 20000, "meta_core_seconds": 35.0, "looping_call_count": 16_000},
            state="fired",
        ),
        Case(
            "two calls of three, thousands of them",
            {"meta_call_ratio": 0.67, "meta_call_count": 20000, "meta_core_seconds": 35.0},
            state="fired",
        ),
        Case("exactly on the threshold of the share", {"meta_call_ratio": 0.34, "meta_call_count": 20000}, state="clear"),
        Case("exactly on the threshold of the count", {"meta_call_ratio": 0.67, "meta_call_count": 99}, state="clear"),
        Case("the log lacks the metric", {"meta_call_ratio": None, "meta_call_count": None}, state="unknown"),
        Case(
            "the log touched no file",
            {"touched_file_count": 0, "meta_call_ratio": None, "meta_call_count": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but Darshan saw no stat",
            {"meta_call_ratio": 0.1, "meta_call_count": 20000, "is_complete": False},
            state="unknown",
        ),
        Case(
            "Darshan saw no stat, but what it saw is enough",
            {"meta_call_ratio": 0.67, "meta_call_count": 20000, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(TOUCHED_FILES,),
    lacks=("stat_lack", "data_lack"),
    needs="the POSIX and STDIO modules, whole, of a Darshan library that sees stat",
    cost="meta_core_seconds",
    snippets=(
        KEEP_OPEN_PYTHON,
        BROADCAST_PYTHON,
        Snippet(
            "python",
            "Waiting for a file without asking for it all the time",
            """\
import time
from pathlib import Path

wait = 1.0
while not Path("input.ready").exists():
    time.sleep(wait)
    wait = min(2 * wait, 60.0)
""",
        ),
    ),
    version="3",
)
