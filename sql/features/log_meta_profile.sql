-- ---
-- about = "What metadata calls of POSIX and stdio cost one log, and how many there were."
-- grain = ["log_id"]
-- reads = ["core.log", "core.module", "core.posix_file", "core.stdio_file", "core.file_name", "core.darshan_build"]
-- ---
WITH record AS (
    SELECT
        cluster, night, log_id, file_id, rank, read_count, write_count, read_seconds, write_seconds, meta_seconds, open_count,
        stat_count, rename_source_count, open_start_seconds, open_end_seconds, close_end_seconds
    FROM core.posix_file
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, rank, read_count, write_count, read_seconds, write_seconds, meta_seconds, open_count,
        NULL AS stat_count, NULL AS rename_source_count, open_start_seconds, open_end_seconds, close_end_seconds
    FROM core.stdio_file
),
calls AS (
    SELECT
        cluster, night, log_id,
        SUM(meta_seconds) AS meta_core_seconds,
        SUM(read_seconds) + SUM(write_seconds) + SUM(meta_seconds) AS io_core_seconds,
        SUM(open_count) AS open_count, SUM(stat_count) AS stat_count,
        SUM(read_count) + SUM(write_count) AS data_count,
        SUM(open_count) + COALESCE(SUM(stat_count), 0) + COALESCE(SUM(rename_source_count), 0) AS meta_call_count,
        MAX(meta_seconds) AS longest_meta_seconds,
        MIN(NULLIF(open_start_seconds, 0)) AS first_seconds,
        GREATEST(MAX(close_end_seconds), MAX(open_end_seconds)) AS last_seconds
    FROM record
    GROUP BY ALL
),
longest AS (
    -- A file that many ranks opened has a record of each, and one of each layer.
    SELECT cluster, night, log_id, arg_max(file_id, meta_seconds ORDER BY file_id) AS file_id
    FROM (
        SELECT cluster, night, log_id, file_id, list_sum(list_sort(list(meta_seconds))) AS meta_seconds
        FROM record
        GROUP BY ALL
    )
    GROUP BY ALL
),
looked AS (
    -- Repeated opens and stats of one file by one rank; of the average rank, if the record is of all ranks.
    SELECT
        cluster, night, log_id, SUM(call_count) AS call_count, SUM(call_count) / SUM(rank_count) AS rank_call_count,
        list(DISTINCT file_id) AS file_ids
    FROM (
        SELECT
            cluster, night, log_id, file_id, CASE WHEN rank < 0 THEN nprocs ELSE 1 END AS rank_count,
            open_count::HUGEINT + COALESCE(stat_count, 0) AS call_count
        FROM record
        JOIN (SELECT cluster, night, log_id, nprocs FROM core.log) AS log USING (cluster, night, log_id)
    )
    WHERE call_count >= 100 * rank_count::HUGEINT AND rank_count > 0
    GROUP BY ALL
),
sound AS (
    SELECT cluster, night, log_id
    FROM core.module
    WHERE module IN ('POSIX', 'STDIO')
    GROUP BY ALL
    HAVING bool_or(module = 'POSIX') AND bool_and(state = 'read' AND NOT is_partial)
)
SELECT
    log.log_id, log.cluster, log.night,
    -- Where Darshan was built against glibc 2.33 or later it sees no stat, and 0 is no count. One log in which the same
    -- version did see some shows that on this machine it does.
    sound.log_id IS NOT NULL AND COALESCE(build.stat_count, 0) > 0 AS is_complete,
    meta_core_seconds, calls.io_core_seconds,
    -- No I/O, no ratio: a zero would look like a clean bill of health.
    meta_core_seconds / NULLIF(calls.io_core_seconds, 0) AS meta_ratio,
    meta_core_seconds / NULLIF(nprocs, 0) AS meta_seconds_per_rank,
    TRY_CAST(open_count AS BIGINT) AS open_count, TRY_CAST(calls.stat_count AS BIGINT) AS stat_count,
    TRY_CAST(meta_call_count AS BIGINT) AS meta_call_count,
    meta_call_count / NULLIF(meta_call_count + data_count, 0) AS meta_call_ratio,
    meta_call_count / NULLIF(GREATEST(last_seconds - first_seconds, 0), 0) AS meta_calls_per_second,
    longest_meta_seconds, file_name.path AS longest_meta_path,
    -- If most calls are others, or most time went into another file, these are not the problem.
    CASE WHEN looked.call_count >= 0.5 * meta_call_count AND list_contains(looked.file_ids, longest.file_id) IS NOT FALSE
        THEN TRY_CAST(round(rank_call_count) AS BIGINT)
    END AS looping_call_count
FROM (SELECT cluster, night, log_id, nprocs, darshan_version FROM core.log) AS log
LEFT JOIN calls USING (cluster, night, log_id)
LEFT JOIN longest USING (cluster, night, log_id)
LEFT JOIN core.file_name AS file_name
    ON file_name.cluster = log.cluster AND file_name.night = log.night AND file_name.log_id = log.log_id
    AND file_name.file_id = longest.file_id
LEFT JOIN looked USING (cluster, night, log_id)
LEFT JOIN sound USING (cluster, night, log_id)
LEFT JOIN core.darshan_build AS build
    ON build.cluster = log.cluster AND build.night = log.night
    AND COALESCE(build.darshan_version, '') = COALESCE(log.darshan_version, '')
