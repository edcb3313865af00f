-- ---
-- about = "A straggler, and its node where that is known."
-- grain = ["log_id", "rank"]
-- reads = ["core.rank_time", "core.log", "core.log_node"]
-- ---
WITH slow AS (
    SELECT cluster, night, log_id, rank, MAX(host) AS host
    FROM core.rank_time
    WHERE is_slow_rank
    GROUP BY ALL
),
node AS (
    SELECT cluster, night, log_id, list(host ORDER BY node_number) AS hosts
    FROM core.log_node
    GROUP BY ALL
)
SELECT
    slow.log_id, slow.rank,
    -- Schedulers fill nodes with ranks one after the other.
    COALESCE(slow.host, hosts[TRY_CAST(slow.rank * len(hosts) // nprocs + 1 AS BIGINT)]) AS host, slow.night, slow.cluster
FROM slow
JOIN (SELECT cluster, night, log_id, nprocs FROM core.log WHERE nprocs > 0) AS log USING (cluster, night, log_id)
LEFT JOIN node USING (cluster, night, log_id)
