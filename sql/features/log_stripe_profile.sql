-- ---
-- about = "How one log's files lie on Lustre: big shared files on few OSTs, small files on many."
-- grain = ["log_id"]
-- reads = ["core.log", "core.module", "core.lustre_component", "core.posix_file", "core.file_name"]
-- ---
WITH layout AS (
    -- Components of a file take turns over its length; the one with most OSTs bounds how wide it can go. A component that
    -- nothing was written to yet has no OSTs.
    SELECT
        cluster, night, log_id, file_id, MAX(stripe_count) AS stripe_count,
        arg_max(stripe_bytes, stripe_count ORDER BY stripe_bytes) AS stripe_bytes
    FROM core.lustre_component
    WHERE stripe_count > 0 AND len(ost_ids) > 0
    GROUP BY ALL
),
posix AS (
    SELECT
        cluster, night, log_id, file_id,
        bool_or(is_shared) OR COUNT(DISTINCT rank) > 1 AS has_many_ranks,
        SUM(read_bytes::HUGEINT + write_bytes) AS moved_bytes,
        SUM(read_seconds + write_seconds) AS seconds, SUM(read_seconds + write_seconds + meta_seconds) AS all_seconds,
        GREATEST(MAX(max_read_offset_bytes), MAX(max_write_offset_bytes))::HUGEINT + 1 AS extent_bytes
    FROM core.posix_file
    GROUP BY ALL
),
striped AS (
    SELECT posix.*, stripe_count, stripe_bytes, nprocs, has_many_ranks AND nprocs > 1 AS is_shared
    FROM posix
    JOIN layout USING (cluster, night, log_id, file_id)
    JOIN (SELECT cluster, night, log_id, nprocs FROM core.log) AS log USING (cluster, night, log_id)
    WHERE moved_bytes > 0
),
per_log AS (
    SELECT
        cluster, night, log_id, nprocs,
        COALESCE(MAX(moved_bytes) FILTER (is_shared AND stripe_count = 1), 0) AS single_ost_bytes,
        arg_max(seconds, moved_bytes ORDER BY file_id) FILTER (is_shared AND stripe_count = 1) AS single_ost_core_seconds,
        arg_max(file_id, moved_bytes ORDER BY file_id) FILTER (is_shared AND stripe_count = 1) AS single_ost_file_id,
        COALESCE(MAX(moved_bytes) FILTER (is_shared), 0) AS striped_shared_bytes,
        arg_max(stripe_count, moved_bytes ORDER BY file_id) FILTER (is_shared) AS striped_shared_stripe_count,
        arg_max(seconds, moved_bytes ORDER BY file_id) FILTER (is_shared) AS striped_shared_core_seconds,
        arg_max(file_id, moved_bytes ORDER BY file_id) FILTER (is_shared) AS striped_shared_file_id,
        COUNT(*) AS file_count,
        COUNT(*) FILTER (stripe_count > 1 AND stripe_count > ceil(extent_bytes / stripe_bytes)) AS overstriped_file_count,
        SUM(all_seconds) FILTER (stripe_count > 1 AND stripe_count > ceil(extent_bytes / stripe_bytes)) AS overstriped_core_seconds
    FROM striped
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
    TRY_CAST(single_ost_bytes AS BIGINT) AS single_ost_bytes, single_ost_core_seconds, single_name.path AS single_ost_path,
    TRY_CAST(striped_shared_bytes AS BIGINT) AS striped_shared_bytes, striped_shared_stripe_count,
    striped_shared_core_seconds, striped_name.path AS striped_shared_path,
    CASE WHEN per_log.log_id IS NOT NULL THEN COALESCE(per_log.nprocs / striped_shared_stripe_count, 0) END
        AS ranks_per_ost_ratio,
    overstriped_file_count, overstriped_file_count / NULLIF(file_count, 0) AS overstriped_file_ratio, overstriped_core_seconds
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN sound USING (cluster, night, log_id)
LEFT JOIN core.file_name AS single_name
    ON single_name.cluster = log.cluster AND single_name.night = log.night AND single_name.log_id = log.log_id
    AND single_name.file_id = per_log.single_ost_file_id
LEFT JOIN core.file_name AS striped_name
    ON striped_name.cluster = log.cluster AND striped_name.night = log.night AND striped_name.log_id = log.log_id
    AND striped_name.file_id = per_log.striped_shared_file_id
