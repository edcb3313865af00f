-- ---
-- about = "Where a log's nodes hang on the fabric: on which switches, how far these are from each other, and how scattered."
-- grain = ["log_id"]
-- reads = ["core.job_route", "core.log", "core.log_fabric", "core.log_link"]
-- ---
WITH leaf AS (
    SELECT cluster, night, log_id, string_agg(leaf, ', ' ORDER BY leaf) FILTER (place <= 8) AS leaf_switches
    FROM (
        SELECT *, row_number() OVER (PARTITION BY cluster, night, log_id ORDER BY leaf) AS place
        FROM (
            SELECT DISTINCT cluster, night, log_id, CASE WHEN node_kind = 'switch' THEN device ELSE peer_device END AS leaf
            FROM core.log_link
            WHERE is_host_link AND 'switch' IN (node_kind, peer_node_kind)
        )
    )
    GROUP BY ALL
)
SELECT
    route.log_id, job_id, "user", app, nprocs, host_link_count, switch_count, route.leaf_switch_count, leaf_switches,
    scatter_ratio, route.tier_count, route.same_switch_ratio, route.moved_bytes, routed_bytes, fabric_evidence, unrouted_reason,
    night, cluster
FROM core.job_route AS route
LEFT JOIN (SELECT cluster, night, log_id, job_id, "user", app, nprocs FROM core.log) AS log USING (cluster, night, log_id)
LEFT JOIN core.log_fabric AS fabric USING (cluster, night, log_id)
LEFT JOIN leaf USING (cluster, night, log_id)
