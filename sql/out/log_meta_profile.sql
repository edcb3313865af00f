-- ---
-- about = "What metadata calls cost one log; all its times are those of the POSIX module, so that part and whole agree."
-- grain = ["log_id"]
-- reads = ["core.log", "core.module", "core.posix_file"]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id,
        SUM(meta_seconds) AS meta_core_seconds,
        SUM(read_seconds) + SUM(write_seconds) + SUM(meta_seconds) AS io_core_seconds
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
    meta_core_seconds, per_log.io_core_seconds,
    -- No I/O, no ratio: a zero would look like a clean bill of health.
    meta_core_seconds / NULLIF(per_log.io_core_seconds, 0) AS meta_ratio,
    meta_core_seconds / NULLIF(nprocs, 0) AS meta_seconds_per_rank
FROM (SELECT cluster, night, log_id, nprocs FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN sound USING (cluster, night, log_id)
