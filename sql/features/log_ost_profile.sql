-- ---
-- about = "How one log's bytes lie on the OSTs of Lustre: how many OSTs it used, and how much more the busiest got."
-- grain = ["log_id"]
-- reads = ["core.log", "core.module", "core.ost_io", "core.lustre_component", "feature.log_stripe_profile"]
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
        -- What was spread evenly over a file's OSTs says less than what was traced.
        MIN(evidence) AS ost_evidence,
        COUNT(*) AS ost_count,
        -- Of equals one is named, and always the same.
        arg_max(ost_id, (moved_bytes, ost_id)) AS busiest_ost_id,
        MAX(moved_bytes) AS busiest_bytes,
        arg_max(seconds, (moved_bytes, ost_id)) AS busiest_ost_core_seconds,
        AVG(moved_bytes) AS mean_bytes,
        SUM(moved_bytes) AS all_bytes
    FROM per_ost
    GROUP BY ALL
),
known AS (
    -- Newer records do not say how many OSTs there are, but those of all files are counted from 0.
    SELECT cluster, night, log_id, GREATEST(MAX(fs_ost_count), MAX(list_max(ost_ids)) + 1) AS known_ost_count
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
    CASE WHEN ost_count > 1 THEN busiest_bytes / mean_bytes END AS ost_max_over_mean_ratio,
    busiest_bytes / all_bytes AS busiest_ost_ratio, known_ost_count, nprocs, single_ost_bytes,
    busiest_ost_core_seconds / NULLIF(run_seconds * nprocs, 0) AS busiest_ost_seconds_ratio
FROM (SELECT cluster, night, log_id, nprocs, run_seconds FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN known USING (cluster, night, log_id)
LEFT JOIN (SELECT cluster, night, log_id, single_ost_bytes FROM feature.log_stripe_profile) AS stripe
    USING (cluster, night, log_id)
LEFT JOIN sound USING (cluster, night, log_id)
