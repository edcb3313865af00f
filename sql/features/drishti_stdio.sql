-- ---
-- about = "The share of stdio in the bytes that one log moved, as Drishti adds them up: POSIX, STDIO and MPI-IO alone."
-- grain = ["log_id"]
-- reads = ["core.data_quality", "core.log", "core.module", "lake.mpiio_file", "lake.posix_file", "lake.stdio_file"]
-- ---
WITH posix AS (
    SELECT cluster, night, log_id, SUM(read_bytes) + SUM(write_bytes) AS posix_bytes
    FROM lake.posix_file
    GROUP BY ALL
),
mpiio AS (
    SELECT cluster, night, log_id, SUM(read_bytes) + SUM(write_bytes) AS mpiio_bytes
    FROM lake.mpiio_file
    GROUP BY ALL
),
stdio AS (
    SELECT cluster, night, log_id, SUM(read_bytes) + SUM(write_bytes) AS stdio_bytes
    FROM lake.stdio_file
    GROUP BY ALL
),
doubted AS (
    SELECT DISTINCT cluster, night, log_id
    FROM core.data_quality
    WHERE table_name IN ('posix_file', 'mpiio_file', 'stdio_file') AND column_name IN ('read_bytes', 'write_bytes')
),
module AS (
    SELECT cluster, night, log_id, bool_and(state = 'read') AS is_read
    FROM core.module
    WHERE module IN ('POSIX', 'STDIO', 'MPI-IO')
    GROUP BY ALL
),
per_log AS (
    SELECT
        log.cluster, log.night, log.log_id, is_read,
        COALESCE(stdio_bytes, 0) AS stdio_bytes,
        COALESCE(posix_bytes, 0) AS posix_bytes,
        COALESCE(mpiio_bytes, 0) AS mpiio_bytes
    FROM (SELECT cluster, night, log_id FROM core.log) AS log
    LEFT JOIN posix USING (cluster, night, log_id)
    LEFT JOIN mpiio USING (cluster, night, log_id)
    LEFT JOIN stdio USING (cluster, night, log_id)
    LEFT JOIN module USING (cluster, night, log_id)
)
SELECT
    log_id, cluster, night,
    COALESCE(is_read, TRUE) AS is_complete,
    TRY_CAST(stdio_bytes AS BIGINT) AS stdio_bytes,
    -- What MPI-IO moved passed through POSIX; where POSIX has fewer bytes, it cannot have, and is added.
    -- In the lake, a number that no run can have is -1. Drishti saw the number, so what it says of its sum is not known.
    CASE
        WHEN doubted.log_id IS NULL THEN stdio_bytes / NULLIF(
            stdio_bytes + posix_bytes + CASE WHEN posix_bytes > 0 AND posix_bytes >= mpiio_bytes THEN 0 ELSE mpiio_bytes END,
            0
        )
    END AS stdio_ratio
FROM per_log
LEFT JOIN doubted USING (cluster, night, log_id)
