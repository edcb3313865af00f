-- ---
-- about = "The files of one log: how many belong to one rank alone, how many are small, and what went through stdio."
-- grain = ["log_id"]
-- reads = ["core.log", "core.module", "core.posix_file", "core.stdio_file", "core.dfs_file", "core.file_name"]
-- ---
WITH record AS (
    SELECT
        cluster, night, log_id, file_id, rank, 'posix' AS layer, read_bytes, write_bytes,
        read_seconds + write_seconds + meta_seconds AS seconds, max_read_offset_bytes, max_write_offset_bytes
    FROM core.posix_file
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, rank, 'stdio' AS layer, read_bytes, write_bytes,
        read_seconds + write_seconds + meta_seconds AS seconds, max_read_offset_bytes, max_write_offset_bytes
    FROM core.stdio_file
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, rank, 'dfs' AS layer, read_bytes, write_bytes,
        read_seconds + write_seconds + meta_seconds AS seconds, NULL AS max_read_offset_bytes, NULL AS max_write_offset_bytes
    FROM core.dfs_file
),
per_file AS (
    SELECT
        cluster, night, log_id, file_id,
        -- A shared record is of all ranks; a run of one process has no others.
        NOT bool_or(rank = -1) AND COUNT(DISTINCT rank) = 1 AS is_own,
        SUM(read_bytes::HUGEINT + write_bytes) AS moved_bytes,
        SUM(read_bytes::HUGEINT + write_bytes) FILTER (layer = 'stdio') AS stdio_bytes,
        SUM(seconds) AS seconds, SUM(seconds) FILTER (layer = 'stdio') AS stdio_seconds,
        GREATEST(MAX(max_read_offset_bytes), MAX(max_write_offset_bytes))::HUGEINT + 1 AS extent_bytes
    FROM record
    GROUP BY ALL
),
named AS (
    SELECT per_file.*, file_name.path
    FROM per_file
    LEFT JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
    WHERE moved_bytes > 0 AND (file_name.path IS NULL OR file_name.path NOT IN ('<STDIN>', '<STDOUT>', '<STDERR>'))
),
per_log AS (
    SELECT
        cluster, night, log_id,
        COUNT(*) AS file_count,
        COUNT(*) FILTER (is_own) AS own_file_count,
        SUM(seconds) FILTER (is_own) AS own_file_core_seconds,
        COUNT(*) FILTER (extent_bytes < 1048576) AS small_file_count,
        SUM(seconds) FILTER (extent_bytes < 1048576) AS small_file_core_seconds,
        SUM(moved_bytes) AS moved_bytes,
        COALESCE(SUM(stdio_bytes), 0) AS stdio_bytes,
        COALESCE(SUM(stdio_seconds), 0) AS stdio_core_seconds,
        arg_max(path, stdio_bytes ORDER BY path) AS stdio_path
    FROM named
    GROUP BY ALL
),
unsound AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.module
    WHERE module IN ('POSIX', 'STDIO', 'DFS') AND (state <> 'read' OR is_partial)
)
SELECT
    log.log_id, log.cluster, log.night,
    unsound.log_id IS NULL AS is_complete,
    file_count, own_file_count,
    -- One process has all its files for itself.
    CASE WHEN nprocs > 1 THEN own_file_count / nprocs END AS own_files_per_rank_ratio, own_file_core_seconds,
    small_file_count, small_file_count / NULLIF(file_count, 0) AS small_file_ratio, small_file_core_seconds,
    -- No data, no ratio: a zero would look like a clean bill of health.
    stdio_bytes / NULLIF(moved_bytes, 0) AS data_stdio_ratio, stdio_core_seconds, stdio_path,
    io_core_seconds, io_core_seconds / NULLIF(run_seconds * nprocs, 0) AS io_ratio,
    io_core_seconds / NULLIF(moved_bytes / 1048576, 0) AS io_seconds_per_mib
FROM (SELECT cluster, night, log_id, nprocs, run_seconds, io_core_seconds FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN unsound USING (cluster, night, log_id)
