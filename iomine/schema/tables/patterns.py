"""Table of what the patterns of a traced log are called."""

from iomine.schema.table import Table

LINK_PATTERN = Table(
    "link_pattern",
    "What the pattern is called in which the nodes of one level served, or were served, and by which numbers.",
    (
        *("log_id", "ring", "node_level", "op", "metric", "stretch", "traffic_pattern", "link_node_count", "middle_log10"),
        *("scale_log10", "spread_decades", "outlying_count", "outlying_nodes", "outlying_ratio", "explained_ratio"),
        *("band_count", "period_node_count", "coincides_with", "pattern_lack"),
    ),
    grain=("log_id", "ring", "node_level", "op", "metric", "stretch"),
)
