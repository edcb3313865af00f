-- ---
-- about = "Bytes and stripes of a file that traced POSIX requests of one direction touch more than once, and the time of these requests."
-- grain = ["log_id", "file_id", "op"]
-- reads = ["core.log", "core.file_access", "core.file_overlap", "core.mpiio_file", "core.mpiio_posix", "core.lustre_component"]
-- ---
WITH layout AS (
    -- In a file on one OST, a request across stripes stays on that OST, and ranks meet whatever the stripes.
    SELECT cluster, night, log_id, file_id, arg_max(stripe_bytes, stripe_count ORDER BY stripe_bytes) AS stripe_bytes
    FROM core.lustre_component
    WHERE stripe_count > 1 AND stripe_bytes > 0 AND len(ost_ids) > 0
    GROUP BY ALL
),
traced AS (
    SELECT
        overlap.*, request_count, request_seconds, stripe_bytes, nprocs,
        TRY_CAST(again_bytes::HUGEINT - again_rank_bytes AS BIGINT) AS ranks_bytes,
        request_seconds * (again_bytes::HUGEINT - again_rank_bytes) / NULLIF(moved_bytes, 0) AS ranks_seconds,
        -- If MPI-IO changes the requests of ranks, POSIX requests do not show what ranks asked for.
        nprocs > 1 AND (
            mpiio.file_id IS NULL OR COALESCE(unchanged_ratio = 1 AND mpiio_request_count = request_count, FALSE)
        ) AS is_of_ranks,
        -- Holes in what was written make the stripes more than this.
        CASE WHEN stripe_bytes > 0 THEN GREATEST(ceil(touched_bytes / stripe_bytes), shared_stripe_count) END AS stripe_count,
        moved_bytes <= request_count::HUGEINT * stripe_bytes AS fits_stripe
    FROM (FROM core.file_overlap WHERE layer = 'posix') AS overlap
    JOIN (SELECT cluster, night, log_id, nprocs FROM core.log) AS log USING (cluster, night, log_id)
    JOIN (
        SELECT cluster, night, log_id, file_id, op, request_count, request_seconds
        FROM core.file_access
        WHERE layer = 'posix'
    ) AS access USING (cluster, night, log_id, file_id, op)
    LEFT JOIN (SELECT DISTINCT cluster, night, log_id, file_id FROM core.mpiio_file) AS mpiio
        USING (cluster, night, log_id, file_id)
    LEFT JOIN (
        SELECT cluster, night, log_id, file_id, op, unchanged_ratio, mpiio_request_count
        FROM core.mpiio_posix
    ) AS match USING (cluster, night, log_id, file_id, op)
    LEFT JOIN layout USING (cluster, night, log_id, file_id)
)
SELECT
    log_id, file_id, op, moved_bytes, touched_bytes, again_rank_bytes, again_host_bytes, again_bytes, overlap_bytes,
    overlap_rank_count, straddle_count, shared_stripe_count, request_count, request_seconds, stripe_bytes, TRY_CAST(stripe_count AS BIGINT) AS stripe_count,
    is_of_ranks, fits_stripe, ranks_bytes, ranks_seconds,
    request_seconds * shared_stripe_count / NULLIF(stripe_count, 0) AS shared_stripe_seconds,
    request_seconds * straddle_count / NULLIF(request_count, 0) AS straddle_seconds, night, cluster
FROM traced
