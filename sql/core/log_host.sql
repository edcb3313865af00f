-- ---
-- about = "The part of each node in a log's I/O in one direction, as far as its nodes are known."
-- grain = ["log_id", "op", "host"]
-- reads = ["core.log", "core.rank_io", "core.log_node", "core.slow_rank"]
-- ---
WITH direction AS (
    SELECT cluster, night, log_id, unnest(['read', 'write']) AS op, unnest([read_bytes, write_bytes]) AS log_bytes
    FROM core.log
),
known AS (
    SELECT cluster, night, log_id, host, op, SUM(moved_bytes)::DOUBLE AS host_bytes
    FROM (
        SELECT cluster, night, log_id, host, unnest(['read', 'write']) AS op, unnest([read_bytes, write_bytes]) AS moved_bytes
        FROM core.rank_io
        -- Bytes that reach the file system, not bytes that the program asked for.
        WHERE host <> '' AND layer IN ('posix', 'stdio', 'dfs')
    )
    GROUP BY ALL
),
moved AS (
    SELECT *, SUM(host_bytes) OVER (PARTITION BY cluster, night, log_id, op) AS known_bytes
    FROM known
    WHERE host_bytes > 0
),
shared AS (
    SELECT cluster, night, log_id, op, host, host_bytes / known_bytes AS host_ratio, 'host_io' AS host_evidence
    FROM moved
    JOIN direction USING (cluster, night, log_id, op)
    -- Where only some ranks' nodes are known, these say nothing of the others.
    WHERE known_bytes >= 0.5 * log_bytes
),
of_node AS (
    SELECT *
    FROM shared
    UNION ALL
    SELECT
        cluster, night, log_id, op, host, 1 / COUNT(*) OVER (PARTITION BY cluster, night, log_id, op) AS host_ratio, 'even' AS host_evidence
    FROM (SELECT DISTINCT cluster, night, log_id, host FROM core.log_node) AS node
    JOIN direction USING (cluster, night, log_id)
    ANTI JOIN shared USING (cluster, night, log_id, op)
)
SELECT
    log_id, op, host, host_ratio, host_evidence, slow.host IS NOT NULL AS is_straggler, night, cluster
FROM of_node
LEFT JOIN (SELECT DISTINCT cluster, night, log_id, host FROM core.slow_rank) AS slow USING (cluster, night, log_id, host)
