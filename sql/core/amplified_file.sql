-- ---
-- about = "Bytes that POSIX moved of a file for MPI-IO in one direction, the bytes that MPI-IO was asked for, and the time of the surplus."
-- grain = ["log_id", "file_id", "op"]
-- reads = ["main.file_requests", "core.mpiio_posix", "core.unsound_module"]
-- ---
WITH beneath AS (
    -- Reads that MPI-IO makes in order to write are not among the reads that were asked for; only a trace shows them.
    SELECT
        requests.* REPLACE (GREATEST(moved_bytes::HUGEINT - COALESCE(sieve_read_bytes, 0), 0) AS moved_bytes),
        request_seconds / NULLIF(requests.moved_bytes, 0) AS seconds_per_byte
    FROM (FROM main.file_requests WHERE is_beneath_mpiio AND asked_bytes > 0) AS requests
    -- What records that are missing asked for would look as if nobody had.
    ANTI JOIN (FROM core.unsound_module WHERE module = 'MPI-IO') AS unsound USING (cluster, night, log_id)
    LEFT JOIN (
        SELECT cluster, night, log_id, file_id, 'read' AS op, sieve_read_bytes
        FROM core.mpiio_posix
        WHERE op = 'write'
    ) AS sieve USING (cluster, night, log_id, file_id, op)
)
SELECT
    log_id, file_id, op, asked_bytes, TRY_CAST(moved_bytes AS BIGINT) AS moved_bytes, seconds_per_byte * GREATEST(0, moved_bytes - asked_bytes) AS amplification_seconds,
    night, cluster
FROM beneath
