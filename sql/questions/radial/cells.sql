-- ---
-- about = "Requests of logs' edges by time and value."
-- parts = []
-- reads = ["core.link_detail"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
SELECT
    log_id, (ring = 'inner')::UTINYINT AS ring, (op = 'write')::UTINYINT AS op, (metric = 'size')::UTINYINT AS metric,
    from_node, to_node, time_bin, value_bin, request_count, moved_bytes,
    CASE metric WHEN 'size' THEN moved_bytes ELSE latency_seconds END / request_count AS mean_value, least_value, most_value
FROM core.link_detail
WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
    AND request_count > 0
ORDER BY log_id
