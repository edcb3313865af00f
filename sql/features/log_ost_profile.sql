-- ---
-- about = "How one log's bytes lie on the OSTs of Lustre, how much more the busiest got, and which OSTs were slow."
-- grain = ["log_id"]
-- reads = ["core.log", "core.module", "core.ost_io", "core.ost_pace", "core.lustre_component", "feature.log_stripe_profile"]
-- ---
WITH per_ost AS (
    SELECT
        cluster, night, log_id, ost_id,
        SUM(moved_bytes)::DOUBLE AS moved_bytes, SUM(request_seconds) AS seconds, MIN(evidence) AS evidence
    FROM core.ost_io
    WHERE ost_id IS NOT NULL AND moved_bytes > 0
    GROUP BY ALL
),
per_log AS (
    SELECT
        cluster, night, log_id,
        -- Bytes spread evenly over a file's OSTs are weaker evidence than traced bytes.
        MIN(evidence) AS ost_evidence,
        COUNT(*) AS ost_count,
        arg_max(ost_id, moved_bytes ORDER BY ost_id) AS busiest_ost_id,
        MAX(moved_bytes) AS busiest_bytes,
        arg_max(seconds, moved_bytes ORDER BY ost_id) AS busiest_ost_core_seconds,
        AVG(moved_bytes) AS mean_bytes,
        SUM(moved_bytes) AS all_bytes
    FROM per_ost
    GROUP BY ALL
),
pace AS (
    SELECT
        cluster, night, log_id, ost_id,
        (SUM(moved_bytes) FILTER (is_slow IS NOT NULL))::DOUBLE AS judged_bytes, MAX(compared_ost_count) AS compared_ost_count,
        SUM(moved_bytes) FILTER (is_slow) AS slow_bytes, SUM(beyond_median_seconds) FILTER (is_slow) AS beyond_seconds,
        MAX(slowness_ratio) FILTER (is_slow) AS slowness_ratio, MIN(evidence) FILTER (is_slow) AS evidence,
        MAX(beyond_median_seconds / rank_count) FILTER (is_slow) AS wait_seconds
    FROM core.ost_pace
    GROUP BY ALL
),
slow AS (
    SELECT
        cluster, night, log_id, SUM(judged_bytes) AS judged_bytes, MAX(compared_ost_count) AS compared_ost_count,
        COUNT(beyond_seconds) AS slow_count, arg_max(ost_id, beyond_seconds ORDER BY ost_id) AS slow_ost_id,
        arg_max(slowness_ratio, beyond_seconds ORDER BY ost_id) AS slow_ost_slowness_ratio,
        arg_max(slow_bytes, beyond_seconds ORDER BY ost_id) AS slow_bytes,
        arg_max(evidence, beyond_seconds ORDER BY ost_id) AS slow_ost_evidence,
        SUM(beyond_seconds) AS slow_ost_core_seconds, MAX(wait_seconds) AS wait_seconds
    FROM pace
    GROUP BY ALL
),
known AS (
    -- Newer records do not say how many OSTs there are, but those of all files are counted from 0.
    SELECT cluster, night, log_id, TRY_CAST(GREATEST(MAX(fs_ost_count), MAX(list_max(ost_ids))::HUGEINT + 1) AS BIGINT) AS known_ost_count
    FROM core.lustre_component
    GROUP BY ALL
),
sound AS (
    SELECT cluster, night, log_id
    FROM core.module
    WHERE module IN ('POSIX', 'LUSTRE')
    GROUP BY ALL
    HAVING COUNT(*) = 2 AND bool_and(state = 'read' AND NOT is_partial)
)
SELECT
    log.log_id, log.cluster, log.night,
    sound.log_id IS NOT NULL AS is_complete,
    ost_evidence, ost_count, busiest_ost_id, TRY_CAST(busiest_bytes AS BIGINT) AS busiest_ost_bytes, busiest_ost_core_seconds,
    -- One OST alone is not out of balance.
    -- A process alone asks one OST after the other, whatever each of them gets.
    CASE WHEN ost_count > 1 AND nprocs > 1 THEN busiest_bytes / mean_bytes END AS ost_max_over_mean_ratio,
    busiest_bytes / all_bytes AS busiest_ost_ratio, known_ost_count, nprocs, single_ost_bytes,
    busiest_ost_core_seconds / NULLIF(run_seconds * nprocs, 0) AS busiest_ost_seconds_ratio,
    -- To know that no OST is slow takes nearly all bytes; to know that one is slow does not.
    CASE WHEN slow_count > 0 OR judged_bytes >= 0.9 * all_bytes THEN slow_count END AS slow_ost_count,
    slow_ost_id, compared_ost_count, slow_ost_slowness_ratio,
    CASE WHEN slow_count > 0 THEN wait_seconds / NULLIF(run_seconds, 0) WHEN judged_bytes >= 0.9 * all_bytes THEN 0 END
        AS slow_ost_wait_ratio,
    slow_ost_core_seconds, TRY_CAST(slow_bytes AS BIGINT) AS slow_ost_bytes, slow_ost_evidence
FROM (SELECT cluster, night, log_id, nprocs, run_seconds FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN slow USING (cluster, night, log_id)
LEFT JOIN known USING (cluster, night, log_id)
LEFT JOIN (SELECT cluster, night, log_id, single_ost_bytes FROM feature.log_stripe_profile) AS stripe
    USING (cluster, night, log_id)
LEFT JOIN sound USING (cluster, night, log_id)
