"""A link of the fabric was congested.

Links between switches are shared: if several jobs use the same uplink, each gets a part of its capacity, however many servers
there are. A link counts as congested in a slot of ten minutes if it was three quarters full or more, or if data waited for
each word ten times as long as usual at that port. It counts against a log if at least a quarter of the log's bytes passed it,
or all bytes of its stragglers, and if others moved at least a quarter of the bytes on it: a job that fills a link alone is
itself the cause.

Blind spots: ten minutes hide shorter bursts. With adaptive routing, bytes take other routes than the forwarding tables say.
Ports whose readings have no waiting times are judged by their bytes alone.
"""

from iomine.triggers.inputs import DATA_FILES, FABRIC_COUNTERS
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

_FULL = {"congested_slot_ratio": 0.75, "congested_bytes_ratio": 0.5, "congested_others_ratio": 0.6}

TRIGGER = Trigger(
    code="FABRIC-102",
    view="log_fabric_profile",
    level=Level.WARN,
    is_facility_cause=True,
    all_of=(
        Above(
            "congested_slot_ratio", 0.49, why="Our own choice: half of the time in I/O or more, also of two times ten minutes."
        ),
        Above("congested_others_ratio", 0.25, why="Our own choice: a link that a job fills by itself is not in its way."),
    ),
    finding=(
        "The link {congested_link} was congested in {congested_slot_ratio:.0%} of the ten-minute slots in which the run did I/O, "
        "and carried {congested_bytes_ratio:.0%} of the run's bytes: {congested_trouble}. {congested_others_ratio:.0%} of the "
        "bytes on it were not this job's. Also on it: {congested_others}."
    ),
    advice=(
        "Keep I/O off the congested link. Least effort: run again at another time, or on other nodes. Ask the scheduler for "
        "nodes behind few switches (`--switches` in Slurm), so that less passes {congested_link}, and write in phases that do "
        "not fall together with those of {congested_others}. If {congested_others_ratio:.0%} is usual there, ask the operators "
        "to route storage over other uplinks: the view link_hotspots shows which are free."
    ),
    cases=(
        Case("two jobs fill an uplink", _FULL, state="fired"),
        Case("exactly on the threshold of the time", _FULL | {"congested_slot_ratio": 0.49}, state="clear"),
        Case("it filled the link itself", _FULL | {"congested_others_ratio": 0.25}, state="clear"),
        Case("no link was full", {"congested_slot_ratio": 0.0, "congested_others_ratio": 0.0}, state="clear"),
        Case(
            "the fabric was not read",
            {"congested_slot_ratio": None, "congested_others_ratio": None, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the log moved no data",
            {"data_file_count": 0, "congested_slot_ratio": None, "congested_others_ratio": None},
            state="not applicable",
        ),
        Case(
            "free as far as it is known",
            {"congested_slot_ratio": 0.0, "congested_others_ratio": 0.0, "is_complete": False},
            state="unknown",
        ),
        Case("not all is known, but that is enough", _FULL | {"is_complete": False}, state="fired"),
    ),
    applies_to=(DATA_FILES,),
    lacks=("fabric_lack",),
    needs=FABRIC_COUNTERS,
    snippets=(
        Snippet(
            "shell",
            "Nodes behind one switch, for which the job may wait an hour (Slurm)",
            """\
sbatch --switches=1@01:00:00 job.sh
""",
        ),
    ),
)
