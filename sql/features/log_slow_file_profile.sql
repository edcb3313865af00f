-- ---
-- about = "The files of one log whose requests took far longer than those of files alike: same directory, size and access."
-- grain = ["log_id"]
-- reads = ["core.log", "core.unsound_module", "core.slow_file"]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id,
        COUNT(DISTINCT file_id) FILTER (is_slow_file) AS slow_file_count,
        list_sum(list_sort(list(excess_seconds) FILTER (is_slow_file))) AS slow_file_core_seconds,
        MAX(excess_seconds / rank_count) FILTER (is_slow_file) AS wait_seconds,
        MAX(slowdown_ratio) FILTER (is_slow_file) AS slow_file_slowdown_ratio,
        arg_max(like_file_count, slowdown_ratio ORDER BY file_id, op) FILTER (is_slow_file) AS like_file_count,
        arg_max(path, slowdown_ratio ORDER BY file_id, op) FILTER (is_slow_file) AS slow_file_path
    FROM core.slow_file
    GROUP BY ALL
),
unsound AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.unsound_module
    WHERE module IN ('POSIX', 'STDIO')
)
SELECT
    log.log_id, log.cluster, log.night,
    unsound.log_id IS NULL AS is_complete,
    slow_file_count, like_file_count, slow_file_slowdown_ratio,
    CASE WHEN slow_file_count = 0 THEN 0 ELSE wait_seconds / NULLIF(run_seconds, 0) END AS slow_file_wait_ratio,
    slow_file_core_seconds, slow_file_path
FROM (SELECT cluster, night, log_id, run_seconds FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN unsound USING (cluster, night, log_id)
