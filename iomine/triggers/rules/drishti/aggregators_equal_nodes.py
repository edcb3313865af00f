"""MPI-IO has one aggregator for each node.

Drishti compares the hint `cb_nodes`, the number of aggregators for collective MPI-IO, with the job's nodes. As many
aggregators as nodes is what it wants to see.

Drishti takes the number of nodes from the scheduler's accounting (`sacct`) and says nothing where that gives no
answer. Where the log itself names the host of every rank, in traces or AutoPerf records, the number of hosts is at
hand, too: it counts once the threshold of `node_evidence` is lowered to 0. Otherwise the verdict is unknown.

Blind spots: equal numbers do not say that the aggregators sit on different nodes; and that there are any collective
calls for them to serve is not asked.
"""

from iomine.triggers.inputs import MPIIO_REQUESTS
from iomine.triggers.model import Above, Case, Level, Trigger

TRIGGER = Trigger(
    code="M10",
    view="drishti_aggregators",
    level=Level.OK,
    all_of=(
        Above(
            "node_evidence",
            1,
            why="Drishti accepts the scheduler's accounting only; 0 accepts the hosts that the log names, too.",
        ),
    ),
    finding="The hint asks for an aggregator on each node of the job: {aggregator_count}.",
    advice="Leave the number of aggregators as it is.",
    cases=(
        Case(
            "the scheduler knows the nodes",
            {"node_evidence": 2, "aggregators_differ": 0, "aggregator_count": 4, "job_node_count": 4},
            state="fired",
        ),
        Case("exactly on the threshold of the evidence", {"node_evidence": 1, "aggregators_differ": 0}, state="clear"),
        Case("more or fewer than nodes", {"node_evidence": 2, "aggregators_differ": 1}, state="clear"),
        Case("no hint, or nobody knows the nodes", {"node_evidence": None, "aggregators_differ": None}, state="unknown"),
        Case(
            "the log has no MPI-IO",
            {"mpiio_call_count": 0, "node_evidence": None, "aggregators_differ": None},
            state="not applicable",
        ),
        Case("only the log names hosts", {"node_evidence": 1, "aggregators_differ": 0, "is_complete": False}, state="unknown"),
        Case(
            "the scheduler knows, in a log that lacks something",
            {"node_evidence": 2, "aggregators_differ": 0, "is_complete": False},
            state="fired",
        ),
    ),
    applies_to=(MPIIO_REQUESTS,),
    lacks=("mpiio_lack",),
    unless=(Above("aggregators_differ", 0, why="Drishti compares the two as they are."),),
    ruleset="drishti",
    version="2",
)
