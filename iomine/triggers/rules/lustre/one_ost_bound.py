"""Many ranks wait for one OST.

A run whose bytes all go to one OST is as slow as that OST, whatever the others could do. It is not always one file: files of
their own for all ranks fall on one OST where their directory asks for it, and of a progressive layout all bytes can lie in its
first component. A trace says on which OST each byte fell; without one the bytes of a file are taken to lie evenly on its OSTs.
The cost is the time in requests to that OST.

Blind spots: bytes are compared, so a slow OST with an even share of them is not found here, but by LUSTRE-203. Without a
trace, time is divided in proportion to bytes. Where a large shared file on a single OST is the reason, LUSTRE-101 names it and
this is silent; smaller ones that take as long count here. Newer Darshan does not say how many OSTs there are, so that a file
system counts as having those up to the highest index in the log's layouts.
"""

from iomine.triggers.inputs import LAYOUTS, LUSTRE_FILES, NEW_FILES, TRACE
from iomine.triggers.model import Above, Case, Level, Requests, Trigger
from iomine.triggers.snippets import STRIPE_HINTS_C, STRIPE_SHELL
from iomine.units import GIB

_FILES = {
    "busiest_ost_ratio": 1.0,
    "nprocs": 512,
    "known_ost_count": 56,
    "busiest_ost_seconds_ratio": 0.4,
    "single_ost_bytes": 0,
}

TRIGGER = Trigger(
    code="LUSTRE-202",
    view="log_ost_profile",
    level=Level.HIGH,
    all_of=(
        Above("busiest_ost_ratio", 0.75, why="Our own choice: then all other OSTs together add a third at most."),
        Above("nprocs", 16, why="Our own choice: the ranks of half a node can keep one OST busy, and more have to wait."),
        Above("known_ost_count", 1, why="On a file system with a single OST there is no other to use."),
        Above(
            "busiest_ost_seconds_ratio",
            0.05,
            why="Our own choice: a run that spends a twentieth of its time there hardly gains by more OSTs.",
        ),
    ),
    unless=(Above("single_ost_bytes", GIB, why="The threshold of LUSTRE-101, which names the file."),),
    finding=(
        "{busiest_ost_ratio:.0%} of the bytes that {nprocs} ranks moved on Lustre, {busiest_ost_bytes}, went to OST "
        "{busiest_ost_id}, of at least {known_ost_count} that the file system has; they took "
        "{busiest_ost_seconds_ratio:.0%} of the run on average."
    ),
    advice=(
        (
            "Spread the data over more OSTs than OST {busiest_ost_id} alone. Least effort: see what the directory asks for "
            "(`lfs getstripe -d`), and remove a fixed first OST (`lfs setstripe -i -1`, the default) or a pool of one OST. "
            "With large files, `lfs setstripe -c 16 -S 4M` on the directory spreads them. In a progressive layout, let the "
            "first component end earlier, so that most bytes lie in wider components."
        ),
        NEW_FILES,
    ),
    cases=(
        Case(
            "files of 512 ranks in a directory that asks for one OST",
            {**_FILES, "busiest_ost_bytes": 64 * GIB, "busiest_ost_id": 7, "busiest_ost_core_seconds": 7200.0},
            state="fired",
        ),
        Case("exactly on the threshold of the share", {**_FILES, "busiest_ost_ratio": 0.75}, state="clear"),
        Case("exactly on the threshold of the ranks", {**_FILES, "nprocs": 16}, state="clear"),
        Case("exactly on the threshold of the OSTs", {**_FILES, "known_ost_count": 1}, state="clear"),
        Case("exactly on the threshold of the time", {**_FILES, "busiest_ost_seconds_ratio": 0.05}, state="clear"),
        Case("one shared file, as LUSTRE-101 says", {**_FILES, "single_ost_bytes": 64 * GIB}, state="clear"),
        Case("layouts are not known", dict.fromkeys(_FILES), state="unknown"),
        Case("no file lies on Lustre", {**dict.fromkeys(_FILES), "lustre_file_count": 0}, state="not applicable"),
        Case(
            "below the threshold, but records are missing",
            {**_FILES, "busiest_ost_ratio": 0.1, "is_complete": False},
            state="unknown",
        ),
        Case("records are missing, but those at hand are enough", {**_FILES, "is_complete": False}, state="fired"),
    ),
    applies_to=(LUSTRE_FILES,),
    lacks=("posix_lack", "layout_lack"),
    cost="busiest_ost_core_seconds",
    evidence="ost_evidence",
    needs=f"the POSIX module, whole, and {LAYOUTS}; {TRACE} makes it exact",
    traced=Requests("posix", ost="busiest_ost_id"),
    snippets=(STRIPE_SHELL, STRIPE_HINTS_C),
    version="2",
)
