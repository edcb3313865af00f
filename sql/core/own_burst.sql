-- ---
-- about = "Files of a mount that one rank alone wrote each, of several ranks: how many, and when."
-- grain = ["log_id", "mount"]
-- reads = ["core.posix_file", "core.stdio_file", "core.file_name"]
-- ---
WITH record AS (
    SELECT
        cluster, night, log_id, file_id, rank, write_bytes, write_count, open_start_seconds, write_end_seconds, close_end_seconds
    FROM core.posix_file
    UNION ALL
    SELECT
        cluster, night, log_id, file_id, rank, write_bytes, write_count, open_start_seconds, write_end_seconds, close_end_seconds
    FROM core.stdio_file
),
own_file AS (
    SELECT
        cluster, night, log_id, file_id, MIN(rank) AS rank, SUM(write_bytes) AS write_bytes, SUM(write_count) AS write_count,
        MIN(open_start_seconds) FILTER (open_start_seconds > 0) AS start_seconds,
        MAX(GREATEST(write_end_seconds, close_end_seconds)) AS end_seconds
    FROM record
    GROUP BY ALL
    -- A shared record is of all ranks.
    HAVING SUM(write_bytes) > 0 AND NOT bool_or(rank = -1) AND MIN(rank) = MAX(rank)
)
SELECT
    log_id, mount, COUNT(*) AS file_count, COUNT(DISTINCT rank) AS rank_count,
    TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes, TRY_CAST(SUM(write_count) AS BIGINT) AS write_count,
    MIN(start_seconds) AS start_seconds, MAX(end_seconds) AS end_seconds, night, cluster
FROM own_file
LEFT JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
GROUP BY ALL
HAVING COUNT(DISTINCT rank) > 1
