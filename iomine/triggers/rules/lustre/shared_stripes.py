"""Stripes are written by several ranks.

A node that writes takes a lock on the part of the file, and another node that writes there makes the server call it back
and the first write out what it holds. Where ranks of several nodes write pieces of the same stripe, locks go back and
forth with every piece, though no byte is written twice. The cost is the time of writes to these stripes: of each file a
part of its write time in proportion to stripes.

Blind spots: ranks of one node share its locks, and whether those that share a stripe are of one node is not checked, so a
run that numbers its ranks node by node does better than it looks. When they write is not checked either. Files on one
OST are left out, where ranks meet whatever the stripes. Holes in what was written hide stripes, so that the share may be
too high.
"""

from iomine.triggers.gathering import Texts, example_of, where_gathered
from iomine.triggers.inputs import LAYOUTS, POSIX_WRITES, SEVERAL_RANKS, STRIPED_FILES, TRACE, with_mpiio, with_path
from iomine.triggers.model import Above, Case, Level, Requests, Snippet, Trigger
from iomine.triggers.snippets import COLLECTIVE_WRITE_C, HDF5_ALIGNMENT_C

_SHARED = {"shared_stripe_ratio": 0.9, "shared_stripe_count": 4096, "host_count": 8}

_TEXTS = Texts(
    finding=(
        "{shared_stripe_count} stripes ({shared_stripe_ratio:.0%} of those written) were written by several ranks, on "
        "{host_count} nodes; the largest part in {shared_stripe_path}."
    ),
    advice=(
        "Let each stripe of {shared_stripe_path} be written by one node.",
        with_path("shared_stripe_path", "`lfs getstripe -S {shared_stripe_path:file}` says how large a stripe is."),
        (
            "In your own format, begin the part of each rank at a multiple of that, and pad it up to one. Most effort: store the "
            "pieces of a rank together instead of interleaved with those of others."
        ),
    ),
    gathering=(
        with_mpiio(
            "Least effort: write collectively through MPI-IO with the hint romio_cb_write=enable; aggregators on Lustre then get "
            "whole stripes each (striping_unit gives their size)."
        ),
    ),
)

TRIGGER = Trigger(
    code="LUSTRE-301",
    view="log_overlap_profile",
    level=Level.WARN,
    all_of=(
        Above(
            "shared_stripe_ratio",
            0.5,
            why="Our own choice: large parts share the stripes on their edges only, interleaved small pieces nearly all.",
        ),
        Above("shared_stripe_count", 100, why="Our own choice: a few locks that go back and forth hurt nobody."),
        Above("host_count", 1, why="Ranks of one node share its locks."),
    ),
    finding=_TEXTS.finding,
    advice=(*_TEXTS.advice, *_TEXTS.gathering),
    instead=where_gathered("write", _TEXTS),
    cases=(
        Case("interleaved pieces of eight nodes", {**_SHARED, "shared_stripe_core_seconds": 400.0}, state="fired"),
        Case(
            "with all that may be known of gathering",
            {
                **_SHARED,
                "shared_stripe_core_seconds": 400.0,
                **example_of("write"),
            },
            state="fired",
        ),
        Case("exactly on the threshold of the share", {**_SHARED, "shared_stripe_ratio": 0.5}, state="clear"),
        Case("exactly on the threshold of the count", {**_SHARED, "shared_stripe_count": 100}, state="clear"),
        Case("exactly on the threshold of the nodes", {**_SHARED, "host_count": 1}, state="clear"),
        Case("no trace or no layouts", dict.fromkeys(_SHARED), state="unknown"),
        Case("a run of one process", {**dict.fromkeys(_SHARED), "process_count": 1}, state="not applicable"),
        Case("no file lies on several OSTs", {**dict.fromkeys(_SHARED), "striped_file_count": 0}, state="not applicable"),
        Case("the log never wrote through POSIX", {**dict.fromkeys(_SHARED), "posix_write_count": 0}, state="not applicable"),
        Case(
            "below the threshold, but requests are missing",
            {**_SHARED, "shared_stripe_ratio": 0.1, "is_complete": False},
            state="unknown",
        ),
        Case("requests are missing, but those at hand are enough", {**_SHARED, "is_complete": False}, state="fired"),
    ),
    applies_to=(SEVERAL_RANKS, STRIPED_FILES, POSIX_WRITES),
    lacks=("posix_lack", "layout_lack", "trace_lack", "host_lack"),
    needs=f"{LAYOUTS} and {TRACE}",
    cost="shared_stripe_core_seconds",
    evidence="overlap_evidence",
    op="write",
    traced=Requests("posix", path="shared_stripe_path"),
    snippets=(
        COLLECTIVE_WRITE_C,
        Snippet(
            "c",
            "Aggregators of MPI-IO write whole stripes of 4 MiB",
            """\
MPI_Info info;
MPI_File file;

MPI_Info_create(&info);
MPI_Info_set(info, "romio_cb_write", "enable");
MPI_Info_set(info, "striping_unit", "4194304");
MPI_File_open(MPI_COMM_WORLD, "output.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file);
MPI_Info_free(&info);
""",
        ),
        HDF5_ALIGNMENT_C,
    ),
    version="2",
)
