"""Storage and other traffic were in each other's way.

MPI and I/O use the same links. If a program writes while it or another program communicates, both take longer, even if neither
alone would fill the link. A slot of ten minutes counts if a link that the log depended on was at least half full in it, and
storage traffic and all other traffic each had at least a quarter of the bytes on the link.

Blind spots: other traffic is what ports counted beyond the I/O of logs, so that I/O without a log, and repeated packets, count
as others'. With adaptive routing, bytes take other routes than the forwarding tables say.
"""

from iomine.triggers.inputs import DATA_FILES, FABRIC_COUNTERS, with_mpiio
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

_MEET = {"collision_slot_ratio": 0.75, "collision_other_ratio": 0.5}

TRIGGER = Trigger(
    code="FABRIC-104",
    view="log_fabric_profile",
    level=Level.INFO,
    all_of=(
        Above(
            "collision_slot_ratio", 0.49, why="Our own choice: half of the time in I/O or more, also of two times ten minutes."
        ),
    ),
    finding=(
        "The run's I/O shared the link {collision_link} with other traffic in {collision_slot_ratio:.0%} of the ten-minute slots "
        "in which it did I/O: {collision_other_ratio:.0%} of the bytes on the link were not I/O."
    ),
    advice=(
        (
            "Separate I/O and other traffic in time or in space. Least effort: see with the view mpi_profile whether the "
            "{collision_other_ratio:.0%} are this program's own MPI traffic; if so, write after the exchange "
            "rather than during it."
        ),
        with_mpiio("Gather I/O on few aggregators (`cb_nodes`), so that fewer links carry both."),
        "Operators: a service level of its own (SL and VL) keeps storage traffic apart on {collision_link}.",
    ),
    cases=(
        Case("MPI has half of an uplink", _MEET, state="fired"),
        Case("exactly on the threshold", _MEET | {"collision_slot_ratio": 0.49}, state="clear"),
        Case("they never met", {"collision_slot_ratio": 0.0}, state="clear"),
        Case("the fabric was not read", {"collision_slot_ratio": None, "is_complete": False}, state="unknown"),
        Case("the log moved no data", {"data_file_count": 0, "collision_slot_ratio": None}, state="not applicable"),
        Case("they did not meet as far as it is known", {"collision_slot_ratio": 0.0, "is_complete": False}, state="unknown"),
        Case("not all is known, but that is enough", _MEET | {"is_complete": False}, state="fired"),
    ),
    applies_to=(DATA_FILES,),
    lacks=("fabric_lack",),
    needs=FABRIC_COUNTERS,
    snippets=(
        Snippet(
            "shell",
            "Few aggregators for ROMIO's collective buffering",
            """\
cat > hints <<END
romio_cb_write enable
cb_nodes 8
END
ROMIO_HINTS=$PWD/hints srun ./program
""",
        ),
    ),
)
