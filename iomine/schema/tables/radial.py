"""Tables of who moved bytes for whom and to where, worked out from a log's trace."""

from iomine.schema.table import Table

LINK_DETAIL = Table(
    "link_detail",
    "Traced requests of a direction between two arcs of the round picture, in one time bin and one bin of latency or size.",
    (
        *("log_id", "ring", "metric", "op", "from_node", "to_node", "time_bin", "value_bin", "request_count", "moved_bytes"),
        *("latency_seconds", "least_value", "most_value"),
    ),
    grain=("log_id", "ring", "metric", "op", "from_node", "to_node", "time_bin", "value_bin"),
)
LINK_NODE = Table(
    "link_node",
    "Latencies or sizes of the traced requests of a rank, host, carrier or place in one direction, over a stretch of the run.",
    (
        *("log_id", "ring", "node_level", "node_id", "node_label", "host", "arc", "position", "op", "metric", "stretch"),
        *("request_count", "moved_bytes", "median_log10"),
    ),
    grain=("log_id", "ring", "node_level", "node_id", "op", "metric", "stretch"),
)
LINK_RING = Table(
    "link_ring",
    "One ring of the round picture of a log in one direction: what its nodes are, how much is known, and what it lacks.",
    (
        *("log_id", "ring", "op", "carrier_kind", "place_kind", "request_count", "matched_count", "negative_count"),
        *("begin_seconds", "bin_seconds", "skew_seconds", "skew_host", "skew_rank", "striped_by_ratio", "missing"),
    ),
    grain=("log_id", "ring", "op"),
    for_people=True,
)
