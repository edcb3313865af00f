-- ---
-- about = "What Darshan's counters say of the ranks behind a shared record: fastest, slowest and spread; there is no more without a trace."
-- grain = ["log_id", "layer", "file_id"]
-- reads = ["core.log", "core.posix_file", "core.mpiio_file", "core.stdio_file"]
-- ---
WITH shared AS (
    SELECT
        cluster, night, log_id, file_id, 'posix' AS layer, fastest_rank, fastest_rank_bytes, fastest_rank_seconds,
        slowest_rank, slowest_rank_bytes, slowest_rank_seconds, rank_seconds_variance, rank_bytes_variance,
        read_bytes::DOUBLE + write_bytes AS moved_bytes, read_seconds + write_seconds + meta_seconds AS seconds
    FROM core.posix_file
    WHERE is_shared
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, 'mpiio' AS layer, fastest_rank, fastest_rank_bytes, fastest_rank_seconds,
        slowest_rank, slowest_rank_bytes, slowest_rank_seconds, rank_seconds_variance, rank_bytes_variance,
        read_bytes::DOUBLE + write_bytes AS moved_bytes, read_seconds + write_seconds + meta_seconds AS seconds
    FROM core.mpiio_file
    WHERE is_shared
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, 'stdio' AS layer, fastest_rank, fastest_rank_bytes, fastest_rank_seconds,
        slowest_rank, slowest_rank_bytes, slowest_rank_seconds, rank_seconds_variance, rank_bytes_variance,
        read_bytes::DOUBLE + write_bytes AS moved_bytes, read_seconds + write_seconds + meta_seconds AS seconds
    FROM core.stdio_file
    WHERE is_shared
),
-- Variances are over all ranks that opened the file (darshan-core: reduction of shared records).
spread AS (
    SELECT
        shared.*, nprocs,
        sqrt(abs(rank_bytes_variance)) / NULLIF(moved_bytes / NULLIF(nprocs, 0), 0) AS bytes_ratio,
        sqrt(abs(rank_seconds_variance)) / NULLIF(seconds / NULLIF(nprocs, 0), 0) AS seconds_ratio
    FROM shared
    JOIN (SELECT cluster, night, log_id, nprocs FROM core.log) AS log USING (cluster, night, log_id)
)
SELECT
    log_id, layer, file_id, nprocs,
    fastest_rank, fastest_rank_bytes, fastest_rank_seconds, slowest_rank, slowest_rank_bytes, slowest_rank_seconds,
    TRY_CAST(moved_bytes / NULLIF(nprocs, 0) AS BIGINT) AS mean_bytes, seconds / NULLIF(nprocs, 0) AS mean_seconds,
    CASE WHEN isfinite(bytes_ratio) THEN bytes_ratio END AS bytes_variation_ratio,
    CASE WHEN isfinite(seconds_ratio) THEN seconds_ratio END AS seconds_variation_ratio,
    slowest_rank_seconds * nprocs / NULLIF(seconds, 0) AS slowest_over_mean_ratio,
    night, cluster
FROM spread
