-- ---
-- about = "What single ranks of a log asked for and moved."
-- parts = []
-- reads = ["core.link_node"]
-- parameters = ["cluster", "night", "log_id", "first_rank", "last_rank"]
-- ---
SELECT
    node_id AS rank, any_value(host) AS host, (ring = 'inner')::INTEGER AS ring, (op = 'write')::INTEGER AS op,
    MAX(request_count) FILTER (metric = 'size') AS request_count, MAX(moved_bytes) FILTER (metric = 'size') AS moved_bytes,
    10 ** MAX(median_log10) FILTER (metric = 'latency') AS latency_seconds
FROM core.link_node
WHERE cluster = $cluster AND night = $night AND log_id = $log_id AND node_id BETWEEN $first_rank AND $last_rank
    AND node_level = 'rank' AND stretch = 'run'
GROUP BY ALL
ORDER BY op, ring, latency_seconds DESC NULLS LAST, rank
