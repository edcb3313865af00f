-- ---
-- about = "How one log read through POSIX: how many requests, how many of them small, and how long they took."
-- grain = ["log_id"]
-- reads = ["core.log", "core.module", "core.posix_file"]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id,
        TRY_CAST(SUM(read_count) AS BIGINT) AS read_count,
        TRY_CAST(SUM(small_read_count) AS BIGINT) AS small_read_count,
        SUM(read_seconds) AS read_core_seconds
    FROM core.posix_file
    GROUP BY ALL
),
sound AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.module
    WHERE module = 'POSIX' AND state = 'read' AND NOT is_partial
)
SELECT
    log.log_id, log.cluster, log.night,
    sound.log_id IS NOT NULL AS is_complete,
    read_count, small_read_count,
    -- No reads, no ratio: a zero would look like a clean bill of health.
    small_read_count / NULLIF(read_count, 0) AS small_read_ratio,
    read_core_seconds
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN sound USING (cluster, night, log_id)
