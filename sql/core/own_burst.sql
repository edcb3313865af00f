-- ---
-- about = "Files of a mount that one rank alone wrote each, of several ranks: how many, when, and how many were opened at once."
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
        cluster, night, log_id, file_id, any_value(rank) AS rank, SUM(write_bytes) AS write_bytes, SUM(write_count) AS write_count,
        MIN(open_start_seconds) FILTER (open_start_seconds > 0) AS start_seconds,
        MAX(GREATEST(write_end_seconds, close_end_seconds)) AS end_seconds
    FROM record
    GROUP BY ALL
    -- A shared record is of all ranks.
    HAVING SUM(write_bytes) > 0 AND NOT bool_or(rank = -1) AND COUNT(DISTINCT rank) = 1
),
placed AS (
    SELECT own_file.*, mount
    FROM own_file
    LEFT JOIN core.file_name AS file_name USING (cluster, night, log_id, file_id)
),
busiest AS (
    SELECT cluster, night, log_id, mount, MAX(open_count) AS burst_open_count
    FROM (
        SELECT cluster, night, log_id, mount, floor(start_seconds) AS second, COUNT(*) AS open_count
        FROM placed
        WHERE isfinite(start_seconds)
        GROUP BY ALL
    )
    GROUP BY ALL
),
burst AS (
    SELECT
        cluster, night, log_id, mount, COUNT(*) AS file_count, COUNT(DISTINCT rank) AS rank_count,
        TRY_CAST(SUM(write_bytes) AS BIGINT) AS write_bytes, TRY_CAST(SUM(write_count) AS BIGINT) AS write_count,
        MIN(start_seconds) AS start_seconds, MAX(end_seconds) AS end_seconds
    FROM placed
    GROUP BY ALL
    HAVING COUNT(DISTINCT rank) > 1
)
SELECT
    burst.log_id, burst.mount, file_count, rank_count, write_bytes, write_count, start_seconds, end_seconds, burst_open_count,
    burst.night, burst.cluster
FROM burst
LEFT JOIN busiest
    ON busiest.cluster = burst.cluster AND busiest.night = burst.night AND busiest.log_id = burst.log_id
    AND COALESCE(busiest.mount, '') = COALESCE(burst.mount, '')
