"""MPI-IO has fewer aggregators than the job has nodes.

Drishti compares the hint `cb_nodes`, the number of aggregators for collective MPI-IO, with the job's nodes. It calls fewer
aggregators than nodes intra-node, and fine.

Drishti takes the number of nodes from the scheduler's accounting (`sacct`) and says nothing where that gives no
answer. Where the log itself names the host of every rank, in traces or AutoPerf records, the number of hosts is at
hand, too: it counts once the threshold of `node_evidence` is lowered to 0. Otherwise the verdict is unknown.

Blind spots: both numbers are compared as text, so 16 aggregators count as fewer than 4 nodes. In fact fewer
aggregators than nodes means that most data crosses the network, which is right on some machines and not on others.
"""

from iomine.triggers.inputs import MPIIO_REQUESTS
from iomine.triggers.model import Above, Below, Case, Level, Trigger

TRIGGER = Trigger(
    code="M08",
    view="drishti_aggregators",
    level=Level.OK,
    all_of=(
        Above(
            "node_evidence",
            1,
            why="Drishti accepts the scheduler's accounting only; 0 accepts the hosts that the log names, too.",
        ),
        Below("aggregator_order", 0, why="Drishti compares the two as they are."),
    ),
    finding="Aggregators that the hint asks for: {aggregator_count}; nodes of the job: {job_node_count}.",
    advice=("Drishti advises no change; if collective calls are slow, try one aggregator for each node (hint cb_nodes)."),
    cases=(
        Case(
            "the scheduler knows the nodes",
            {"aggregator_order": -1, "aggregator_count": 2, "job_node_count": 4, "node_evidence": 2},
            state="fired",
        ),
        Case("exactly on the threshold of the evidence", {"node_evidence": 1, "aggregator_order": -1}, state="clear"),
        Case("exactly as many as nodes", {"aggregator_order": 0, "node_evidence": 2}, state="clear"),
        Case("the other way round", {"aggregator_order": 1, "node_evidence": 2}, state="clear"),
        Case("no hint, or nobody knows the nodes", {"node_evidence": None, "aggregator_order": None}, state="unknown"),
        Case(
            "the log has no MPI-IO",
            {"mpiio_call_count": 0, "node_evidence": None, "aggregator_order": None},
            state="not applicable",
        ),
        Case("only the log names hosts", {"node_evidence": 1, "aggregator_order": -1, "is_complete": False}, state="unknown"),
        Case(
            "the scheduler knows, in a log that lacks something",
            {"aggregator_order": -1, "is_complete": False, "node_evidence": 2},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_REQUESTS,),
    lacks=("mpiio_lack",),
    ruleset="drishti",
    version="2",
)
