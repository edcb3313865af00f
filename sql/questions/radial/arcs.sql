-- ---
-- about = "Arcs of logs' circles from outside in: ranks, carriers and places, neighbours together where there are too many."
-- parts = []
-- reads = ["core.link_node"]
-- parameters = ["cluster", "first_night", "last_night", "first_log_id", "last_log_id", "log_ids"]
-- ---
WITH node AS (
    SELECT DISTINCT
        log_id, CASE node_level WHEN 'rank' THEN 0 WHEN 'carrier' THEN 1 ELSE 2 END AS circle, node_level, arc, node_id,
        node_label, host, position
    FROM core.link_node
    WHERE cluster = $cluster AND night BETWEEN $first_night AND $last_night AND log_id BETWEEN $first_log_id AND $last_log_id
    AND list_contains($log_ids, log_id)
        AND node_level IN ('rank', 'carrier', 'ost', 'mount') AND stretch = 'run' AND arc IS NOT NULL
)
SELECT
    log_id, circle, arc, min(node_level) AS node_level, min(node_id) AS first_node, max(node_id) AS last_node,
    count(DISTINCT node_id) AS node_count, arg_min(node_label, node_id) AS node_label, arg_min(host, node_id) AS host,
    count(DISTINCT host) AS host_count, avg(position) AS position
FROM node
GROUP BY log_id, circle, arc
ORDER BY log_id, circle, arc
