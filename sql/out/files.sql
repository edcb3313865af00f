-- ---
-- about = "What a log did with a file on storage in its lowest layers, POSIX, STDIO and DFS; MPI-IO passes through POSIX and is not added."
-- grain = ["log_id", "file_id"]
-- reads = ["core.posix_file", "core.stdio_file", "core.dfs_file", "core.mpiio_file", "core.log", "core.file_name"]
-- ---
WITH record AS (
    SELECT
        cluster, night, log_id, file_id, rank, is_shared,
        read_bytes, write_bytes, read_count, write_count, read_seconds, write_seconds, meta_seconds,
        max_read_offset_bytes, max_write_offset_bytes
    FROM core.posix_file
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, rank, is_shared,
        read_bytes, write_bytes, read_count, write_count, read_seconds, write_seconds, meta_seconds,
        max_read_offset_bytes, max_write_offset_bytes
    FROM core.stdio_file
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, rank, is_shared,
        -- Unlike non-blocking requests, indexed ones are not among the plain ones.
        read_bytes, write_bytes, read_count::HUGEINT + readx_count, write_count::HUGEINT + writex_count,
        read_seconds, write_seconds, meta_seconds, NULL AS max_read_offset_bytes, NULL AS max_write_offset_bytes
    FROM core.dfs_file
),
per_file AS (
    SELECT
        cluster, night, log_id, file_id,
        bool_or(is_shared) AS has_shared_record,
        -- DuckDB counts the distinct of short lists in half the time that its COUNT(DISTINCT) takes.
        list_unique(list(rank))::BIGINT AS distinct_rank_count,
        TRY_CAST(SUM(read_bytes) AS BIGINT) AS read_bytes,
        TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes,
        TRY_CAST(SUM(read_count) AS BIGINT) AS read_count,
        TRY_CAST(SUM(write_count) AS BIGINT) AS write_count,
        SUM(read_seconds) AS read_seconds, SUM(write_seconds) AS write_seconds, SUM(meta_seconds) AS meta_seconds,
        SUM(read_seconds + write_seconds + meta_seconds) AS storage_core_seconds,
        -- Bytes whose offset is not known may lie beyond the highest known offset.
        CASE WHEN bool_and((COALESCE(read_bytes, 0) = 0 OR max_read_offset_bytes IS NOT NULL)
            AND (COALESCE(write_bytes, 0) = 0 OR max_write_offset_bytes IS NOT NULL))
            THEN TRY_CAST(GREATEST(MAX(max_read_offset_bytes), MAX(max_write_offset_bytes))::HUGEINT + 1 AS BIGINT) END AS extent_bytes
    FROM record
    GROUP BY ALL
),
through_mpiio AS (
    SELECT cluster, night, log_id, file_id, SUM(read_seconds + write_seconds + meta_seconds) AS mpiio_seconds
    FROM core.mpiio_file
    GROUP BY ALL
),
counted AS (
    SELECT per_file.*, CASE WHEN has_shared_record THEN log.nprocs ELSE distinct_rank_count END AS rank_count
    FROM per_file
    LEFT JOIN core.log AS log USING (cluster, night, log_id)
)
SELECT
    counted.log_id, counted.file_id, file_name.path, file_name.is_path_cut, file_name.mount, file_name.fs_type,
    -- A run of one process can leave a shared record too.
    rank_count > 1 AS is_shared,
    rank_count, read_bytes, write_bytes, read_count, write_count,
    read_seconds, write_seconds, meta_seconds,
    CASE WHEN through_mpiio.file_id IS NULL THEN storage_core_seconds ELSE mpiio_seconds END AS io_core_seconds,
    extent_bytes, storage_core_seconds,
    -- GREATEST ignores NULL, but what waited beside requests of unknown length is not known.
    CASE WHEN mpiio_seconds - storage_core_seconds IS NOT NULL THEN GREATEST(0, mpiio_seconds - storage_core_seconds) END
        AS waiting_core_seconds,
    counted.night, counted.cluster
FROM counted
LEFT JOIN through_mpiio USING (cluster, night, log_id, file_id)
LEFT JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
