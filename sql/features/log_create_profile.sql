-- ---
-- about = "How many files one log created within a second, on which mount and in how many directories, and what that cost."
-- grain = ["log_id"]
-- reads = ["core.log", "core.module", "main.create_bursts", "core.burst_file"]
-- ---
WITH per_log AS (
    -- Each file system handles its own creates, so those of several mounts are not added.
    SELECT
        cluster, night, log_id, bool_and(undated_create_count = 0) OVER of_log AS is_dated,
        (SUM(created_file_count) OVER of_log)::BIGINT AS created_file_count, peak_create_count, peak_start_seconds,
        burst_creates_per_second, directory_count, fullest_directory_create_count,
        CASE WHEN peak_create_count IS NOT NULL THEN mount END AS peak_mount
    FROM main.create_bursts
    WINDOW of_log AS (PARTITION BY cluster, night, log_id)
    QUALIFY row_number() OVER (PARTITION BY cluster, night, log_id ORDER BY peak_create_count DESC NULLS LAST, mount) = 1
),
cost AS (
    SELECT cluster, night, log_id, list_sum(list_sort(list(meta_seconds))) AS create_core_seconds
    FROM core.burst_file
    GROUP BY ALL
),
sound AS (
    -- MPI-IO creates files through POSIX.
    SELECT cluster, night, log_id
    FROM core.module
    GROUP BY ALL
    HAVING bool_and(state = 'read' AND NOT is_partial) FILTER (module IN ('POSIX', 'STDIO', 'DFS'))
        AND (bool_or(module = 'POSIX') OR NOT bool_or(module = 'MPI-IO'))
)
SELECT
    log.log_id, log.cluster, log.night,
    sound.log_id IS NOT NULL AND COALESCE(is_dated, TRUE) AS is_complete,
    COALESCE(created_file_count, 0) AS created_file_count, COALESCE(peak_create_count, 0) AS peak_create_count,
    COALESCE(getvariable('borne_create_count'), 4000)::BIGINT AS borne_create_count,
    COALESCE(peak_create_count, 0) / NULLIF(borne_create_count, 0) AS peak_create_ratio,
    peak_start_seconds, burst_creates_per_second, directory_count, fullest_directory_create_count, create_core_seconds, peak_mount
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN cost USING (cluster, night, log_id)
LEFT JOIN sound USING (cluster, night, log_id)
