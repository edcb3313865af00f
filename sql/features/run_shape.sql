-- ---
-- about = "What a run did: how much, in how many requests, on how many ranks, files and OSTs; and how long its I/O took."
-- grain = ["log_id"]
-- reads = ["core.log", "core.posix_file", "core.stdio_file", "core.dfs_file", "core.lustre_component"]
-- ---
-- Requests are those to files of the lowest layers; what goes through standard streams and pipes is not among them.
-- Sums are in order, so that their last digits do not depend on which nights are asked for at once.
WITH record AS (
    SELECT
        cluster, night, log_id, file_id, open_count, read_bytes, write_bytes, read_count, write_count, read_seconds, write_seconds,
        meta_seconds
    FROM core.posix_file
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, open_count, read_bytes, write_bytes, read_count, write_count, read_seconds, write_seconds,
        meta_seconds
    FROM core.stdio_file
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, open_count, read_bytes, write_bytes, read_count::HUGEINT + readx_count,
        write_count::HUGEINT + writex_count, read_seconds, write_seconds, meta_seconds
    FROM core.dfs_file
),
per_file AS (
    SELECT
        cluster, night, log_id, file_id, SUM(open_count) AS opens, SUM(read_bytes) AS read_bytes, SUM(write_bytes) AS write_bytes,
        SUM(read_count) AS reads, SUM(write_count) AS writes, list_sum(list_sort(list(read_seconds))) AS read_seconds,
        list_sum(list_sort(list(write_seconds))) AS write_seconds, list_sum(list_sort(list(meta_seconds))) AS meta_seconds,
        SUM(read_bytes)::DOUBLE + SUM(write_bytes) AS moved_bytes
    FROM record
    GROUP BY ALL
),
layout AS (
    SELECT cluster, night, log_id, file_id, MAX(len(ost_ids)) AS file_osts
    FROM core.lustre_component
    GROUP BY ALL
),
per_log AS (
    SELECT
        cluster, night, log_id, COUNT(*) AS file_count, SUM(opens) AS opens, SUM(read_bytes) AS read_bytes,
        SUM(write_bytes) AS write_bytes, SUM(reads) AS reads, SUM(writes) AS writes,
        list_sum(list_sort(list(read_seconds))) AS read_seconds,
        list_sum(list_sort(list(write_seconds))) AS write_seconds, list_sum(list_sort(list(meta_seconds))) AS meta_seconds,
        SUM(file_osts * moved_bytes ORDER BY file_osts * moved_bytes)
        / NULLIF(list_sum(list_sort(list(moved_bytes) FILTER (file_osts > 0))), 0) AS osts_per_file
    FROM per_file
    LEFT JOIN layout USING (cluster, night, log_id, file_id)
    GROUP BY cluster, night, log_id
)
SELECT
    log.log_id, log.job_id, log.lineage_id, log.nprocs, log.io_core_seconds,
    TRY_CAST(per_log.read_bytes AS BIGINT) AS read_bytes, TRY_CAST(per_log.write_bytes AS BIGINT) AS write_bytes,
    TRY_CAST(reads AS BIGINT) AS read_count, TRY_CAST(writes AS BIGINT) AS write_count, TRY_CAST(opens AS BIGINT) AS open_count,
    read_seconds, write_seconds, meta_seconds, file_count, osts_per_file, log.night, log.cluster
FROM core.log AS log
LEFT JOIN per_log USING (cluster, night, log_id)
