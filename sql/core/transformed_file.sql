-- ---
-- about = "What MPI-IO made of the requests of one direction on a file: collective calls that stayed as they were, reads for the sake of writes, and their time."
-- grain = ["log_id", "file_id", "op"]
-- reads = ["core.file_access", "core.mpiio_file", "core.mpiio_posix"]
-- ---
WITH calls AS (
    SELECT
        cluster, night, log_id, file_id, 'read' AS op, SUM(coll_read_count::HUGEINT + split_read_count) AS collective_count,
        SUM(read_seconds) AS seconds
    FROM core.mpiio_file
    GROUP BY ALL
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, 'write' AS op, SUM(coll_write_count::HUGEINT + split_write_count) AS collective_count,
        SUM(write_seconds) AS seconds
    FROM core.mpiio_file
    GROUP BY ALL
),
posix_read AS (
    SELECT cluster, night, log_id, file_id, 'write' AS op, moved_bytes AS read_bytes, request_seconds AS read_seconds
    FROM core.file_access
    WHERE layer = 'posix' AND op = 'read'
),
transformed AS (
    SELECT
        match.*, seconds, mpiio_rank_count > 1 AS has_many_ranks,
        CASE WHEN has_many_ranks THEN collective_count END AS shared_collective_count,
        -- Requests below 1 MiB are small; larger ones may well stay as they are.
        CASE WHEN posix_median_bytes < 1048576 THEN stayed_independent_count ELSE 0 END AS stayed_count,
        seconds * stayed_count / mpiio_request_count AS stayed_seconds,
        COALESCE(read_seconds * sieve_read_bytes / NULLIF(read_bytes, 0), 0) AS sieve_seconds
    FROM core.mpiio_posix AS match
    LEFT JOIN calls USING (cluster, night, log_id, file_id, op)
    LEFT JOIN posix_read USING (cluster, night, log_id, file_id, op)
)
SELECT
    log_id, file_id, op, transformation, has_many_ranks, TRY_CAST(shared_collective_count AS BIGINT) AS shared_collective_count, stayed_count, stayed_seconds, sieve_read_bytes,
    mpiio_bytes, sieve_seconds, seconds AS call_seconds, night, cluster
FROM transformed
