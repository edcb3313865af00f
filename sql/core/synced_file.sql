-- ---
-- about = "How often a log asked the system to write a file's data out (sync), and how much of the write time that was."
-- grain = ["log_id", "layer", "file_id"]
-- reads = ["core.posix_file", "core.stdio_file", "core.mpiio_file", "core.file_access", "lake.posix_file"]
-- ---
-- Darshan adds the time of syncs to that of writes. A trace holds writes alone, so what is left over are syncs.
WITH posix AS (
    SELECT
        cluster, night, log_id, file_id, 'posix' AS layer, SUM(fsync_count::HUGEINT + fdsync_count) AS sync_count,
        SUM(write_count) AS synced_write_count, SUM(write_bytes) AS write_bytes, list_sum(list_sort(list(write_seconds))) AS write_seconds
    FROM core.posix_file
    -- Few files are synced, and to add up all of them takes five times as long. For a SEMI JOIN DuckDB would read all nights,
    -- whichever is asked for. Which files are special is asked once, above.
    JOIN (
        SELECT DISTINCT cluster, night, log_id, file_id
        FROM lake.posix_file
        WHERE fsync_count > 0 OR fdsync_count > 0
    ) AS asked USING (cluster, night, log_id, file_id)
    GROUP BY ALL
    HAVING SUM(fsync_count::HUGEINT + fdsync_count) > 0
),
stdio AS (
    SELECT
        cluster, night, log_id, file_id, 'stdio' AS layer, SUM(flush_count) AS sync_count,
        SUM(write_count) AS synced_write_count, SUM(write_bytes) AS write_bytes, list_sum(list_sort(list(write_seconds))) AS write_seconds
    FROM core.stdio_file
    GROUP BY ALL
    HAVING SUM(flush_count) > 0
),
mpiio AS (
    SELECT
        cluster, night, log_id, file_id, 'mpiio' AS layer, SUM(sync_count) AS sync_count,
        SUM(indep_write_count::HUGEINT + coll_write_count + split_write_count + nb_write_count) AS synced_write_count,
        SUM(write_bytes) AS write_bytes, list_sum(list_sort(list(write_seconds))) AS write_seconds
    FROM core.mpiio_file
    GROUP BY ALL
    HAVING SUM(sync_count) > 0
),
synced AS (
    FROM (FROM posix UNION ALL FROM stdio UNION ALL FROM mpiio)
    -- MPI_File_sync calls fsync: where that was seen, it is the same sync.
    QUALIFY layer <> 'mpiio' OR NOT bool_or(layer = 'posix') OVER (PARTITION BY cluster, night, log_id, file_id)
),
traced AS (
    SELECT
        synced.*,
        -- A trace that ran out of memory lacks requests.
        COALESCE(access.request_count = synced_write_count, FALSE) AS is_traced,
        access.request_seconds AS traced_seconds
    FROM synced
    LEFT JOIN (SELECT * FROM core.file_access WHERE op = 'write') AS access USING (cluster, night, log_id, layer, file_id)
)
SELECT
    log_id, layer, file_id, TRY_CAST(sync_count AS BIGINT) AS sync_count,
    TRY_CAST(synced_write_count AS BIGINT) AS synced_write_count, TRY_CAST(write_bytes AS BIGINT) AS write_bytes,
    -- At a GB/s, 16 MiB take about as long as a sync; where more lie between syncs, the data are the larger part of the cost.
    write_bytes <= sync_count * 16777216 AS is_frequent,
    CASE WHEN is_traced THEN write_seconds - LEAST(traced_seconds, write_seconds)
        ELSE write_seconds * sync_count / (sync_count + synced_write_count)
    END AS synced_seconds,
    CASE WHEN is_traced THEN 'trace' ELSE 'count' END AS sync_evidence,
    night, cluster
FROM traced
