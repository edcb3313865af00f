-- ---
-- about = "What a log did in one layer as a whole, and how fast that was by Darshan's estimate, which waits for the slowest rank."
-- grain = ["log_id", "layer"]
-- reads = [
--     "core.posix_file", "core.mpiio_file", "core.stdio_file", "core.dfs_file", "core.daos_object", "core.h5d_dataset",
--     "core.h5f_file", "core.pnetcdf_variable", "core.pnetcdf_file",
-- ]
-- ---
WITH record AS (
    SELECT
        'posix' AS layer, cluster, night, log_id, file_id, rank, read_bytes, write_bytes, read_count::HUGEINT AS read_count,
        write_count::HUGEINT AS write_count, read_seconds, write_seconds, meta_seconds, slowest_rank_seconds
    FROM core.posix_file
    UNION ALL
    SELECT
        'mpiio', cluster, night, log_id, file_id, rank, read_bytes, write_bytes,
        indep_read_count::HUGEINT + coll_read_count + split_read_count + nb_read_count,
        indep_write_count::HUGEINT + coll_write_count + split_write_count + nb_write_count,
        read_seconds, write_seconds, meta_seconds, slowest_rank_seconds
    FROM core.mpiio_file
    UNION ALL
    SELECT
        'stdio', cluster, night, log_id, file_id, rank, read_bytes, write_bytes, read_count, write_count,
        read_seconds, write_seconds, meta_seconds, slowest_rank_seconds
    FROM core.stdio_file
    UNION ALL
    SELECT
        'dfs', cluster, night, log_id, file_id, rank, read_bytes, write_bytes, read_count::HUGEINT + readx_count,
        write_count::HUGEINT + writex_count, read_seconds, write_seconds, meta_seconds, slowest_rank_seconds
    FROM core.dfs_file
    UNION ALL
    SELECT
        'daos', cluster, night, log_id, file_id, rank, read_bytes, write_bytes,
        obj_fetch_count::HUGEINT + array_read_count + kv_get_count, obj_update_count::HUGEINT + array_write_count + kv_put_count,
        read_seconds, write_seconds, meta_seconds, slowest_rank_seconds
    FROM core.daos_object
    UNION ALL
    SELECT
        'hdf5', cluster, night, log_id, parent_file_id, rank, read_bytes, write_bytes, read_count, write_count,
        read_seconds, write_seconds, meta_seconds, slowest_rank_seconds
    FROM core.h5d_dataset
    UNION ALL
    -- For calls on a whole file Darshan keeps the time summed over ranks, not the time of each rank.
    SELECT 'hdf5', cluster, night, log_id, file_id, rank, NULL, NULL, NULL, NULL, NULL, NULL, meta_seconds, NULL
    FROM core.h5f_file
    UNION ALL
    SELECT
        'pnetcdf', cluster, night, log_id, parent_file_id, rank, read_bytes, write_bytes,
        indep_read_count::HUGEINT + coll_read_count + nb_read_count, indep_write_count::HUGEINT + coll_write_count + nb_write_count,
        read_seconds, write_seconds, meta_seconds, slowest_rank_seconds
    FROM core.pnetcdf_variable
    UNION ALL
    -- Requests that do not block are carried out in waits, which Darshan times without parting reads from writes.
    SELECT 'pnetcdf', cluster, night, log_id, file_id, rank, NULL, NULL, NULL, NULL, NULL, NULL, meta_seconds + wait_seconds, NULL
    FROM core.pnetcdf_file
),
-- Sums of each rank, and in rows of their own the files of each log: to read all records a second time takes as long again.
-- Sums are in order, so that their last digits are the same however many logs are judged at once.
per_rank AS (
    SELECT
        layer, cluster, night, log_id, rank, GROUPING(rank) = 0 AS is_rank, COUNT(DISTINCT file_id) AS file_count,
        SUM(read_bytes) AS read_bytes, SUM(write_bytes) AS write_bytes,
        SUM(read_count) AS read_count, SUM(write_count) AS write_count, list_sum(list_sort(list(read_seconds))) AS read_seconds,
        list_sum(list_sort(list(write_seconds))) AS write_seconds, list_sum(list_sort(list(meta_seconds))) AS meta_seconds,
        -- Of a shared record Darshan has the slowest rank's time. Ranks with files of their own wait only for the slowest rank.
        list_sum(list_sort(list(
            CASE WHEN rank = -1
                THEN slowest_rank_seconds
                ELSE COALESCE(read_seconds, 0) + COALESCE(write_seconds, 0) + COALESCE(meta_seconds, 0)
            END
        ))) AS io_seconds,
        -- Formats before 3.00 have that time in one of the layers of a file, or in none.
        bool_or(rank = -1 AND slowest_rank_seconds IS NULL AND read_seconds + write_seconds + meta_seconds > 0) AS is_untimed
    FROM record
    GROUP BY GROUPING SETS ((layer, cluster, night, log_id, rank), (layer, cluster, night, log_id))
),
per_log AS (
    SELECT
        layer, cluster, night, log_id, MAX(file_count) FILTER (WHERE NOT is_rank) AS file_count,
        TRY_CAST(SUM(read_bytes) FILTER (WHERE is_rank) AS BIGINT) AS read_bytes,
        TRY_CAST(SUM(write_bytes) FILTER (WHERE is_rank) AS BIGINT) AS write_bytes,
        TRY_CAST(SUM(read_count) FILTER (WHERE is_rank) AS BIGINT) AS read_count,
        TRY_CAST(SUM(write_count) FILTER (WHERE is_rank) AS BIGINT) AS write_count,
        list_sum(list_sort(list(read_seconds) FILTER (WHERE is_rank))) AS read_core_seconds,
        list_sum(list_sort(list(write_seconds) FILTER (WHERE is_rank))) AS write_core_seconds,
        list_sum(list_sort(list(meta_seconds) FILTER (WHERE is_rank))) AS meta_core_seconds,
        CASE
            WHEN bool_or(is_untimed) IS NOT TRUE AND COUNT(read_seconds) + COUNT(write_seconds) + COUNT(meta_seconds) > 0
                THEN COALESCE(MAX(io_seconds) FILTER (WHERE is_rank AND rank = -1), 0)
                    + COALESCE(MAX(io_seconds) FILTER (WHERE is_rank AND rank <> -1), 0)
        END AS slowest_io_seconds
    FROM per_rank
    GROUP BY ALL
)
SELECT
    log_id, layer, file_count, read_bytes, write_bytes, read_count, write_count,
    read_core_seconds, write_core_seconds, meta_core_seconds, slowest_io_seconds,
    -- A time below a nanosecond was not measured.
    CASE WHEN slowest_io_seconds >= 1e-9 THEN (read_bytes::DOUBLE + write_bytes) / slowest_io_seconds END AS moved_bytes_per_second,
    night, cluster
FROM per_log
