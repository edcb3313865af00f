-- ---
-- about = "The pattern of each ring of a traced log by level, direction and metric, with its numbers and the nodes that outlie."
-- grain = ["log_id", "ring", "node_level", "op", "metric"]
-- reads = ["core.link_pattern", "core.link_node", "core.link_ring", "core.log"]
-- ---
WITH outlying AS (
    SELECT cluster, night, log_id, ring, node_level, op, metric, unnest(outlying_nodes) AS node_id
    FROM core.link_pattern
    WHERE stretch = 'run' AND outlying_count > 0
),
labelled AS (
    SELECT
        cluster, night, log_id, ring, node_level, op, metric,
        list(
            CASE
                WHEN node_level = 'ost' THEN format('OST {} (OST{:04x})', node_id, node_id)
                WHEN node_level = 'rank' THEN 'rank ' || node_id || COALESCE(' on ' || host, '')
                ELSE COALESCE(node_label, host, node_level || ' ' || node_id)
            END
            ORDER BY median_log10 DESC, node_id
        ) AS outlying_labels
    FROM outlying
    JOIN (SELECT * FROM core.link_node WHERE stretch = 'run') AS node
        USING (cluster, night, log_id, ring, node_level, op, metric, node_id)
    GROUP BY ALL
)
SELECT
    run.log_id, job_id, "user", app, nprocs, run.ring, run.node_level, carrier_kind, run.op, run.metric, run.traffic_pattern, link_node_count,
    run.middle_log10, scale_log10, run.spread_decades, outlying_count, outlying_nodes, outlying_labels, outlying_ratio,
    explained_ratio, band_count, period_node_count, coincides_with, pattern_lack,
    early.traffic_pattern AS first_traffic_pattern, early.middle_log10 AS first_middle_log10,
    early.spread_decades AS first_spread_decades,
    late.traffic_pattern AS last_traffic_pattern, late.middle_log10 AS last_middle_log10,
    late.spread_decades AS last_spread_decades, run.night, run.cluster
FROM (SELECT * FROM core.link_pattern WHERE stretch = 'run') AS run
LEFT JOIN labelled USING (cluster, night, log_id, ring, node_level, op, metric)
LEFT JOIN (
    SELECT cluster, night, log_id, ring, node_level, op, metric, traffic_pattern, middle_log10, spread_decades
    FROM core.link_pattern
    WHERE stretch = 'first'
) AS early USING (cluster, night, log_id, ring, node_level, op, metric)
LEFT JOIN (
    SELECT cluster, night, log_id, ring, node_level, op, metric, traffic_pattern, middle_log10, spread_decades
    FROM core.link_pattern
    WHERE stretch = 'last'
) AS late USING (cluster, night, log_id, ring, node_level, op, metric)
LEFT JOIN (SELECT cluster, night, log_id, ring, op, carrier_kind FROM core.link_ring) USING (cluster, night, log_id, ring, op)
LEFT JOIN core.log AS log USING (cluster, night, log_id)
