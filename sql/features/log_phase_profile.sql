-- ---
-- about = "The phases of I/O of one log as a whole: how many there are, and in how many of them a rank straggled."
-- grain = ["log_id"]
-- reads = ["core.log", "core.phase", "core.delayed_rank", "core.rank_io", "core.slow_host"]
-- ---
WITH per_op AS (
    SELECT
        cluster, night, log_id, MAX(bursts_per_rank) AS bursts_per_rank
    FROM core.phase
    WHERE layer = 'all'
    GROUP BY cluster, night, log_id, op
),
bursts AS (
    SELECT cluster, night, log_id, TRY_CAST(SUM(bursts_per_rank) AS BIGINT) AS bursts_per_rank
    FROM per_op
    GROUP BY ALL
),
per_log AS (
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
),
on_slow_ost AS (
    SELECT cluster, night, log_id, ost_id, SUM(slowest_rank_seconds) AS seconds
    FROM (
        SELECT cluster, night, log_id, slowest_rank AS rank, slowest_rank_seconds
        FROM core.phase
        WHERE layer = 'all' AND straggler_count > 0
    )
    JOIN core.delayed_rank USING (cluster, night, log_id, rank)
    GROUP BY ALL
),
delayed AS (
    SELECT cluster, night, log_id, arg_max(ost_id, seconds ORDER BY ost_id) AS ost_id, SUM(seconds) AS seconds
    FROM on_slow_ost
    GROUP BY ALL
),
host_of AS (
    SELECT cluster, night, log_id, rank, MAX(host) AS host
    FROM core.rank_io
    GROUP BY ALL
),
on_slow_host AS (
    SELECT cluster, night, log_id, host, SUM(slowest_rank_seconds) AS seconds
    FROM (
        SELECT cluster, night, log_id, slowest_rank AS rank, slowest_rank_seconds
        FROM core.phase
        WHERE layer = 'all' AND straggler_count > 0
    )
    JOIN host_of USING (cluster, night, log_id, rank)
    JOIN core.slow_host USING (cluster, night, log_id, host)
    GROUP BY ALL
),
hosted AS (
    SELECT cluster, night, log_id, arg_max(host, seconds ORDER BY host) AS host, MAX(seconds) AS seconds
    FROM on_slow_host
    GROUP BY ALL
)
SELECT
    log.log_id, log.cluster, log.night,
    per_log.log_id IS NOT NULL AS is_complete,
    phase_evidence, io_phase_count, bursts_per_rank,
    CASE WHEN timed_count > 0 THEN straggling_count END AS phase_straggler_count,
    straggling_count / NULLIF(timed_count, 0) AS phase_straggler_ratio,
    CASE WHEN timed_count > 0 THEN COALESCE(straggling_seconds, 0) END AS phase_straggler_core_seconds,
    CASE WHEN timed_count > 0 THEN COALESCE(straggling_seconds, 0) / NULLIF(run_seconds, 0) END
        AS phase_straggler_seconds_ratio,
    -- A slow OST explains them where at least half of their time is of ranks that use it.
    CASE WHEN delayed.seconds >= 0.5 * straggling_seconds THEN delayed.ost_id END AS phase_straggler_ost_id,
    delayed.seconds / NULLIF(straggling_seconds, 0) AS phase_straggler_ost_ratio,
    -- A slow host likewise.
    CASE WHEN hosted.seconds >= 0.5 * straggling_seconds THEN hosted.host END AS phase_straggler_host
FROM (SELECT cluster, night, log_id, run_seconds FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN bursts USING (cluster, night, log_id)
LEFT JOIN delayed USING (cluster, night, log_id)
LEFT JOIN hosted USING (cluster, night, log_id)
