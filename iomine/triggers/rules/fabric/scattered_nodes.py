"""The job's nodes are spread over many switches.

A scheduler that does not know the fabric gives a job whichever nodes are free. Their traffic then crosses more switches and
shares uplinks with more jobs than necessary. The number of switches that the nodes are connected to is compared with the
number that so many nodes need, given the usual number of hosts on a switch of this fabric.

Blind spots: if uplinks are empty, a scattered job may have all the bandwidth that it needs; FABRIC-101 and FABRIC-102 say what
was wrong with links. Nodes that did no I/O are not counted, and one with two adapters may count twice.
"""

from iomine.triggers.inputs import DATA_FILES, FABRIC_TOPOLOGY
from iomine.triggers.model import Above, Case, Level, Snippet, Trigger

_SCATTERED = {"scatter_ratio": 8.0, "leaf_switch_count": 32, "host_link_count": 64, "same_switch_ratio": 0.02, "tier_count": 2}

TRIGGER = Trigger(
    code="FABRIC-103",
    view="log_fabric_profile",
    level=Level.INFO,
    all_of=(
        Above(
            "scatter_ratio",
            3.0,
            why=(
                "64 neighbouring nodes of a fabric with 84 leaf switches use up to twice the switches they need, random ones 8 "
                "times."
            ),
        ),
        Above("leaf_switch_count", 4, why="Our own choice: a handful of switches is not far, whatever the number of nodes."),
    ),
    finding=(
        "The run's {host_link_count} nodes hang on {leaf_switch_count} switches, {scatter_ratio:.1f} times as many as they need; "
        "{same_switch_ratio:.0%} of pairs of nodes are behind one switch, and the run's I/O crosses {tier_count} tiers."
    ),
    advice=(
        "Ask the scheduler for nodes behind few switches. Least effort: name how many, and how long the job may wait for "
        "them (`--switches` in Slurm). Operators: give Slurm the fabric (`topology/tree` or `topology/block`), so that it "
        "packs jobs by itself; the view job_placement shows {leaf_switch_count} switches by name."
    ),
    cases=(
        Case("64 nodes taken at random", _SCATTERED, state="fired"),
        Case("exactly on the threshold of the scatter", _SCATTERED | {"scatter_ratio": 3.0}, state="clear"),
        Case("exactly on the threshold of the switches", _SCATTERED | {"leaf_switch_count": 4}, state="clear"),
        Case(
            "the topology was not read",
            {"scatter_ratio": None, "leaf_switch_count": None, "is_complete": False},
            state="unknown",
        ),
        Case(
            "the log moved no data",
            {"data_file_count": 0, "scatter_ratio": None, "leaf_switch_count": None},
            state="not applicable",
        ),
        Case(
            "packed, but not all is known", {"scatter_ratio": 1.0, "leaf_switch_count": 5, "is_complete": False}, state="unknown"
        ),
        Case("not all is known, but that is enough", _SCATTERED | {"is_complete": False}, state="fired"),
    ),
    applies_to=(DATA_FILES,),
    lacks=("fabric_lack",),
    needs=FABRIC_TOPOLOGY,
    snippets=(
        Snippet(
            "shell",
            "At most two switches, for which the job may wait an hour (Slurm)",
            """\
sbatch --switches=2@01:00:00 job.sh
""",
        ),
    ),
)
