-- ---
-- about = "How one log's files lie on Lustre: big shared files on few OSTs, small files on many."
-- grain = ["log_id"]
-- reads = ["core.log", "core.module", "core.striped_file", "core.file_name"]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id,
        COALESCE(MAX(moved_bytes) FILTER (is_on_one_ost), 0) AS single_ost_bytes,
        COUNT(*) FILTER (is_on_one_ost) AS single_ost_file_count,
        list_sum(list_sort(list(request_seconds + held_seconds) FILTER (is_on_one_ost))) AS single_ost_core_seconds,
        arg_max(file_id, moved_bytes ORDER BY file_id) FILTER (is_on_one_ost) AS single_ost_file_id,
        MAX(rank_count) FILTER (is_on_one_ost) AS single_ost_rank_count,
        COALESCE(MAX(moved_bytes) FILTER (is_on_few_osts), 0) AS striped_shared_bytes,
        COUNT(*) FILTER (is_on_few_osts) AS striped_shared_file_count,
        arg_max(stripe_count, moved_bytes ORDER BY file_id) FILTER (is_on_few_osts) AS striped_shared_stripe_count,
        list_sum(list_sort(list(request_seconds + held_seconds) FILTER (is_on_few_osts))) AS striped_shared_core_seconds,
        arg_max(file_id, moved_bytes ORDER BY file_id) FILTER (is_on_few_osts) AS striped_shared_file_id,
        COUNT(*) AS file_count,
        COUNT(*) FILTER (is_overstriped) AS overstriped_file_count,
        list_sum(list_sort(list(io_core_seconds) FILTER (is_overstriped))) AS overstriped_core_seconds
    FROM core.striped_file
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
    TRY_CAST(single_ost_bytes AS BIGINT) AS single_ost_bytes, single_ost_file_count, single_ost_core_seconds,
    single_name.path AS single_ost_path, CASE WHEN single_ost_file_count = 1 THEN single_ost_rank_count END AS single_ost_rank_count,
    TRY_CAST(striped_shared_bytes AS BIGINT) AS striped_shared_bytes, striped_shared_stripe_count,
    striped_shared_file_count, striped_shared_core_seconds, striped_name.path AS striped_shared_path,
    CASE WHEN per_log.log_id IS NOT NULL THEN COALESCE(nprocs / striped_shared_stripe_count, 0) END
        AS ranks_per_ost_ratio,
    overstriped_file_count, overstriped_file_count / NULLIF(file_count, 0) AS overstriped_file_ratio, overstriped_core_seconds
FROM (SELECT cluster, night, log_id, nprocs FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN sound USING (cluster, night, log_id)
LEFT JOIN core.file_name AS single_name
    ON single_name.cluster = log.cluster AND single_name.night = log.night AND single_name.log_id = log.log_id
    AND single_name.file_id = per_log.single_ost_file_id
LEFT JOIN core.file_name AS striped_name
    ON striped_name.cluster = log.cluster AND striped_name.night = log.night AND striped_name.log_id = log.log_id
    AND striped_name.file_id = per_log.striped_shared_file_id
