-- ---
-- about = "A file that a log opened and wrote in POSIX, STDIO or DFS, each once: when it was opened first, which is when it was created if it was new."
-- grain = ["log_id", "file_id"]
-- reads = ["core.posix_file", "core.stdio_file", "core.dfs_file", "core.log", "core.file_name"]
-- ---
-- Darshan does not keep the flags of opens. MPI-IO passes through POSIX, which does the creating.
WITH record AS (
    SELECT cluster, night, log_id, file_id, write_count, open_start_seconds, meta_seconds
    FROM core.posix_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, write_count, open_start_seconds, meta_seconds
    FROM core.stdio_file
    UNION ALL
    SELECT cluster, night, log_id, file_id, write_count::HUGEINT + writex_count, open_start_seconds, meta_seconds
    FROM core.dfs_file
),
per_file AS (
    SELECT
        cluster, night, log_id, file_id,
        -- 0 is not a time: the file was opened before Darshan started, or by a call that it does not see.
        MIN(NULLIF(open_start_seconds, 0)) AS open_start_seconds,
        list_sum(list_sort(list(meta_seconds))) AS meta_seconds
    FROM record
    GROUP BY ALL
    HAVING SUM(write_count) > 0
)
SELECT
    log_id, file_id, mount, NULLIF(regexp_extract(path, '^(.*/)[^/]*$', 1), '') AS directory,
    -- Clocks have whole seconds; a time more than a minute after the run is not valid either.
    CASE WHEN open_start_seconds > -1e9 AND open_start_seconds < LEAST(COALESCE(run_seconds, 0), 1e9) + 60 THEN open_start_seconds END AS open_start_seconds, meta_seconds,
    night, cluster
FROM per_file
LEFT JOIN (SELECT cluster, night, log_id, run_seconds FROM core.log) AS log USING (cluster, night, log_id)
LEFT JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
