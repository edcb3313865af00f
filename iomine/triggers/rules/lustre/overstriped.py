"""Small files are striped over many OSTs.

Each stripe is an object on an OST that has to be made, asked for its size and deleted. For a file with less data than
stripes, the objects beyond hold nothing, and every open and stat goes to all of them. A file counts where it has more
OSTs than pieces of one stripe's size. The cost is the time on such files, metadata calls included.

Blind spots: the part of a file that was touched counts, so a large file of which only the beginning was read looks too
small for its stripes. Of a progressive layout, the component with most stripes counts, even where the file is too small
to reach it and Lustre made no objects for it.
"""

from iomine.triggers.inputs import LAYOUTS, LUSTRE_FILES, NEW_FILES
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

TRIGGER = Trigger(
    code="LUSTRE-102",
    view="log_stripe_profile",
    level=Level.WARN,
    all_of=(
        Above("overstriped_file_count", 100, why="Our own choice: a few such files hurt nobody."),
        Above("overstriped_file_ratio", 0.5, why="Our own choice: then it is the directory's layout, not a stray file."),
    ),
    finding=(
        "{overstriped_file_count} files ({overstriped_file_ratio:.0%} of those on Lustre) are striped over more OSTs than they "
        "have stripes to fill; they took {overstriped_core_seconds}."
    ),
    advice=(
        "Give small files one stripe. Least effort: `lfs setstripe -c 1` on the directory of the {overstriped_file_count} files.",
        NEW_FILES,
        (
            "A directory with small and large files is served best by a progressive layout, which adds stripes as a file grows. "
            "Most effort: pack small files into few large ones, for which many stripes are right."
        ),
    ),
    cases=(
        Case(
            "thousands of small files on 16 stripes each",
            {"overstriped_file_count": 5000, "overstriped_file_ratio": 0.95, "overstriped_core_seconds": 150.0},
            state="fired",
        ),
        Case(
            "exactly on the threshold of the count",
            {"overstriped_file_count": 100, "overstriped_file_ratio": 0.95},
            state="clear",
        ),
        Case(
            "exactly on the threshold of the share",
            {"overstriped_file_count": 5000, "overstriped_file_ratio": 0.5},
            state="clear",
        ),
        Case(
            "layouts are not known",
            {"overstriped_file_count": None, "overstriped_file_ratio": None},
            state="unknown",
        ),
        Case(
            "no file lies on Lustre",
            {"lustre_file_count": 0, "overstriped_file_count": None, "overstriped_file_ratio": None},
            state="not applicable",
        ),
        Case(
            "below the threshold, but records are missing",
            {"overstriped_file_count": 10, "overstriped_file_ratio": 0.95, "is_complete": False},
            state="unknown",
        ),
        Case(
            "records are missing, but those at hand are enough",
            {"overstriped_file_count": 5000, "overstriped_file_ratio": 0.95, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(LUSTRE_FILES,),
    lacks=("posix_lack", "layout_lack"),
    needs=f"the POSIX module, whole, and {LAYOUTS}",
    cost="overstriped_core_seconds",
    snippets=(
        Snippet(
            "shell",
            "One stripe for a directory of small files; stripes that grow with the file for a mixed one",
            """\
lfs setstripe -c 1 samples/
lfs setstripe -E 64M -c 1 -E 4G -c 4 -E -1 -c 16 results/
lfs getstripe -d samples/ results/
""",
        ),
    ),
    version="2",
)
