-- ---
-- about = "How often one log asked the system to write data out (sync), after how little, and what that cost."
-- grain = ["log_id"]
-- reads = [
--     "core.log", "core.unsound_module", "core.file_name", "main.file_requests", "core.synced_file", "core.posix_file",
--     "core.stdio_file", "core.mpiio_file",
-- ]
-- ---
WITH per_log AS (
    SELECT
        cluster, night, log_id,
        SUM(sync_count) AS sync_count, SUM(synced_write_count) AS synced_write_count, SUM(write_bytes) AS write_bytes,
        SUM(synced_seconds ORDER BY layer, file_id) AS sync_core_seconds,
        arg_max(sync_evidence, synced_seconds ORDER BY file_id) AS sync_evidence,
        arg_max(file_id, synced_seconds ORDER BY file_id) AS file_id
    FROM core.synced_file
    WHERE is_frequent
    GROUP BY ALL
),
requests AS (
    SELECT cluster, night, log_id, SUM(request_seconds ORDER BY layer, file_id, op) AS request_seconds
    FROM main.file_requests
    GROUP BY ALL
),
-- Formats before 3.00 do not count fflush, and traces of requests alone show no sync.
unsound AS (
    SELECT cluster, night, log_id
    FROM core.unsound_module
    WHERE module IN ('POSIX', 'STDIO', 'MPI-IO')
    UNION
    SELECT cluster, night, log_id
    FROM core.posix_file
    WHERE write_count > 0 AND (fsync_count IS NULL OR fdsync_count IS NULL)
    UNION
    SELECT cluster, night, log_id
    FROM core.stdio_file
    WHERE write_count > 0 AND flush_count IS NULL
    UNION
    SELECT cluster, night, log_id
    FROM core.mpiio_file
    WHERE (indep_write_count > 0 OR coll_write_count > 0 OR split_write_count > 0 OR nb_write_count > 0) AND sync_count IS NULL
)
SELECT
    log.log_id, log.cluster, log.night,
    unsound.log_id IS NULL AS is_complete,
    -- A log without syncs counts as one that syncs rarely.
    COALESCE(TRY_CAST(sync_count AS BIGINT), 0) AS sync_count, TRY_CAST(synced_write_count AS BIGINT) AS synced_write_count,
    COALESCE(sync_count / (sync_count + synced_write_count), 0) AS sync_ratio,
    TRY_CAST(round(write_bytes / NULLIF(sync_count, 0)) AS BIGINT) AS sync_interval_bytes,
    sync_core_seconds,
    COALESCE(sync_core_seconds, 0) / NULLIF(COALESCE(sync_core_seconds, 0) + COALESCE(request_seconds, 0), 0) AS sync_seconds_ratio,
    sync_evidence, file_name.path AS sync_path
FROM (SELECT cluster, night, log_id FROM core.log) AS log
LEFT JOIN per_log USING (cluster, night, log_id)
LEFT JOIN requests USING (cluster, night, log_id)
LEFT JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
LEFT JOIN unsound USING (cluster, night, log_id)
