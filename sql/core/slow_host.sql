-- ---
-- about = "A host on which requests took far longer than on the other hosts of a log, which are alike."
-- grain = ["log_id", "host"]
-- reads = ["core.link_pattern", "core.link_node"]
-- ---
SELECT DISTINCT cluster, night, log_id, host
FROM (
    SELECT cluster, night, log_id, ring, node_level, op, metric, stretch, unnest(outlying_nodes) AS node_id
    FROM core.link_pattern
    WHERE ring = 'inner' AND node_level = 'host' AND metric = 'latency' AND stretch = 'run' AND traffic_pattern = 'outlier'
)
JOIN core.link_node USING (cluster, night, log_id, ring, node_level, op, metric, stretch, node_id)
WHERE host IS NOT NULL
