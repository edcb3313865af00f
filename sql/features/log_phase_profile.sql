-- ---
-- about = "The phases of I/O of one log as a whole: how many there are, and in how many of them a rank straggled."
-- grain = ["log_id"]
-- reads = ["core.log", "core.phase"]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id,
        MAX(evidence) AS phase_evidence,
        COUNT(*) AS io_phase_count,
        -- Heat maps know no times of requests, and so no stragglers.
        COUNT(*) FILTER (straggler_count > 0) AS straggling_count,
        COUNT(straggler_count) AS timed_count,
        SUM(slowest_rank_seconds) FILTER (straggler_count > 0) AS straggling_seconds
    FROM core.phase
    WHERE layer = 'all'
    GROUP BY ALL
)
SELECT
    log.log_id, log.cluster, log.night,
    per_log.log_id IS NOT NULL AS is_complete,
    phase_evidence, io_phase_count,
    CASE WHEN timed_count > 0 THEN straggling_count END AS phase_straggler_count,
    straggling_count / NULLIF(timed_count, 0) AS phase_straggler_ratio,
    CASE WHEN timed_count > 0 THEN COALESCE(straggling_seconds, 0) END AS phase_straggler_core_seconds,
    CASE WHEN timed_count > 0 THEN COALESCE(straggling_seconds, 0) / NULLIF(run_seconds, 0) END
        AS phase_straggler_seconds_ratio
FROM (SELECT cluster, night, log_id, run_seconds FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
