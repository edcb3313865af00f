-- ---
-- about = "What MPI-IO made of the requests of one log: collective calls that had no effect, and reads for the sake of writes."
-- grain = ["log_id"]
-- reads = ["core.log", "core.transformed_file", "core.file_name", "main.traces"]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id,
        bool_and(transformation IS NOT NULL AND stayed_count IS NOT NULL) AS is_known,
        SUM(stayed_count) FILTER (has_many_ranks) AS stayed_small_count,
        SUM(shared_collective_count) AS collective_count,
        SUM(stayed_seconds) FILTER (has_many_ranks) AS stayed_small_core_seconds,
        SUM(call_seconds) AS seconds,
        arg_max(file_id, stayed_seconds ORDER BY file_id) FILTER (has_many_ranks AND stayed_count > 0) AS stayed_file_id,
        SUM(sieve_read_bytes) FILTER (op = 'write') AS sieve_read_bytes,
        SUM(mpiio_bytes) FILTER (op = 'write') AS write_bytes,
        SUM(sieve_seconds) FILTER (op = 'write') AS sieve_read_core_seconds,
        arg_max(file_id, sieve_read_bytes ORDER BY file_id) FILTER (sieve_read_bytes > 0) AS sieve_file_id
    FROM core.transformed_file
    GROUP BY ALL
),
whole AS (
    SELECT cluster, night, log_id
    FROM main.traces
    WHERE is_whole
    GROUP BY ALL
    HAVING COUNT(*) = 2
)
SELECT
    log.log_id, log.cluster, log.night,
    COALESCE(is_known AND whole.log_id IS NOT NULL, FALSE) AS is_complete,
    CASE WHEN per_log.log_id IS NOT NULL THEN 'trace' END AS transform_evidence,
    TRY_CAST(stayed_small_count AS BIGINT) AS stayed_small_count,
    stayed_small_count / NULLIF(collective_count, 0) AS stayed_small_ratio,
    stayed_small_core_seconds / NULLIF(seconds, 0) AS stayed_small_seconds_ratio, stayed_small_core_seconds,
    stayed_name.path AS stayed_small_path,
    TRY_CAST(sieve_read_bytes AS BIGINT) AS sieve_read_bytes, TRY_CAST(write_bytes AS BIGINT) AS write_bytes,
    sieve_read_bytes / NULLIF(write_bytes, 0) AS sieve_read_ratio, sieve_read_core_seconds, sieve_name.path AS sieve_read_path
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN whole USING (cluster, night, log_id)
LEFT JOIN core.file_name AS stayed_name
    ON stayed_name.cluster = log.cluster AND stayed_name.night = log.night AND stayed_name.log_id = log.log_id
    AND stayed_name.file_id = per_log.stayed_file_id
LEFT JOIN core.file_name AS sieve_name
    ON sieve_name.cluster = log.cluster AND sieve_name.night = log.night AND sieve_name.log_id = log.log_id
    AND sieve_name.file_id = per_log.sieve_file_id
