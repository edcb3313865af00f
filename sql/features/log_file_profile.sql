-- ---
-- about = "The files of one log: how many belong to one rank alone, how many are small, and what went through stdio."
-- grain = ["log_id"]
-- reads = ["core.log", "core.unsound_module", "core.data_file", "core.file_name"]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id,
        COUNT(*) AS file_count,
        COUNT(*) FILTER (is_own) AS own_file_count,
        -- Their data would have to be moved in a shared file too.
        SUM(data_file.meta_core_seconds ORDER BY data_file.meta_core_seconds) FILTER (is_own) AS own_file_core_seconds,
        CASE WHEN bool_and(is_small IS NOT NULL) THEN COUNT(*) FILTER (is_small) END AS small_file_count,
        SUM(data_file.io_core_seconds ORDER BY data_file.io_core_seconds) FILTER (is_small) AS small_file_core_seconds,
        SUM(moved_bytes) AS moved_bytes,
        SUM(stdio_bytes) AS stdio_bytes,
        list_sum(list_sort(list(stdio_core_seconds))) AS stdio_core_seconds,
        arg_max(path, stdio_bytes ORDER BY path) FILTER (stdio_bytes > 0) AS stdio_path
    FROM core.data_file AS data_file
    LEFT JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
    GROUP BY ALL
),
unsound AS (
    SELECT cluster, night, log_id, bool_or(module <> 'STDIO') AS lacks_others
    FROM core.unsound_module
    WHERE module IN ('POSIX', 'STDIO', 'DFS')
    GROUP BY ALL
)
SELECT
    log.log_id, log.cluster, log.night,
    unsound.log_id IS NULL AS is_complete,
    file_count, own_file_count,
    -- One process has all its files for itself.
    CASE WHEN nprocs > 1 THEN own_file_count / nprocs END AS own_files_per_rank_ratio, own_file_core_seconds,
    COALESCE(getvariable('small_file_bytes'), 1048576)::BIGINT AS small_file_bytes,
    small_file_count, small_file_count / NULLIF(file_count, 0) AS small_file_ratio, small_file_core_seconds,
    -- No data, no ratio: a zero would look like a clean bill of health.
    -- Bytes of other layers that are not known would make the share smaller.
    CASE
        WHEN log.read_bytes IS NOT NULL AND log.write_bytes IS NOT NULL AND lacks_others IS DISTINCT FROM TRUE
            THEN stdio_bytes / NULLIF(moved_bytes, 0)
    END AS data_stdio_ratio, stdio_core_seconds, stdio_path,
    io_core_seconds, CASE WHEN io_core_seconds <= run_seconds * nprocs THEN io_core_seconds / NULLIF(run_seconds * nprocs, 0) END AS io_ratio,
    -- For each MiB.
    io_core_seconds / NULLIF(moved_bytes / 1048576, 0) AS io_seconds_per_mib,
    -- Each writer has as many files as a rank has.
    CASE WHEN nprocs > 1 AND own_file_count >= 4 * ceil(nprocs / 12) * ceil(own_file_count / nprocs)
        THEN (ceil(nprocs / 12) * ceil(own_file_count / nprocs))::BIGINT
    END AS gathered_file_count
FROM (SELECT cluster, night, log_id, nprocs, run_seconds, io_core_seconds, read_bytes, write_bytes FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN unsound USING (cluster, night, log_id)
