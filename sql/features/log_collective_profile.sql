-- ---
-- about = "How one log used MPI-IO: independent and collective calls, blocking ones, and bytes beneath it that nobody asked for."
-- grain = ["log_id"]
-- reads = ["core.log", "core.unsound_module", "core.mpiio_file", "core.shared_mpiio_file", "core.amplified_file", "core.file_name"]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id,
        SUM(indep_read_count) AS indep_read_requests_count, SUM(indep_write_count) AS indep_write_requests_count,
        SUM(read_count) AS read_count, SUM(write_count) AS write_count,
        SUM(indep_read_seconds) AS indep_read_core_seconds, SUM(indep_write_seconds) AS indep_write_core_seconds,
        SUM(io_core_seconds) AS mpiio_seconds,
        arg_max(file_id, indep_read_count ORDER BY file_id) FILTER (indep_read_count > 0) AS read_file_id,
        arg_max(file_id, indep_write_count ORDER BY file_id) FILTER (indep_write_count > 0) AS write_file_id
    FROM core.shared_mpiio_file
    GROUP BY ALL
),
blocking AS (
    SELECT
        cluster, night, log_id,
        SUM(indep_read_count::HUGEINT + coll_read_count + indep_write_count + coll_write_count) AS blocking_count,
        SUM(nb_read_count::HUGEINT + nb_write_count + split_read_count + split_write_count) AS other_count,
        SUM(read_seconds + write_seconds) AS blocking_core_seconds
    FROM core.mpiio_file
    GROUP BY ALL
),
amplified AS (
    SELECT
        cluster, night, log_id,
        SUM(moved_bytes) FILTER (op = 'read') / NULLIF(SUM(asked_bytes) FILTER (op = 'read'), 0) AS read_amplification_ratio,
        SUM(moved_bytes) FILTER (op = 'write') / NULLIF(SUM(asked_bytes) FILTER (op = 'write'), 0) AS write_amplification_ratio,
        SUM(amplification_seconds) FILTER (op = 'read') AS read_amplification_core_seconds,
        SUM(amplification_seconds) FILTER (op = 'write') AS write_amplification_core_seconds
    FROM core.amplified_file
    GROUP BY ALL
),
unsound AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.unsound_module
    WHERE module IN ('POSIX', 'MPI-IO')
)
SELECT
    log.log_id, log.cluster, log.night,
    unsound.log_id IS NULL AS is_complete,
    TRY_CAST(indep_read_requests_count AS BIGINT) AS indep_read_requests_count,
    TRY_CAST(indep_write_requests_count AS BIGINT) AS indep_write_requests_count,
    -- No such requests, no ratio: a zero would look like a clean bill of health.
    indep_read_requests_count / NULLIF(read_count, 0) AS indep_read_ratio,
    indep_write_requests_count / NULLIF(write_count, 0) AS indep_write_ratio,
    indep_read_core_seconds, indep_write_core_seconds,
    indep_read_core_seconds / NULLIF(mpiio_seconds, 0) AS indep_read_seconds_ratio,
    indep_write_core_seconds / NULLIF(mpiio_seconds, 0) AS indep_write_seconds_ratio,
    blocking_count / NULLIF(blocking_count + other_count, 0) AS blocking_ratio,
    blocking_core_seconds,
    CASE WHEN io_core_seconds <= run_seconds * nprocs THEN io_core_seconds / NULLIF(run_seconds * nprocs, 0) END AS io_ratio,
    read_amplification_ratio, write_amplification_ratio,
    read_amplification_core_seconds, write_amplification_core_seconds,
    read_name.path AS indep_read_path, write_name.path AS indep_write_path
FROM (SELECT cluster, night, log_id, io_core_seconds, run_seconds, nprocs FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN blocking USING (cluster, night, log_id)
LEFT JOIN amplified USING (cluster, night, log_id)
LEFT JOIN unsound USING (cluster, night, log_id)
LEFT JOIN core.file_name AS read_name
    ON read_name.cluster = log.cluster AND read_name.night = log.night AND read_name.log_id = log.log_id
    AND read_name.file_id = per_log.read_file_id
LEFT JOIN core.file_name AS write_name
    ON write_name.cluster = log.cluster AND write_name.night = log.night AND write_name.log_id = log.log_id
    AND write_name.file_id = per_log.write_file_id
