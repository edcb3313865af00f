-- ---
-- about = "Carriers and places of logs over which most bytes moved."
-- parts = []
-- reads = ["core.link_node"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH node AS (
    SELECT
        log_id, ring, node_level, node_id, op, any_value(node_label) AS node_label, any_value(host) AS host,
        max(request_count) FILTER (metric = 'size') AS request_count, max(moved_bytes) FILTER (metric = 'size') AS moved_bytes,
        max(request_count) FILTER (metric = 'latency') AS latency_count,
        max(median_log10) FILTER (metric = 'latency') AS latency_log10, max(median_log10) FILTER (metric = 'size') AS size_log10
    FROM core.link_node
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
        AND stretch = 'run'
        AND (ring = 'outer' AND node_level = 'carrier' OR ring = 'inner' AND node_level IN ('ost', 'mount'))
    GROUP BY log_id, ring, node_level, node_id, op
)
SELECT
    log_id, ring, node_level, node_id, op, node_label, host, request_count, moved_bytes, latency_count,
    10 ** latency_log10 AS latency_seconds, 10 ** size_log10 AS size_bytes, count(*) OVER level AS level_count
FROM node
WINDOW level AS (PARTITION BY log_id, ring, op)
QUALIFY row_number() OVER (PARTITION BY log_id, ring, op ORDER BY moved_bytes DESC NULLS LAST, node_level, node_id) <= 8
ORDER BY log_id, ring DESC, op, moved_bytes DESC NULLS LAST, node_level, node_id
