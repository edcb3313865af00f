-- ---
-- about = "A file that a log moved data of, in POSIX, STDIO and DFS: whose it is, how long it is, and how much of it went through stdio."
-- grain = ["log_id", "file_id"]
-- reads = ["core.posix_file", "core.stdio_file", "core.dfs_file"]
-- ---
WITH record AS (
    SELECT
        cluster, night, log_id, file_id, rank, 'posix' AS layer, read_bytes, write_bytes,
        read_seconds + write_seconds + meta_seconds AS seconds, meta_seconds, max_read_offset_bytes, max_write_offset_bytes
    FROM core.posix_file
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, rank, 'stdio' AS layer, read_bytes, write_bytes,
        read_seconds + write_seconds + meta_seconds AS seconds, meta_seconds, max_read_offset_bytes, max_write_offset_bytes
    FROM core.stdio_file
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, rank, 'dfs' AS layer, read_bytes, write_bytes,
        read_seconds + write_seconds + meta_seconds AS seconds, meta_seconds, NULL AS max_read_offset_bytes, NULL AS max_write_offset_bytes
    FROM core.dfs_file
),
per_file AS (
    SELECT
        cluster, night, log_id, file_id,
        -- A shared record is of all ranks; a run of one process has no others.
        NOT bool_or(rank = -1) AND MIN(rank) = MAX(rank) AS is_own,
        SUM(read_bytes::HUGEINT + write_bytes) AS moved_bytes,
        COALESCE(SUM(read_bytes::HUGEINT + write_bytes) FILTER (layer = 'stdio'), 0) AS stdio_bytes,
        list_sum(list_sort(list(seconds))) AS io_core_seconds,
        list_sum(list_sort(list(meta_seconds))) AS meta_core_seconds,
        COALESCE(list_sum(list_sort(list(seconds) FILTER (layer = 'stdio'))), 0) AS stdio_core_seconds,
        -- The extent of files in DAOS is never known, and they do not count as small.
        bool_or(layer = 'dfs') AS is_in_daos,
        -- Bytes whose offset is not known may lie beyond the highest known offset.
        bool_and((COALESCE(read_bytes, 0) = 0 OR max_read_offset_bytes IS NOT NULL)
            AND (COALESCE(write_bytes, 0) = 0 OR max_write_offset_bytes IS NOT NULL)) AS is_extent_known,
        CASE WHEN is_extent_known THEN GREATEST(MAX(max_read_offset_bytes), MAX(max_write_offset_bytes))::HUGEINT + 1 END
            AS extent_bytes
    FROM record
    GROUP BY ALL
)
SELECT
    log_id, file_id, is_own, 
    NOT is_in_daos AND extent_bytes < COALESCE(getvariable('small_file_bytes'), 1048576) AS is_small,
    TRY_CAST(moved_bytes AS BIGINT) AS moved_bytes,
    TRY_CAST(stdio_bytes AS BIGINT) AS stdio_bytes, io_core_seconds, meta_core_seconds, stdio_core_seconds, night, cluster
FROM per_file
WHERE moved_bytes > 0
