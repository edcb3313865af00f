-- ---
-- about = "What the patterns of logs' rings are called."
-- parts = []
-- reads = ["main.link_patterns"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, ring, node_level, carrier_kind, op, metric, traffic_pattern, link_node_count, middle_log10, spread_decades, outlying_count,
    outlying_nodes, outlying_labels, outlying_ratio, band_count, period_node_count, coincides_with, pattern_lack,
    first_traffic_pattern, first_middle_log10, last_traffic_pattern, last_middle_log10
FROM main.link_patterns
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
ORDER BY log_id, ring DESC, op, metric, node_level
