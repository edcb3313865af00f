"""Table of the patterns of a traced log."""

from iomine.schema.table import Table

LINK_PATTERN = Table(
    "link_pattern",
    "The pattern in which the nodes of one level served, or were served: its name, and the numbers that decide it.",
    (
        *("log_id", "ring", "node_level", "op", "metric", "stretch", "traffic_pattern", "link_node_count", "middle_log10"),
        *("scale_log10", "spread_decades", "outlying_count", "outlying_nodes", "outlying_ratio", "explained_ratio"),
        *("band_count", "period_node_count", "coincides_with", "pattern_lack"),
    ),
    grain=("log_id", "ring", "node_level", "op", "metric", "stretch"),
)
