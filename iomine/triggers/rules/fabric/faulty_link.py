"""A link of the fabric was faulty.

A cable or a port with a fault still carries data, but repeats packets or uses fewer lanes, and all requests that pass it wait.
A link counts as faulty in a slot of ten minutes if it went down, recovered, discarded packets, had more errors than its
specification allows, or had less than its usual capacity. It counts against a log that depended on it: at least a quarter of
the log's bytes passed it, or all bytes of its stragglers. Then the cause is not in the program.

Blind spots: a link is known only from readings of its ports, so links whose ports were not read are unknown. With adaptive
routing, bytes take other routes than the forwarding tables say. If it is not known what each node of a log moved, bytes are
spread evenly over the nodes.
"""

from iomine.triggers.inputs import DATA_FILES, FABRIC_COUNTERS
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

_FAULTY = {"faulty_slot_ratio": 0.75, "faulty_bytes_ratio": 0.5}

TRIGGER = Trigger(
    code="FABRIC-101",
    view="log_fabric_profile",
    level=Level.WARN,
    is_facility_cause=True,
    all_of=(
        Above("faulty_slot_ratio", 0.49, why="Our own choice: half of the time in I/O or more, also of two times ten minutes."),
    ),
    finding=(
        "The link {faulty_link} was faulty in {faulty_slot_ratio:.0%} of the ten-minute slots in which the run did I/O, and "
        "carried {faulty_bytes_ratio:.0%} of the run's bytes: {faulty_trouble}. Also on it: {faulty_others}."
    ),
    advice=(
        "Leave the program as it is, and treat the other findings of this log with care. Least effort: report the link "
        "{faulty_link} to the support desk ({faulty_trouble}), and run again on nodes that do not use it. The operators "
        "can reseat or replace the cable; the view link_faults says since when it has been so, and job_links whom else it hit "
        "({faulty_others})."
    ),
    cases=(
        Case("an uplink with symbol errors", _FAULTY, state="fired"),
        Case("half of the time", _FAULTY | {"faulty_slot_ratio": 0.5}, state="fired"),
        Case("exactly on the threshold", _FAULTY | {"faulty_slot_ratio": 0.49}, state="clear"),
        Case("no link was faulty", {"faulty_slot_ratio": 0.0}, state="clear"),
        Case("the fabric was not read", {"faulty_slot_ratio": None, "is_complete": False}, state="unknown"),
        Case("the log moved no data", {"data_file_count": 0, "faulty_slot_ratio": None}, state="not applicable"),
        Case("sound as far as it is known", {"faulty_slot_ratio": 0.0, "is_complete": False}, state="unknown"),
        Case("not all is known, but that is enough", _FAULTY | {"is_complete": False}, state="fired"),
    ),
    applies_to=(DATA_FILES,),
    lacks=("fabric_lack",),
    needs=FABRIC_COUNTERS,
    snippets=(
        Snippet(
            "shell",
            "The same run without a node behind the link (Slurm)",
            """\
sbatch --exclude=cn042 job.sh
""",
        ),
    ),
)
